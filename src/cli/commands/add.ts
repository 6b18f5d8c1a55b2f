import { isAbsolute, relative, resolve } from 'node:path';
import {
  defineRuntimeServer,
  describeWarning,
  entryForConfig,
  withoutServer,
  withServer,
  type LoadedConfig,
  type RuntimeEntry,
  type ServerDefinition,
} from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { usage, type Arguments } from '../arguments.ts';
import {
  backupText,
  CHANGE_FLAGS,
  changeConfig,
  reasonNotToTell,
  type ConfigChange,
} from '../change-config.ts';
import type { Command, Context } from '../command.ts';
import { commandText, shownCommand } from '../command-line.ts';
import { definedElsewhere } from '../defined-elsewhere.ts';
import { describeFailure, Exit, failureData, type FailureData } from '../failure.ts';
import { lastWords } from '../last-words.ts';
import type { Style } from '../style.ts';
import { survey } from '../survey.ts';
import { tellGateways, toldText } from '../tell-gateways.ts';

/** How it went when the server was started once. */
type Trial =
  | { readonly ok: true; readonly ms: number; readonly tools: readonly string[] }
  | { readonly ok: false; readonly ms: number; readonly error: FailureData };

export const add: Command = {
  name: 'add',
  words: '<name> [flags] -- <command> [args…]',
  commandAt: 1,
  summary: 'put a server into the configuration',
  about: [
    'Writes a server into "mcpServers" of the configuration file. `switchboard` makes switchboard.config.json where there is ' +
      'none; a file that is named must be there. Comments, order and ' +
      'all else in the file stay as they are, and the old text is kept beside it as FILE.bak. Then gateways that run ' +
      'with this configuration are told to read it again, so that the server can be used at once.',
    'What stands behind -- is the command by which the server is started, as you would type it. -- may be left out ' +
      'where no argument begins with a dash. Everything is taken literally: ${NAME} stays these characters and is no ' +
      'reference to the environment.',
    'A secret is better not written into the file: a server inherits your environment, so leave it out here and set ' +
      'it there, or write "${NAME}" into the entry by hand afterwards.',
    'With --start the server is also started once, before running gateways are told, and its tools are listed, so ' +
      'that a slip shows at once. If it does not start, the entry stays, and the exit code is 1.',
  ],
  flags: [
    { name: 'env', value: 'NAME=VALUE', many: true, summary: 'a variable of its environment, besides yours' },
    { name: 'cwd', value: 'DIR', summary: "where it is started (default: the configuration's directory)" },
    { name: 'start', summary: 'also start it once, and list its tools' },
    { name: 'replace', summary: 'write over an entry of this name, all of it' },
    ...CHANGE_FLAGS,
  ],
  examples: [
    ['$0 add memory -- npx -y @modelcontextprotocol/server-memory', 'a package'],
    ['$0 add mine node dist/server.js', 'no dashes, so no --'],
    ['$0 add db --env PGHOST=localhost --cwd tools/db -- node server.js --read-only', 'flags of both'],
    ['$0 add memory --start -- npx -y @modelcontextprotocol/server-memory', 'and see whether it works'],
    ['$0 add memory --replace --dry-run -- memory-server', 'what would change'],
  ],
  exits: [[Exit.failed, 'with --start: it does not start; or a running gateway could not be told']],
  async run(given, context) {
    const { flags } = given;
    const { program } = context.face;
    const [name, command, ...args] = given.words;
    if (name === undefined || command === undefined) {
      throw usage(
        'add needs a name and a command.',
        `For example: ${program} add memory -- npx -y @modelcontextprotocol/server-memory`,
      );
    }
    const env = variablesOf(given);
    const config = await context.loadConfig();
    const cwd = flags.get('cwd');
    const entry: RuntimeEntry = {
      command,
      args,
      env,
      ...(cwd === undefined ? {} : { cwd: directoryFor(cwd, config, context) }),
    };
    const definition = defineRuntimeServer(name, entry, {
      settings: config.settings,
      directory: config.directory,
      file: config.file,
      env: context.env,
      warn: (warning) => context.log[warning.level](describeWarning(warning)),
    });
    const elsewhere = definedElsewhere(name, config);
    if (elsewhere !== undefined) throw takenElsewhere(name, elsewhere);
    let replaced = false;
    const { done, preview } = await changeConfig(config, given, context, (text) => {
      replaced = withoutServer(text, name) !== text;
      if (replaced && !flags.has('replace')) throw taken(name, config, program);
      return withServer(text, name, entryForConfig(entry));
    });
    const trial = flags.has('start') ? await tryOut(definition, config, context) : undefined;
    const quiet = reasonNotToTell(done, given);
    const gateways = tellGateways(config, context, quiet);
    const untold = quiet === undefined && gateways.some((each) => !each.told);
    return {
      exitCode: trial?.report.ok === false || untold ? Exit.failed : Exit.ok,
      data: {
        server: { name, ...shownCommand(definition), env: Object.keys(env), cwd: definition.written.cwd },
        replaced,
        ...done,
        gateways,
        ...(trial === undefined ? {} : { start: trial.report }),
      },
      remark: [literalRemark(entry, program), trial?.remark].filter(Boolean).join('') || undefined,
      complaint:
        trial?.error === undefined ? undefined : complaintOf(trial.error, name, done.dryRun, program),
      text: (style) =>
        [
          preview(style) || outcomeText(definition, replaced, done),
          trial?.report.ok === true ? trialText(trial.report, style) : '',
          done.changed ? toldText(gateways) : '',
        ].join(''),
    };
  },
};

function variablesOf({ lists }: Arguments): Record<string, string> {
  const pairs = (lists.get('env') ?? []).map((text) => {
    const equals = text.indexOf('=');
    // What was given is not shown: it may be the value alone, and a secret.
    if (equals < 1) throw usage('--env needs a name and a value.', 'For example: --env LOG_LEVEL=debug');
    return [text.slice(0, equals), text.slice(equals + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

/** A directory as whoever types it means it, from where they are; the file counts from its own place. */
function directoryFor(given: string, { directory }: LoadedConfig, { cwd }: Context): string {
  if (isAbsolute(given) || resolve(cwd) === directory) return given;
  const path = resolve(cwd, given);
  const within = relative(directory, path);
  return within.startsWith('..') || isAbsolute(within) ? path : within || '.';
}

function taken(name: string, { disabled }: LoadedConfig, program: string): SwitchboardError {
  const off = disabled.includes(name) ? ', which is turned off' : '';
  return new SwitchboardError(
    'SERVER_EXISTS',
    `There is a server named ${JSON.stringify(name)} already${off}.`,
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

/** Starts the server once, from its definition alone, and ends it with the command. */
async function tryOut(
  definition: ServerDefinition,
  config: LoadedConfig,
  context: Context,
): Promise<{ report: Trial; error?: SwitchboardError; remark?: string | undefined }> {
  const app = context.open({ ...config, servers: [definition], compounds: [] });
  const [surveyed] = await survey(app, [definition], context);
  const { ms } = surveyed!;
  if (surveyed!.kind === 'answered')
    return { report: { ok: true, ms, tools: surveyed!.tools.map((tool) => tool.name) } };
  const { error } = surveyed!;
  return {
    report: { ok: false, ms, error: failureData(error) },
    error,
    remark: lastWords(context.unseenOutput(definition.name), error),
  };
}

/** Where somebody may have meant something else than what they get. */
function literalRemark({ command, args = [], env = {}, cwd = '' }: RuntimeEntry, program: string): string {
  const texts = [command, ...args, ...Object.values(env), cwd];
  if (!texts.some((text) => /\$\{(?:env:)?\w+/.test(text))) return '';
  return `${program}: \${…} was taken literally. For a reference to the environment, write it into the file by hand.\n`;
}

function complaintOf(error: SwitchboardError, name: string, dryRun: boolean, program: string): string {
  const stays = `  The entry stays; ${program} remove ${printableLine(name)} takes it out again.\n`;
  return describeFailure(error, program) + (dryRun ? '' : stays);
}

function outcomeText(definition: ServerDefinition, replaced: boolean, done: ConfigChange): string {
  if (!done.changed) return unchanged(definition.name, done.file);
  const shown = JSON.stringify(printableLine(definition.name));
  const what = replaced ? `Replaced ${shown} in` : `Added ${shown} to`;
  // On a line of its own: a full stop behind it would look like a part of it.
  return `${what} ${printableLine(done.file)}.${backupText(done)}\n  ${commandText(shownCommand(definition))}\n`;
}

function unchanged(name: string, file: string): string {
  return `${JSON.stringify(printableLine(name))} is in ${printableLine(file)} like this already.\n`;
}

function trialText({ ms, tools }: Extract<Trial, { ok: true }>, style: Style): string {
  const counted = `${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}`;
  const names = tools.map((tool) => `  ${style.good(printableLine(tool))}\n`).join('');
  return `Started it once, in ${ms} ms: ${counted}${tools.length === 0 ? '.' : ':'}\n${names}`;
}
