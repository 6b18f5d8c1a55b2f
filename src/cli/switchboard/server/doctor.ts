import { accessSync, constants } from 'node:fs';
import {
  CONFIG_NAMES,
  locateConfig,
  describeWarning,
  httpTokenOf,
  type CompoundDefinition,
  type LoadedConfig,
  type ServerDefinition,
} from '../../../config/index.ts';
import { cgroupDirectory } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isNodeAtLeast, OLDEST_NODE } from '../../../shared/node-version.ts';
import { userConfigDirectory } from '../../../shared/paths.ts';
import { plain, plainLine, printableLine } from '../../../shared/printable.ts';
import { statOf } from '../../../shared/regular-file.ts';
import type { CliCommand, Context } from '../command.ts';
import { missingParts, partsText } from './compounds.ts';
import { logDirectoryOf } from '../configuration.ts';
import { commandText } from '../../../config/index.ts';
import {
  modelLine,
  checkConfiguredServer,
  type ServerProblem,
  type ServerCheck,
  type StartReport,
} from './check-server.ts';
import { expandPlaceholders, type CliVariant } from '../variants.ts';
import { Exit } from '../../../shared/exit-codes.ts';
import { checkSecrets } from './check-secrets.ts';
import { failureData } from '../../kit/output.ts';
import { warnOfSecrets } from '../config/project-secrets.ts';
import type { Style } from '../../kit/style.ts';
import type { ProbedServer } from './probe-servers.ts';
import { otherWarnings, unusableData, selectServers } from './select-servers.ts';
import { failedOutput, inspectServers, startServers } from './inspect-servers.ts';

interface CompoundExam {
  readonly name: string;
  readonly ok: boolean;
  readonly parts: string;
  readonly problems: readonly string[];
}

export const doctorCommand: CliCommand = {
  about: [
    'Checks the Node version and the configuration, and shows how processes of servers are found. For each ' +
      'server, checks that its command is on its PATH, that its working directory exists, and which variables ' +
      'it gets (names only); for a remote server, its address and header names; for a built-in server, its ' +
      'project; and if a language model is in front of it, that the model is available. Also names ' +
      'tools that have changed since their first use; `$0 trust` shows the changes.',
    'Nothing is started or connected to unless you add --start. Then each server is started or connected ' +
      'to and lists its tools, and the tool names in the configuration are compared with them.',
  ],
  flags: [
    { name: 'start', summary: 'also start each server' },
    { name: 'verbose', summary: 'list the environment variables of each server (names only)' },
  ],
  examples: [
    ['$0 doctor', 'check without starting anything'],
    ['$0 doctor --start', 'also start every server'],
    ['$0 doctor github --verbose', 'one server, with its environment variables'],
    ["$0 doctor --json | jq '.servers[] | select(.ok | not)'", 'servers with problems, as JSON'],
  ],
  exits: [[Exit.failed, 'a problem was found: in the configuration or a server, or a warning']],
  async run({ flags, words }, context) {
    const node = {
      version: process.versions.node,
      ok: isNodeAtLeast(OLDEST_NODE),
    };
    let config: LoadedConfig;
    try {
      config = warnOfSecrets(await context.loadConfig('quietly'), context.variant.program);
    } catch (error) {
      if (!(error instanceof SwitchboardError)) throw error;
      return {
        exitCode: Exit.failed,
        data: {
          ok: false,
          node,
          config: { error: failureData(error) },
          warnings: [],
          servers: [],
          disabled: [],
        },
        text: (style) => nodeText(node, style) + bad(error.message, error.hint, style),
      };
    }
    const wanted = named(config, words, context);
    const app = context.open(config, 'Run its command in a terminal to see its output.');
    const inspected = flags.has('start')
      ? await startServers(app, wanted, context)
      : await inspectServers(app, wanted, context);
    await app.trust.settle();
    const started = inspected.flatMap(({ probe }) => probe ?? []);
    const shown = await Promise.all(
      inspected.map(async (each) => ({
        shownAs: each.shownAs,
        server: await checkConfiguredServer(each, {
          env: context.env,
          review: app.trust.of(each.server),
          program: context.variant.program,
        }),
      })),
    );
    const servers = shown.map(({ server }) => server);
    const compounds = config.compounds.map((compound) => examineCompound(compound, config, started));
    const logs = logProblem(logDirectoryOf(config, context, context.variant));
    const token = context.variant.listens === undefined ? undefined : tokenProblem(config, context.env);
    const processes = processTracking();
    const secrets = await checkSecrets(config, context.env);
    const { warnings, disabled } = config;
    const ok =
      node.ok &&
      (servers.length > 0 || config.settings.management.enabled) &&
      [...servers, ...compounds].every((each) => each.ok) &&
      logs === undefined &&
      token === undefined &&
      !warnings.some(isWrong);
    return {
      exitCode: ok ? Exit.ok : Exit.failed,
      data: {
        ok,
        node,
        processes: { foundBy: processes.foundBy },
        config: {
          file: config.file ?? null,
          files: config.files,
          directory: config.directory,
          ...(config.search === undefined ? {} : { own: ownPlace(context) }),
          lookedFor: configNames(context.variant),
          ...(logs === undefined ? {} : { problem: logs }),
          ...(token === undefined ? {} : { httpToken: token }),
        },
        ...(secrets === undefined ? {} : { secrets: secrets.data }),
        warnings,
        servers,
        unusable: config.unusable.map(unusableData),
        compounds,
        disabled,
      },
      remark: failedOutput(inspected, context),
      text: (style) =>
        nodeText(node, style) +
        `- ${processes.text}\n` +
        configText(config, context, style) +
        (secrets === undefined ? '' : `- ${printableLine(secrets.text)}\n`) +
        [logs, token].map((each) => (each ? bad(each.message, each.hint, style) : '')).join('') +
        shown
          .map(({ server, shownAs }) => serverText(server, shownAs, flags.has('verbose'), style))
          .join('') +
        (words.length === 0 ? config.unusable : [])
          .map(({ name, reason, nextStep }) =>
            bad(`${printableLine(name)} is not available: ${reason}`, nextStep, style),
          )
          .join('') +
        compounds.map((compound) => compoundText(compound, style)).join('') +
        disabled.map((name) => `- ${printableLine(name)} is disabled\n`).join('') +
        (ok ? '' : `\n${style.bad('Problems found')}: see the lines with ✗ and !.\n`),
    };
  },
};

/** How the processes of a server are found when it is stopped. */
function processTracking(): { readonly foundBy: readonly string[]; readonly text: string } {
  const what = 'processes of servers are found by';
  if (process.platform === 'win32') return { foundBy: ['parent'], text: `${what} their parents` };
  if (process.platform !== 'linux') return { foundBy: ['group'], text: `${what} process group and parents` };
  const directory = cgroupDirectory();
  const ways = ['session', 'environment'];
  return directory === undefined
    ? { foundBy: ways, text: `${what} session and environment; no writable cgroup v2 was found` }
    : { foundBy: [...ways, 'cgroup'], text: `${what} session, environment and cgroup (in ${directory})` };
}

/** The servers to check. The error says why one was skipped; otherwise the warnings may. */
function named(
  config: LoadedConfig,
  words: readonly string[],
  { log }: Context,
): readonly ServerDefinition[] {
  try {
    return selectServers(config, words);
  } catch (error) {
    const told = error instanceof SwitchboardError && error.code === 'SERVER_UNUSABLE';
    if (!told) for (const warning of config.warnings) log[warning.level](describeWarning(warning));
    throw error;
  }
}

/** What would prevent it from serving over HTTP; nothing else needs the token. */
function tokenProblem(config: LoadedConfig, env: NodeJS.ProcessEnv): ServerProblem | undefined {
  try {
    httpTokenOf(config, env);
    return undefined;
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return { message: `--http would fail: ${error.message}`, hint: error.hint ?? '' };
  }
}

function isWrong({ level }: { readonly level: string }): boolean {
  return level === 'warn';
}

/** The names of configurations that it searches for. */
function configNames({ configVariant }: CliVariant): readonly string[] {
  return configVariant?.configFile === undefined ? CONFIG_NAMES : [configVariant.configFile];
}

/** With this problem, serving would end immediately. Whether the directory can be created shows only then. */
function logProblem(directory: string | undefined): ServerProblem | undefined {
  if (directory === undefined) return undefined;
  const hint = 'Make it a directory that you can write to, or choose another one.';
  const found = statOf(directory);
  if (found === undefined) return undefined;
  if (!found.isDirectory()) return { message: `the log directory ${directory} is not a directory`, hint };
  try {
    accessSync(directory, constants.W_OK);
    return undefined;
  } catch {
    return { message: `the log directory ${directory} is not writable`, hint };
  }
}

function examineCompound(
  compound: CompoundDefinition,
  { servers }: LoadedConfig,
  started: readonly ProbedServer[],
): CompoundExam {
  const gone = compound.subtools
    .filter(({ server }) => !servers.some((each) => each.name === server))
    .map(({ server }) => `unknown server ${JSON.stringify(server)}; its tools are left out`);
  const problems = [...gone, ...missingParts(compound, started)];
  return { name: compound.name, ok: problems.length === 0, parts: partsText(compound), problems };
}

function nodeText({ version, ok }: { version: string; ok: boolean }, style: Style): string {
  return ok
    ? `${style.good('✓')} Node ${version}\n`
    : bad(`Node ${version} is too old`, `Install Node ${OLDEST_NODE} or newer.`, style);
}

function ownPlace({ cwd, env }: Context): { readonly path: string; readonly exists: boolean } {
  const { path, file } = locateConfig('user', { cwd, userDirectory: userConfigDirectory(env) });
  return { path, exists: file !== undefined };
}

/** The user file if it is not read; undefined if it is, or if none is searched for. */
function ownConfig({ files, search, file }: LoadedConfig, context: Context): string | undefined {
  if (search === undefined || files.some(({ scope }) => scope === 'user')) return undefined;
  const { path, exists } = ownPlace(context);
  if (!exists) return `no user file (would be ${path})`;
  return `your user file ${path} is not used: ${file ?? 'the project'} has "extends": false`;
}

function configText(config: LoadedConfig, context: Context, style: Style): string {
  const { files, directory, servers, unusable, disabled, settings } = config;
  const { variant } = context;
  const own = ownConfig(config, context);
  const lines = [
    ...(files.length === 0
      ? [
          `- no configuration file in ${printableLine(directory)} (looked for ${configNames(variant).join(', ')})\n`,
        ]
      : []),
    ...files.map(({ path, scope, leftOut }) => {
      const whose = scope === 'user' ? ' (user file)' : '';
      const mark = leftOut === true ? style.bad('✗') : style.good('✓');
      return `${mark} configuration ${printableLine(path)}${whose}${leftOut === true ? ': ignored' : ''}\n`;
    }),
    ...(own === undefined ? [] : [`- ${printableLine(own)}\n`]),
    ...otherWarnings(config).map(
      (warning) => `${isWrong(warning) ? style.caution('!') : '-'} ${describeWarning(warning)}\n`,
    ),
  ];
  if (servers.length + unusable.length === 0) {
    const what = disabled.length === 0 ? 'no server is configured' : 'all servers are disabled';
    const elsewhere =
      variant.configVariant?.discovers === false ? '' : ' or .mcp.json, or as mcps/NAME/.mcp.json';
    const how = expandPlaceholders(
      variant,
      `Add one with \`$0 add NAME -- COMMAND\` or \`--url URL\`, or to "mcpServers" in $CONFIG${elsewhere}.`,
    );
    // Servers may be added at run time.
    lines.push(settings.management.enabled ? `- ${what}; clients can add servers\n` : bad(what, how, style));
  }
  return lines.join('');
}

function serverText(server: ServerCheck, presentation: string, verbose: boolean, style: Style): string {
  const { name, ok, source, problems, cautions, start } = server;
  const lines = [
    ...linesOf(server, verbose),
    ...(server.language === undefined ? [] : [['model', modelLine(server.language)]]),
    ['defined', source.key === '' ? source.file : `${source.file} (${source.key})`],
    ...(start?.ok === true ? [[server.kind === 'stdio' ? 'started' : 'answered', startText(start)]] : []),
  ].map(([title, value]) => `    ${style.dim(title.padEnd(8))} ${printableLine(value)}\n`);
  const wrong = problems.map(({ message, hint }) => `  ${bad(message, hint, style)}`);
  // If something else is clearly wrong, the failed start is not worth mentioning.
  if (start?.error !== undefined && wrong.length === 0)
    wrong.push(`  ${bad(start.error.message, start.error.hint, style)}`);
  for (const { message, hint } of cautions)
    wrong.push(`  ${style.caution('!')} ${plain(message)}\n    ${plain(hint)}\n`);
  for (const setting of start?.unmatched ?? [])
    wrong.push(`  ${style.caution('!')} ${describeWarning(setting)}\n`);
  const head = `${ok ? style.good('✓') : style.bad('✗')} ${style.bold(printableLine(name))} → ${presentation}\n`;
  return head + wrong.join('') + lines.join('');
}

function linesOf(server: ServerCheck, verbose: boolean): (readonly [string, string])[] {
  switch (server.kind) {
    case 'stdio':
      return programLines(server, verbose);
    case 'remote':
      return remoteLines(server);
    case 'builtin':
      return [
        ['builtin', server.builtin ?? ''],
        ['project', server.root ?? 'not found'],
      ];
  }
}

function programLines(
  server: Extract<ServerCheck, { kind: 'stdio' }>,
  verbose: boolean,
): (readonly [string, string])[] {
  const { program, cwd, env, inheritEnv, sandbox } = server;
  return [
    ['runs', commandText(server)],
    ['program', program ?? 'not found'],
    ['in', cwd],
    ...(sandbox === undefined ? [] : [['sandbox', sandboxText(sandbox)] as const]),
    [
      'env',
      `${env.length} variables${inheritEnv === true ? ', including everything Switchboard inherits' : ''}`,
    ],
    ...(verbose ? [['', env.join(' ')] as const] : []),
  ];
}

function sandboxText({
  write,
  network,
}: NonNullable<Extract<ServerCheck, { kind: 'stdio' }>['sandbox']>): string {
  const files = write.length === 0 ? 'can change no files' : `can change only ${write.join(', ')}`;
  return `${files}; ${network ? 'full network access' : 'no network'}; sees only its own processes`;
}

function remoteLines(server: Extract<ServerCheck, { kind: 'remote' }>): (readonly [string, string])[] {
  const { transport, headers } = server;
  return [
    ['at', commandText(server)],
    ['type', transport === 'auto' ? 'http or sse, detected automatically' : transport],
    ['headers', headers.length === 0 ? 'none' : headers.join(', ')],
  ];
}

function compoundText({ name, ok, parts, problems }: CompoundExam, style: Style): string {
  const head = `${ok ? style.good('✓') : style.bad('✗')} ${style.bold(name)} → ${printableLine(parts)}\n`;
  return head + problems.map((problem) => `  ${bad(problem, undefined, style)}`).join('');
}

function startText({ ms, serverInfo, protocolVersion, tools }: StartReport): string {
  const info = (serverInfo ?? {}) as { name?: unknown; version?: unknown };
  const said = [info.name, info.version].filter((part) => typeof part === 'string').join(' ');
  const speaks = protocolVersion === undefined ? '' : `, protocol ${protocolVersion}`;
  return `${plainLine(said).slice(0, 120) || 'a server without a name'}${speaks}, ${tools ?? 0} tools, in ${ms} ms`;
}

function bad(message: string, hint: string | undefined, style: Style): string {
  const next = hint === undefined ? '' : `    ${plain(hint)}\n`;
  return `${style.bad('✗')} ${plain(message)}\n${next}`;
}
