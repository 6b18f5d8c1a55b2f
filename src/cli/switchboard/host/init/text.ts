import { convertServer, type HostServer, type HostEnvironment } from '../../../../hosts/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { printableLine } from '../../../../shared/printable.ts';
import { maskedDiff, entryText } from '../without-secrets.ts';
import { variableNotes, referencesIn } from '../host-entries.ts';
import { isWritten, type PlannedServer, neededVariables, variablesText } from '../import/import-plan.ts';
import { secretsOf, secretWarning } from '../../config/project-secrets.ts';
import { counted, secondsText, tokensText } from '../../../kit/text.ts';
import type { Style } from '../../../kit/style.ts';
import type { ProbeAnswer } from '../../server/probe-servers.ts';
import { right, table } from '../../../kit/table.ts';
import type { HostLoad } from './host-load.ts';
import type { FoundServers } from './importable-servers.ts';
import type { ConfigPlan, HostPlan, InitDone, InitPlan } from './plan.ts';
import { secretsText, wroteText } from '../import/import-text.ts';

/** Findings that need the user's attention, as lines. */
export function problemsText({ unusable, problems }: FoundServers): string {
  return [
    ...unusable.map(({ server, why }) => `${named(server)} is skipped: ${printableLine(why)}.\n`),
    ...problems.map(({ message }) => `${printableLine(message)}\n`),
  ].join('');
}

/** What will happen, file by file. */
export function planText(plan: InitPlan, program: string, style: Style): string {
  return [
    ...plan.configs.map((config) => configPlanText(config, style)),
    ...plan.hosts.map((host) => hostPlanText(host, program, style)),
  ].join('\n');
}

function configPlanText({ edited, level, planned, yard, chosen }: ConfigPlan, style: Style): string {
  const whose = {
    user: 'readable only by you',
    project: 'shared with this project; secrets become references',
    explicit: 'the file you named',
  }[level];
  const rows = planned.map(({ as, state, server, notes }) => [
    printableLine(as),
    PRESENT[state] ?? entryText(server.value),
    [fromText(server, chosen), ...notes.map(printableLine)].join('; '),
  ]);
  if (yard) rows.push(['yard', 'the services of switchyard.toml', '']);
  const titles = ['SERVER', 'COMMAND', 'FROM'];
  return `${style.bold(printableLine(edited.file))} (${whose}):\n${table(titles, rows, style.dim, style.columns)}`;
}

/** The state of a server that already exists. */
const PRESENT: Partial<Record<PlannedServer['state'], string>> = {
  same: 'already exists',
  differs: 'exists, unchanged',
  updated: 'exists, will change',
};

/** `Cursor; Codex with different env.API_KEY` */
function fromText(server: HostServer, chosen: ConfigPlan['chosen']): string {
  const importable = chosen.find(({ variant }) => variant.server === server)?.importable;
  const { variants = [], differs = [] } = importable ?? {};
  const { host, scope, project = '' } = server.location;
  const others = variants.filter((variant) => variant.server !== server);
  const titles = [...new Set(others.map((variant) => variant.server.location.host.title))];
  const differ = differs.length === 0 ? '' : ` with different ${differs.join(', ')}`;
  const rest = titles.length === 0 ? '' : `; ${titles.join(', ')}${differ}`;
  const local = scope === 'local' ? `, so far only in ${project}` : '';
  return printableLine(`${host.title}${local}${rest}`);
}

function hostPlanText({ file, moves, stays, name, change }: HostPlan, program: string, style: Style): string {
  const { host } = file.location;
  const what =
    file.ours !== undefined
      ? `already has the entry ${JSON.stringify(name)}`
      : `add the entry ${JSON.stringify(name)}`;
  const lines = [
    what,
    ...(moves.length === 0
      ? []
      : [`move behind Switchboard: ${names(moves)} (undo with \`${program} eject ${host.name}\`)`]),
    ...(stays.length === 0 ? [] : [`stay in place: ${names(stays)}`]),
  ];
  return `${style.bold(host.title)}, ${printableLine(change.file)}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
}

/** The changes of every file, without secrets. */
export function diffsText({ configs, hosts }: InitPlan, style: Style): string {
  return [
    ...configs.map(({ edited }) => maskedDiff(edited, style)),
    ...hosts.map(({ file, change }) => maskedDiff(change, style, file.location)),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** What was done, what to do next, and how to undo it. */
export function initDoneText(done: InitDone, program: string, style: Style): string {
  const wrote = done.configs.map(({ plan, edited }) =>
    wroteText(edited, plan.planned.filter(isWritten).length + (plan.yard ? 1 : 0)),
  );
  const hosts = done.hosts.flatMap(({ plan, change }) => {
    if (change instanceof SwitchboardError) return [];
    const { title } = plan.file.location.host;
    const file = printableLine(change.file);
    if (change.before === change.after) return [`${title} is already up to date: ${file}\n`];
    const entry =
      plan.file.ours === undefined
        ? `Added ${JSON.stringify(plan.name)} to`
        : `Updated ${JSON.stringify(plan.name)} in`;
    const moved = plan.moves.length === 0 ? '' : ` Moved behind Switchboard: ${names(plan.moves)}.`;
    return [`${entry} ${title}, ${file}.${moved}\n`];
  });
  return [...wrote, ...hosts].join('') + nextText(done, style) + undoText(done, program, style);
}

function nextText(done: InitDone, style: Style): string {
  const references = done.configs.flatMap(({ edited }) => referencesIn(edited.after));
  const lines = done.hosts.flatMap(({ plan, change }) => {
    if (change instanceof SwitchboardError || change.before === change.after) return [];
    const { host, scope } = plan.file.location;
    const next = scope === 'project' ? (host.next.project ?? host.next.user) : host.next.user;
    return [
      next,
      ...(change.obstacle === undefined ? [] : [change.obstacle]),
      ...variableNotes(host, references),
    ];
  });
  const all = [...new Set(lines)].map((line) => `  ${printableLine(line)}\n`).join('');
  return all === '' ? '' : `\n${style.bold('Next')}\n${all}`;
}

function undoText({ hosts }: InitDone, program: string, style: Style): string {
  const written = hosts.flatMap(({ plan, change }) =>
    change instanceof SwitchboardError || change.before === change.after ? [] : [plan],
  );
  const namesOf = (plans: readonly HostPlan[]): string =>
    [...new Set(plans.map(({ file }) => file.location.host.name))].join(' ');
  const added = written.filter(({ moves, file }) => moves.length === 0 && file.ours === undefined);
  const ways: readonly (readonly [line: string, hosts: string, does: string])[] = [
    [`${program} eject`, namesOf(written.filter(({ moves }) => moves.length > 0)), 'restores the servers'],
    [
      `${program} uninstall`,
      namesOf(added.filter(({ file }) => file.location.scope !== 'project')),
      'removes the entry',
    ],
    [
      `${program} uninstall --scope project`,
      namesOf(added.filter(({ file }) => file.location.scope === 'project')),
      'removes the entry',
    ],
  ];
  const lines = ways.filter(([, named]) => named !== '');
  if (lines.length === 0) return '';
  return `\n${style.bold('Undo')}\n${lines.map(([line, named, does]) => `  ${line} ${named}   ${does}\n`).join('')}`;
}

/** Variables to set, and secrets that others can read. */
export function cautionText({ configs, hosts }: InitPlan, where: HostEnvironment, program: string): string {
  const planned = configs.flatMap((config) => config.planned);
  const exposed = hosts
    .filter(({ file }) => file.location.scope === 'project')
    .flatMap(({ stays }) => stays)
    .flatMap((server) => {
      const converted = convertServer(server, where);
      return converted.kind === 'unusable'
        ? []
        : secretsOf(server.location.file, server.name, converted.entry);
    });
  return (
    variablesText(neededVariables(planned, where.env)) +
    secretsText(planned) +
    exposed.map((secret) => `${secretWarning(secret, program)}\n`).join('')
  );
}

/** What hosts load, before and after. */
export function loadText(loads: readonly HostLoad[], style: Style): string {
  const rows = loads.map(({ host, before, after }) => [
    host.title,
    String(before.tools),
    tokensText(before.tokens),
    String(after.tools),
    tokensText(after.tokens),
  ]);
  const notes = loads.flatMap(({ host, direct, uncounted }) => [
    ...(direct.length === 0
      ? []
      : [`${host.title} still starts these itself (included): ${direct.map(printableLine).join(', ')}.\n`]),
    ...(uncounted.length === 0
      ? []
      : [
          `${host.title}: not counted, because they were not started: ${uncounted.map(printableLine).join(', ')}.\n`,
        ]),
  ]);
  return (
    `${style.bold('What every conversation starts with')} (tool lists and instructions; tokens are estimates)\n` +
    table(
      ['HOST', right('TOOLS BEFORE'), right('TOKENS'), right('TOOLS NOW'), right('TOKENS')],
      rows,
      style.bold,
      style.columns,
    ) +
    notes.join('')
  );
}

/** The result of starting one server. */
export function answerText({ server, ms, tools }: ProbeAnswer, style: Style): string {
  const what = tools === undefined ? 'did not start' : counted(tools, 'tool');
  const mark = tools === undefined ? style.bad('✗') : style.good('✓');
  return `${mark} ${printableLine(server)}: ${what}, ${secondsText(ms)}\n`;
}

function named({ name, location }: HostServer): string {
  return `${printableLine(name)} (${location.host.title})`;
}

function names(servers: readonly HostServer[]): string {
  return servers.map(({ name }) => printableLine(name)).join(', ');
}
