import type { IncomingMessage } from 'node:http';
import { Envelope, type Message } from '../../wire/index.ts';
import type { SendFailure } from '../transport.ts';
import { EventStreamParser } from './event-stream.ts';
import { discard, HttpRequest, typeOf, type HttpOutcome } from './http-request.ts';
import { answeredBadly, badStatus, broken, causeOf, noHttpAnswer, wrongType } from './failures.ts';
import { answeredId, errorAnswer, readIncoming } from './incoming.ts';
import type { Outgoing } from './outgoing-stream.ts';
import { pauseAfter } from './pause.ts';
import type { HttpRefusal, HttpTransportContext } from './http-transport.ts';
import { refusalBody, wholeBody } from './whole-body.ts';

export interface PendingPostEvents {
  /** Whether others are with the server now, so that it is there though no connection was made for this one. */
  othersServed(): boolean;
  /** The server took it; its answer follows. */
  accepted(response: IncomingMessage): void;
  /** A message came, the answer or another one. */
  arrived(message: Message): void;
  /** Nothing more comes of it. Told once, also when it was dropped. */
  settled(end: PostOutcome): void;
}

export type PostOutcome =
  | { readonly kind: 'answered' }
  | { readonly kind: 'dropped' }
  | { readonly kind: 'unreachable'; readonly cause: unknown }
  /** The server does not know our session any more. */
  | { readonly kind: 'forgotten'; readonly failure: SendFailure }
  /** `initialize` was refused as by a server that speaks otherwise. */
  | { readonly kind: 'unsuitable'; readonly refusal: HttpRefusal }
  | SendFailure;

export interface PendingPostOptions {
  /** Headers of this request alone. Default none. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether a stream that breaks off can be taken up again. Default true. */
  readonly resumable?: boolean;
}

/** How long an event stream may stay open behind the answer, in milliseconds. */
const LINGER = 1000;
/** An answer that broke off is taken up again so many times in a row without any news. */
const RESUME_TRIES = 5;
/** The same where nobody is there any more: somebody waits for the answer, and a server that comes back has lost it. */
const REACH_TRIES = 2;
/** What a server answers to `initialize` that has never heard of Streamable HTTP. */
const UNSUITABLE = new Set([400, 404, 405, 406, 415, 501]);

/** One request of ours on its way: from its POST to its answer, over all the streams this takes. */
export class PendingPost {
  readonly message: Outgoing;
  readonly #context: HttpTransportContext;
  readonly #events: PendingPostEvents;
  readonly #hadSession: boolean;
  readonly #resumable: boolean;
  readonly #post: HttpRequest;
  #exchange: HttpRequest;
  #over = false;
  /** What the server sends now has been read to its end. */
  #read = false;
  #linger: NodeJS.Timeout | undefined;
  #lastEventId: string | undefined;
  #retryMs: number | undefined;
  #tries = 0;
  #resuming: NodeJS.Timeout | undefined;
  /** It sent something that is no message. */
  #babbled = false;

  constructor(
    message: Outgoing,
    context: HttpTransportContext,
    events: PendingPostEvents,
    { headers = {}, resumable = true }: PendingPostOptions = {},
  ) {
    this.message = message;
    this.#context = context;
    this.#events = events;
    this.#hadSession = context.endpoint.session !== undefined;
    const accept = 'application/json, text/event-stream';
    this.#resumable = resumable;
    const again = (): boolean => events.othersServed();
    this.#post = new HttpRequest(context.endpoint, {
      method: 'POST',
      accept,
      body: message.body,
      headers,
      again,
    });
    this.#exchange = this.#post;
    void this.#post.sent.then(() => message.sent());
    void this.#post.outcome.then((outcome) => this.#posted(outcome));
  }

  /** True once the server can have seen something of it. */
  get connected(): boolean {
    return this.#post.connected;
  }

  /** True while the server may answer on a connection that is open now. */
  get served(): boolean {
    return this.#exchange.connected && !this.#read;
  }

  /** Resolves when the server can be taken to know of it. */
  taken(): Promise<void> {
    return this.#post.taken();
  }

  /** Its answer has come, on whatever stream. */
  answered(): void {
    if (this.#over) return;
    clearTimeout(this.#resuming);
    if (!this.#read) this.#linger = setTimeout(() => this.#exchange.drop(), LINGER);
    this.#settle({ kind: 'answered' });
  }

  /** Nobody waits for it any more. */
  drop(): void {
    clearTimeout(this.#resuming);
    clearTimeout(this.#linger);
    this.#exchange.drop();
    this.#settle({ kind: 'dropped' });
  }

  #settle(end: PostOutcome): void {
    if (this.#over) return;
    this.#over = true;
    this.#events.settled(end);
  }

  #posted(outcome: HttpOutcome): void {
    const { endpoint } = this.#context;
    if (outcome.kind === 'answered') this.#begun(outcome.response, outcome.status);
    else if (outcome.kind === 'broken')
      this.#settle({ kind: 'failed', error: broken(endpoint, outcome.cause) });
    else if (outcome.kind === 'refused') this.#settle({ kind: 'failed', error: outcome.error });
    else this.#settle(outcome);
  }

  #begun(response: IncomingMessage, status: number): void {
    const type = typeOf(response);
    if (status < 200 || status > 299) void this.#refused(response, status);
    else {
      this.#events.accepted(response);
      if (type === 'text/event-stream') this.#readEvents(response);
      else if (type === 'application/json' || type === '') void this.#readJson(response, status);
      else void this.#readOther(response, type);
    }
  }

  async #readJson(response: IncomingMessage, status: number): Promise<void> {
    const { endpoint, incomingStream, messageBytes } = this.#context;
    const { kind, pieces } = await wholeBody(response, incomingStream, messageBytes);
    this.#bodyEnded();
    if (this.#over) return;
    if (kind === 'too-large') this.#settle({ kind });
    else if (kind === 'broken')
      this.#settle({ kind: 'failed', error: broken(endpoint, { code: 'ECONNRESET' }) });
    else if (pieces.length === 0)
      this.#settle({ kind: 'failed', error: answeredBadly(endpoint, `HTTP ${status} and an empty body`) });
    else {
      const messages = readIncoming(pieces) ?? [];
      for (const message of messages) this.#events.arrived(message);
      const what = messages.length === 0 ? 'an invalid JSON-RPC message' : 'the response to another request';
      this.#settle({ kind: 'failed', error: answeredBadly(endpoint, what) });
    }
  }

  async #readOther(response: IncomingMessage, type: string): Promise<void> {
    const { endpoint, incomingStream } = this.#context;
    const text = textOf(await refusalBody(response, incomingStream));
    this.#bodyEnded();
    this.#settle({ kind: 'failed', error: wrongType(endpoint, type, text) });
  }

  async #refused(response: IncomingMessage, status: number): Promise<void> {
    const { endpoint, incomingStream } = this.#context;
    const pieces = await refusalBody(response, incomingStream);
    this.#bodyEnded();
    if (this.#over) return;
    const text = textOf(pieces);
    // A response to this very request means the server has handled it, whatever the status says: never resend it.
    const given = readIncoming(pieces)?.find((message) => answeredId(message) === this.message.id);
    if (given !== undefined) {
      this.#events.arrived(given);
      return;
    }
    // The second is what many servers say that have lost their sessions, though the specification has them say 404.
    const forgotten = status === 404 || (status === 400 && refusesSession(pieces, text));
    if (forgotten && this.#hadSession) {
      this.#settle({ kind: 'forgotten', failure: { kind: 'not-taken' } });
      return;
    }
    const answer = errorAnswer(pieces, this.message.id);
    if (answer !== undefined) this.#events.arrived(answer);
    else if (this.message.method === 'initialize' && UNSUITABLE.has(status))
      this.#settle({ kind: 'unsuitable', refusal: { status, text } });
    else this.#settle({ kind: 'failed', error: badStatus(endpoint, status, text) });
  }

  #readEvents(response: IncomingMessage): void {
    const { endpoint, incomingStream, messageBytes, log } = this.#context;
    const stream = new EventStreamParser(messageBytes, {
      event: (type, data) => {
        if (type !== 'message') return;
        const messages = readIncoming(data);
        if (messages === undefined) {
          this.#babbled = true;
          log.warn('sent an event that is not a message', { server: endpoint.server });
        } else for (const message of messages) this.#events.arrived(message);
      },
      oversize: () => {
        this.#settle({ kind: 'too-large' });
        response.destroy();
      },
    });
    stream.lastEventId = this.#lastEventId;
    incomingStream.read(response, {
      data: (chunk) => stream.push(chunk),
      ended: (whole) => this.#streamEnded(stream, whole),
    });
  }

  #bodyEnded(): void {
    this.#read = true;
    clearTimeout(this.#linger);
  }

  #streamEnded(stream: EventStreamParser, whole: boolean): void {
    this.#bodyEnded();
    if (this.#over) return;
    this.#lastEventId = stream.lastEventId;
    this.#retryMs = stream.retryMs ?? this.#retryMs;
    if (stream.count > 0) this.#tries = 0;
    const how = whole
      ? 'ended its event stream without a response'
      : 'dropped its event stream before it responded';
    if (this.#lastEventId !== undefined && this.#resumable) this.#resume(how);
    else if (this.#babbled)
      this.#settle({
        kind: 'failed',
        error: answeredBadly(this.#context.endpoint, 'an invalid JSON-RPC message'),
      });
    else this.#settle({ kind: 'failed', error: noHttpAnswer(this.#context.endpoint, how) });
  }

  /** Goes on where the stream broke off, after a while. `how` is what became of the last try. */
  #resume(how: string): void {
    const { endpoint } = this.#context;
    if (this.#tries >= RESUME_TRIES) {
      this.#settle({ kind: 'failed', error: noHttpAnswer(endpoint, how) });
      return;
    }
    const wait = pauseAfter(this.#tries++, this.#retryMs);
    this.#resuming = setTimeout(() => {
      const lastEventId = this.#lastEventId;
      this.#read = false;
      this.#exchange = new HttpRequest(endpoint, { method: 'GET', accept: 'text/event-stream', lastEventId });
      void this.#exchange.outcome.then((outcome) => this.#resumed(outcome));
    }, wait);
  }

  #resumed(outcome: HttpOutcome): void {
    if (this.#over) {
      this.#exchange.drop();
      return;
    }
    const { endpoint } = this.#context;
    const lost = (how: string): SendFailure => ({
      kind: 'failed',
      error: noHttpAnswer(endpoint, `${BROKE_OFF}: ${how}`),
    });
    if (outcome.kind === 'refused') this.#settle({ kind: 'failed', error: outcome.error });
    else if (outcome.kind === 'dropped') this.#settle(outcome);
    else if (outcome.kind === 'unreachable' && this.#tries >= REACH_TRIES)
      this.#settle(lost(causeOf(outcome.cause)));
    else if (outcome.kind !== 'answered') this.#resume(`${BROKE_OFF}: ${causeOf(outcome.cause)}`);
    else {
      const { response, status } = outcome;
      if (status === 200 && typeOf(response) === 'text/event-stream') {
        this.#readEvents(response);
        return;
      }
      discard(response);
      if (status >= 500) this.#resume(`${BROKE_OFF}: HTTP ${status}`);
      else if (status === 404 && this.#hadSession)
        this.#settle({ kind: 'forgotten', failure: lost('it no longer knows the session') });
      else this.#settle(lost(`HTTP ${status}`));
    }
  }
}

const BROKE_OFF = 'dropped its event stream, which could not be resumed';

/** Only a JSON-RPC error without an id that speaks of the session's id: anything else may come from a call that ran. */
function refusesSession(pieces: readonly Buffer[], text: string): boolean {
  if (
    !/mcp-session-id|(no|in)valid session|session id|(unknown|no such) session|session not found/i.test(text)
  )
    return false;
  const [message] = readIncoming(pieces) ?? [];
  if (message === undefined || !message.has(Envelope.error)) return false;
  return !message.has(Envelope.id) || message.text(Envelope.id) === 'null';
}

function textOf(pieces: readonly Buffer[]): string {
  return Buffer.concat(pieces).toString();
}
