import type { Readable, Writable } from 'node:stream';
import type { Logger } from '../shared/log.ts';
import type { Gateway } from '../gateway/index.ts';
import { openStreamClient } from './stream-client.ts';
import type { ServerIdentity } from './legacy-client.ts';
import { waitAtMost } from './wait-at-most.ts';

export interface StdioDoorOptions {
  readonly gateway: Gateway;
  readonly identity: ServerIdentity;
  readonly input: Readable;
  readonly output: Writable;
  readonly log: Logger;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  /** Whether requests are answered one after another, in the order they came, unless one takes long. Default false. */
  readonly inOrder?: boolean;
}

export interface StdioDoor {
  /** Resolves when the host has nothing more to say, with why. */
  readonly ended: Promise<DoorEnd>;
  /** Resolves when every request received is answered, or after so many milliseconds, when the rest are given up. */
  drain(ms: number): Promise<void>;
  /** Resolves when the host has taken every answer, or takes no more. */
  flushed(): Promise<void>;
}

export type DoorEnd = 'end' | 'overrun' | 'broken' | 'stalled';

/** A host that has taken nothing for so long is gone, whatever its pipe says. */
const STALL_MS = 60_000;

/** The door to the one host that started this program and speaks over its stdin and stdout. */
export function openStdioDoor({
  gateway,
  identity,
  input,
  output,
  log,
  messageBytes,
  inOrder = false,
}: StdioDoorOptions): StdioDoor {
  let end: (why: DoorEnd) => void = () => undefined;
  const ended = new Promise<DoorEnd>((resolve) => {
    end = resolve;
  });
  const { client, peer } = openStreamClient({
    gateway,
    identity,
    input,
    output,
    log,
    messageBytes,
    takesCopies: true,
    inOrder,
    ended: (why) => end(why),
  });
  output.on('error', () => end('broken'));
  output.on('close', () => end('broken'));
  whenStuck(output, STALL_MS, () => end('stalled'));

  return {
    ended,
    async drain(ms) {
      await waitAtMost(ms, client.idle());
      client.failAll();
      peer.outbox.flush();
    },
    flushed: () =>
      new Promise((resolve) => {
        if (output.destroyed) resolve();
        // The callback of an empty write comes after everything before it is out.
        else output.write('', () => resolve());
        whenStuck(output, FLUSH_MS, resolve);
      }),
  };
}

/** A host that takes none of the last answers for so long gets no more of them, in milliseconds. */
const FLUSH_MS = 1000;

/**
 * Calls back when output has waited for so many milliseconds without a byte of it being taken. Sockets and pipes tell;
 * a file always takes what it is given.
 */
function whenStuck(
  output: Writable & { setTimeout?: (ms: number) => unknown },
  ms: number,
  stuck: () => void,
): void {
  output.setTimeout?.(ms);
  output.on('timeout', () => {
    if (output.writableLength > 0) stuck();
  });
}
