import type { Readable, Writable } from 'node:stream';
import { textOf } from './bytes.ts';
import { Deframer } from './framing.ts';
import { Outbox } from './outbox.ts';

export interface StdioRpcOptions {
  /** The stream to read messages from. Default process.stdin. */
  readonly input?: Readable;
  /** The stream to write messages to. Default process.stdout. */
  readonly output?: Writable;
  /** Called for bytes that are not a message; reading continues after them. Default: a line on stderr. */
  readonly onError?: (error: Error) => void;
}

/**
 * JSON-RPC over a pair of streams in its simplest form: calls `handler` with each parsed message and returns `write`,
 * which sends one. Reads both lines and `Content-Length` blocks, and writes in the format that the other side started
 * with (`Content-Length` until then).
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
  const report = options.onError ?? ((error) => process.stderr.write(`stdio-rpc: ${error.message}\n`));
  const deframer = new Deframer(
    { messageBytes: 16 * 1024 * 1024, overrunBytes: Infinity },
    {
      message: (bytes) => {
        outbox.framing = deframer.framing ?? outbox.framing;
        let message: unknown;
        try {
          message = JSON.parse(textOf(bytes, bytes.from, bytes.to));
        } catch {
          // The parser's message quotes the text, which may contain a secret.
          report(new Error(`${bytes.to - bytes.from} bytes are not JSON and are skipped`));
          return;
        }
        handler(message);
      },
      oversize: (_head, _tail, length) =>
        report(new Error(`a message of ${length} bytes is over the limit of 16 MiB and is skipped`)),
      badHeader: (header) =>
        report(
          new Error(
            `no Content-Length in the header block, or no message behind it: ${JSON.stringify(header)}`,
          ),
        ),
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
