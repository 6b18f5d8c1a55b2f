import type { ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import { Deframer, Message, readMessage, RpcCode, viewsOf } from '../../wire/index.ts';

const MIB = 1024 * 1024;
/** Unsent bytes of one response beyond which the core's output is paused. */
export const BACKED_UP_BYTES = MIB;
/** Messages are bounded on input; this limit only catches a bug. */
const LINE_BYTES = 64 * MIB;
/** Messages below this are copied into one line; larger ones are passed without a copy. */
const COPY_BELOW = 64 * 1024;
/** Bytes that the core has not read yet, beyond which the pipe is full. */
const UNREAD_BYTES = 8 * MIB;

const NEWLINE = Buffer.from('\n');

export interface BytePipeEvents {
  /** A message of the core to the client. */
  line(message: Message): void;
  /** The core has ended its output, or wrote something that cannot be forwarded. */
  broken(why: string): void;
}

/** The pair of byte streams between one HTTP client and the core, one message per line. */
export class BytePipe {
  readonly input = new Readable({ read: () => undefined });
  readonly output: Writable;
  /** Responses that have to drain before more output is read. */
  readonly #slow: ServerResponse[] = [];

  constructor(events: BytePipeEvents) {
    const deframer = new Deframer(
      { messageBytes: LINE_BYTES, overrunBytes: LINE_BYTES },
      {
        message: (bytes) => {
          const message = readMessage(bytes, SERVER_SHAPE, 'newline');
          if (message instanceof Message) events.line(message);
          // Nested too deeply, for example. Its request gets an error instead of no answer.
          else if (message.id !== undefined) events.line(unreadable(message.id));
        },
        oversize: () => events.broken('the core wrote a line that is too long'),
        badHeader: () => events.broken('the core wrote a header'),
        overrun: () => events.broken('the core wrote a line that does not end'),
      },
    );
    this.output = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        try {
          deframer.push(chunk);
        } catch (error) {
          done(error as Error);
          return;
        }
        this.#whenRelieved(done);
      },
    });
    this.output.on('error', (error) => events.broken(`a message could not be forwarded: ${error.message}`));
    this.output.on('finish', () => events.broken('the core closed the connection'));
  }

  /** True while the core does not keep up with its input. */
  get full(): boolean {
    return this.input.readableLength > UNREAD_BYTES;
  }

  /** A message of the client to the core. */
  take({ bytes }: Message): void {
    const views = viewsOf(bytes, bytes.from, bytes.to);
    if (bytes.to - bytes.from < COPY_BELOW) {
      this.input.push(Buffer.concat([...views, NEWLINE]));
      return;
    }
    for (const view of views) this.input.push(view);
    this.input.push(NEWLINE);
  }

  /** Pauses the core's output until this response has drained, if it is backed up. */
  waitFor(response: ServerResponse): void {
    if (isBackedUp(response)) this.#slow.push(response);
  }

  close(): void {
    this.input.push(null);
    this.output.destroy();
  }

  #whenRelieved(then: () => void): void {
    let response = this.#slow.pop();
    while (response !== undefined && !isBackedUp(response)) response = this.#slow.pop();
    if (response === undefined) {
      then();
      return;
    }
    const slow = response;
    const relieved = (): void => {
      slow.off('drain', relieved).off('finish', relieved).off('close', relieved);
      this.#whenRelieved(then);
    };
    slow.on('drain', relieved).on('finish', relieved).on('close', relieved);
  }
}

function unreadable(id: string): Message {
  const error = { code: RpcCode.internalError, message: 'The response is not a valid JSON-RPC message.' };
  return Message.fromText(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`, SERVER_SHAPE);
}

/**
 * A response that waits for an earlier one on its connection does not count: the answer to the earlier one may be among
 * the output that would be paused.
 */
function isBackedUp(response: ServerResponse): boolean {
  return !response.destroyed && response.socket !== null && response.writableLength > BACKED_UP_BYTES;
}
