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
  /** Who wants to hear of its resources, where several gateways use it. Default: each gateway keeps that for itself. */
  readonly subscriptions?: Subscriptions;
  /** Why it cannot be used at present: it is defined wrongly, or its last start failed. Undefined once it runs. */
  readonly problem?: SwitchboardError | undefined;
  /** Whether its tools can be listed without it running. Default false. */
  readonly listsToolsUnstarted?: boolean;
  /** What the source said of itself, now or when it last ran; undefined where it never has. */
  about(): SourceInfo | undefined;
  /** Everything it offers of one kind, in its own order, as it described it. Starts it. */
  list(kind: ListKind): Promise<Listing>;
  /** The same where it is known already and has not changed since; asks nobody. */
  known(kind: CatalogKind): Listing | undefined;
  /** What it listed last, in this run of the program or an earlier one; asks nobody and starts nothing. */
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
  /** Who hears what the source says on its own account. There is one listener. */
  listen(listener: SourceListener): void;
  /** How long it may be unused before it is stopped, in milliseconds, from now on. */
  setIdleTimeout(idleMs: number | 'never'): void;
  /** Stops it and counts it as crashed, for a reason that only its user can see. */
  fail(error: Error): Promise<void>;
  /** Ends it, for good. Resolves when nothing of it is left. */
  close(options?: CloseOptions): Promise<void>;
}

export interface CloseOptions {
  /** Why, as a sentence; calls that it costs are told. Default that Switchboard is stopping. */
  readonly reason?: string;
  /** How long running calls may still finish, in milliseconds. Default 0. */
  readonly drainMs?: number;
}

export interface SourceListener {
  /** It runs, and knows nothing of what was said to it in an earlier life. */
  started(): void;
  /** It could not be started. */
  failed(): void;
  /** It runs no more, wanted or not. */
  stopped(): void;
  /** It says that a list of its has changed. */
  changed(kind: CatalogKind): void;
  /**
   * Any other notification that belongs to no single call. Returns a client that takes messages more slowly than they
   * come; the source is not listened to until it has caught up.
   */
  notified(notification: Message, callers: () => ReadonlySet<Session>): ClientLink | undefined;
  /** It wants something of a client. */
  requested(serverRequest: ServerRequest): void;
  /** Whether somebody waits to hear from it, so that it must not be stopped for being idle. */
  inUse(): boolean;
}

/** A request of a source to a client. It is relayed or refused, exactly once. */
export interface ServerRequest {
  readonly method: string;
  readonly request: Message;
  /** The clients that have calls running at the source: one of them is meant. */
  callers(): ReadonlySet<Session>;
  relayTo(client: ClientLink): void;
  refuse(code: number, message: string): void;
}

export type SourceState =
  | { readonly kind: 'idle' }
  /** `admittedAt`: since when it may start, on the performance clock; Infinity while it waits for its turn. */
  | { readonly kind: 'starting'; readonly attempt: number; readonly admittedAt?: number }
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
