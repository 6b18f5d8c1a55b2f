import { createApp, type App } from '../app.ts';
import { describeWarning } from '../config/index.ts';
import type { SwitchboardError } from '../shared/errors.ts';
import { createLogger, type Logger, type LogLevel } from '../shared/log.ts';
import { didYouMean } from '../shared/nearest.ts';
import { VERSION } from '../shared/version.ts';
import {
  COMMON_FLAGS,
  parseArguments,
  GLOBAL_FLAGS,
  repeatedFlag,
  usage,
  type ParsedArguments,
} from './arguments.ts';
import type { CliCommand, Context, CommandOutcome } from './command.ts';
import { commandsOf, type CommandEntry } from './commands.ts';
import { readConfiguration } from './configuration.ts';
import { requiresConfigFlag, type CliVariant } from './program-variant.ts';
import { Exit } from './failure.ts';
import { helpForCommand, programHelp } from './help.ts';
import { chosenLogLevel } from './log-level.ts';
import { writeFailure, writeOutcome } from './output.ts';
import { createServerOutput } from './server-output.ts';
import { createStatusLine } from './status-line.ts';
import { writeLogLine } from './stderr.ts';
import { onStop, type StopSignal } from './stop.ts';
import { otherWarnings } from './unusable.ts';

/** Runs the command that the arguments name, prints what it found, and leaves no server behind. Returns the exit code. */
export async function runCommand(argv: readonly string[], variant: CliVariant): Promise<number> {
  // Known before the rest is understood: even "what is this flag?" is asked in JSON then.
  const json = ourPart(argv).includes('--json');
  let ending: Ending | undefined;
  try {
    const { command, given } = await understand(argv, variant);
    const chosen = chosenLogLevel(given.flags.get('log-level'), process.env, variant);
    const time = given.flags.has('log-time');
    const log = createLog(chosen ?? 'warn', time, variant);
    ending = createEnding(log);
    // What goes wrong with a server is what the commands report; the gateway need not say it too.
    const context = createContext(given, variant, log, createLog(chosen ?? 'error', time, variant), ending);
    const running = command.run(given, context);
    running.catch(() => undefined); // Once stopped, nothing waits for it.
    const outcome = await Promise.race([running, ending.stopped]);
    context.status.clear();
    if (typeof outcome === 'string') return SIGNAL_EXIT[outcome];
    // A slow reader must not keep the servers waiting.
    const ended = ending.close();
    const stopped = await Promise.race([writeOutcome(outcome, json), ending.stopped]);
    await ended;
    return stopped === undefined ? outcome.exitCode : SIGNAL_EXIT[stopped];
  } catch (error) {
    return await writeFailure(error, json, variant.program);
  } finally {
    await ending?.close();
  }
}

/** Words after `--` are meant for another program. */
function ourPart(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--');
  return end === -1 ? argv : argv.slice(0, end);
}

/** As shells count them: 128 and the number of the signal. */
const SIGNAL_EXIT: Readonly<Record<StopSignal, number>> = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };

function createLog(level: LogLevel, time: boolean, { program }: CliVariant): Logger {
  return createLogger({ level, program, write: (line) => writeLogLine(line, time) });
}

interface Understood {
  readonly command: Pick<CliCommand, 'run'>;
  readonly given: ParsedArguments;
}

async function understand(argv: readonly string[], variant: CliVariant): Promise<Understood> {
  const { program } = variant;
  const at = commandAt(argv);
  const top = parseArguments(argv.slice(0, at), GLOBAL_FLAGS);
  const name = argv[at];
  const rest = argv.slice(at + 1);
  refuseLonely(top, name, variant);
  if (top.flags.has('version')) return answer(top, { version: VERSION }, `${VERSION}\n`);
  if (top.flags.has('dry-run')) {
    return withCommand('dry-run', name === undefined ? [] : [name, ...rest], top, variant);
  }
  if (name === 'help') {
    const { words } = parseArguments(rest, COMMON_FLAGS);
    if (words.length > 1) throw usage('help takes one command.', `For example: ${program} help call`);
    return words[0] === undefined || words[0] === 'help'
      ? answerOverview(top, variant)
      : withCommand(words[0], top.flags.has('help') ? [] : ['--help'], top, variant);
  }
  if (name !== undefined) return withCommand(name, top.flags.has('help') ? [] : rest, top, variant);
  if (top.flags.has('help')) return answerOverview(top, variant);
  if (top.flags.has('json')) {
    const config = requiresConfigFlag(variant) ? ' --config FILE' : '';
    throw usage('--json needs a command.', `For example: ${program}${config} list --json`);
  }
  const { welcomeCommand } = await import('./commands/welcome.ts');
  return { command: welcomeCommand, given: top };
}

/** Flags about clients that connect mean nothing where something else is asked for. */
function refuseLonely(
  { flags }: ParsedArguments,
  command: string | undefined,
  { program }: CliVariant,
): void {
  if (flags.has('help') || flags.has('version')) return;
  const given = GLOBAL_FLAGS.filter((flag) => flag.forHttp === true && flags.has(flag.name));
  const [asked, again] = given.filter(({ value }) => value !== undefined);
  if (again) throw usage('--http and --sse are the same.', 'Remove one of them.');
  if (asked === undefined) {
    const [lonely] = given;
    if (lonely)
      throw usage(`--${lonely.name} needs --http.`, `For example: ${program} --http 3006 --${lonely.name}`);
    return;
  }
  const other = command ?? (flags.has('dry-run') ? '--dry-run' : undefined);
  if (other !== undefined)
    throw usage(`--${asked.name} cannot be combined with ${other}.`, 'Remove one of them.');
}

/** The position of the command: the first word that is neither a flag nor the value of one. */
function commandAt(argv: readonly string[]): number {
  let at = 0;
  while (at < argv.length && argv[at]!.startsWith('-')) {
    const takesValue = GLOBAL_FLAGS.some(
      ({ name, short, value }) =>
        value !== undefined && (argv[at] === `--${name}` || argv[at] === `-${short ?? '-'}`),
    );
    at += takesValue ? 2 : 1;
  }
  return Math.min(at, argv.length);
}

async function withCommand(
  name: string,
  rest: readonly string[],
  top: ParsedArguments,
  variant: CliVariant,
): Promise<Understood> {
  const command = await findEntry(name, variant).load();
  const known = [...COMMON_FLAGS, ...command.flags];
  const typed = command.spellOut?.(rest) ?? rest;
  const { flags, lists, words } = parseArguments(typed, known, command.commandAt);
  const again = [...flags.keys()].find((flag) => top.flags.has(flag));
  if (again !== undefined) throw repeatedFlag(again);
  const given = { flags: new Map([...top.flags, ...flags]), lists, words };
  if (!given.flags.has('help')) {
    if (requiresConfigFlag(variant) && !given.flags.has('config') && command.needsNoConfig !== true)
      throw needsConfig(name, variant);
    return { command, given };
  }
  const help = helpForCommand(command, variant);
  return answer(given, { help }, help);
}

function findEntry(name: string, variant: CliVariant): CommandEntry {
  const commands = commandsOf(variant);
  const entry = commands.find((each) => each.name === name);
  if (entry !== undefined) return entry;
  const { program, servers } = variant;
  const guess = didYouMean(name, [...commands.map((each) => each.name), 'help']);
  const hint = [guess, servers, `\`${program} --help\` lists all commands.`].filter(Boolean);
  throw usage(`Unknown command ${JSON.stringify(name)}.`, servers === undefined ? hint[0] : hint.join(' '));
}

function needsConfig(command: string, { program, servers }: CliVariant): SwitchboardError {
  return usage(
    `${command} needs --config, because ${program} has no default configuration.`,
    `For example: ${program} --config FILE ${command}. ${servers ?? ''}`.trimEnd(),
  );
}

function answerOverview(given: ParsedArguments, variant: CliVariant): Understood {
  const help = programHelp(variant);
  return answer(given, { help }, help);
}

/** A command whose answer is known already. */
function answer(given: ParsedArguments, data: unknown, text: string): Understood {
  const outcome: CommandOutcome = { exitCode: Exit.ok, data, text: () => text };
  return { command: { run: () => Promise.resolve(outcome) }, given };
}

/** The end of a command: by a signal, or because it is done. */
interface Ending {
  readonly stopped: Promise<StopSignal>;
  readonly signal: AbortSignal;
  readonly apps: App[];
  close(): Promise<void>;
}

function createEnding(log: Logger): Ending {
  const apps: App[] = [];
  let closed: Promise<void> | undefined;
  const controller = new AbortController();
  const stopped = onStop(() => {
    for (const app of apps) app.killNow();
  }, log);
  return {
    apps,
    signal: controller.signal,
    stopped: stopped.then((signal) => {
      controller.abort();
      return signal;
    }),
    close: () => (closed ??= Promise.all(apps.map((app) => app.close())).then(() => undefined)),
  };
}

/** The same program, where its file is about to be made. */
function withoutFile(variant: CliVariant): CliVariant {
  return variant.configVariant === undefined
    ? variant
    : { ...variant, configVariant: { ...variant.configVariant, mayBeMissing: true } };
}

function createContext(
  given: ParsedArguments,
  variant: CliVariant,
  log: Logger,
  gatewayLog: Logger,
  ending: Ending,
): Context {
  const cwd = process.cwd();
  const { env } = process;
  const status = createStatusLine();
  const output = createServerOutput(log.enabled('info'), status);
  return {
    variant,
    cwd,
    env,
    log,
    status,
    stop: ending.signal,
    async loadConfig(how) {
      const expected = how === 'or new' ? withoutFile(variant) : variant;
      const config = await readConfiguration(given.flags.get('config'), { cwd, env }, expected, {
        strict: how === 'strictly',
        allowProject: given.flags.has('allow-project') ? true : undefined,
      });
      const told = how === 'tells of unusable' ? otherWarnings(config) : config.warnings;
      if (how !== 'quietly') for (const warning of told) log[warning.level](describeWarning(warning));
      return config;
    },
    open(config, startHint) {
      output.expect(config.servers.map((server) => server.name));
      const app = createApp({
        config,
        log: gatewayLog,
        stderr: output.take,
        program: variant.program,
        startHint,
        configPath: given.flags.get('config'),
        env,
      });
      ending.apps.push(app);
      return app;
    },
    unseenOutput: output.unseen,
  };
}
