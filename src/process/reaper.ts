import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import type { Logger } from '../shared/log.ts';
import type { ProcessIdentity } from './process-identity.ts';
import { REAPER_SCRIPT } from './reaper-script.ts';

/**
 * A tiny process that outlives us briefly: when the pipe we hold to it closes, for whatever reason, it ends the
 * children we left. It gets all it needs before a child can do harm, so it is prepared even for SIGKILL.
 */
export interface Reaper {
  readonly pid: number | undefined;
  /** Starts it if it does not run. Call it before a child is spawned. */
  ready(): void;
  enlist(root: ProcessIdentity): void;
  release(root: ProcessIdentity): void;
  /** No child is left: it may exit without checking. */
  dismiss(): void;
}

export interface ReaperOptions {
  readonly log: Logger;
  readonly cookieName: string;
  /** Environment for the reaper itself. It must not carry this run's cookie. */
  readonly env: Readonly<Record<string, string>>;
  /** The POSIX shell that runs it. Default `/bin/sh`. */
  readonly shell?: string;
}

export function createReaper({ log, cookieName, env, shell = '/bin/sh' }: ReaperOptions): Reaper {
  const enlisted = new Map<number, ProcessIdentity>();
  const possible = process.platform !== 'win32' && existsSync(shell);
  let toldImpossible = false;
  let running: ChildProcess | undefined;

  const send = (line: string): void => void running?.stdin?.write(`${line}\n`);
  const sendRoot = (verb: string, { pid, startTime }: ProcessIdentity): void =>
    send(`${verb} ${pid} ${startTime}`);

  const start = (): void => {
    const child = spawn(shell, ['-c', REAPER_SCRIPT], {
      cwd: '/',
      env,
      stdio: ['pipe', 'ignore', 'ignore'],
      // A session of its own, so that signals to our process group or terminal do not end it.
      detached: true,
    });
    running = child;
    const lost = (): void => {
      if (running === child) running = undefined;
    };
    child.once('exit', lost);
    child.once('error', (error: NodeJS.ErrnoException) => {
      lost();
      log.warn(
        'the reaper could not be started: if the gateway is killed, its child processes keep running',
        {
          code: error.code,
        },
      );
    });
    // `exit` reports its end; a failed write in between does not matter.
    child.stdin.on('error', () => undefined);
    child.unref();
    (child.stdin as Socket).unref();
    send(`cookie ${cookieName}=`);
    for (const root of enlisted.values()) sendRoot('enlist', root);
  };

  return {
    get pid() {
      return running?.pid;
    },
    ready() {
      if (running !== undefined) return;
      if (possible) {
        start();
      } else if (!toldImpossible) {
        toldImpossible = true;
        log.debug('no POSIX shell, so no reaper: if the gateway is killed, child processes may keep running');
      }
    },
    enlist(root) {
      enlisted.set(root.pid, root);
      sendRoot('enlist', root);
    },
    release(root) {
      if (enlisted.delete(root.pid)) sendRoot('release', root);
    },
    dismiss() {
      send('dismiss');
      running?.stdin?.end();
      running = undefined;
    },
  };
}
