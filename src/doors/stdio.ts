import type { Readable, Writable } from 'node:stream';
import { CLIENT_SHAPE } from '../protocol/index.ts';
import { StreamTransport } from '../wire/index.ts';
import { connectClient, type ClientOptions } from './client.ts';
import { waitAtMost } from './wait-at-most.ts';

export interface StdioDoorOptions extends ClientOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** The largest accepted message, in bytes. */
  readonly messageBytes: number;
}

export interface StdioDoor {
  /** Resolves with the reason when the host's input has ended. */
  readonly ended: Promise<DoorEnd>;
  /** Resolves when all requests are answered. Those that take longer than this, in milliseconds, fail. */
  drain(ms: number): Promise<void>;
  /** Resolves when the host has read all output or has stopped reading. */
  flushed(): Promise<void>;
}

export type DoorEnd = 'end' | 'overrun' | 'broken' | 'stalled';

/** A host that reads nothing for this long is considered gone, in milliseconds. */
const STALL_MS = 60_000;

/** The door for the host that started this program and uses its stdin and stdout. */
export function openStdioDoor({ input, output, messageBytes, ...options }: StdioDoorOptions): StdioDoor {
  let end: (why: DoorEnd) => void = () => undefined;
  const ended = new Promise<DoorEnd>((resolve) => {
    end = resolve;
  });
  const transport = new StreamTransport(input, output, {
    shape: CLIENT_SHAPE,
    messageBytes,
    takesCopies: true,
  });
  const client = connectClient(transport, options, (why) => end(why));
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
        // The callback of an empty write is called after all earlier writes.
        else output.write('', () => resolve());
        whenStuck(output, FLUSH_MS, resolve);
      }),
  };
}

/** How long the host may take to read the last output, in milliseconds. */
const FLUSH_MS = 1000;

/**
 * Calls back when output has been waiting for this long without progress, in milliseconds. Works for sockets and pipes;
 * files never stall.
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
