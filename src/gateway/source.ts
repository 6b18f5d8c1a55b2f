import type { SwitchboardError } from '../shared/errors.ts';
import type { JsonObject, CatalogKind, ListKind } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import type { Call } from './call.ts';
import type { Listing } from './component.ts';
import type { ClientLink, Session } from './session.ts';
import type { Subscriptions } from './subscriptions.ts';

/** Anything that offers components (tools, resources, templates, prompts) and runs them. */
export interface Source {
  readonly name: string;
  readonly state: SourceState;
  /** The subscriptions to its resources if several gateways share it. Default: each gateway has its own. */
  readonly subscriptions?: Subscriptions;
  /** Why it cannot be used: its definition is wrong, or its last start failed. Undefined once it runs. */
  readonly problem?: SwitchboardError | undefined;
  /** Whether its tools can be listed while it is not running. Default false. */
  readonly listsToolsUnstarted?: boolean;
  /** The result of its current or last handshake; undefined if there was none. */
  about(): SourceInfo | undefined;
  /** Everything it offers of one kind, in its own order and as it described it. Starts it. */
  list(kind: ListKind): Promise<Listing>;
  /** Fetches its tools again although it has not announced a change. Default: it always announces changes. */
  relist?(): Promise<void>;
  /** The same if it is already known and has not changed since; sends nothing. */
  known(kind: CatalogKind): Listing | undefined;
  /** What it last listed, in this or an earlier run of the program; sends nothing and starts nothing. */
  remembered(kind: CatalogKind): Listing | undefined;
  /**
   * The one way in for every method: the client's own request, with the edits of its exposure. The call is answered
   * exactly once, now or later.
   */
  request(edits: Edit[], call: Call): void;
  /** Starts it unless it runs; resolves when it does. */
  start(): Promise<void>;
  /** Sends a request of our own. Resolves with the answer, whether a result or an error. Starts it. */
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Passes a client's notification on, if the source runs. */
  notify(notification: Message): void;
  /** Sets the only listener to its events. */
  listen(listener: SourceListener): void;
  /** How long it may be idle before it is stopped, in milliseconds. */
  setIdleTimeout(idleMs: number | 'never'): void;
  /** Stops it if it runs; the next call starts it again. Default: it has no process. */
  stop?(): Promise<void>;
  /** Stops it and marks it as crashed, for a reason that only the caller knows. */
  fail(error: Error): Promise<void>;
  /** Ends it for good. Resolves when all its processes have ended. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Why, as a sentence for the failed calls. Default: Switchboard is stopping. */
  readonly reason?: string;
  /** How long running calls may take to finish, in milliseconds. Default 0. */
  readonly drainMs?: number;
}

export interface SourceListener {
  /** It runs; a new process has not received what was sent to the old one. */
  started(): void;
  /** It could not be started. */
  failed(): void;
  /** It has stopped, intentionally or not. */
  stopped(): void;
  /** It sent list_changed. */
  changed(kind: CatalogKind): void;
  /**
   * Any other notification that belongs to no single call. Returns a client whose output is congested; the source is not
   * read until it has drained.
   */
  notified(notification: Message, callers: () => ReadonlySet<Session>): ClientLink | undefined;
  /** It sent a request for a client. */
  requested(serverRequest: ServerRequest): void;
  /** Whether a client is subscribed to it; then it must not be stopped for being idle. */
  inUse(): boolean;
}

/** A source's request to a client. It is relayed or refused, exactly once. */
export interface ServerRequest {
  readonly method: string;
  readonly request: Message;
  /** The clients with calls running at the source; the request is for one of them. */
  callers(): ReadonlySet<Session>;
  relayTo(client: ClientLink): void;
  refuse(code: number, message: string): void;
}

export type SourceState =
  | { readonly kind: 'idle' }
  /** `admittedAt`: when it got its start slot, on the performance clock; Infinity while it waits for one. */
  | { readonly kind: 'starting'; readonly admittedAt?: number }
  | { readonly kind: 'running'; readonly pid: number | undefined; readonly since: number }
  | { readonly kind: 'crashed'; readonly error: Error; readonly at: number }
  /** Its definition is wrong, and it is never started. */
  | { readonly kind: 'unusable'; readonly error: Error }
  | { readonly kind: 'stopped' };

export interface SourceInfo {
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}
