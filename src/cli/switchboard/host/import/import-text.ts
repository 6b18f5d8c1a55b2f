import { literalSecrets, type TakeoverResult } from '../../../../hosts/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { printableLine } from '../../../../shared/printable.ts';
import { maskedDiff, entryText } from '../without-secrets.ts';
import { variableNotes, referencesIn } from '../host-entries.ts';
import type { ImportDone, ImportJob } from './import-job.ts';
import { isWritten, type PlannedServer, variablesText } from './import-plan.ts';
import type { FileTakeover } from './takeover-plan.ts';
import type { Style } from '../../../kit/style.ts';
import { table } from '../../../kit/table.ts';
import { counted } from '../../../kit/text.ts';
import type { EditedConfig } from '../../../../config/index.ts';

/** The servers found in hosts, and what will happen to each. */
export function foundText({ servers }: Pick<ImportJob, 'servers'>, style: Style): string {
  if (servers.length === 0) return 'No host has a server to import.\n';
  const rows = servers.map(({ server, as, state }) => [
    whereabouts(server.location),
    printableLine(server.name),
    state === 'clash' || (state === 'new' && as !== server.name) ? `${state}, as ${as}` : state,
    entryText(server.value),
  ]);
  const titles = ['HOST', 'NAME', 'STATE', 'SERVER'];
  const notes = servers.flatMap(({ server, as, notes: own }) =>
    own.map((note) => `${printableLine(as)} (${whereabouts(server.location)}): ${printableLine(note)}\n`),
  );
  return table(titles, rows, style.bold, style.columns) + (notes.length === 0 ? '' : `\n${notes.join('')}`);
}

function whereabouts({ host, scope }: PlannedServer['server']['location']): string {
  return scope === 'user' ? host.name : `${host.name} (${scope})`;
}

/** The planned changes, file by file, without secrets. */
export function previewText(job: ImportJob, style: Style): string {
  return [
    ...job.configs.map(({ edited }) => maskedDiff(edited, style)),
    ...job.takeovers.map(({ parts, change }) => maskedDiff(change, style, parts[0].location)),
    sparedText(job),
    variablesText(job.variables),
    secretsText(job.servers),
  ]
    .filter((part) => part !== '')
    .join('\n');
}

/** What was done. */
export function importDoneText(job: ImportJob, { configs, hosts }: ImportDone, program: string): string {
  const references = configs.flatMap(({ edited }) => referencesIn(edited.after));
  const lines = [
    ...configs.map(({ plan, edited }) => wroteText(edited, plan.planned.filter(isWritten).length)),
    ...hosts.map(({ plan, change }) =>
      change instanceof SwitchboardError || change.before === change.after
        ? ''
        : takenText(plan.parts, change, references, program),
    ),
    sparedText(job),
    variablesText(job.variables),
    secretsText(job.servers),
  ];
  return lines.join('');
}

/** Which secrets go into the store, or could. */
export function secretsText(planned: readonly PlannedServer[]): string {
  const written = planned.filter(isWritten);
  const stored = new Set(written.flatMap(({ secrets }) => secrets.map(({ name }) => name)));
  if (stored.size > 0)
    return `Secrets that move out of the file (\`switchboard secret list\` says where to): ${[...stored].join(', ')}.\n`;
  const kept = written.flatMap(({ as, entry }) => (entry === undefined ? [] : literalSecrets(entry, as)));
  if (kept.length === 0) return '';
  return `The file contains ${counted(kept.length, 'secret')}. --secrets store puts secrets in the keychain instead.\n`;
}

/** What happened to one of our own files. */
export function wroteText({ before, after, file, backup }: EditedConfig, count: number): string {
  if (before === after) return `No changes in ${printableLine(file)}.\n`;
  const kept = backup === undefined ? '' : ` A backup is in ${printableLine(backup)}.`;
  return `Wrote ${counted(count, 'server')} to ${printableLine(file)}.${kept}\n`;
}

/** Mentions our entry only if it was written to the file. */
function takenText(
  parts: FileTakeover,
  { removed }: TakeoverResult,
  references: readonly string[],
  program: string,
): string {
  const { host, file, scope } = parts[0].location;
  const where = printableLine(file);
  const what = parts.some(({ entry }) => entry !== undefined)
    ? `Replaced ${counted(removed.length, 'server')} of ${host.title} with an entry for Switchboard in ${where}.\n`
    : `Removed ${counted(removed.length, 'server')} of ${host.title} from ${where}; the entry for Switchboard already existed.\n`;
  const next = (scope === 'project' ? host.next.project : undefined) ?? host.next.user;
  return [
    what,
    `  \`${program} eject ${host.name}\` restores them. ${next}\n`,
    ...variableNotes(host, references).map((note) => `  ${note}\n`),
  ].join('');
}

/** Shared files, and how to take them over anyway. */
function sparedText({ spared }: Pick<ImportJob, 'spared'>): string {
  return spared
    .map(
      (file) =>
        `${printableLine(file)} was not changed, because it is shared. --scope project takes it over.\n`,
    )
    .join('');
}
