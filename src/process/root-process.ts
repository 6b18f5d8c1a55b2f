import { spawn, type ChildProcess } from 'node:child_process';
import { PassThrough, Writable, type Readable } from 'node:stream';
import type { SwitchboardError } from '../shared/errors.ts';
import { withSafePath } from './search-path.ts';
import { spawnable, type SpawnOptions } from './spawnable.ts';
import { explainSpawnError } from './spawn-error.ts';

export type ChildState =
  { readonly kind: 'running'; readonly pid: number; readonly since: number } | ChildEnd;

/** How a child ended. Times are in milliseconds since the epoch. */
export type ChildEnd =
  | { readonly kind: 'failed'; readonly error: SwitchboardError }
  | {
      readonly kind: 'exited';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly at: number;
    };

/** The process we started ourselves. Its descendants form its process tree, which ChildProcesses tracks. */
export interface RootProcess {
  /** Undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly state: ChildState;
  /**
   * Calls back once, never within this turn, even if the process ended long ago. Returns a function that removes the
   * listener.
   */
  onExit(listener: (end: ChildEnd) => void): () => void;
  /** Ends stdin after pending writes; with `now`, does not wait for a child that does not read. */
  closeStdin(now: boolean): void;
  /** At the very end: closes pipes that an unknown process still holds open. */
  releasePipes(): void;
}

/** How long to wait for the last output after the exit if another process holds the pipes, in milliseconds. */
const LAST_WORDS = 50;
/** How long our reader may take for what the pipes still contain, in milliseconds. */
const LAST_READ = 1000;

/**
 * Starts a program (never through a shell) in a new session, with three pipes. With a `refusal`, fails with that error
 * instead.
 */
export function spawnRoot(options: SpawnOptions, refusal?: SwitchboardError): RootProcess {
  let child: ChildProcess | undefined;
  let thrown: unknown;
  // Node throws some failures (E2BIG) and emits others (ENOENT).
  try {
    if (refusal !== undefined) throw refusal;
    const detached = process.platform !== 'win32';
    const { file, args, env: more, windowsVerbatimArguments } = spawnable(options);
    const env = withSafePath({ ...options.env, ...more });
    child = spawn(file, args, {
      cwd: options.cwd,
      env,
      detached,
      stdio: 'pipe',
      windowsHide: true,
      windowsVerbatimArguments,
    });
  } catch (error) {
    thrown = error;
  }

  const pid = child?.pid;
  let state: ChildState =
    pid === undefined
      ? { kind: 'failed', error: explainSpawnError(options, thrown) }
      : { kind: 'running', pid, since: Date.now() };
  let announced: ChildEnd | undefined;
  const listeners = new Set<(end: ChildEnd) => void>();
  const announce = (end: ChildEnd): void => {
    if (announced !== undefined) return;
    state = announced = end;
    for (const listener of listeners) listener(end);
    listeners.clear();
  };
  const fail = (cause: unknown): void =>
    announce({ kind: 'failed', error: explainSpawnError(options, cause) });

  if (child === undefined) process.nextTick(fail, thrown);
  child?.on('error', (cause) => {
    if (pid === undefined) fail(cause);
  });
  child?.once('exit', (code, signal) => {
    const end: ChildEnd = { kind: 'exited', code, signal, at: Date.now() };
    state = end;
    // `close` alone would wait for every descendant that inherited the pipes.
    child.once('close', () => announce(end));
    setTimeout(announce, LAST_WORDS, end);
  });

  // Pipes may be missing if there were no file descriptors left.
  const stdin = child?.stdin ?? new Writable({ write: (_chunk, _encoding, done) => done() });
  const stdout = child?.stdout ?? new PassThrough().end();
  const stderr = child?.stderr ?? new PassThrough().end();
  // The exit reports a child that has ended or closed its stdin; EPIPE must not crash the program.
  for (const pipe of [stdin, stdout, stderr]) pipe.on('error', () => undefined);

  return {
    pid,
    stdin,
    stdout,
    stderr,
    get state() {
      return state;
    },
    onExit(listener) {
      if (announced === undefined) listeners.add(listener);
      else queueMicrotask(listener.bind(undefined, announced));
      return () => void listeners.delete(listener);
    },
    closeStdin(now) {
      if (now) stdin.destroy();
      else stdin.end();
    },
    releasePipes() {
      stdin.destroy();
      for (const pipe of [stdout, stderr]) setTimeout(() => pipe.destroy(), LAST_READ).unref();
    },
  };
}
