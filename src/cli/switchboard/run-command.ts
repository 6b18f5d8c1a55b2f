import { createApp, type App } from '../../app/index.ts';
import { describeWarning } from '../../config/index.ts';
import { createLogger, silentLogger, type Logger, type LogLevel } from '../../shared/log.ts';
import { VERSION } from '../../shared/version.ts';
import type { CommandPlace, Context } from './command.ts';
import { commandsOf, type CliEntry } from './commands.ts';
import { readConfiguration, chosenLogLevel } from './configuration.ts';
import { COMMON_FLAGS, GLOBAL_FLAGS } from './flags.ts';
import { usage, type ParsedArguments } from '../kit/arguments.ts';
import { standardFormat } from '../kit/output.ts';
import { resolveCommand, runCommandLine, type CommandRun, type Program } from '../kit/program.ts';
import { onStop } from '../kit/signals.ts';
import { createStatusLine, type StatusLine } from '../kit/live-block.ts';
import type { CommandOutcome } from '../kit/command.ts';
import { writeLogLine } from '../kit/stderr.ts';
import { requiresConfigFlag, type CliVariant } from './variants.ts';
import { createServerOutput } from './server-output.ts';
import { otherWarnings } from './server/select-servers.ts';

/** Runs the command that the arguments name, prints what it found, and leaves no server behind. Returns the exit code. */
export function runCommand(argv: readonly string[], variant: CliVariant): Promise<number> {
  return runCommandLine(argv, programOf(variant));
}

/** Runs a command and returns its outcome. It writes nothing, and leaves no server behind. */
export async function runQuietly(
  argv: readonly string[],
  variant: CliVariant,
  { cwd, env, stop, showPage }: CommandPlace,
): Promise<CommandOutcome> {
  const { command, given } = await resolveCommand(argv, programOf(variant));
  const apps: App[] = [];
  const context = createContext(given, variant, {
    ...{ cwd, env, stop, showPage, log: silentLogger, gatewayLog: silentLogger, status: SILENT_STATUS },
    opened: (app) => apps.push(app),
  });
  try {
    return await command.run(given, context);
  } finally {
    await Promise.all(apps.map((app) => app.close()));
  }
}

const SILENT_STATUS: StatusLine = { visible: false, show: () => undefined, clear: () => undefined };

function programOf(variant: CliVariant): Program<Context> {
  const { program: name, servers: hint } = variant;
  return {
    name,
    hint,
    commands: commandsOf(variant),
    topFlags: GLOBAL_FLAGS,
    commonFlags: COMMON_FLAGS,
    version: { data: { version: VERSION }, text: `${VERSION}\n` },
    overview: async () => (await import('./help.ts')).programHelp(variant),
    help: async (entry, command) => (await import('./help.ts')).helpForCommand(entry, command, variant),
    examples: { help: 'call', json: `${requiresConfigFlag(variant) ? '--config FILE ' : ''}list --json` },
    alone: async () => (await import('./welcome.ts')).welcomeCommand,
    checkTop: (top, command) => refuseLonely(top, command, variant),
    check: (entry, given) => refuseWithoutConfig(entry, given, variant),
    output: standardFormat(name),
    open: (given) => openRun(given, variant),
  };
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

function refuseWithoutConfig(
  { name, needsNoConfig }: CliEntry,
  { flags }: ParsedArguments,
  variant: CliVariant,
): void {
  if (!requiresConfigFlag(variant) || flags.has('config') || needsNoConfig === true) return;
  const { program, servers } = variant;
  throw usage(
    `${name} needs --config, because ${program} has no default configuration.`,
    `For example: ${program} --config FILE ${name}. ${servers ?? ''}`.trimEnd(),
  );
}

function openRun(given: ParsedArguments, variant: CliVariant): CommandRun<Context> {
  const { flags } = given;
  const chosen = chosenLogLevel(flags.get('log-level'), process.env, variant);
  const createLog = (level: LogLevel): Logger =>
    createLogger({
      level,
      program: variant.program,
      write: (line) => writeLogLine(line, flags.has('log-time')),
    });
  const log = createLog(chosen ?? 'warn');
  const apps: App[] = [];
  const controller = new AbortController();
  let closed: Promise<void> | undefined;
  const stopped = onStop(() => {
    for (const app of apps) app.killNow();
  }, log).then((signal) => {
    controller.abort();
    return signal;
  });
  // What goes wrong with a server is what the commands report; the gateway need not say it too.
  const context = createContext(given, variant, {
    ...{ cwd: process.cwd(), env: process.env, status: createStatusLine() },
    log,
    gatewayLog: createLog(chosen ?? 'error'),
    stop: controller.signal,
    opened: (app) => apps.push(app),
  });
  return {
    context,
    stopped,
    settled: () => context.status.clear(),
    close: () => (closed ??= Promise.all(apps.map((app) => app.close())).then(() => undefined)),
  };
}

interface ContextOptions extends Omit<CommandPlace, 'showPage'> {
  readonly showPage?: Context['showPage'];
  readonly log: Logger;
  readonly gatewayLog: Logger;
  readonly status: StatusLine;
  readonly opened: (app: App) => void;
}

function createContext(
  { flags }: ParsedArguments,
  variant: CliVariant,
  { cwd, env, log, gatewayLog, status, stop, showPage, opened }: ContextOptions,
): Context {
  const configPath = flags.get('config');
  const output = createServerOutput(log.enabled('info'), status);
  return {
    variant,
    cwd,
    env,
    log,
    status,
    stop,
    showPage,
    async loadConfig(how) {
      const expected = how === 'or new' ? withoutFile(variant) : variant;
      const config = await readConfiguration(configPath, { cwd, env }, expected, {
        strict: how === 'strictly',
        allowProject: flags.has('allow-project') ? true : undefined,
      });
      const told = how === 'tells of unusable' ? otherWarnings(config) : config.warnings;
      if (how !== 'quietly') for (const warning of told) log[warning.level](describeWarning(warning));
      return config;
    },
    open(config, startHint, store) {
      output.expect(config.servers.map((server) => server.name));
      const { program } = variant;
      const app = createApp({
        config,
        log: gatewayLog,
        stderr: output.take,
        program,
        startHint,
        store,
        configPath,
        env,
      });
      opened(app);
      return app;
    },
    runQuietly,
    unseenOutput: output.unseen,
  };
}

/** The same program, where its file is about to be made. */
function withoutFile(variant: CliVariant): CliVariant {
  return variant.configVariant === undefined
    ? variant
    : { ...variant, configVariant: { ...variant.configVariant, mayBeMissing: true } };
}
