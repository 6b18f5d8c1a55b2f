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
  /** Resolves with the reason when the host's input has ended. */
  readonly ended: Promise<DoorEnd>;
  /** Resolves when all requests are answered; after this time in milliseconds, the rest fail. */
  drain(ms: number): Promise<void>;
  /** Resolves when the host has read all output, or reads no more. */
  flushed(): Promise<void>;
}

export type DoorEnd = 'end' | 'overrun' | 'broken' | 'stalled';

/** A host that reads nothing for this long counts as gone, in milliseconds. */
const STALL_MS = 60_000;

/** The door for the host that started this program and uses its stdin and stdout. */
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
  const { client, transport } = openStreamClient({
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
      transport.flush();
    },
    flushed: () =>
      new Promise((resolve) => {
        if (output.destroyed) resolve();
        // The callback of an empty write comes after all earlier writes.
        else output.write('', () => resolve());
        whenStuck(output, FLUSH_MS, resolve);
      }),
  };
}

/** How long the host may take to read the last output, in milliseconds. */
const FLUSH_MS = 1000;

/**
 * Calls back when output has waited for this time in milliseconds without progress. Works for sockets and pipes; files
 * never stall.
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
