import { createApp, nestingDepth, type App } from '../app.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { describeWarning, type LoadedConfig } from '../config/index.ts';
import { createLogger, type Logger } from '../shared/log.ts';
import { logDirectoryOf, readConfiguration } from './configuration.ts';
import type { CliFace } from './face.ts';
import type { LogFile } from './log-file.ts';
import { chosenLogLevel } from './log-level.ts';
import { createPublisher } from './publisher.ts';
import { writeStderr } from './stderr.ts';
import { onStop } from './stop.ts';

export interface ServeRequest {
  readonly configPath: string | undefined;
  readonly logLevel: string | undefined;
}

/** A gateway behind a gateway has its uses; more than so many in a row start each other without end. */
const DEEPEST = 4;

/** Serves the host that started this program, on stdin and stdout. Returns the exit code. */
export async function serve({ configPath, logLevel }: ServeRequest, face: CliFace): Promise<number> {
  const { env } = process;
  const { program } = face;
  if (nestingDepth(env) > DEEPEST) {
    const message = `${program} runs behind ${nestingDepth(env)} gateways; it was not started.`;
    throw new SwitchboardError('NESTED_TOO_DEEP', message, {
      hint: 'One of its servers most likely starts a gateway with the same configuration: take it out.',
    });
  }
  const chosen = chosenLogLevel(logLevel, env, face);
  const surroundings = { cwd: process.cwd(), env };
  const config = await readConfiguration(configPath, surroundings, face);
  const file = await openLog(logDirectoryOf(config, surroundings, face), program);
  const write = (line: string): void => {
    writeStderr(line);
    file?.write(line);
  };
  const log = createLogger({ level: chosen ?? config.settings.logLevel, program, write });
  for (const warning of config.warnings) log[warning.level](describeWarning(warning));
  const stderr = log.level === 'silent' ? () => undefined : (line: string) => write(`${line}\n`);
  const publisher = createPublisher({ config, program, env, log, states: () => app.states() });
  const app = createApp({
    config,
    log,
    stderr,
    program,
    volatile: face.volatile ?? false,
    onStateChange: publisher.changed,
  });
  const reload = reloader(app, log, () => readConfiguration(configPath, surroundings, face));
  try {
    return await serveStdio(app, log, config.settings.timeouts.drainMs, reload);
  } finally {
    await Promise.all([publisher.close(), file?.close()]);
  }
}

/** Reads the configuration again and does what is new in it; one that is wrong changes nothing. One at a time. */
function reloader(app: App, log: Logger, read: () => Promise<LoadedConfig>): () => void {
  let last = Promise.resolve();
  const reload = async (): Promise<void> => {
    try {
      const config = await read();
      for (const warning of config.warnings) log[warning.level](describeWarning(warning));
      const { added, removed, restarted, reshown, kept } = await app.reconfigure(config);
      log.info('the configuration was read again', {
        added: added.join(',') || undefined,
        removed: removed.join(',') || undefined,
        restarted: restarted.join(',') || undefined,
        reshown: reshown.join(',') || undefined,
        kept: kept.length,
      });
    } catch (error) {
      const reason = error instanceof SwitchboardError ? error.explained : messageOf(error);
      log.error(`the configuration was not read again, nothing has changed: ${reason}`);
    }
  };
  return () => {
    last = last.then(reload);
  };
}

/** The log file, where somebody wants one. */
async function openLog(directory: string | undefined, program: string): Promise<LogFile | undefined> {
  if (directory === undefined) return undefined;
  const { openLogFile } = await import('./log-file.ts');
  return openLogFile({ directory, program, onError: (message) => writeStderr(`${program}: ${message}\n`) });
}

/** Serves until the host leaves, and leaves nothing behind. */
async function serveStdio(app: App, log: Logger, drainMs: number, reload: () => void): Promise<number> {
  const door = app.openStdio(process.stdin, process.stdout);
  const stopped = onStop(() => app.killNow(), log, reload);
  const why = await Promise.race([door.ended, stopped]);
  const since = performance.now();
  // A signal means now. At the end of input, what was received is still answered.
  const wait = why === 'end' ? drainMs : 0;
  log.debug('stopping', { why });
  await door.drain(wait);
  // The servers end while a slow host still reads.
  await Promise.all([door.flushed(), app.close(performance.now() - since)]);
  return why === 'overrun' ? 1 : 0;
}
