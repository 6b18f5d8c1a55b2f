import type { Readable, Writable } from 'node:stream';
import type { SwitchboardError } from '../shared/errors.ts';
import { BatchedAnswers, readBatch } from './batch.ts';
import { byteAt, fromChunks, textOf, type Bytes } from './bytes.ts';
import { addEdit, editedText, type Edit } from './edit.ts';
import { Envelope, RpcCode } from './envelope.ts';
import { Deframer, type Framing, type OutputFraming } from './framing.ts';
import { hasUsableId, isUsableId } from './ids.ts';
import { idFromFragments, Message, readMessage, type ReadFault } from './message.ts';
import { Outbox } from './outbox.ts';
import type { Shape } from './shape.ts';
import { PendingRequests } from './pending-requests.ts';

/** Waits for the answer to a request of ours. Exactly one of the two is called, once. */
export interface AnswerListener {
  /** The peer answered, with a result or an error. */
  answered(answer: Message): void;
  /** No usable answer can come any more, though the connection may go on. */
  unanswered(reason: Unanswered, error?: SwitchboardError): void;
}

/**
 * `not-taken`: the other side has not handled the request, so it may be sent again. `failed`: the transport failed, with
 * an error.
 */
export type Unanswered = 'too-large' | 'unreadable' | 'closed' | 'not-taken' | 'failed';

export interface PeerEvents {
  request(message: Message): void;
  notification(message: Message): void;
  /** Bytes that are not a message. Whether the other side gets an error depends on its role. */
  refused(refusal: ReadFault | MessageFault, id: string | undefined, bytes: RefusedBytes): void;
  /** A message was dropped, such as an answer to no pending request. */
  dropped(why: string): void;
  /** The input has ended. */
  ended(why: 'end' | 'overrun'): void;
}

/** The bytes of a refused message: their number, and the first ones as text. */
export interface RefusedBytes {
  readonly length: number;
  readonly text: () => string;
}

/** Well-formed JSON that is not a JSON-RPC message, or a message over the limits. */
export type MessageFault =
  'batch' | 'not-a-message' | 'bad-version' | 'bad-id' | 'bad-method' | 'too-large' | 'bad-header';

export interface PeerOptions {
  /** Members to find in every message; contains the envelope. */
  readonly shape: Shape;
  /** The output framing until the other side has shown its own, which ends `either` in any case. Default newline. */
  readonly framing?: OutputFraming;
  /** Write in the framing in which the other side opened. Default true. */
  readonly replyInKind?: boolean;
  /** The largest message taken, in bytes. Default 16 MiB. */
  readonly messageBytes?: number;
  /** How far over that a message may run before the stream counts as broken, in bytes. Default 64 MiB. */
  readonly overrunBytes?: number;
  /** Waiting output beyond which the wire counts as congested, in bytes. Default 4 MiB. */
  readonly highWater?: number;
  /** The output is a pipe, socket or file, which does not keep a reference to written buffers. Default false. */
  readonly takesCopies?: boolean;
}

const MIB = 1024 * 1024;

/**
 * One end of a JSON-RPC 2.0 connection over a pair of byte streams. It numbers its own requests, counting up, and accepts
 * an answer only if its id is that number again, by value and by type.
 */
export class Peer {
  readonly outbox: Outbox;
  readonly #input: Readable;
  readonly #events: PeerEvents;
  readonly #shape: Shape;
  /** Whether every message is scanned for the rare members at once, because they are not rare here. */
  readsRareMembers = false;
  /** The framing of the first message that could be read. */
  inputFraming: Framing | undefined;
  readonly #pending = new PendingRequests<AnswerListener>();
  #batched: BatchedAnswers | undefined;
  /** Takes the errors for refused messages while a batch is read. */
  #refusedInBatch: ((answer: string) => void) | undefined;
  #lastId = 0;
  #over = false;
  #ended = false;

  constructor(input: Readable, output: Writable, events: PeerEvents, options: PeerOptions) {
    const { shape } = options;
    this.#input = input;
    this.#events = events;
    this.#shape = shape;
    this.outbox = new Outbox(output, {
      framing: options.framing ?? 'newline',
      highWater: options.highWater ?? 4 * MIB,
      takesCopies: options.takesCopies ?? false,
    });
    const replyInKind = (): void => {
      if ((options.replyInKind ?? true) && deframer.framing) this.outbox.framing = deframer.framing;
    };
    const deframer = new Deframer(
      { messageBytes: options.messageBytes ?? 16 * MIB, overrunBytes: options.overrunBytes ?? 64 * MIB },
      {
        message: (bytes, framing) => {
          replyInKind();
          this.#read(bytes, framing);
        },
        oversize: (head, tail, length) => {
          replyInKind();
          this.#oversize(head, tail, length);
        },
        badHeader: (header) =>
          this.#events.refused('bad-header', undefined, refusedBytes(fromChunks([Buffer.from(header)]))),
        overrun: () => this.#end('overrun'),
      },
    );
    input.on('data', (chunk: Buffer) => deframer.push(chunk));
    input.on('end', () => {
      deframer.end();
      this.#end('end');
    });
    // A stream that breaks ends as well; the reason is known where the stream was opened.
    input.on('error', () => this.#end('end'));
    input.on('close', () => this.#end('end'));
  }

  /** From now on the other side may send several messages as one array. */
  allowBatches(): void {
    this.#batched ??= new BatchedAnswers((text) => this.outbox.sendText(text));
  }

  /** Relays a request under an id of ours, which is returned. */
  relay(message: Message, edits: readonly Edit[], listener: AnswerListener): number {
    const id = this.nextId();
    this.outbox.forwardAs(id, message, edits);
    this.#pending.add(id, listener);
    return id;
  }

  /** The id that the next request will carry; a caller that needs it inside the request asks first. */
  get upcomingId(): number {
    return this.#lastId + 1;
  }

  /** Sends a request of our own making. Returns its id. */
  request(method: string, params: object | undefined, listener: AnswerListener): number {
    const id = this.nextId();
    this.outbox.sendText(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    this.#pending.add(id, listener);
    return id;
  }

  /** Sends a request that has no answer yet once more, under the same id: in other framing, it may be understood. */
  repeat(id: number, method: string, params: object | undefined): void {
    this.outbox.sendText(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
  }

  notify(method: string, params?: object): void {
    this.outbox.sendText(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** Answers a request with a result of our own making; `id` is the id's JSON text as it came. */
  answer(id: string, result: object): void {
    this.answerText(id, JSON.stringify(result));
  }

  /** The same where the result is JSON text already, on one line. */
  answerText(id: string, result: string): void {
    this.#sendAnswer(id, `{"jsonrpc":"2.0","id":${id},"result":${result}}`);
  }

  /** Answers a request with an error; `id` is the id's JSON text as it came, or undefined where none could be read. */
  fail(id: string | undefined, code: number, message: string, data?: unknown): void {
    const error = JSON.stringify({ code, message, data });
    this.#sendAnswer(id, `{"jsonrpc":"2.0","id":${id ?? 'null'},"error":${error}}`);
  }

  /** A request of the other side that was cancelled and gets no answer. */
  leaveUnanswered(id: string): void {
    this.#batched?.drop(id);
  }

  /** Relays an answer under the id in the request of its receiver. */
  forwardAnswer(answer: Message, request: Message, edits: readonly Edit[] = NO_EDITS): void {
    if (this.#batched?.take(request.text(Envelope.id)!, () => answerAs(request, answer, edits))) return;
    this.outbox.forwardAs(request, answer, edits);
  }

  #sendAnswer(id: string | undefined, text: string): void {
    if (id === undefined && this.#refusedInBatch) this.#refusedInBatch(text);
    else if (id === undefined || !this.#batched?.take(id, () => text)) this.outbox.sendText(text);
  }

  /** Stops waiting for an answer. If it comes all the same, it is dropped. */
  forget(id: number): boolean {
    return this.#pending.take(id) !== undefined;
  }

  /** The same for a request that cannot be answered any more: its listener is called. */
  abandon(id: number, reason: Unanswered, error?: SwitchboardError): void {
    this.#pending.take(id)?.unanswered(reason, error);
  }

  get pendingCount(): number {
    return this.#pending.size;
  }

  /** The listener for the answer to this id of ours. */
  pendingFor(id: number): AnswerListener | undefined {
    return this.#pending.get(id);
  }

  /** The listeners of all pending requests. */
  listeners(): AnswerListener[] {
    return this.#pending.all();
  }

  pause(): void {
    this.#input.pause();
  }

  resume(): void {
    this.#input.resume();
  }

  /** All pending requests end without an answer. */
  close(): void {
    this.#over = true;
    for (const listener of this.#pending.takeAll()) listener.unanswered('closed');
  }

  private nextId(): number {
    return ++this.#lastId;
  }

  #read(bytes: Bytes, framing: Framing): void {
    if (this.#over) return;
    const message = readMessage(bytes, this.#shape, framing, this.readsRareMembers);
    if (!(message instanceof Message)) {
      const batch = message.why === 'not-an-object' && byteAt(bytes, bytes.from) === 0x5b;
      if (batch && this.#batched && this.#readBatch(bytes, framing, this.#batched)) return;
      const id = message.id !== undefined && isUsableId(message.id) ? message.id : undefined;
      // No other answer will follow a damaged one: it fails its request now, not after a timeout.
      const listener = looksLikeCall(textOf(bytes, bytes.from, Math.min(bytes.to, bytes.from + HEAD)))
        ? undefined
        : this.#take(id);
      if (listener) listener.unanswered('unreadable');
      else this.#events.refused(batch ? 'batch' : message.why, id, refusedBytes(bytes));
      return;
    }
    if (this.inputFraming === undefined) {
      this.inputFraming = framing;
      if (this.outbox.framing === 'either') this.outbox.framing = framing;
    }
    if (message.has(Envelope.method)) this.#readCall(message);
    else if (message.has(Envelope.result) || message.has(Envelope.error)) this.#readAnswer(message);
    else this.#refuse('not-a-message', message);
  }

  #readBatch(bytes: Bytes, framing: Framing, batched: BatchedAnswers): boolean {
    const parts = readBatch(textOf(bytes, bytes.from, bytes.to))?.map((text) =>
      fromChunks([Buffer.from(text)]),
    );
    // An array of arrays is no batch.
    if (parts === undefined || parts.some((part) => byteAt(part, 0) === 0x5b)) return false;
    const ids = parts.flatMap((part) => {
      const message = readMessage(part, this.#shape, 'content-length');
      const isRequest = message instanceof Message && message.has(Envelope.method) && hasUsableId(message);
      return isRequest ? [message.text(Envelope.id)!] : [];
    });
    batched.collect(ids, (refuse) => {
      this.#refusedInBatch = refuse;
      for (const part of parts) this.#read(part, framing);
      this.#refusedInBatch = undefined;
    });
    return true;
  }

  #readCall(message: Message): void {
    const fault = callFault(message);
    if (fault !== undefined) this.#refuse(fault, message);
    else if (message.has(Envelope.id)) this.#events.request(message);
    else this.#events.notification(message);
  }

  #readAnswer(message: Message): void {
    // Our ids are positive integers written plainly: "7", 7.0 and 7e0 are not what we asked with.
    const listener = this.#pending.take(message.integer(Envelope.id));
    if (listener) {
      // A client ignores an answer without a version, and would wait forever.
      if (message.string(Envelope.jsonrpc) === '2.0') listener.answered(message);
      else listener.unanswered('unreadable');
      return;
    }
    const text = message.text(Envelope.id);
    this.#events.dropped(
      `an answer with ${text === undefined ? 'no id' : `the unknown id ${text.slice(0, 80)}`}`,
    );
  }

  #take(id: string | undefined): AnswerListener | undefined {
    return id !== undefined && /^[1-9]\d{0,14}$/.test(id) ? this.#pending.take(Number(id)) : undefined;
  }

  #refuse(fault: MessageFault, message: Message): void {
    const text = message.text(Envelope.id);
    const id = text !== undefined && isUsableId(text) ? text : undefined;
    this.#events.refused(fault, id, refusedBytes(message.bytes));
  }

  /** A message too large to keep: it fails the request it answers. If it does not say which, it fails all of them. */
  #oversize(head: Buffer, tail: Buffer, length: number): void {
    if (this.#over) return;
    const found = idFromFragments(head, tail);
    const text = found !== undefined && isUsableId(found) ? found : undefined;
    if (looksLikeCall(head.toString('latin1'))) {
      this.#events.refused('too-large', text, refusedBytes(fromChunks([head]), length));
      return;
    }
    const listener = this.#take(text);
    if (listener) {
      listener.unanswered('too-large');
      return;
    }
    this.#events.refused('too-large', text, refusedBytes(fromChunks([head]), length));
    if (text === undefined) {
      for (const each of this.#pending.takeAll()) each.unanswered('unreadable');
    }
  }

  #end(why: 'end' | 'overrun'): void {
    if (this.#over || this.#ended) return;
    this.#ended = true;
    this.#events.ended(why);
  }
}

/** The fault of a message with a method; undefined if it is a valid request or notification. */
export function callFault(message: Message): MessageFault | undefined {
  if (message.string(Envelope.jsonrpc) !== '2.0') return 'bad-version';
  if (message.lead(Envelope.method) !== 0x22) return 'bad-method';
  return !message.has(Envelope.id) || hasUsableId(message) ? undefined : 'bad-id';
}

/** The JSON-RPC error for a refused message. */
export function faultError(refusal: ReadFault | MessageFault): { code: number; message: string } {
  switch (refusal) {
    case 'malformed':
      return { code: RpcCode.parseError, message: 'Parse error: the message is not valid JSON.' };
    case 'bad-header':
      return {
        code: RpcCode.parseError,
        message: 'Parse error: the header block has no usable Content-Length.',
      };
    case 'too-deep':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: nested too deeply.' };
    case 'duplicate':
      return {
        code: RpcCode.invalidRequest,
        message: 'Invalid request: duplicate key in an object.',
      };
    case 'duplicate-param':
      return { code: RpcCode.invalidParams, message: 'Invalid params: duplicate key in an object.' };
    case 'batch':
      return {
        code: RpcCode.invalidRequest,
        message:
          'Invalid request: send one message at a time. Batches exist in protocol version 2025-03-26 only.',
      };
    case 'not-an-object':
    case 'not-a-message':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: not a JSON-RPC 2.0 message.' };
    case 'bad-version':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: jsonrpc must be "2.0".' };
    case 'bad-id':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: id must be a string or a number.' };
    case 'bad-method':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: method must be a string.' };
    case 'too-large':
      return {
        code: RpcCode.invalidRequest,
        message: 'Invalid request: the message is larger than the limit.',
      };
  }
}

/** The text of an answer under the id of the request that it is for. */
function answerAs(request: Message, answer: Message, edits: readonly Edit[]): string {
  const all = [...edits];
  const { id } = Envelope;
  addEdit(all, { start: answer.start(id), end: answer.end(id), with: request.text(id)! });
  return editedText(answer, all);
}

const NO_EDITS: readonly Edit[] = [];

/** Judges by the first members, for messages that cannot be read completely. */
function looksLikeCall(head: string): boolean {
  return /^\s*\{[^{[]*"method"\s*:/.test(head);
}

/** How many bytes of such a message are searched. */
const HEAD = 4096;

function refusedBytes(bytes: Bytes, length = bytes.to - bytes.from): RefusedBytes {
  return { length, text: () => textOf(bytes, bytes.from, Math.min(bytes.to, bytes.from + 200)) };
}
