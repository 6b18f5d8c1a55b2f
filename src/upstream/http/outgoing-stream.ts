import { Writable } from 'node:stream';
import { defineShape, Envelope, ENVELOPE, Message, readMessage } from '../../wire/index.ts';
import { LineBuffer } from './line-buffer.ts';

/** A message of ours on its way out. */
export interface Outgoing {
  /** Its bytes as they were written, without the line's end. */
  readonly body: readonly Buffer[];
  readonly length: number;
  /** Our id where it is a request, else 0. */
  readonly id: number;
  /** Undefined for an answer. */
  readonly method: string | undefined;
  /** The request that it cancels, else 0. */
  readonly cancels: number;
  /** What it says; undefined where it could not be read. */
  readonly read: Message | undefined;
  /** Its bytes are with the network, or will never be. May be told more than once. */
  sent(): void;
}

/** Messages that were taken and not yet sent, beyond which no more are taken, in bytes. */
const UNSENT = 1024 * 1024;
const LF = 0x0a;
/** As little as possible: a duplicate of any of these members would make a message unreadable. */
const SHAPE = defineShape(
  { ...ENVELOPE },
  { params: { requestId: true, name: true, uri: true, taskId: true, arguments: true } },
);
const REQUEST_ID = SHAPE.slot('params.requestId');

/** Members of what is sent, looked for only where somebody asks. */
export const SentMember = {
  name: SHAPE.slot('params.name'),
  uri: SHAPE.slot('params.uri'),
  taskId: SHAPE.slot('params.taskId'),
  arguments: SHAPE.slot('params.arguments'),
} as const;

/** Cuts what is written into messages, and takes no more while too much of it waits to be sent. */
export class OutgoingStream {
  readonly stream: Writable;
  readonly #take: (message: Outgoing) => void;
  readonly #line = new LineBuffer();
  #unsent = 0;
  /** Goes on with writing; set while too much waits. */
  #goOn: (() => void) | undefined;

  constructor(take: (message: Outgoing) => void) {
    this.#take = take;
    this.stream = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.#cut(chunk);
        if (this.#unsent > UNSENT) this.#goOn = done;
        else done();
      },
    });
  }

  #cut(chunk: Buffer): void {
    let at = 0;
    for (let end = chunk.indexOf(LF); end >= 0; end = chunk.indexOf(LF, at)) {
      this.#line.add(chunk.subarray(at, end));
      at = end + 1;
      if (this.#line.length > 0) this.#message();
    }
    this.#line.add(chunk.subarray(at));
  }

  #message(): void {
    const { length } = this.#line;
    const body = this.#line.take();
    const bytes: Message['bytes'] =
      body.length === 1 ? { buffer: body[0]!, from: 0, to: length } : { chunks: body, from: 0, to: length };
    const read = readMessage(bytes, SHAPE, 'newline');
    // Nobody but us writes here, and only what has been read before. Should it be bad all the same, the server says so.
    const known = read instanceof Message ? read : undefined;
    const method = known?.string(Envelope.method);
    let waiting = true;
    this.#unsent += length;
    this.#take({
      body,
      length,
      id: known === undefined || method === undefined ? 0 : known.integer(Envelope.id),
      method,
      read: known,
      cancels: method === 'notifications/cancelled' ? known!.integer(REQUEST_ID) : 0,
      sent: () => {
        if (!waiting) return;
        waiting = false;
        this.#unsent -= length;
        if (this.#unsent > UNSENT || this.#goOn === undefined) return;
        const goOn = this.#goOn;
        this.#goOn = undefined;
        goOn();
      },
    });
  }
}
