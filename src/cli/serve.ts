import { createApp, type App } from '../app.ts';
import { describeWarning, loadConfig } from '../config/index.ts';
import { createLogger, type Logger } from '../shared/log.ts';
import { chosenLogLevel } from './log-level.ts';
import { writeStderr } from './stderr.ts';
import { onStop } from './stop.ts';

export interface ServeRequest {
  readonly configPath: string | undefined;
  readonly logLevel: string | undefined;
}

/** Serves the host that started this program, on stdin and stdout. Returns the exit code. */
export async function serve({ configPath, logLevel }: ServeRequest): Promise<number> {
  const { env } = process;
  const chosen = chosenLogLevel(logLevel, env);
  const config = await loadConfig({ cwd: process.cwd(), configPath, env });
  const log = createLogger({
    level: chosen ?? config.settings.logLevel,
    program: 'switchboard',
    write: writeStderr,
  });
  for (const warning of config.warnings) log[warning.level](describeWarning(warning));
  const stderr = log.level === 'silent' ? () => undefined : (line: string) => writeStderr(`${line}\n`);
  return serveStdio(createApp({ config, log, stderr }), log, config.settings.timeouts.drainMs);
}

/** Serves until the host leaves, and leaves nothing behind. */
async function serveStdio(app: App, log: Logger, drainMs: number): Promise<number> {
  const door = app.openStdio(process.stdin, process.stdout);
  const stopped = onStop(() => app.killNow(), log);
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
