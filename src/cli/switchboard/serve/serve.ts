import {
  createApp,
  hasNothingToShow,
  LogTap,
  nestingDepth,
  recallLists,
  type App,
} from '../../../app/index.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { allowFiles, describeWarning, searchReport } from '../../../config/index.ts';
import { createLogger, jsonLine, type LogEntry, type Logger } from '../../../shared/log.ts';
import { chosenLogFormat, chosenLogLevel, logDirectoryOf, readConfiguration } from '../configuration.ts';
import { openConfiguredStore } from '../configured-store.ts';
import { requiresConfigFlag, type CliVariant } from '../variants.ts';
import type { LogFile } from './log-file.ts';
import { createStateWriter } from './state-writer.ts';
import { createReloader, settingsNeedingRestart, type Reloader } from './reloader.ts';
import { writeLogLine, writeStderr } from '../../kit/stderr.ts';
import { isStopSignal, onStop, timeLeftAfter } from '../../kit/signals.ts';
import type { HttpServeRequest } from './serve-http.ts';

export interface ServeRequest {
  readonly configPath: string | undefined;
  readonly logLevel: string | undefined;
  /** Whether the files of the project are used without having been allowed. */
  readonly allowProject: boolean;
  /** `text` or `json`; default: as the configuration says. */
  readonly logFormat: string | undefined;
  /** Whether log lines start with the time even on a terminal. */
  readonly logTime: boolean;
  /** How to serve clients that connect; default: serves the host that started this program. */
  readonly http?: HttpServeRequest;
}

/** Hosts give up on a call after a minute; callers are answered before that. In milliseconds. */
export const HOST_TIMEOUT_MS = 50_000;
/** A gateway behind a gateway can be useful; more than this many in a row are starting each other endlessly. */
const DEEPEST = 4;

/** Serves the host that started this program, on stdin and stdout, or clients that connect. Returns the exit code. */
export async function serve(request: ServeRequest, variant: CliVariant): Promise<number> {
  const { configPath, logLevel, logTime, http } = request;
  const { env } = process;
  const { program } = variant;
  refuseTooDeep(env, program);
  const chosen = chosenLogLevel(logLevel, env, variant);
  const format = chosenLogFormat(request.logFormat);
  const location = { cwd: process.cwd(), env };
  const allowProject = request.allowProject ? true : undefined;
  // A host hides our stderr, so if the configuration is broken, the one remaining tool says so.
  const keepGoing = http === undefined;
  const config = await readConfiguration(configPath, location, variant, { keepGoing, allowProject });
  const asJson = (format ?? config.settings.logFormat) === 'json';
  const file = await openLog(logDirectoryOf(config, location, variant), program, !asJson);
  const logTap = new LogTap();
  const write = (line: string, entry: LogEntry): void => {
    const written = asJson ? jsonLine(program, entry) : line;
    if (asJson) writeStderr(written);
    else writeLogLine(written, logTime);
    file?.write(written);
    logTap.add(line);
  };
  const log = createLogger({ level: chosen ?? config.settings.logLevel, program, write });
  for (const warning of config.warnings) log[warning.level](describeWarning(warning));
  if (hasNothingToShow(config)) {
    log.warn('no usable server found; searched in');
    for (const line of searchReport(config, variant.configVariant)) log.warn(line);
  }
  const stderr = (line: string): void => {
    if (log.level === 'silent') logTap.add(line);
    else write(`${line}\n`, printedBy(line));
  };
  let current = config;
  let readAt = performance.timeOrigin;
  const stateWriter =
    config.file === undefined && requiresConfigFlag(variant)
      ? undefined
      : createStateWriter({
          ...{ config: () => current, readAt: () => readAt, program, env, log },
          states: () => app.states(),
          reload: () => reloader.reload(),
          watch: (link) => app.watch(link, () => reloader.reloadNow()),
        });
  const store = http === undefined ? undefined : await openConfiguredStore(config, env, log);
  if (store !== undefined) await recallLists(store, config, env, log);
  const app = createApp({
    config,
    log,
    store,
    stderr,
    program,
    configPath,
    logTap,
    whereLooked: (loaded) => searchReport(loaded, variant.configVariant),
    allowProject: async (project) => {
      await allowFiles(project.files);
      await reloader.reloadNow();
    },
    volatile: variant.volatile ?? false,
    callerMs: HOST_TIMEOUT_MS,
    ownVariables: http === undefined ? [] : Object.values(variant.listens ?? {}),
    ...(stateWriter === undefined ? {} : { onStateChange: stateWriter.changed }),
  });
  const reloader = createReloader({
    app,
    log,
    read: async () => {
      readAt = performance.timeOrigin + performance.now();
      return readConfiguration(configPath, location, variant, { strict: true, allowProject });
    },
    again: requiresConfigFlag(variant) ? againWithoutCommand() : `run: ${reloadCommand(program, configPath)}`,
    tooLate: (read) => {
      const decidedElsewhere = {
        http: http === undefined,
        store: http === undefined,
        logLevel: chosen !== undefined,
        logFormat: format !== undefined,
        metrics: false,
        telemetry: false,
        logDirectory: logDirectoryOf({ logDirectory: undefined }, location, variant) !== undefined,
        'timeouts.drainMs': false,
      };
      return settingsNeedingRestart(config, read).filter((setting) => !decidedElsewhere[setting]);
    },
    applied: (read) => {
      current = read;
      stateWriter?.changed();
    },
  });
  try {
    await app.observe().catch((error: unknown) => {
      // Several hosts may start gateways with the same configuration, and only one of them gets the port.
      if (http !== undefined) throw error;
      log.warn(messageOf(error));
    });
    if (http === undefined) {
      stateWriter?.open();
      return await serveStdio(app, log, config.settings.timeouts.drainMs, reloader);
    }
    const { serveHttp } = await import('./serve-http.ts');
    return await serveHttp(http, { app, log, config, variant, reloader, store, opened: stateWriter?.open });
  } finally {
    store?.close();
    await stateWriter?.close();
    file?.close();
  }
}

/** Throws if this gateway is nested so deeply that gateways must be starting each other. */
export function refuseTooDeep(env: NodeJS.ProcessEnv, program: string): void {
  const depth = nestingDepth(env);
  if (depth <= DEEPEST) return;
  const message = `${program} was not started: it is nested in ${depth} gateways.`;
  throw new SwitchboardError('NESTED_TOO_DEEP', message, {
    hint: 'One of the servers probably starts a gateway with the same configuration: remove it.',
  });
}

function againWithoutCommand(): string {
  return process.platform === 'win32' ? 'restart the host' : 'send SIGHUP again';
}

function reloadCommand(program: string, configPath: string | undefined): string {
  if (configPath === undefined) return `${program} reload`;
  const path = /^[\w./:@-]+$/.test(configPath) ? configPath : JSON.stringify(configPath);
  return `${program} --config ${path} reload`;
}

/** A line that a server or a hook has printed, with its name in brackets. */
function printedBy(line: string): LogEntry {
  const [, source, message = line] = /^\[([^\]]+)\] (.*)$/s.exec(line) ?? [];
  return { level: 'info', message, fields: { source } };
}

/** The log file, if one is configured. */
async function openLog(
  directory: string | undefined,
  program: string,
  times: boolean,
): Promise<LogFile | undefined> {
  if (directory === undefined) return undefined;
  const { openLogFile } = await import('./log-file.ts');
  return openLogFile({
    directory,
    program,
    times,
    onError: (message) => writeStderr(`${program}: ${message}\n`),
  });
}

/** Serves until the host leaves, and leaves nothing behind. Without a reloader, SIGHUP ends it like other signals. */
export async function serveStdio(
  app: App,
  log: Logger,
  drainMs: number,
  reloader?: Reloader,
): Promise<number> {
  const door = app.openStdio(process.stdin, process.stdout);
  const stopped = onStop(() => app.killNow(), log, reloader?.reload);
  const why = await Promise.race([door.ended, stopped]);
  reloader?.stop();
  const since = performance.now();
  // Received messages are still answered, unless the host cannot be reached any more. A second signal does not wait.
  const wait = why === 'end' || isStopSignal(why) ? Math.min(drainMs, timeLeftAfter(why)) : 0;
  log.debug('stopping', { why });
  await door.drain(wait);
  // The servers end while a slow host is still reading.
  await Promise.all([door.flushed(), app.close(performance.now() - since)]);
  return why === 'overrun' ? 1 : 0;
}
