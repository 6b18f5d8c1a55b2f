import type { ServerResponse } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import { Deframer, Message, readMessage, RpcCode, viewsOf } from '../../wire/index.ts';

const MIB = 1024 * 1024;
/** What waits in one response beyond this holds up what comes behind it. */
export const BACKED_UP_BYTES = MIB;
/** Lines of the core are bounded where they come in; this is a bound for a bug. */
const LINE_BYTES = 64 * MIB;
/** Messages below this are copied into one line; those above are handed on where they lie. */
const COPY_BELOW = 64 * 1024;
/** What the core has not read yet, in bytes, beyond which a client has to wait. */
const UNREAD_BYTES = 8 * MIB;

const NEWLINE = Buffer.from('\n');

export interface BytePipeEvents {
  /** A message of the core to the client. */
  line(message: Message): void;
  /** The core will write no more, or wrote what cannot be passed on. */
  broken(why: string): void;
}

/** The pair of byte streams that the core takes for the client, one message on a line. */
export class BytePipe {
  readonly input = new Readable({ read: () => undefined });
  readonly output: Writable;
  /** Responses that have to get rid of something before the next bytes are looked at. */
  readonly #slow: ServerResponse[] = [];

  constructor(events: BytePipeEvents) {
    const deframer = new Deframer(
      { messageBytes: LINE_BYTES, overrunBytes: LINE_BYTES },
      {
        message: (bytes) => {
          const message = readMessage(bytes, SERVER_SHAPE, 'newline');
          if (message instanceof Message) events.line(message);
          // Nested more deeply than anybody reads, say. Whoever asked must not wait for ever.
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
    this.output.on('error', (error) => events.broken(`a message could not be passed on: ${error.message}`));
    this.output.on('finish', () => events.broken('the core has ended the conversation'));
  }

  /** True while the core does not read what it is given. */
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

  /** What the core writes next waits for this response, if much waits in it. */
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
  const error = { code: RpcCode.internalError, message: 'The answer cannot be passed on: it is no message.' };
  return Message.fromText(`{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(error)}}`, SERVER_SHAPE);
}

/**
 * A response that waits for an earlier one on its connection is not held against the client: the earlier answer may be
 * among those that would be held up.
 */
function isBackedUp(response: ServerResponse): boolean {
  return !response.destroyed && response.socket !== null && response.writableLength > BACKED_UP_BYTES;
}
