import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  createTreeFinder,
  DAEMON_COOKIE,
  environmentOf,
  showsEnvironments,
  startDetached,
  type Detached,
  type TreeIdentity,
} from '../../../process/index.ts';
import type { Home } from '../../records/state/home.ts';
import { identityFields, placeFields, recordedRoot } from '../../records/state/process-record.ts';
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
  const argv = [...program, ...args];
  const cookie = newCookie(home);
  const endpoint = { host, port, log_file: logFile };
  const intent = { ...endpoint, pid: null, cookie, argv, started_at: timestamp(), ...releaseOf(program) };
  // Recorded before the start, so that its cookie is known whatever happens to us.
  await registry.change((state) => note(state, intent));
  const started = await startDetached({
    name,
    command: argv[0]!,
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

/** Whether the recorded process still runs. */
export function isDaemonAlive(record: DaemonRecord): boolean {
  // Reads one process instead of all of them.
  if (record.cookie === undefined) return false;
  if (record.pid !== null && showsEnvironments())
    return environmentOf(record.pid)?.[DAEMON_COOKIE] === record.cookie;
  const tree = treeOf(record);
  return createTreeFinder(DAEMON_COOKIE).look([tree]).membersOf(tree).length > 0;
}

/** Whether this process is a daemon of this home, even if the records were lost. */
export function isDaemonOf(home: Home, pid: number, record: DaemonRecord | undefined): boolean {
  if (showsEnvironments()) return environmentOf(pid)?.[DAEMON_COOKIE]?.startsWith(`${home.hash}.`) === true;
  return record?.pid === pid && isDaemonAlive(record);
}

/**
 * The record of a running daemon of this home that is not in the records; undefined if nothing proves that it is one.
 */
export function recordOfDaemon(
  home: Home,
  pid: number,
  endpoint: { readonly host: string; readonly port: number; readonly log_file: string },
): DaemonRecord | undefined {
  const cookie = environmentOf(pid)?.[DAEMON_COOKIE];
  if (cookie?.startsWith(`${home.hash}.`) !== true) return undefined;
  const unknown = { version: null, build: null };
  return { ...endpoint, pid, cookie, ...placeFields(), started_at: timestamp(), ...unknown };
}

/** Stops the recorded process if it is still the same; returns whether it is gone. */
export async function stopDaemon(name: string, record: DaemonRecord): Promise<boolean> {
  const [report] = await createTreeFinder(DAEMON_COOKIE).stop([{ name, ...treeOf(record) }], {
    kill: 1500,
  });
  return report?.kind === 'gone';
}

/** The cookie alone where environments are visible: a pid may be reused within one clock tick. */
function treeOf(record: DaemonRecord): TreeIdentity {
  return { root: showsEnvironments() ? undefined : recordedRoot(record), cookie: record.cookie };
}

/** The command that starts `switchyard`: as this process was started, or the file next to the program that uses it. */
function ownProgram(): readonly string[] {
  const script = realpathSync(process.argv[1]!);
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
