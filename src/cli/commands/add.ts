import { withoutServer, withServer, type LoadedConfig, type ServerDefinition } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { newServerFrom, type NewServer } from '../new-server.ts';
import { usage } from '../arguments.ts';
import { spellOutPackage } from '../bare-package.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  reasonNotToNotify,
  type ConfigChange,
} from '../change-config.ts';
import type { CliCommand, Context } from '../command.ts';
import { commandText, type RedactedCommand } from '../command-line.ts';
import { configTarget, type ConfigTarget } from '../config-target.ts';
import { definedElsewhere } from '../defined-elsewhere.ts';
import { describeFailure, Exit, failureData, type FailureData } from '../failure.ts';
import { unreportedStderr } from '../unreported-stderr.ts';
import { spellOutPasted } from '../pasted-add.ts';
import { REMOTE_FLAGS } from '../remote-flags.ts';
import type { Style } from '../style.ts';
import { probeServers } from '../probe-servers.ts';
import { notifyGateways, notifiedText } from '../notify-gateways.ts';

/** How it went when the server was started once. */
type Trial =
  | { readonly ok: true; readonly ms: number; readonly tools: readonly string[] }
  | { readonly ok: false; readonly ms: number; readonly error: FailureData };

export const addCommand: CliCommand = {
  name: 'add',
  words: '<name> [flags] -- <command> [args…] | <name> --url URL [flags] | <package>',
  commandAt: 1,
  summary: 'put a server into the configuration',
  about: [
    'Writes a server into "mcpServers" of the configuration file$LAYERS[: that of the project where there is one, else ' +
      'your own, which holds in every project. --project and --user say which]. It makes the file where there is none; ' +
      'a file that is named with --config must be there. Comments, order and ' +
      'all else in the file stay as they are, and the old text is kept in the state directory. Then gateways that run ' +
      'with this configuration reload it, so the server is available at once.',
    'What follows -- is the command that starts the server, as you would type it. -- may be left out ' +
      'where no argument begins with a dash. The command is taken literally: ${NAME} stays these characters.',
    'With --url it is a remote server, reached over HTTP. A server that asks for a login needs no ' +
      'header: see `$0 help auth`.',
    'In --env, --header and --url, ${NAME} is a reference to the environment and is written as such, so that no secret ' +
      'ends up in the file. Put it in single quotes, or your shell fills it in.',
    'The name of an npm package with a scope or "mcp" in it, or an address, is enough: a package is started with npx -y, ' +
      'and the server is named after it. A line for another program, such as `claude mcp add …`, can be pasted as it is.',
    'With --start the server is also started once, before running gateways reload, and its tools are listed, so ' +
      'that mistakes show at once. If it does not start, the entry stays and the exit code is 1. Without --start, you see ' +
      'where the command is not found.',
  ],
  flags: [
    {
      name: 'env',
      short: 'e',
      value: 'NAME=VALUE',
      many: true,
      summary: 'a variable of its environment, besides yours',
    },
    { name: 'cwd', value: 'DIR', summary: "where it is started (default: the configuration's directory)" },
    ...REMOTE_FLAGS,
    {
      name: 'isolation',
      value: 'session|shared',
      summary: 'where several clients are connected: one server for each of them, or one for all',
    },
    {
      name: 'timeout-ms',
      value: 'N',
      summary: 'how long it may take to start, in ms (default 60000); kept in its entry',
    },
    { name: 'start', summary: 'also start it once, and list its tools' },
    { name: 'replace', summary: 'write over an entry of this name, all of it' },
    ...CHANGE_FLAGS,
  ],
  spellOut: (argv) => spellOutPasted(argv, addCommand.flags),
  examples: [
    ['$0 add @modelcontextprotocol/server-memory', 'a package, named memory'],
    ['$0 add notes -- npx -y @modelcontextprotocol/server-memory', 'the same under another name'],
    ["$0 add github -e 'TOKEN=${GH_TOKEN}' -- github-mcp stdio", 'with a token from your environment'],
    ['$0 add claude mcp add docs --transport http https://example.com/mcp', 'a line for Claude Code'],
    ['$0 add mine node dist/server.js', 'no dashes, so no --'],
    ['$0 add memory --user -- npx -y @modelcontextprotocol/server-memory', 'for all your projects'],
    ['$0 add db --env PGHOST=localhost --cwd tools/db -- node server.js --read-only', 'flags of both'],
    ['$0 add memory --start -- npx -y @modelcontextprotocol/server-memory', 'and see whether it works'],
    ['$0 add docs --url https://example.com/mcp', 'a remote server'],
    [
      "$0 add api --url https://example.com/mcp --header 'Authorization: Bearer ${API_TOKEN}'",
      'with a token',
    ],
    ['$0 add old --url http://localhost:3000/sse --transport sse --isolation shared', 'an older one'],
    ['$0 add memory --replace --dry-run -- memory-server', 'what would change'],
  ],
  exits: [[Exit.failed, 'with --start: it does not start; or a running gateway could not be notified']],
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
    const config = await context.loadConfig('or new');
    const target = configTarget(given, config, context);
    const addition = prepare(name, config, target, context);
    const elsewhere = definedElsewhere(name, config, target.file);
    // Of one name, the project's server wins over the user's; within one of the two, nobody could tell which is meant.
    if (elsewhere?.scope === target.scope) throw takenElsewhere(name, elsewhere.file);
    let replaced = false;
    const { done, preview } = await changeConfig(target, given, context, (text) => {
      replaced = withoutServer(text, name) !== text;
      if (replaced && !flags.has('replace')) throw taken(name, config, target, program);
      return withServer(text, name, addition.entry);
    });
    const trial = flags.has('start') ? await tryOut(name, addition, config, context) : undefined;
    const quiet = reasonNotToNotify(done, given);
    const gateways = notifyGateways([done.file], context, quiet);
    const untold = quiet === undefined && gateways.some((each) => !each.told);
    return {
      exitCode: trial?.report.ok === false || untold ? Exit.failed : Exit.ok,
      data: {
        server: { name, ...addition.shown, ...addition.data },
        replaced,
        elsewhere: elsewhere ?? null,
        ...done,
        gateways,
        ...(trial === undefined ? {} : { start: trial.report }),
      },
      remark: [addition.remark(trial !== undefined), trial?.remark].filter(Boolean).join('') || undefined,
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
  const off = disabled.includes(name) ? ', which is turned off' : '';
  return new SwitchboardError(
    'SERVER_EXISTS',
    `There is a server named ${JSON.stringify(name)} in ${file ?? 'the configuration'} already${off}.`,
    {
      hint: `Remove it first (${program} remove ${name}), write over it with --replace, or choose another name.`,
    },
  );
}

function takenElsewhere(name: string, file: string): SwitchboardError {
  return new SwitchboardError(
    'SERVER_EXISTS',
    `There is a server named ${JSON.stringify(name)} already, defined in ${file}.`,
    { hint: 'Edit that file, or choose another name.' },
  );
}

/** Which one counts where two files define a server of this name. */
function precedenceText(name: string, { file, scope }: ServerDefinition['origin']): string {
  const shown = JSON.stringify(printableLine(name));
  return scope === 'user'
    ? `In this project it overrides ${shown} in ${printableLine(file)}.\n`
    : `In this project ${shown} in ${printableLine(file)} overrides it.\n`;
}

/** Starts the server once, from its definition alone, and ends it with the command. */
async function tryOut(
  name: string,
  addition: NewServer,
  config: LoadedConfig,
  context: Context,
): Promise<{ report: Trial; error?: SwitchboardError; remark?: string | undefined }> {
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
  const { ms } = probed!;
  if (probed!.kind === 'failed') return failed(probed!.error, ms);
  return { report: { ok: true, ms, tools: probed!.tools.map((tool) => tool.name) } };
}

function complaintOf(error: SwitchboardError, name: string, dryRun: boolean, program: string): string {
  const stays = `  The entry stays; ${program} remove ${printableLine(name)} takes it out again.\n`;
  return describeFailure(error, program) + (dryRun ? '' : stays);
}

function outcomeText(name: string, shown: RedactedCommand, replaced: boolean, done: ConfigChange): string {
  if (!done.changed) return unchanged(name, done.file);
  const quoted = JSON.stringify(printableLine(name));
  const what = replaced ? `Replaced ${quoted} in` : `Added ${quoted} to`;
  // On a line of its own: a full stop behind it would look like a part of it.
  return `${what} ${printableLine(done.file)}.${backupText(done)}\n  ${commandText(shown)}\n`;
}

function unchanged(name: string, file: string): string {
  return `${JSON.stringify(printableLine(name))} is in ${printableLine(file)} like this already.\n`;
}

function trialText(
  { ms, tools }: Extract<Trial, { ok: true }>,
  { url }: RedactedCommand,
  style: Style,
): string {
  const did = url === undefined ? 'Started it once' : 'Reached it';
  const counted = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  const names = tools.map((tool) => `  ${style.good(printableLine(tool))}\n`).join('');
  return `${did}, in ${ms} ms: ${counted}${tools.length === 0 ? '.' : ':'}\n${names}`;
}
