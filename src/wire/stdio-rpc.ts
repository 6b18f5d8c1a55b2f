import type { Readable, Writable } from 'node:stream';
import { textOf } from './bytes.ts';
import { Deframer } from './framing.ts';
import { Outbox } from './outbox.ts';

export interface StdioRpcOptions {
  /** Where messages come from. Default process.stdin. */
  readonly input?: Readable;
  /** Where messages go. Default process.stdout. */
  readonly output?: Writable;
  /** Told about bytes that are no message; the stream goes on behind them. Default: thrown away. */
  readonly onError?: (error: Error) => void;
}

/**
 * JSON-RPC over a pair of streams in its simplest form: each message parsed and handed over, `write` sends one back.
 * Reads both framings and writes in the one the other side opened with, Content-Length until it has.
 */
export function startStdioRpc(
  handler: (message: unknown) => void,
  options: StdioRpcOptions = {},
): { write: (message: object) => void } {
  const input = options.input ?? process.stdin;
  const outbox = new Outbox(options.output ?? process.stdout, {
    framing: 'content-length',
    highWater: Infinity,
    takesCopies: false,
  });
  const report = options.onError ?? (() => undefined);
  const deframer = new Deframer(
    { messageBytes: 16 * 1024 * 1024, overrunBytes: Infinity },
    {
      message: (bytes) => {
        outbox.framing = deframer.framing ?? outbox.framing;
        let message: unknown;
        try {
          message = JSON.parse(textOf(bytes, bytes.from, bytes.to));
        } catch (error) {
          report(error as Error);
          return;
        }
        handler(message);
      },
      oversize: (_head, _tail, length) =>
        report(new Error(`A message of ${length} bytes is over the limit of 16 MiB`)),
      badHeader: (header) =>
        report(new Error(`Missing Content-Length in the header block ${JSON.stringify(header)}`)),
      overrun: () => undefined,
    },
  );
  input.on('data', (chunk: Buffer) => deframer.push(chunk));
  input.on('end', () => deframer.end());
  return {
    write: (message) => {
      outbox.sendText(JSON.stringify(message));
      outbox.flush();
    },
  };
}
