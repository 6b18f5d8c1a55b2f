import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants, setPriority } from 'node:os';
import type { Logger } from '../shared/log.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { dropInheritance } from './drop-inheritance.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { REAPER_SCRIPT } from './reaper-script.ts';
import { createRunRecorder, withOrdinal, type RecordedRoot } from './run-record.ts';

/**
 * A tiny process that outlives us briefly: when the pipe from us closes, for whatever reason, it ends the children we
 * left. It gets everything it needs before a child can do harm, so it works even after SIGKILL. If it is killed, it is
 * restarted; if it is killed together with us, the next run ends what we recorded.
 */
export interface Reaper {
  readonly pid: number | undefined;
  /**
   * Starts the reaper unless it runs. Call this before a child is spawned, with the directory of the children's
   * cgroups.
   */
  ready(cgroups?: string): void;
  enlist(root: ProcessIdentity): void;
  release(root: ProcessIdentity): void;
  /** No child is left: the reaper may exit without checking. */
  dismiss(): void;
}

export interface ReaperOptions {
  readonly log: Logger;
  readonly cookieName: string;
  /** The environment of the reaper itself. It must not carry this run's cookie. */
  readonly env: Readonly<Record<string, string>>;
  /** The directory where runs are recorded for the next run. Default: they are not recorded. */
  readonly records?: string | undefined;
  /** The POSIX shell that runs it. Default `/bin/sh`. */
  readonly shell?: string;
  /** Starts another program that understands its commands. Default: the one for a POSIX shell. */
  readonly program?: (() => ChildProcess) | undefined;
}

/** The longest wait before it is restarted if it keeps ending, in milliseconds. */
const LONGEST_WAIT = 1000;
const NOT_STARTED =
  'the reaper could not be started: if the gateway is killed, its child processes keep running';

export function createReaper(options: ReaperOptions): Reaper {
  const { log, cookieName, env, records, shell = DEFAULT_SHELL } = options;
  const enlisted = new Map<number, RecordedRoot>();
  const { program = canReap(shell) ? () => spawnReaper(shell, env) : undefined } = options;
  const recorder =
    records === undefined || !canReap(shell) ? undefined : createRunRecorder(records, cookieName);
  let warned = false;
  let running: ChildProcess | undefined;
  let wanted = false;
  let cgroups: string | undefined;
  /** How often in a row it ended soon after its start. */
  let failures = 0;

  const send = (line: string): void => void running?.stdin?.write(`${line}\n`);
  const sendRoot = (verb: string, { pid, startTime }: ProcessIdentity): void =>
    send(`${verb} ${pid} ${startTime}`);
  const record = (): void => recorder?.write(enlisted.values(), cgroups);

  const start = (): void => {
    const began = performance.now();
    let child: ChildProcess | undefined;
    const lost = (error?: unknown): void => {
      if (running === child) running = undefined;
      if (!wanted) return;
      failures = performance.now() - began > LONGEST_WAIT ? 0 : failures + 1;
      if (error === undefined) log.debug('the reaper ended and is started again');
      else if (!warned) log.warn(NOT_STARTED, { code: nodeErrorCode(error) });
      warned ||= error !== undefined;
      // Restarted at once, unless it keeps ending.
      setTimeout(restart, Math.min(4 ** failures, LONGEST_WAIT)).unref();
    };
    // Node throws some failures (ENOMEM) and emits others (EAGAIN).
    try {
      child = program?.();
    } catch (error) {
      lost(error);
      return;
    }
    if (child === undefined) return;
    running = child;
    child.once('exit', () => lost());
    child.once('error', lost);
    send(`cookie ${cookieName}=`);
    if (cgroups !== undefined) send(`cgroups ${cgroups}`);
    for (const root of enlisted.values()) sendRoot('enlist', root);
  };
  const restart = (): void => {
    if (wanted && running === undefined) start();
  };

  return {
    get pid() {
      return running?.pid;
    },
    ready(directory) {
      if (running !== undefined) return;
      cgroups = directory;
      if (program !== undefined) {
        if (!wanted) record();
        wanted = true;
        start();
      } else if (!warned) {
        warned = true;
        log.debug('no POSIX shell, so no reaper: if the gateway is killed, child processes may keep running');
      }
    },
    enlist(root) {
      enlisted.set(root.pid, withOrdinal(root));
      sendRoot('enlist', root);
      record();
    },
    release(root) {
      if (!enlisted.delete(root.pid)) return;
      sendRoot('release', root);
      record();
    },
    dismiss() {
      wanted = false;
      send('dismiss');
      running?.stdin?.end();
      running = undefined;
      recorder?.remove();
    },
  };
}

export const DEFAULT_SHELL = '/bin/sh';

export function canReap(shell: string): boolean {
  return process.platform !== 'win32' && existsSync(shell);
}

/** Starts the reaper's program. Neither it nor the pipe to it keeps us running. */
export function spawnReaper(shell: string, env: Readonly<Record<string, string>>): ChildProcess {
  dropInheritance();
  const child: ChildProcess = spawn(shell, ['-c', REAPER_SCRIPT], {
    cwd: '/',
    env,
    stdio: ['pipe', 'ignore', 'ignore'],
    // A separate session, so that signals to our process group or terminal do not end it.
    detached: true,
  });
  try {
    // On a busy machine it must not wait behind the programs it is to end. Only some users may set this.
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_ABOVE_NORMAL);
  } catch {
    // The priority is not essential.
  }
  // `exit` reports its end, so a write that failed before can be ignored.
  child.stdin?.on('error', () => undefined);
  child.unref();
  (child.stdin as Socket | null)?.unref();
  return child;
}
