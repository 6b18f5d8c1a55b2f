import { isObject } from '../../shared/is-object.ts';
import { Waiters } from '../../shared/waiters.ts';
import {
  LIST_KINDS,
  Meta,
  Server,
  SERVER_SHAPE,
  type JsonObject,
  type CatalogKind,
} from '../../protocol/index.ts';
import { Message, RpcCode, withMembers } from '../../wire/index.ts';
import { errorCode, errorText } from '../error-answer.ts';
import type { ModernOptions } from './modern.ts';

/** How long a subscription may wait until the server has confirmed it, in milliseconds. */
const CONFIRM_TIMEOUT_MS = 2000;
/** Between an end of the stream and the next try, in milliseconds: the first pause and the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;
/** A stream that lasted so long was a good one, in milliseconds. */
const GOOD_AFTER = 10_000;
/** Streams at one time, where a server is slow to confirm; the oldest is given up first. */
const MOST_STREAMS = 4;

/**
 * The one long request on which a modern server tells what has changed. Whenever we want to hear of something else, a
 * new one is opened, and the old one is given up when the new one is confirmed, so that nothing is missed between them.
 */
export class ChangeStream {
  readonly #options: ModernOptions;
  /** Puts the envelope on the params of a request. */
  readonly #stamped: (params: JsonObject) => JsonObject;
  readonly #kinds: readonly CatalogKind[];
  readonly #uris = new Set<string>();
  /** Those that are open, oldest first; the last has all that we want to hear of now. */
  #streams: Stream[] = [];
  readonly #confirmation = new Waiters();
  #failures = 0;
  /** True from the end of the only stream until the next one is confirmed: what changed meanwhile was not heard. */
  #missed = false;
  #timer: NodeJS.Timeout | undefined;
  #opening: NodeJS.Immediate | undefined;
  #over = false;

  constructor(options: ModernOptions, stamped: (params: JsonObject) => JsonObject) {
    this.#options = options;
    this.#stamped = stamped;
    this.#kinds = (Object.keys(FILTER) as (keyof typeof FILTER)[]).filter((kind) => {
      const capability = options.about.capabilities[LIST_KINDS[kind].capability];
      return isObject(capability) && capability.listChanged === true;
    });
    this.#open();
  }

  /** Requests of ours that stay open without anybody waiting for them. */
  get streams(): number {
    return this.#streams.length;
  }

  /** Whether the server can tell of changes to single resources. */
  get canSubscribe(): boolean {
    const { resources } = this.#options.about.capabilities;
    return isObject(resources) && resources.subscribe === true;
  }

  /** Resolves when the server has confirmed it, or after a while. */
  subscribe(uri: string): Promise<void> {
    if (this.#over) return Promise.resolve();
    // Another client may have subscribed to it a moment ago.
    if (this.#uris.has(uri)) return this.#confirmation.none ? Promise.resolve() : this.#settled();
    this.#uris.add(uri);
    return this.#reopened();
  }

  unsubscribe(uri: string): void {
    if (this.#uris.delete(uri) && !this.#over) void this.#reopened();
  }

  /**
   * A notification that a stream of ours brought, without the number of the stream; undefined where that was all there
   * was to it, or where it names a stream that is none of ours.
   */
  heard(notification: Message): Message | undefined {
    if (!notification.has(Server.subscriptionId)) return notification;
    const id = notification.integer(Server.subscriptionId);
    const stream = this.#streams.find((each) => each.id === id);
    if (stream === undefined) return undefined;
    if (!stream.confirmed) this.#confirmed(stream);
    if (notification.string(Server.method) === 'notifications/subscriptions/acknowledged') return undefined;
    return withoutSubscriptionId(notification);
  }

  /** The server ends a stream. */
  cancelled(id: number): void {
    const stream = this.#streams.find((each) => each.id === id);
    if (stream && this.#options.peer.forget(id)) this.#ended(stream, 'the server ended it');
  }

  stop(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    clearImmediate(this.#opening);
    this.#confirmation.tell();
  }

  /** Asks for what is wanted now; for several changes at one time once. */
  #reopened(): Promise<void> {
    this.#opening ??= setImmediate(() => {
      this.#opening = undefined;
      this.#open();
    });
    return this.#settled();
  }

  /** Resolves when the newest stream is confirmed, or after a while. */
  #settled(): Promise<void> {
    return this.#confirmation.wait(CONFIRM_TIMEOUT_MS, { ref: false });
  }

  #open(): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    if (this.#kinds.length === 0 && this.#uris.size === 0) {
      this.#dropBut(0);
      this.#confirmation.tell();
      return;
    }
    this.#dropBut(MOST_STREAMS - 1);
    const notifications = {
      ...Object.fromEntries(this.#kinds.map((kind) => [FILTER[kind as keyof typeof FILTER], true])),
      ...(this.#uris.size === 0 ? {} : { resourceSubscriptions: [...this.#uris] }),
    };
    const stream: Stream = { id: 0, confirmed: false, since: performance.now() };
    stream.id = this.#options.peer.request('subscriptions/listen', this.#stamped({ notifications }), {
      answered: (answer) => this.#ended(stream, endOf(answer)),
      unanswered: (reason) => this.#ended(stream, reason),
    });
    this.#streams.push(stream);
  }

  /** A stream is over; `why` is for the log, undefined where there is no use in another one. */
  #ended(stream: Stream, why: string | undefined): void {
    if (!this.#streams.includes(stream)) return;
    const newest = stream === this.#streams.at(-1);
    this.#streams = this.#streams.filter((each) => each !== stream);
    if (stream.confirmed && this.#streams.length === 0) this.#missed = true;
    if (stream.confirmed && performance.now() - stream.since >= GOOD_AFTER) this.#failures = 0;
    if (this.#over || !newest) return;
    const { server, context } = this.#options.setup;
    this.#confirmation.tell();
    context.log.debug('change notifications stopped', { server: server.name, why });
    if (why === undefined) return;
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#failures++, LONGEST_PAUSE);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), pause).unref();
  }

  #confirmed(stream: Stream): void {
    stream.confirmed = true;
    // One that is not the last was confirmed too late to be of use; it ends with the confirmation of the last.
    if (stream !== this.#streams.at(-1)) return;
    this.#dropBut(1);
    this.#confirmation.tell();
    if (!this.#missed) return;
    this.#missed = false;
    for (const kind of this.#kinds) this.#options.changed(kind);
    if (this.#kinds.includes('resources')) this.#options.changed('resourceTemplates');
  }

  /** Gives up all streams but so many of the newest. */
  #dropBut(kept: number): void {
    const { peer } = this.#options;
    for (const { id } of this.#streams.splice(0, Math.max(this.#streams.length - kept, 0))) {
      if (peer.forget(id)) peer.cancel(id, 'No subscribers are left.');
    }
  }
}

/** How each list is called where one says what one wants to hear of. */
const FILTER = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const satisfies Partial<Record<CatalogKind, string>>;

/** One such request. */
interface Stream {
  id: number;
  /** The server has said that it will tell. */
  confirmed: boolean;
  /** When it was sent, on the performance clock. */
  readonly since: number;
}

/** Why a stream was answered; undefined for a server that does not know the method, for it will not know it later either. */
function endOf(answer: Message): string | undefined {
  if (!answer.has(Server.error)) return 'the server ended it';
  return errorCode(answer) === RpcCode.methodNotFound ? undefined : errorText(answer).slice(0, 200);
}

/** A notification without the id of the stream that it arrived on: our ids mean nothing to clients. */
export function withoutSubscriptionId(notification: Message): Message {
  if (!notification.has(Server.subscriptionId)) return notification;
  const params = notification.requiredText(Server.params);
  const meta = withMembers(notification.requiredText(Server.meta), { [Meta.subscriptionId]: undefined });
  const rest = withMembers(params, { _meta: /^\{\s*\}$/.test(meta) ? undefined : meta });
  return Message.fromText(withMembers(notification.toString(), { params: rest }), SERVER_SHAPE);
}
