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

/** How long a subscription may wait for the server's confirmation, in milliseconds. */
const CONFIRM_TIMEOUT_MS = 2000;
/** The pause between the end of the stream and the next attempt, in milliseconds: the first and the longest. */
const FIRST_PAUSE = 250;
const LONGEST_PAUSE = 30_000;
/** A stream that lasted this long was a good one, in milliseconds. */
const GOOD_AFTER = 10_000;
/** How many streams may be open while a server is slow to confirm; the oldest is closed first. */
const MOST_STREAMS = 4;

/**
 * The long-running request on which a modern server reports changes. Whenever we want notifications about something
 * else, a new one is opened, and the old one is closed once the new one is confirmed, so that nothing is missed in
 * between.
 */
export class ChangeStream {
  readonly #options: ModernOptions;
  /** Adds the metadata to the params of a request. */
  readonly #stamped: (params: JsonObject) => JsonObject;
  readonly #kinds: readonly CatalogKind[];
  readonly #uris = new Set<string>();
  /** The open streams, oldest first. The last one covers everything that is wanted now. */
  #streams: Stream[] = [];
  readonly #confirmation = new Waiters();
  #failures = 0;
  /** True from the end of the only stream until the next one is confirmed: changes in between go unnoticed. */
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

  /** How many of our requests stay open without anybody waiting for them. */
  get streams(): number {
    return this.#streams.length;
  }

  /** Whether the server can report changes to single resources. */
  get canSubscribe(): boolean {
    const { resources } = this.#options.about.capabilities;
    return isObject(resources) && resources.subscribe === true;
  }

  /** Resolves when the server has confirmed the subscription, or after a while. */
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
   * A notification that arrived on one of our streams, without the id of the stream; undefined if it was only about the
   * stream itself, or names a stream that is not ours.
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

  /** Requests what is wanted now; several simultaneous changes lead to one request. */
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

  /** A stream has ended; `why` is for the log, undefined if another one would be of no use. */
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
    // An older stream was confirmed too late to be of use; it ends when the last one is confirmed.
    if (stream !== this.#streams.at(-1)) return;
    this.#dropBut(1);
    this.#confirmation.tell();
    if (!this.#missed) return;
    this.#missed = false;
    for (const kind of this.#kinds) this.#options.changed(kind);
    if (this.#kinds.includes('resources')) this.#options.changed('resourceTemplates');
  }

  /** Closes all streams except the newest ones. */
  #dropBut(kept: number): void {
    const { peer } = this.#options;
    for (const { id } of this.#streams.splice(0, Math.max(this.#streams.length - kept, 0))) {
      if (peer.forget(id)) peer.cancel(id, 'No subscribers are left.');
    }
  }
}

/** The member that requests notifications about each list. */
const FILTER = {
  tools: 'toolsListChanged',
  prompts: 'promptsListChanged',
  resources: 'resourcesListChanged',
} as const satisfies Partial<Record<CatalogKind, string>>;

/** One such request. */
interface Stream {
  id: number;
  /** Whether the server has confirmed that it will send notifications. */
  confirmed: boolean;
  /** When it was sent, on the performance clock. */
  readonly since: number;
}

/** Why a stream was answered; undefined if the server does not know the method, since that will not change. */
function endOf(answer: Message): string | undefined {
  if (!answer.has(Server.error)) return 'the server ended it';
  return errorCode(answer) === RpcCode.methodNotFound ? undefined : errorText(answer).slice(0, 200);
}

/** A notification without the id of the stream on which it arrived: our ids mean nothing to clients. */
export function withoutSubscriptionId(notification: Message): Message {
  if (!notification.has(Server.subscriptionId)) return notification;
  const params = notification.requiredText(Server.params);
  const meta = withMembers(notification.requiredText(Server.meta), { [Meta.subscriptionId]: undefined });
  const rest = withMembers(params, { _meta: /^\{\s*\}$/.test(meta) ? undefined : meta });
  return Message.fromText(withMembers(notification.toString(), { params: rest }), SERVER_SHAPE);
}
