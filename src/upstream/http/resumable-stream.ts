import type { IncomingMessage } from 'node:http';
import type { HttpTransportContext } from './http-transport.ts';
import { discard, HttpRequest, isEventStream, type HttpOutcome } from './http-request.ts';
import type { MessageEvents } from './inbox.ts';

export interface ResumableStreamEvents extends MessageEvents {
  /** The stream ended, or could not be opened. Returns whether to resume it after a pause. Not called after `drop`. */
  resumes(end: StreamEnd, stream: ResumableStream): boolean;
}

export type StreamEnd =
  /** It was open; `complete` is false if it was cut off. */
  | { readonly kind: 'ended'; readonly complete: boolean }
  /** The response is not an event stream. */
  | { readonly kind: 'rejected'; readonly status: number }
  | Exclude<HttpOutcome, { kind: 'answered' | 'dropped' }>;

/** An event stream that continues after its last event when it is reopened. */
export class ResumableStream {
  /** How often in a row it was resumed without bringing an event. */
  attempts = 0;
  /** The event after which it continues; undefined if it starts from the beginning. */
  lastEventId: string | undefined;
  readonly #context: HttpTransportContext;
  readonly #events: ResumableStreamEvents;
  #request: HttpRequest | undefined;
  #retryMs: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #dropped = false;

  /** `request` is the request whose response is the beginning of the stream. Default: `open` makes one. */
  constructor(context: HttpTransportContext, events: ResumableStreamEvents, request?: HttpRequest) {
    this.#context = context;
    this.#events = events;
    this.#request = request;
  }

  /** True while the server can still send on an open connection. */
  get served(): boolean {
    return this.#request?.served === true;
  }

  async open(): Promise<void> {
    const { lastEventId } = this;
    this.#request = new HttpRequest(this.#context.endpoint, { method: 'GET', lastEventId });
    const outcome = await this.#request.outcome;
    if (outcome.kind === 'dropped') return;
    if (outcome.kind !== 'answered') this.#over(outcome);
    else if (outcome.status === 200 && isEventStream(outcome.response)) await this.read(outcome.response);
    else {
      discard(outcome.response);
      this.#over({ kind: 'rejected', status: outcome.status });
    }
  }

  async read(response: IncomingMessage): Promise<void> {
    const { inbox } = this.#context;
    const { parser, complete } = await inbox.readEvents(response, this.#events, this.lastEventId);
    this.lastEventId = parser.lastEventId;
    this.#retryMs = parser.retryMs ?? this.#retryMs;
    if (parser.count > 0) this.attempts = 0;
    this.#over({ kind: 'ended', complete });
  }

  /** Stops resuming it. A response that is being read is cut off after this many milliseconds at the latest. */
  drop(lingerMs = 0): void {
    this.#dropped = true;
    clearTimeout(this.#timer);
    this.#request?.drop(lingerMs);
  }

  #over(end: StreamEnd): void {
    if (this.#dropped || !this.#events.resumes(end, this)) return;
    this.#timer = setTimeout(() => void this.open(), retryDelay(this.attempts++, this.#retryMs));
  }
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const LEAST_REQUESTED_MS = 100;
const MOST_REQUESTED_MS = 60_000;

/**
 * How long to wait before reopening an event stream, in milliseconds: what the server requested, and more after several
 * consecutive failures. Partly random, so that many clients do not return at the same moment.
 */
function retryDelay(failures: number, requestedMs: number | undefined): number {
  const least =
    requestedMs === undefined ? 0 : Math.min(Math.max(requestedMs, LEAST_REQUESTED_MS), MOST_REQUESTED_MS);
  if (failures === 0 && requestedMs !== undefined) return least;
  return Math.max(
    least,
    Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.5 + Math.random() / 2),
  );
}
