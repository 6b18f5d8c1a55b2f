import { counted } from '../../../kit/text.ts';
import {
  secretsFor,
  withoutServer,
  withServer,
  type LoadedConfig,
  type ServerDefinition,
} from '../../../../config/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { printableLine } from '../../../../shared/printable.ts';
import { newServerFrom, type NewServer } from './new-server.ts';
import { usage } from '../../../kit/arguments.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  notifyOfChange,
  type ConfigChange,
} from '../../config/change-config.ts';
import type { CliCommand, Context } from '../../command.ts';
import { commandText, type RedactedCommand } from '../../../../config/index.ts';
import { configTarget, type ConfigTarget, definedElsewhere } from '../../config/config-target.ts';
import { secretsOf } from '../../config/project-secrets.ts';
import { Exit } from '../../../../shared/exit-codes.ts';
import { describeFailure, failureData, type FailureData } from '../../../kit/output.ts';
import { unreportedStderr } from '../../server-output.ts';
import { spellOutPasted, spellOutPackage } from './spell-out.ts';
import { REMOTE_FLAGS } from './remote-flags.ts';
import type { Style } from '../../../kit/style.ts';
import { probeServers } from '../probe-servers.ts';
import { notifiedText } from '../../gateway/notify-gateways.ts';

/** The outcome of starting the server once. */
type Trial =
  | { readonly ok: true; readonly ms: number; readonly tools: readonly string[] }
  | { readonly ok: false; readonly ms: number; readonly error: FailureData };

export const addCommand: CliCommand = {
  words: '<name> [flags] -- <command> [args…] | <name> --url URL [flags] | <package or URL>',
  commandAt: 1,
  about: [
    'Adds a server to "mcpServers" in the configuration file$LAYERS[: the project file if it exists, ' +
      'otherwise your user file, which applies to every project. Add --project or --user to choose]. The ' +
      'file is created if it does not exist, unless --config names it. Comments, order and layout are kept, ' +
      'and a backup is written to the state directory. Running gateways with this configuration reload it.',
    'The words after -- are the command that starts the server, as you would type it. You can omit -- if ' +
      'no argument starts with a dash. The command is taken literally: ${NAME} is not expanded.',
    '--url adds a remote server, reached over HTTP. A server with a login needs no header: see `$0 help ' +
      'auth`.',
    'In --env, --header and --url, write ${NAME} to refer to an environment variable, so that no secret ' +
      'ends up in the file. Use single quotes, or your shell replaces it.',
    'A URL, or an npm package whose name has a scope or contains "mcp", is enough: the package is started ' +
      'with npx -y, and the server is named after it. You can also paste a command for another program, ' +
      'such as `claude mcp add …`.',
    '--start starts the server once and lists its tools, before running gateways reload. If it does not ' +
      'start, the entry is kept and the exit code is 1. Without --start, only a missing command is ' +
      'reported.',
  ],
  flags: [
    {
      name: 'env',
      short: 'e',
      value: 'NAME=VALUE',
      many: true,
      summary: 'an environment variable for the server; repeatable',
    },
    {
      name: 'cwd',
      value: 'DIR',
      summary:
        "its working directory (default: the configuration's directory$LAYERS[; in the user file, the project])",
    },
    ...REMOTE_FLAGS,
    {
      name: 'isolation',
      value: 'session|shared|call',
      summary: 'one server process per client, one for all clients, or one for each tool call',
    },
    {
      name: 'timeout-ms',
      value: 'N',
      summary: 'time limit for starting the server, in ms (default 60000); saved in its entry',
    },
    { name: 'start', summary: 'start it once and list its tools' },
    { name: 'replace', summary: 'replace an existing entry with this name' },
    ...CHANGE_FLAGS,
  ],
  spellOut: (argv) => spellOutPasted(argv, addCommand.flags),
  examples: [
    ['$0 add @modelcontextprotocol/server-memory', 'an npm package, named memory'],
    ['$0 add notes -- npx -y @modelcontextprotocol/server-memory', 'the same with another name'],
    ["$0 add github -e 'TOKEN=${GH_TOKEN}' -- github-mcp stdio", 'with a token from your environment'],
    [
      '$0 add claude mcp add docs --transport http https://example.com/mcp',
      'a pasted command for Claude Code',
    ],
    ['$0 add mine node dist/server.js', 'no argument starts with a dash, so -- is optional'],
    ['$0 add memory --user -- npx -y @modelcontextprotocol/server-memory', 'for all your projects'],
    [
      '$0 add db --env PGHOST=localhost --cwd tools/db -- node server.js --read-only',
      'with a variable and a working directory',
    ],
    ['$0 add memory --start -- npx -y @modelcontextprotocol/server-memory', 'and check that it starts'],
    ['$0 add docs --url https://example.com/mcp', 'a remote server'],
    [
      "$0 add api --url https://example.com/mcp --header 'Authorization: Bearer ${API_TOKEN}'",
      'with a token from the environment',
    ],
    [
      '$0 add old --url http://localhost:3000/sse --transport sse --isolation shared',
      'an older SSE server, shared by all clients',
    ],
    ['$0 add memory --replace --dry-run -- memory-server', 'preview the change'],
  ],
  exits: [
    [Exit.failed, 'with --start: the server does not start; or a running gateway could not be notified'],
  ],
  async run(typed, context) {
    const given = spellOutPackage(typed);
    const { flags } = given;
    const { program } = context.variant;
    const [name] = given.words;
    const prepare = newServerFrom(given, program);
    if (name === undefined || prepare === undefined) {
      throw usage(
        `add needs a name${flags.has('url') ? '' : ' and a command'}.`,
        `For example: ${program} add memory -- npx -y @modelcontextprotocol/server-memory, or ` +
          `${program} add docs --url https://example.com/mcp`,
      );
    }
    const loaded = await context.loadConfig('or new');
    const secrets = await secretsFor([[...given.lists.values()], flags.get('url')], context.env);
    const config = { ...loaded, secrets };
    const target = configTarget(given, config, context);
    const addition = prepare(name, config, target, context);
    const elsewhere = definedElsewhere(name, config, target.file);
    // For the same name, the project's server takes precedence over the user's; within one of the two, it would be
    // ambiguous.
    if (elsewhere?.scope === target.scope) throw takenElsewhere(name, elsewhere.file);
    const secret = secretsOf('', name, addition.entry).length > 0;
    let replaced = false;
    const { done, preview } = await changeConfig({ ...target, secret }, given, context, (text) => {
      replaced = withoutServer(text, name) !== text;
      if (replaced && !flags.has('replace')) throw taken(name, config, target, program);
      return withServer(text, name, addition.entry);
    });
    const trial = flags.has('start') ? await tryOut(name, addition, config, context) : undefined;
    const { gateways, exitCode } = await notifyOfChange(done, [done.file], given, context);
    return {
      exitCode: trial?.report.ok === false ? Exit.failed : exitCode,
      data: {
        server: { name, ...addition.shown, ...addition.data },
        replaced,
        elsewhere: elsewhere ?? null,
        ...done,
        gateways,
        ...(trial === undefined ? {} : { start: trial.report }),
      },
      remark: addition.remark(trial !== undefined) + (trial?.remark ?? ''),
      complaint:
        trial?.error === undefined ? undefined : complaintOf(trial.error, name, done.dryRun, program),
      text: (style) =>
        [
          preview(style) || outcomeText(name, addition.shown, replaced, done),
          elsewhere === undefined ? '' : precedenceText(name, elsewhere),
          trial?.report.ok === true ? trialText(trial.report, addition.shown, style) : '',
          done.changed ? notifiedText(gateways) : '',
        ].join(''),
    };
  },
};

function taken(
  name: string,
  { disabled }: LoadedConfig,
  { file }: ConfigTarget,
  program: string,
): SwitchboardError {
  const off = disabled.includes(name) ? ', which is disabled' : '';
  return new SwitchboardError(
    'SERVER_EXISTS',
    `${file ?? 'The configuration'} already has a server named ${JSON.stringify(name)}${off}.`,
    {
      hint: `Remove it first (${program} remove ${name}), overwrite it with --replace, or choose another name.`,
    },
  );
}

function takenElsewhere(name: string, file: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_EXISTS',
    `A server named ${JSON.stringify(name)} is already defined in ${file}.`,
    { hint: 'Edit that file, or choose another name.' },
  );
}

/** Which of two files that define a server with this name takes precedence. */
function precedenceText(name: string, { file, scope }: ServerDefinition['origin']): string {
  const shown = JSON.stringify(printableLine(name));
  return scope === 'user'
    ? `In this project it overrides ${shown} in ${printableLine(file)}.\n`
    : `In this project ${shown} in ${printableLine(file)} overrides it.\n`;
}

/** Starts the server once, from its definition alone, and stops it with the command. */
async function tryOut(
  name: string,
  addition: NewServer,
  config: LoadedConfig,
  context: Context,
): Promise<{ report: Trial; error?: SwitchboardError; remark?: string }> {
  const failed = (error: SwitchboardError, ms: number) => ({
    report: { ok: false, ms, error: failureData(error) } as const,
    error,
    remark: unreportedStderr(context.unseenOutput(name), error),
  });
  let definition: ServerDefinition;
  try {
    definition = addition.define();
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return failed(error, 0);
  }
  const app = context.open({ ...config, servers: [definition], compounds: [] });
  const [probed] = await probeServers(app, [definition], context);
  if (probed === undefined) throw new Error('The server was not started.');
  const { ms } = probed;
  if (probed.kind === 'failed') return failed(probed.error, ms);
  return { report: { ok: true, ms, tools: probed.tools.map((tool) => tool.name) } };
}

function complaintOf(error: SwitchboardError, name: string, dryRun: boolean, program: string): string {
  const stays = `  The entry was kept. To remove it: ${program} remove ${printableLine(name)}\n`;
  return describeFailure(error, program) + (dryRun ? '' : stays);
}

function outcomeText(name: string, shown: RedactedCommand, replaced: boolean, done: ConfigChange): string {
  if (!done.changed) return unchanged(name, done.file);
  const quoted = JSON.stringify(printableLine(name));
  const what = replaced ? `Replaced ${quoted} in` : `Added ${quoted} to`;
  // On its own line, because a full stop after it would look like part of it.
  return `${what} ${printableLine(done.file)}.${backupText(done)}\n  ${commandText(shown)}\n`;
}

function unchanged(name: string, file: string): string {
  return `${JSON.stringify(printableLine(name))} is already in ${printableLine(file)}, with the same settings.\n`;
}

function trialText(
  { ms, tools }: Extract<Trial, { ok: true }>,
  { url }: RedactedCommand,
  style: Style,
): string {
  const did = url === undefined ? 'Started it once' : 'Reached it';
  const names = tools.map((tool) => `  ${style.good(printableLine(tool))}\n`).join('');
  return `${did}, in ${ms} ms: ${counted(tools.length, 'tool')}${tools.length === 0 ? '.' : ':'}\n${names}`;
}
