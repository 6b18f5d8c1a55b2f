import { isObject } from '../../shared/is-object.ts';
import { Session, type Call, type ClientLink } from '../../gateway/index.ts';
import { Client, CLIENT_SHAPE, LIST_KINDS, Meta, Server, type JsonObject } from '../../protocol/index.ts';
import { addEdit, Message, type AnswerListener, type Edit } from '../../wire/index.ts';
import { waitAtMost } from '../wait-at-most.ts';
import type { Attempt, AttemptHandler } from './attempt.ts';
import type { ModernEndpoint } from './endpoint.ts';
import { modernResult } from './modern-meta.ts';

/** The most URIs that one request may subscribe to. */
const MAX_URIS = 1000;
/** How long the acknowledgement waits for servers to confirm subscriptions, in milliseconds. */
const SUBSCRIBE_TIMEOUT_MS = 5000;

/** The lists that a client may listen to, each with its notification. */
const LISTS = {
  toolsListChanged: LIST_KINDS.tools.changed,
  promptsListChanged: LIST_KINDS.prompts.changed,
  resourcesListChanged: LIST_KINDS.resources.changed,
} as const;

/**
 * A `subscriptions/listen` of a modern client: one long request that gets the requested notifications until either side
 * ends it. The core sees it as a client that only listens.
 */
export class ListenRequest implements AttemptHandler, ClientLink {
  readonly modern = true;
  readonly listens = true;
  readonly capabilities: JsonObject = {};
  readonly #endpoint: ModernEndpoint;
  readonly #attempt: Attempt;
  readonly #session: Session;
  /** The id of the request, as JSON text; it is also the subscription id. */
  readonly #id: string;
  readonly #lists: ReadonlySet<string>;
  readonly #uris = new Set<string>();
  readonly #subscribing = new WeakMap<Call, (done: boolean) => void>();
  /** Notifications from before the acknowledgement, which must be sent first. */
  #queued: (() => void)[] | undefined = [];
  #closed = false;

  constructor(endpoint: ModernEndpoint, attempt: Attempt) {
    this.#endpoint = endpoint;
    this.#attempt = attempt;
    this.#id = attempt.request.requiredText(Client.id);
    const params = attempt.request.value(Client.params);
    const wanted = isObject(params) && isObject(params.notifications) ? params.notifications : {};
    this.#lists = new Set(
      // Lists that never change are left out of the acknowledgement.
      Object.entries(LISTS).flatMap(([key, method]) =>
        wanted[key] === true && endpoint.identity.fixed !== true ? [method] : [],
      ),
    );
    this.#session = new Session(this);
    this.#session.ready();
    const uris = Array.isArray(wanted.resourceSubscriptions) ? wanted.resourceSubscriptions : [];
    void this.#begin(
      new Set(uris.filter((uri): uri is string => typeof uri === 'string').slice(0, MAX_URIS)),
      Array.isArray(wanted.resourceSubscriptions),
    );
  }

  async #begin(uris: ReadonlySet<string>, wantsResources: boolean): Promise<void> {
    this.#endpoint.gateway.join(this.#session);
    await waitAtMost(
      SUBSCRIBE_TIMEOUT_MS,
      Promise.all([...uris].map((uri, at) => this.#subscribe(uri, at + 1))),
    );
    if (this.#closed) return;
    const notifications = {
      ...Object.fromEntries(
        Object.entries(LISTS).flatMap(([key, method]) => (this.#lists.has(method) ? [[key, true]] : [])),
      ),
      ...(wantsResources ? { resourceSubscriptions: [...this.#uris] } : {}),
    };
    this.#send(
      'notifications/subscriptions/acknowledged',
      `,"notifications":${JSON.stringify(notifications)}`,
    );
    const queued = this.#queued ?? [];
    this.#queued = undefined;
    for (const send of queued) send();
  }

  #subscribe(uri: string, id: number): Promise<void> {
    const method = 'resources/subscribe';
    const request = Message.from({ jsonrpc: '2.0', id, method, params: { uri } }, CLIENT_SHAPE);
    return new Promise((resolve) => {
      const call = this.#session.open(request, method);
      this.#subscribing.set(call, (done) => {
        if (done) this.#uris.add(uri);
        resolve();
      });
      this.#endpoint.gateway.handle(call);
    });
  }

  /** The client has ended the subscription. */
  cancel(): void {
    this.#leave();
  }

  /** Ends the subscription from our side, with an answer. */
  stop(): void {
    if (!this.#leave()) return;
    const result = { _meta: { [Meta.subscriptionId]: JSON.parse(this.#id) as string | number } };
    this.#endpoint.answer(
      this.#attempt,
      modernResult(result, 'subscriptions/listen', this.#endpoint.serverInfo),
    );
  }

  #leave(): boolean {
    if (this.#closed) return false;
    this.#closed = true;
    this.#session.cancelAll();
    this.#endpoint.gateway.leave(this.#session);
    return true;
  }

  get congested(): boolean {
    return this.#attempt.channel.congested;
  }

  whenDrained(listener: () => void): void {
    this.#attempt.channel.whenDrained(listener);
  }

  notify(method: string): void {
    if (!this.#closed && this.#lists.has(method)) this.#inOrder(() => this.#send(method, ''));
  }

  forwardNotification(notification: Message, edits: readonly Edit[]): void {
    if (this.#closed || notification.string(Server.method) !== 'notifications/resources/updated') return;
    this.#inOrder(() => this.#attempt.channel.forward(notification, tagged(notification, edits, this.#id)));
  }

  forwardAnswer(answer: Message, call: Call): void {
    this.#subscribing.get(call)?.(!answer.has(Server.error));
  }

  answer(call: Call): void {
    this.#subscribing.get(call)?.(true);
  }

  answerText(call: Call): void {
    this.answer(call);
  }

  fail(call: Call): void {
    this.#subscribing.get(call)?.(false);
  }

  /** Refuses: a subscription accepts no requests. */
  ask(_request: Message, listener: AnswerListener): number {
    listener.unanswered('closed');
    return 0;
  }

  withdraw(): void {
    // There is nothing to withdraw: no request is ever sent.
  }

  #inOrder(send: () => void): void {
    if (this.#queued) this.#queued.push(send);
    else send();
  }

  #send(method: string, more: string): void {
    const meta = `"_meta":{${JSON.stringify(Meta.subscriptionId)}:${this.#id}}`;
    this.#attempt.channel.notifyText(method, `{${meta}${more}}`);
  }
}

/** The edits that set a notification's subscription id, replacing the server's if it has one. */
function tagged(notification: Message, edits: readonly Edit[], id: string): readonly Edit[] {
  const tag = `${JSON.stringify(Meta.subscriptionId)}:${id}`;
  const all = [...edits];
  if (notification.has(Server.subscriptionId)) {
    const start = notification.start(Server.subscriptionId);
    addEdit(all, { start, end: notification.end(Server.subscriptionId), with: id });
  } else if (notification.lead(Server.meta) === BRACE) {
    const at = notification.start(Server.meta) + 1;
    const empty = /^\{\s*\}$/.test(notification.requiredText(Server.meta));
    addEdit(all, { start: at, end: at, with: empty ? tag : `${tag},` });
  } else {
    // It has a uri, and so it has params.
    const at = notification.start(Server.params) + 1;
    addEdit(all, { start: at, end: at, with: `"_meta":{${tag}},` });
  }
  return all;
}

const BRACE = 0x7b;
