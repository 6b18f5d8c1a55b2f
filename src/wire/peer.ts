import type { SwitchboardError } from '../shared/errors.ts';
import { BatchedAnswers, readBatch } from './batch.ts';
import { byteAt, fromChunks, textOf, type Bytes } from './bytes.ts';
import { addEdit, editedText, type Edit } from './edit.ts';
import { Envelope, errorJson, notificationJson, resultJson, RpcCode } from './envelope.ts';
import { DamagedAnswers } from './damaged-answers.ts';
import type { Framing } from './framing.ts';
import { hasUsableId, isUsableId } from './ids.ts';
import { idFromFragments, Message, readMessage, type ReadFault, type UnreadableMessage } from './message.ts';
import type { MessageReceiver, MessageTransport, Unanswered } from './message-transport.ts';
import type { Shape } from './shape.ts';
import { PendingRequests } from './pending-requests.ts';

/** Waits for the answer to a request of ours. Exactly one of the two methods is called, once. */
export interface AnswerListener {
  /** The peer answered, with a result or an error. */
  answered(answer: Message): void;
  /** No usable answer will arrive, although the connection may continue. */
  unanswered(reason: Unanswered, error?: SwitchboardError): void;
}

export interface PeerEvents {
  request(message: Message): void;
  /** `requestId` is our request on whose response stream it arrived, for a transport that has such streams. */
  notification(message: Message, requestId?: number): void;
  /** Bytes that are not a message. Whether the other side gets an error depends on its role. */
  refused(refusal: ReadFault | MessageFault, id: string | undefined, bytes: RefusedBytes): void;
  /** An answer that matches no pending request was dropped. */
  dropped(why: string): void;
  /** The input has ended. */
  ended(why: 'end' | 'overrun'): void;
}

/** The bytes of a refused message: their number, and the beginning as text. */
export interface RefusedBytes {
  readonly length: number;
  readonly text: () => string;
}

/** Faults of well-formed JSON that is not a JSON-RPC message, and of a message over the limits. */
export type MessageFault =
  | 'batch'
  | 'not-a-message'
  | 'bad-version'
  | 'bad-id'
  | 'id-in-use'
  | 'bad-method'
  | 'too-large'
  | 'bad-header';

/**
 * One end of a JSON-RPC 2.0 connection. It numbers its own requests and accepts an answer only if its id is that very
 * number, in value and type.
 */
export class Peer implements MessageReceiver {
  readonly transport: MessageTransport;
  readonly #events: PeerEvents;
  readonly #shape: Shape;
  readonly #pending = new PendingRequests<AnswerListener>();
  readonly #damaged = new DamagedAnswers();
  #batched: BatchedAnswers | undefined;
  /** Collects the errors for refused messages while a batch is being read. */
  #refusedInBatch: ((answer: string) => void) | undefined;
  readonly #makeId: (() => number) | undefined;
  #nextId: number;
  #asked = 0;
  #over = false;
  #ended = false;

  /**
   * `shape` lists the members to find in the messages of a batch and contains the envelope. `makeId` returns the ids of
   * our requests, positive integers. Default: they count up.
   */
  constructor(transport: MessageTransport, shape: Shape, events: PeerEvents, makeId?: () => number) {
    this.#makeId = makeId;
    this.#nextId = makeId?.() ?? 1;
    this.transport = transport;
    this.#shape = shape;
    this.#events = events;
    transport.connect(this);
  }

  /** From now on, the other side may send several messages as one array. */
  allowBatches(): void {
    this.#batched ??= new BatchedAnswers((text) => this.transport.sendText(text, NO_ID));
  }

  /** Relays a request under one of our ids, and returns that id. */
  relay(message: Message, edits: readonly Edit[], listener: AnswerListener): number {
    const id = this.#takeId();
    this.transport.forwardRequest(id, message, edits);
    this.#pending.add(id, listener);
    return id;
  }

  /** The id that the next request will have, for a caller that needs it inside the request. */
  get upcomingId(): number {
    return this.#nextId;
  }

  /** How many requests of ours it has received. */
  get asked(): number {
    return this.#asked;
  }

  #takeId(): number {
    const id = this.#nextId;
    this.#asked++;
    if (this.#makeId === undefined) this.#nextId = id + 1;
    else {
      do this.#nextId = this.#makeId();
      while (this.#nextId === id || this.#pending.get(this.#nextId) !== undefined);
    }
    return id;
  }

  /** Sends a request of our own. Returns its id. */
  request(method: string, params: object | undefined, listener: AnswerListener): number {
    const id = this.#takeId();
    this.repeat(id, method, params);
    this.#pending.add(id, listener);
    return id;
  }

  /** Sends an unanswered request again under the same id: it may be understood in another framing. */
  repeat(id: number, method: string, params: object | undefined): void {
    const json = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    this.transport.sendText(json, { kind: 'request', id, method });
  }

  notify(method: string, params?: object): void {
    const json = JSON.stringify({ jsonrpc: '2.0', method, params });
    this.transport.sendText(json, { kind: 'notification', method });
  }

  /** The same for params that are already JSON text, on one line. */
  notifyText(method: string, params: string): void {
    this.transport.sendText(notificationJson(method, params), { kind: 'notification', method });
  }

  /** Relays a notification, with its edits. */
  forward(notification: Message, edits: readonly Edit[]): void {
    this.transport.forward(notification, edits);
  }

  /** True while so much output waits that its producers should pause. */
  get congested(): boolean {
    return this.transport.congested;
  }

  /** Calls back once there is room again or the transport has closed. */
  whenDrained(listener: () => void): void {
    this.transport.whenDrained(listener);
  }

  /** Tells the other side that a request of ours is cancelled. */
  cancel(id: number, reason?: string): void {
    const method = 'notifications/cancelled';
    const json = JSON.stringify({ jsonrpc: '2.0', method, params: { requestId: id, reason } });
    this.transport.sendText(json, { kind: 'notification', method, cancels: id });
  }

  /** Answers a request with a result of our own; `id` is the JSON text of the id as received. */
  answer(id: string, result: object): void {
    this.answerText(id, JSON.stringify(result));
  }

  /** The same for a result that is already JSON text, on one line. */
  answerText(id: string, result: string): void {
    this.#sendAnswer(id, resultJson(id, result));
  }

  /**
   * Answers a request with an error; `id` is the JSON text of the id as received, or undefined if none could be read.
   */
  fail(id: string | undefined, code: number, message: string, data?: unknown): void {
    this.#sendAnswer(id, errorJson(id, code, message, data), code);
  }

  /** Refuses a request whose id another pending request has; that one keeps its own answer and its place in a batch. */
  refuseIdInUse(id: string): void {
    const { code, message } = faultError('id-in-use');
    const text = errorJson(id, code, message);
    if (this.#refusedInBatch) this.#refusedInBatch(text);
    else this.transport.sendText(text, { kind: 'answer', id, code });
  }

  /** A request of the other side was cancelled and gets no answer. */
  leaveUnanswered(id: string): void {
    this.#batched?.drop(id);
  }

  /** Relays an answer under the id of its receiver's request. */
  forwardAnswer(answer: Message, request: Message, edits: readonly Edit[] = NO_EDITS): void {
    if (this.#batched?.take(request.text(Envelope.id)!, () => answerAs(request, answer, edits))) return;
    this.transport.forwardAnswer(request, answer, edits);
  }

  #sendAnswer(id: string | undefined, text: string, code?: number): void {
    if (id === undefined && this.#refusedInBatch) this.#refusedInBatch(text);
    else if (id === undefined || !this.#batched?.take(id, () => text))
      this.transport.sendText(text, { kind: 'answer', id, ...(code === undefined ? {} : { code }) });
  }

  /** Stops waiting for an answer. If it arrives anyway, it is dropped. */
  forget(id: number): boolean {
    return this.#pending.take(id) !== undefined;
  }

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

  /** Ends all pending requests without an answer. */
  close(): void {
    this.#over = true;
    for (const listener of this.#pending.takeAll()) listener.unanswered('closed');
  }

  receive(message: Message, requestId?: number): void {
    if (this.#over) return;
    if (message.has(Envelope.method)) this.#readCall(message, requestId);
    else if (message.has(Envelope.result) || message.has(Envelope.error)) this.#readAnswer(message);
    else this.#readEmpty(message);
  }

  receiveUnreadable(read: UnreadableMessage, bytes: Bytes, framing: Framing): void {
    if (this.#over) return;
    const batch = read.why === 'not-an-object' && byteAt(bytes, bytes.from) === 0x5b;
    if (batch && this.#batched && this.#readBatch(bytes, framing, this.#batched)) return;
    const id = read.id !== undefined && isUsableId(read.id) ? read.id : undefined;
    // No other answer will follow a damaged one, so its request fails now and not after a timeout.
    const head = textOf(bytes, bytes.from, Math.min(bytes.to, bytes.from + HEAD));
    const listener = looksLikeCall(head) ? undefined : this.#take(id);
    if (read.why === 'malformed') for (const each of this.#damaged.read(bytes, head)) this.#fail(each);
    if (listener) listener.unanswered('unreadable');
    else this.#events.refused(batch ? 'batch' : read.why, id, refusedBytes(bytes));
  }

  #fail(id: string): void {
    this.#take(id)?.unanswered('unreadable');
  }

  receiveBadHeader(header: string): void {
    this.#events.refused('bad-header', undefined, refusedBytes(fromChunks([Buffer.from(header)])));
  }

  #readBatch(bytes: Bytes, framing: Framing, batched: BatchedAnswers): boolean {
    const parts = readBatch(textOf(bytes, bytes.from, bytes.to))?.map((text) =>
      fromChunks([Buffer.from(text)]),
    );
    // An array of arrays is not a batch.
    if (parts === undefined || parts.some((part) => byteAt(part, 0) === 0x5b)) return false;
    const messages = parts.map((part) => readMessage(part, this.#shape, framing));
    const ids = messages.flatMap((message) => {
      const isRequest = message instanceof Message && message.has(Envelope.method) && hasUsableId(message);
      return isRequest ? [message.text(Envelope.id)!] : [];
    });
    batched.collect(ids, (refuse) => {
      this.#refusedInBatch = refuse;
      for (const [at, message] of messages.entries())
        if (message instanceof Message) this.receive(message);
        else this.receiveUnreadable(message, parts[at]!, framing);
      this.#refusedInBatch = undefined;
    });
    return true;
  }

  #readCall(message: Message, requestId: number | undefined): void {
    const fault = callFault(message);
    if (fault !== undefined) this.#refuse(fault, message);
    else if (message.has(Envelope.id)) this.#events.request(message);
    else this.#events.notification(message, requestId);
  }

  #readAnswer(message: Message): void {
    // Our ids are positive integers in plain digits: "7", 7.0 and 7e0 are not what we sent.
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

  /** A message that is neither a call nor an answer. With the version and an id of ours, it was meant as an answer. */
  #readEmpty(message: Message): void {
    const listener =
      message.string(Envelope.jsonrpc) === '2.0'
        ? this.#pending.take(message.integer(Envelope.id))
        : undefined;
    if (listener) listener.unanswered('unreadable');
    else this.#refuse('not-a-message', message);
  }

  #take(id: string | undefined): AnswerListener | undefined {
    return id !== undefined && /^[1-9]\d{0,14}$/.test(id) ? this.#pending.take(Number(id)) : undefined;
  }

  #refuse(fault: MessageFault, message: Message): void {
    const text = message.text(Envelope.id);
    const id = text !== undefined && isUsableId(text) ? text : undefined;
    this.#events.refused(fault, id, refusedBytes(message.bytes));
  }

  /** Fails the request that the message answers, or all requests if that cannot be determined. */
  receiveOversize(head: Buffer, tail: Buffer, length: number): void {
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

  receiveEnd(why: 'end' | 'overrun'): void {
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
        message: 'Parse error: the header block has no usable Content-Length, or no message follows it.',
      };
    case 'too-deep':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: nested too deeply.' };
    case 'too-many-members':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: too many members in an object.' };
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
          'Invalid request: send one message at a time. Batches exist in protocol version 2025-03-26 only, with at most 1000 messages and 2 MiB.',
      };
    case 'not-an-object':
    case 'not-a-message':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: not a JSON-RPC 2.0 message.' };
    case 'bad-version':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: jsonrpc must be "2.0".' };
    case 'bad-id':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: id must be a string or a number.' };
    case 'id-in-use':
      return {
        code: RpcCode.invalidRequest,
        message:
          'Invalid request: another request with this id is still running. Use a new id for each request.',
      };
    case 'bad-method':
      return { code: RpcCode.invalidRequest, message: 'Invalid request: method must be a string.' };
    case 'too-large':
      return {
        code: RpcCode.invalidRequest,
        message: 'Invalid request: the message is larger than the limit.',
      };
  }
}

/** The text of an answer under the id of the request that it answers. */
function answerAs(request: Message, answer: Message, edits: readonly Edit[]): string {
  const all = [...edits];
  const { id } = Envelope;
  addEdit(all, { start: answer.start(id), end: answer.end(id), with: request.text(id)! });
  return editedText(answer, all);
}

const NO_EDITS: readonly Edit[] = [];
const NO_ID = { kind: 'answer', id: undefined } as const;

/** Decides by the first members, for messages that cannot be read completely. */
export function looksLikeCall(head: string): boolean {
  return /^\s*\{[^{[]*"method"\s*:/.test(head);
}

/** How many bytes of such a message are searched. */
const HEAD = 4096;

function refusedBytes(bytes: Bytes, length = bytes.to - bytes.from): RefusedBytes {
  return { length, text: () => textOf(bytes, bytes.from, Math.min(bytes.to, bytes.from + 200)) };
}
