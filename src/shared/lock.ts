import { connect, createServer, type Server, type Socket } from 'node:net';
import { SwitchboardError } from './errors.ts';
import { nodeErrorCode } from './node-error-code.ts';
import { printableLine } from './printable.ts';
import { sha256 } from './sha256.ts';

export interface LockOptions {
  /** Describes the work to processes that wait for the lock. Default: empty. */
  readonly what?: string;
  /** How long to wait for the lock, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number;
  /** Called once for each other process that holds the lock while we wait. */
  readonly onWait?: ((holder: LockHolder) => void) | undefined;
  /** Aborts the wait, not the work. */
  readonly signal?: AbortSignal | undefined;
  /** Default: the current system. */
  readonly platform?: NodeJS.Platform;
}

export interface LockHolder {
  readonly pid: number;
  readonly what: string;
}

/** How long a holder may take to identify itself, in milliseconds. There may be no holder behind a TCP connection. */
const GREETING = 500;
/**
 * Pause before the next attempt when nothing signals a release, in milliseconds, plus a random pause up to the same
 * length.
 */
const PAUSE = 3;

/**
 * Runs the work while holding the lock with this name, exclusively among all processes of this user and within this
 * process. The lock is an address that only one process can listen on, so the kernel releases it when its holder dies
 * for any reason. Waiters stay connected to the holder and notice immediately when it is gone. Not reentrant.
 */
export async function withLock<T>(
  name: string,
  work: () => Promise<T> | T,
  options: LockOptions = {},
): Promise<T> {
  const { what = '', timeoutMs = 30_000, onWait, signal } = options;
  const giveUp = new AbortController();
  let holder: LockHolder | undefined;
  const tooLong = setTimeout(() => giveUp.abort(busy(name, holder, timeoutMs)), timeoutMs);
  const stop = (): void => giveUp.abort(new SwitchboardError('STOPPED', 'Waiting for the lock was stopped.'));
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  const seen = (found: LockHolder): void => {
    if (holder?.pid === found.pid && holder.what === found.what) return;
    holder = found;
    if (found.pid !== process.pid) onWait?.(found);
  };

  let leave: (() => void) | undefined;
  let release: (() => void) | undefined;
  try {
    leave = await queueUp(name, what, giveUp.signal, seen);
    release = await acquire(addressOf(name, options.platform), what, giveUp.signal, seen);
  } catch (error) {
    leave?.();
    throw error;
  } finally {
    clearTimeout(tooLong);
    signal?.removeEventListener('abort', stop);
  }
  try {
    return await work();
  } finally {
    release();
    leave();
  }
}

/** By name: the work that is running in this process, and the work that waits for it, in order. */
const queues = new Map<string, { what: string; readonly waiting: (() => void)[] }>();

/** Waits for our turn within this process, which does not involve the kernel. Returns a function that ends the turn. */
async function queueUp(
  name: string,
  what: string,
  stop: AbortSignal,
  seen: (holder: LockHolder) => void,
): Promise<() => void> {
  stop.throwIfAborted();
  const queue = queues.get(name);
  if (queue === undefined) {
    queues.set(name, { what, waiting: [] });
  } else {
    seen({ pid: process.pid, what: queue.what });
    await new Promise<void>((resolve, reject) => {
      const proceed = (): void => {
        stop.removeEventListener('abort', quit);
        resolve();
      };
      const quit = (): void => {
        queue.waiting.splice(queue.waiting.indexOf(proceed), 1);
        reject(stop.reason as Error);
      };
      queue.waiting.push(proceed);
      stop.addEventListener('abort', quit, { once: true });
    });
    queue.what = what;
  }
  return () => {
    const next = queues.get(name)?.waiting.shift();
    if (next === undefined) queues.delete(name);
    else next();
  };
}

/** By address: how to release it, and how many of our locks use it. There are few ports, so two names may share one. */
const claimed = new Map<string, { users: number; readonly release: () => void }>();

/** Waits until the address is ours. Returns a function that releases it. */
async function acquire(
  address: Address,
  what: string,
  stop: AbortSignal,
  seen: (holder: LockHolder) => void,
): Promise<() => void> {
  const key = JSON.stringify(address);
  for (;;) {
    stop.throwIfAborted();
    // Without this, taking one lock while holding the other would wait for ourselves forever.
    const shared = claimed.get(key);
    if (shared !== undefined) shared.users++;
    const ours = shared ?? (await claimFirst(address, what, key));
    if (ours !== undefined) {
      return () => {
        if (--ours.users > 0) return;
        claimed.delete(key);
        ours.release();
      };
    }
    if (claimed.has(key)) continue;
    if (await untilFree(address, stop, seen)) continue;
    await new Promise((resume) => setTimeout(resume, PAUSE * (1 + Math.random())));
  }
}

async function claimFirst(address: Address, what: string, key: string) {
  const release = await claim(address, what);
  if (release === undefined) return undefined;
  const first = { users: 1, release };
  claimed.set(key, first);
  return first;
}

/** Listens on the address; undefined if another process does. */
function claim(address: Address, what: string): Promise<(() => void) | undefined> {
  const greeting = `${JSON.stringify({ pid: process.pid, what } satisfies LockHolder)}\n`;
  const waiters = new Set<Socket>();
  const server: Server = createServer((waiter) => {
    waiters.add(waiter);
    // A waiter that gives up is not an error.
    waiter.on('error', () => undefined);
    waiter.once('close', () => waiters.delete(waiter));
    waiter.unref();
    waiter.write(greeting);
  });
  return new Promise((resolve, reject) => {
    server.once('error', (error) => {
      if (nodeErrorCode(error) === 'EADDRINUSE') resolve(undefined);
      else reject(impossible(error));
    });
    server.listen({ ...address, exclusive: true }, () => {
      // Does not keep the process alive, because the kernel releases the lock when it exits.
      server.unref();
      server.on('error', () => undefined);
      resolve(() => {
        // Release the address before disconnecting the processes that wait for it.
        server.close();
        for (const waiter of waiters) waiter.destroy();
      });
    });
  });
}

/**
 * Stays connected to the holder until it releases the lock or dies, or we stop. Resolves with whether a holder
 * identified itself.
 */
function untilFree(
  address: Address,
  stop: AbortSignal,
  seen: (holder: LockHolder) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(address);
    const quit = (): void => void socket.destroy();
    stop.addEventListener('abort', quit, { once: true });
    const silence = setTimeout(quit, GREETING);
    let greeted = false;
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      if (greeted || text.length > 10_000) return;
      text += chunk.toString('utf8');
      const holder = text.includes('\n') ? asHolder(text.slice(0, text.indexOf('\n'))) : undefined;
      if (holder === undefined) return;
      greeted = true;
      clearTimeout(silence);
      seen(holder);
    });
    // Refused: the lock was just released. Reset: its holder died.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearTimeout(silence);
      stop.removeEventListener('abort', quit);
      resolve(greeted);
    });
  });
}

type Address = { readonly path: string } | { readonly host: string; readonly port: number };

/** Linux has abstract socket names, Windows has named pipes; on other systems, it is a loopback port. */
function addressOf(name: string, platform: NodeJS.Platform = process.platform): Address {
  const whole = `switchyard-${process.getuid?.() ?? ''}-${name}`;
  const fitting = FITTING.test(whole) ? whole : `switchyard-${sha256(whole)}`;
  if (platform === 'win32') return { path: `\\\\.\\pipe\\${fitting}` };
  // Always padded to full length: some versions of Node fill the rest with NUL, others do not, and both must use the
  // same name.
  if (platform === 'linux' && namesInKernel()) return { path: `\0${fitting.padEnd(NAME_LENGTH, '.')}` };
  // Below the ephemeral ports, because an outgoing connection with this port would block the lock for minutes.
  return { host: '127.0.0.1', port: 10_000 + (Number.parseInt(sha256(whole).slice(0, 8), 16) % 10_000) };
}

const NAME_LENGTH = 107;
const FITTING = /^[\w-]{1,107}$/;

/** Since libuv 1.46; before that, all such names were the same. */
function namesInKernel(): boolean {
  const [major = 0, minor = 0] = process.versions.uv.split('.').map(Number);
  return major > 1 || minor >= 46;
}

function asHolder(line: string): LockHolder | undefined {
  try {
    const { pid, what } = JSON.parse(line) as Partial<LockHolder>;
    if (pid === undefined || !Number.isSafeInteger(pid) || typeof what !== 'string') return undefined;
    return { pid, what: printableLine(what) };
  } catch {
    return undefined;
  }
}

function busy(name: string, holder: LockHolder | undefined, timeoutMs: number): SwitchboardError {
  const who =
    holder === undefined
      ? 'Another process'
      : `Process ${holder.pid}${holder.what === '' ? '' : ` (${holder.what})`}`;
  return new SwitchboardError('LOCK_BUSY', `${who} has held the lock "${name}" for ${timeoutMs} ms.`, {
    hint: 'Wait for it to finish, or stop it; the lock is released when that process exits.',
  });
}

function impossible(error: Error): SwitchboardError {
  return new SwitchboardError(
    'LOCK_FAILED',
    `Could not create a lock (${nodeErrorCode(error) ?? error.message}).`,
    {
      hint: 'Locks are local sockets; allow this program to create them.',
      cause: error,
    },
  );
}
