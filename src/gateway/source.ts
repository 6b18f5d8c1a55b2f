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
  /** The subscriptions to its resources, where several gateways share it. Default: each gateway has its own. */
  readonly subscriptions?: Subscriptions;
  /** Why it cannot be used now: its definition is wrong, or its last start failed. Undefined once it runs. */
  readonly problem?: SwitchboardError | undefined;
  /** Whether its tools can be listed without it running. Default false. */
  readonly listsToolsUnstarted?: boolean;
  /** The result of its handshake, now or when it last ran; undefined if it never has. */
  about(): SourceInfo | undefined;
  /** Everything it offers of one kind, in its own order, as it described it. Starts it. */
  list(kind: ListKind): Promise<Listing>;
  /** Asks for its tools again, though it has not said that they have changed. Default: it always says so. */
  relist?(): Promise<void>;
  /** The same where it is known already and has not changed since; sends nothing. */
  known(kind: CatalogKind): Listing | undefined;
  /** What it listed last, in this run of the program or an earlier one; sends nothing and starts nothing. */
  remembered(kind: CatalogKind): Listing | undefined;
  /**
   * The one way in for every method: the client's own request, with what the exposure rewrites in it.
   * The answer goes to the call, exactly once, now or later.
   */
  request(edits: Edit[], call: Call): void;
  /** Starts it, if it does not run; resolves when it does. */
  start(): Promise<void>;
  /** A request of our own. Resolves with the answer, whatever it says. Starts it. */
  ask(method: string, params?: JsonObject): Promise<Message>;
  /** Passes a client's notification on, where the source runs. */
  notify(notification: Message): void;
  /** Sets the one listener to its events. */
  listen(listener: SourceListener): void;
  /** How long it may be idle before it is stopped, in milliseconds. */
  setIdleTimeout(idleMs: number | 'never'): void;
  /** Stops it, if it runs; the next call starts it again. Default: it has no process. */
  stop?(): Promise<void>;
  /** Stops it and marks it as crashed, for a reason that only the caller can see. */
  fail(error: Error): Promise<void>;
  /** Ends it for good. Resolves when all its processes are gone. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Why, as a sentence for the calls that fail. Default: Switchboard is stopping. */
  readonly reason?: string;
  /** How long running calls may still finish, in milliseconds. Default 0. */
  readonly drainMs?: number;
}

export interface SourceListener {
  /** It runs; a new process knows nothing of what the old one was sent. */
  started(): void;
  /** It could not be started. */
  failed(): void;
  /** It has stopped, on purpose or not. */
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
  /** Whether a client is subscribed to it, so that it must not be stopped for being idle. */
  inUse(): boolean;
}

/** A request of a source to a client. It is relayed or refused, exactly once. */
export interface ServerRequest {
  readonly method: string;
  readonly request: Message;
  /** The clients that have calls running at the source: it is for one of them. */
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
  /** It is defined wrongly, and is never started. */
  | { readonly kind: 'unusable'; readonly error: Error }
  | { readonly kind: 'stopped' };

export interface SourceInfo {
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions: string | undefined;
}
