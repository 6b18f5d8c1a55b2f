import { spawn, type ChildProcess } from 'node:child_process';
import { PassThrough, Writable, type Readable } from 'node:stream';
import type { SwitchboardError } from '../shared/errors.ts';
import { explainSpawnError } from './spawn-error.ts';

export interface SpawnOptions {
  /** What logs and errors call it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The complete environment; nothing is inherited beside it but the marks of the runs it belongs to. */
  readonly env: Readonly<Record<string, string>>;
  /** Command and directory as errors may show them, where they hold secrets. Default: as they are. */
  readonly shown?: { readonly command: string; readonly cwd: string };
}

export type ChildState =
  { readonly kind: 'running'; readonly pid: number; readonly since: number } | ChildEnd;

/** Times are in milliseconds since the epoch. */
export type ChildEnd =
  | { readonly kind: 'failed'; readonly error: SwitchboardError }
  | {
      readonly kind: 'exited';
      readonly code: number | null;
      readonly signal: NodeJS.Signals | null;
      readonly at: number;
    };

/** The process we started ourselves. What it started in turn is its process tree, which ChildProcesses tracks. */
export interface RootProcess {
  /** Undefined when it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly state: ChildState;
  /** Called once, never within this turn, also when the end is long past. Returns how to take the listener back. */
  onExit(listener: (end: ChildEnd) => void): () => void;
  /** Ends stdin after what is already written; with `now`, without waiting for a child that does not read. */
  closeStdin(now: boolean): void;
  /** For when all is over: lets go of pipes whose other end somebody unknown still holds. */
  releasePipes(): void;
}

/** How long the last words may take to arrive after the exit, in milliseconds, when somebody else holds the pipes. */
const LAST_WORDS = 50;
/** How long a reader of ours may take for what the pipes still hold, in milliseconds. */
const LAST_READ = 1000;

/**
 * Starts a program from its arguments (never through a shell), in a session of its own, on three pipes. With a
 * `refusal` it fails with that instead.
 */
export function spawnRoot(options: SpawnOptions, refusal?: SwitchboardError): RootProcess {
  const { command, args, cwd, env } = options;
  let child: ChildProcess | undefined;
  let thrown: unknown;
  // Some failures Node throws (E2BIG), others it emits (ENOENT).
  try {
    if (refusal !== undefined) throw refusal;
    const detached = process.platform !== 'win32';
    child = spawn(command, args, { cwd, env, detached, stdio: 'pipe', windowsHide: true });
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
    // Not `close` alone: that waits for every descendant that inherited the pipes.
    child.once('close', () => announce(end));
    setTimeout(announce, LAST_WORDS, end);
  });

  // Pipes can be missing when there were no descriptors left to make them from.
  const stdin = child?.stdin ?? new Writable({ write: (_chunk, _encoding, done) => done() });
  const stdout = child?.stdout ?? new PassThrough().end();
  const stderr = child?.stderr ?? new PassThrough().end();
  // A child that died or closed its stdin is told by its exit; the EPIPE must not end the program.
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
