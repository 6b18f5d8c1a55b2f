import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { LoadedConfig } from '../../../../config/index.ts';
import { type HostEnvironment, hostEnvironment } from '../../../../hosts/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { printableLine } from '../../../../shared/printable.ts';
import { refuseContradictions, usage, type ParsedArguments } from '../../../kit/arguments.ts';
import type { CommandOutcome } from '../../../kit/command.ts';
import type { CliCommand, Context } from '../../command.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { describeFailure, failureData } from '../../../kit/output.ts';
import { HOST_DRY_RUN, NAME_FLAG, nameIn } from '../host-flags.ts';
import { applyPlans } from '../import/apply-plans.ts';
import { discovered, entryMaker, levelIn, secretOptions, SECRETS_FLAG } from '../import/import-job.ts';
import { Cancelled, createPrompter, type Prompter } from '../../../kit/prompter.ts';
import { choose, fileLabel, YARD_CHOICE, type Choices } from './choices.ts';
import { countLoads, type CountedLoads } from './host-load.ts';
import { findServers, type FoundServers } from './importable-servers.ts';
import { planInit, type ConfigPlan, type InitDone, type InitPlan } from './plan.ts';
import {
  answerText,
  cautionText,
  diffsText,
  initDoneText,
  loadText,
  planText,
  problemsText,
} from './text.ts';
import { unreportedStderr } from '../../server-output.ts';
import { writeStderr } from '../../../kit/stderr.ts';
import { createStyle, plainStyle } from '../../../kit/style.ts';
import { configPaths, notifyGateways } from '../../gateway/notify-gateways.ts';

export const initCommand: CliCommand = {
  summary: 'move the servers of your hosts behind Switchboard',
  about: [
    'Finds the MCP servers of your hosts and lets you choose which of them Switchboard runs, and which ' +
      'hosts use it. A server that several hosts have is offered once. Your own servers go into your user ' +
      'file (in ~/.config/switchboard), which only you can read; servers of a project go into the project ' +
      'file, with secrets replaced by references to environment variables.',
    'In the chosen hosts, an entry for Switchboard replaces the chosen servers. `$0 eject` restores them. ' +
      'With --beside they stay, and the host loads both. Files shared with a team (.mcp.json, ' +
      '.vscode/mcp.json, .cursor/mcp.json) change only if you name them.',
    'Nothing is written or started before you have confirmed the plan. Ctrl-C at any question changes ' +
      'nothing. At the end, it can start the servers once to count what each host loads.',
    'For scripts, --yes accepts the default of every question that no flag answers: all your own servers, ' +
      'all hosts on this machine, move, and start.',
  ],
  flags: [
    { name: 'yes', short: 'y', summary: 'do not ask' },
    { name: 'servers', value: 'NAMES', summary: 'only these servers, comma-separated; "none" for no server' },
    {
      name: 'hosts',
      value: 'NAMES',
      summary:
        'only these hosts, comma-separated; for a shared file, its path, such as .mcp.json; "none" for no host',
    },
    {
      name: 'beside',
      value: 'HOSTS',
      summary: 'keep the servers of these hosts in place; "all" for all hosts',
    },
    { name: 'move', summary: 'move the servers of all chosen hosts (default)' },
    {
      name: 'prefer',
      value: 'HOST',
      summary:
        'if the definitions of a server differ, use the one from this host, even if Switchboard already has another',
    },
    { name: 'user', summary: 'write all servers to your user file' },
    { name: 'project', summary: 'write all servers to the project file' },
    SECRETS_FLAG,
    { name: 'start', summary: 'start the servers once at the end, and show the tokens that hosts load' },
    { name: 'no-start', summary: 'start nothing' },
    NAME_FLAG,
    HOST_DRY_RUN,
  ],
  examples: [
    ['$0 init', 'interactive'],
    ['$0 init --dry-run', 'preview'],
    ['$0 init --yes', 'all your servers and hosts, without asking'],
    ['$0 init --yes --hosts cursor,codex --servers github,memory', 'some servers and hosts'],
    ['$0 init --yes --hosts none --no-start', 'only write the configuration'],
    ['$0 init --yes --hosts .mcp.json', 'only a shared file'],
    ['$0 init --yes --beside all --json', 'also keep the servers in their hosts; output as JSON'],
  ],
  exits: [
    [Exit.failed, 'a host or a server failed; the rest was done'],
    [Exit.cancelled, 'cancelled with Ctrl-C; nothing was changed'],
  ],
  async run(given, context) {
    refuseContradictions(given, [
      ['user', 'project'],
      ['start', 'no-start'],
      ['move', 'beside'],
      ['config', 'user'],
      ['config', 'project'],
    ]);
    const hasTerminal = process.stdin.isTTY && process.stderr.isTTY;
    const asks = !given.flags.has('yes') && hasTerminal;
    if (!asks && !given.flags.has('yes') && !given.flags.has('dry-run'))
      throw usage(
        'init is interactive and needs a terminal. Nothing was changed.',
        `Run it in a terminal, or add --yes to accept the defaults; ${context.variant.program} init --dry-run shows them.`,
      );
    try {
      return await prepareAndRun(given, context, asks ? await createPrompter(context.stop) : undefined);
    } catch (error) {
      if (!(error instanceof Cancelled)) throw error;
      return unchanged(Exit.cancelled);
    }
  },
};

async function prepareAndRun(
  given: ParsedArguments,
  context: Context,
  prompter: Prompter | undefined,
): Promise<CommandOutcome> {
  const { program } = context.variant;
  const where = hostEnvironment(context);
  const dryRun = given.flags.has('dry-run');
  const style = createStyle(process.stderr, context.env);
  const config = await context.loadConfig('quietly');
  const found = findServers(where);
  const remark = problemsText(found);
  const hasYard = offersYard(config);
  if (found.importable.length === 0 && !hasYard && config.servers.length === 0)
    return { ...nothingFound(found, program), remark };
  if (prompter !== undefined && remark !== '') writeStderr(remark);
  const choices = await choose(found, {
    ...{ given, where, prompter, hasYard },
    isConfigured: (name) => config.order.includes(name),
  });
  const isNothing = choices.servers.length === 0 && !choices.yard;
  if (isNothing && (config.servers.length === 0 || choices.files.length === 0))
    return unchanged(Exit.ok, noneChosen(found, where, program));
  const named = given.flags.get('config');
  const explicit = named === undefined ? undefined : resolve(context.cwd, named);
  const plan = await planInit(choices, {
    where,
    elsewhere: discovered(config),
    level: levelIn(given),
    explicit,
    variant: context.variant.configVariant,
    ...secretOptions(choices.secrets, context),
    // Servers that are removed from a team's file must be in ours.
    takesOver: choices.files.some(
      (file) => file.location.scope === 'project' && !choices.beside.includes(file),
    ),
    name: nameIn(given),
    entryMaker: (configs) => entryMaker(config, configs, context, explicit),
  });
  const caution = leftOutText(config, plan) + cautionText(plan, where, program);
  if (dryRun) return { ...preview(plan, choices, program), remark };
  if (prompter !== undefined) {
    writeStderr(`\n${planText(plan, program, style)}\n${caution}`);
    if (!(await prompter.confirm('Do this?'))) return unchanged(Exit.ok);
  }
  const done = await applyPlans(plan.configs, plan.hosts);
  const gateways = await notifyGateways(configPaths(await context.loadConfig('quietly')), context);
  const counted = choices.start
    ? await countLoads({
        plan,
        found,
        where,
        context,
        onAnswer: (answer) => writeStderr(answerText(answer, style)),
      })
    : undefined;
  return outcome({ done, counted, gateways, caution, remark }, context);
}

function noneChosen({ teamFiles }: FoundServers, where: HostEnvironment, program: string): string {
  const paths = teamFiles.filter(({ servers }) => servers.length > 0).map((file) => fileLabel(file, where));
  const next =
    paths.length === 0
      ? ''
      : `This project has servers in ${paths.join(', ')}. To include them: ${program} init --hosts ${paths.join(',')}\n`;
  return `${next}No server was chosen. `;
}

/** A project may leave out the user's own servers. */
function leftOutText({ search, file }: LoadedConfig, { configs }: InitPlan): string {
  const isLeftOut = search !== undefined && search.userDirectory === undefined;
  if (!isLeftOut || !configs.some(({ level }) => level === 'user')) return '';
  return `Your own servers are not used in this project: ${printableLine(file ?? '')} has "extends": false.\n`;
}

function unchanged(exitCode: number, why = ''): CommandOutcome {
  return { exitCode, data: { cancelled: true }, text: () => `${why}Nothing was changed.\n` };
}

/** Whether this project has services that agents could see and run but do not yet. */
function offersYard({ servers, directory }: LoadedConfig): boolean {
  if (!existsSync(join(directory, 'switchyard.toml'))) return false;
  return !servers.some((server) => 'builtin' in server || server.name === YARD_CHOICE);
}

function nothingFound({ hosts }: FoundServers, program: string): CommandOutcome {
  const titles = hosts.map(({ location }) => location.host.title);
  const where =
    titles.length === 0 ? 'No host was found on this machine.' : `No servers found in ${titles.join(', ')}.`;
  return {
    data: { dryRun: false, configs: [], hosts: [], started: null, gateways: [] },
    text: () =>
      `${where} Nothing was changed.\nAdd a server, and run \`${program} init\` again:\n` +
      `  ${program} add memory -- npx -y @modelcontextprotocol/server-memory\n`,
  };
}

function preview(plan: InitPlan, choices: Choices, program: string): CommandOutcome {
  return {
    data: {
      dryRun: true,
      configs: plan.configs.map((config) => ({ ...configData(config), changed: false, backup: null })),
      hosts: plan.hosts.map((host) => ({ ...hostData(host), changed: false, backup: null })),
      started: null,
      gateways: [],
      diff: diffsText(plan, plainStyle),
    },
    text: (style) =>
      `${planText(plan, program, style)}\n${diffsText(plan, style)}` +
      (choices.start ? '\nThe servers would then be started once.\n' : ''),
  };
}

function configData({ level, edited, planned, yard }: ConfigPlan): object {
  return {
    level,
    file: edited.file,
    servers: planned.map(({ server, as, state, variables }) => ({
      name: as,
      state,
      host: server.location.host.name,
      file: server.location.file,
      variables: variables.map(({ name }) => name),
    })),
    yard,
  };
}

function hostData({ file, name, moves, stays }: InitPlan['hosts'][number]): object {
  return {
    host: file.location.host.name,
    scope: file.location.scope,
    file: file.location.file,
    entry: name,
    moved: moves.map((server) => server.name),
    beside: stays.map((server) => server.name),
  };
}

interface Finished {
  readonly done: InitDone;
  readonly counted: CountedLoads | undefined;
  readonly gateways: Awaited<ReturnType<typeof notifyGateways>>;
  readonly caution: string;
  readonly remark: string;
}

function outcome({ done, counted, gateways, caution, remark }: Finished, context: Context): CommandOutcome {
  const { program } = context.variant;
  const failures = done.hosts.flatMap(({ change }) => (change instanceof SwitchboardError ? [change] : []));
  const failed = (counted?.probed ?? []).flatMap((each) => (each.kind === 'failed' ? [each] : []));
  const words = failed.map(({ server, error }) => unreportedStderr(context.unseenOutput(server.name), error));
  return {
    exitCode: failures.length + failed.length > 0 ? Exit.failed : Exit.ok,
    data: {
      dryRun: false,
      configs: done.configs.map(({ plan, edited }) => ({
        ...configData(plan),
        changed: edited.before !== edited.after,
        backup: edited.backup ?? null,
      })),
      hosts: done.hosts.map(({ plan, change }) => ({
        ...hostData(plan),
        ...(change instanceof SwitchboardError
          ? { changed: false, backup: null, moved: [], error: failureData(change) }
          : { changed: change.before !== change.after, backup: change.backup ?? null }),
      })),
      started: counted === undefined ? null : startedData(counted),
      gateways,
    },
    remark: [remark, ...words].join(''),
    complaint: [...failures, ...failed.map(({ error }) => error)]
      .map((error) => describeFailure(error, program))
      .join(''),
    text: (style) =>
      [
        initDoneText(done, program, style),
        caution,
        ...(counted === undefined ? [] : [loadText(counted.loads, style)]),
      ]
        .filter((part) => part !== '')
        .join('\n'),
  };
}

function startedData({ probed, loads }: CountedLoads): object {
  return {
    servers: probed.map((each) => ({
      name: each.server.name,
      ms: each.ms,
      ...(each.kind === 'failed'
        ? { ok: false, error: failureData(each.error) }
        : { ok: true, tools: each.tools.length }),
    })),
    hosts: loads.map(({ host, ...load }) => ({ host: host.name, ...load })),
  };
}
