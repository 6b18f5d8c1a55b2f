import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DAEMON_COOKIE, startDetached, type Detached } from '../../../process/index.ts';
import { identityFields } from '../../records/state/process-record.ts';
import { timestamp, type DaemonRecord, type State } from '../../records/state/records.ts';
import type { Registry } from '../../records/state/registry.ts';
import { newCookie } from '../processes/cookie.ts';
import { isOutdated, releaseOf } from './release.ts';

export interface DaemonOptions {
  readonly registry: Registry;
  /** Its name in error messages. */
  readonly name: string;
  /** The arguments for our own program. */
  readonly args: readonly string[];
  readonly logFile: string;
  readonly host: string;
  readonly port: number;
  /** The command and first arguments of our own program. Default: as this process was started. */
  readonly program?: readonly string[] | undefined;
  /** Stores the record in the state. */
  readonly note: (state: State, record: DaemonRecord) => void;
}

/** Starts our own program as a process that keeps running when the command ends. */
export async function startDaemon(options: DaemonOptions): Promise<Detached> {
  const { registry, name, args, logFile, host, port, program = ownProgram(), note } = options;
  const { home } = registry;
  const [command = process.execPath, ...before] = program;
  const argv = [command, ...before, ...args];
  const cookie = newCookie(home);
  const endpoint = { host, port, log_file: logFile };
  const intent = { ...endpoint, pid: null, cookie, argv, started_at: timestamp(), ...releaseOf(program) };
  // Recorded before the start, so that its cookie is known whatever happens to us.
  await registry.change((state) => note(state, intent));
  const started = await startDetached({
    name,
    command,
    args: argv.slice(1),
    // Not the caller's directory, which may be a worktree that is removed later.
    cwd: home.root,
    env: { ...sparseEnvironment(), SWITCHYARD_HOME: home.root, [DAEMON_COOKIE]: cookie },
    logFile,
  });
  await registry.change((state) => note(state, { ...intent, ...identityFields(started) }));
  return started;
}

/** Waits until a new daemon works, exits or times out. */
export async function untilReady(
  daemon: Detached,
  isReady: () => Promise<boolean>,
  timeoutMs: number,
): Promise<'ready' | 'ended' | 'late'> {
  const ended = daemon.exited.then(() => 'ended' as const);
  const deadline = performance.now() + timeoutMs;
  while (performance.now() < deadline) {
    if (await isReady()) return 'ready';
    if ((await Promise.race([ended, pause(10)])) === 'ended') return 'ended';
  }
  return 'late';
}

/** Whether a newer version of our program must replace it. */
export function isDaemonOutdated(
  record: DaemonRecord | undefined,
  program: readonly string[] = ownProgram(),
): record is DaemonRecord {
  return record !== undefined && isOutdated(record, releaseOf(program));
}

/** The command that starts `switchyard`: as this process was started, or the file next to the program that uses it. */
function ownProgram(): readonly string[] {
  const script = realpathSync(process.argv[1] ?? '');
  const beside = join(dirname(script), 'switchyard.js');
  return [process.execPath, existsSync(beside) ? beside : script];
}

const KEPT = ['PATH', 'HOME', 'TMPDIR', 'LANG', 'LC_ALL', 'TZ', 'SystemRoot', 'USERPROFILE', 'TEMP', 'TMP'];

/**
 * Only what a Node process needs. It lives for days, so it gets neither the secrets of the shell that happened to start
 * it nor the cookies by which others end the processes of a run.
 */
function sparseEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of KEPT) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  return env;
}
