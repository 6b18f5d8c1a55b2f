import { SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { LinkedSet } from '../shared/linked-set.ts';
import { Server, type JsonObject, type CatalogKind } from '../protocol/index.ts';
import { idKey, RunningIds, type AnswerListener, type Edit, type Message } from '../wire/index.ts';
import { Call } from './call.ts';
import { dropOldest } from './drop-oldest.ts';
import type { Source } from './source.ts';

/** One client as the core sees it; a door implements it. */
export interface ClientLink {
  /** Passes on a source's answer as received, under the id of the call. */
  forwardAnswer(answer: Message, call: Call, edits: readonly Edit[]): void;
  /** Passes on a source's notification, with the call it belongs to, if any. */
  forwardNotification(notification: Message, edits: readonly Edit[], call?: Call): void;
  answer(call: Call, result: JsonObject): void;
  /** The same for a result that is already JSON text. */
  answerText(call: Call, resultText: string): void;
  /** Sends a notification of our own. */
  notify(method: string): void;
  /** Passes a source's request on to the client. Returns its id at the client. */
  ask(request: Message, listener: AnswerListener): number;
  /** Withdraws such a request, unless it has been answered. */
  withdraw(id: number, reason: string): void;
  /** The capabilities that the client declared. */
  readonly capabilities: JsonObject;
  /** Identifies the user if their requests come over several links. Default: each link is one user. */
  readonly principal?: object;
  /** Whether it accepts `resource_link` in the content of a result. Default true. */
  readonly takesLinks?: boolean;
  /** Whether it speaks the version without a handshake, and so accepts `input_required` results. Default false. */
  readonly modern?: boolean;
  fail(call: Call, error: SwitchboardError): void;
  /** What it says about itself; `request` is for clients that say so in every request. Default: nothing. */
  describe?(request?: Message): ClientDescription;
  /** True while the client takes its messages more slowly than they arrive. */
  readonly congested: boolean;
  whenDrained(listener: () => void): void;
}

/** What a client says about itself. */
export interface ClientDescription {
  readonly name?: string | undefined;
  readonly version?: string | undefined;
  readonly protocolVersion?: string | undefined;
  /** Over HTTP: identifies the token it sent. */
  readonly principal?: string | undefined;
  /** The tool that calls on its behalf. Default: it calls itself. */
  readonly via?: string | undefined;
}

const NO_LISTENERS: readonly (() => void)[] = [];

/** How many tasks are remembered for one client; the oldest are forgotten first. */
const MAX_TASKS = 10_000;
/** The same for resource links. */
const MAX_LINKS = 10_000;
/** Longer task ids and URIs are not recorded. */
const MAX_KEY_CHARS = 4096;

/** One client: its link, its running calls, and the lists it has seen. */
export class Session {
  readonly client: ClientLink;
  /** The minimum level of log messages it wants; undefined if it has not set any. */
  logLevel: string | undefined;
  /** Identifies the user: requests to any session of a principal reach the same user. */
  readonly principal: object;
  /** The session that keeps its tasks and links: itself, or the one it shares them with. */
  readonly keeper: Session;
  // Created on demand: a client of the modern era has a new session for every request.
  #seen: Map<CatalogKind, string> | undefined;
  #awaiting: Set<CatalogKind> | undefined;
  readonly #tasks: Map<string, Source>;
  readonly #links: Map<string, Source>;
  /** Callbacks that wait for the client to be ready; undefined once it is. */
  #waitingForReady: readonly (() => void)[] | undefined = NO_LISTENERS;
  readonly #calls = new LinkedSet<Call>();
  /** The calls by id, from the first cancellation until none is running. */
  #byId: Map<string, Call> | undefined;
  /** Kept from the first lookup on: a client of the modern era has one call per session. */
  #ids: RunningIds | undefined;
  #onIdle: readonly (() => void)[] = NO_LISTENERS;

  /** With `shared`, shares its tasks and links with that session and all others that share them. */
  constructor(client: ClientLink, shared?: Session, principal?: object) {
    this.client = client;
    this.#tasks = shared ? shared.#tasks : new Map<string, Source>();
    this.#links = shared ? shared.#links : new Map<string, Source>();
    this.principal = principal ?? this;
    this.keeper = shared?.keeper ?? this;
  }

  /** The list of each kind that it saw last, as JSON text; a list is announced only if it differs. */
  get seen(): Map<CatalogKind, string> {
    return (this.#seen ??= new Map());
  }

  /** The kinds of lists it has requested but not received yet. */
  get awaiting(): Set<CatalogKind> {
    return (this.#awaiting ??= new Set());
  }

  open(request: Message, method: string): Call {
    const call = new Call(this, request, method);
    this.#calls.add(call);
    this.#byId?.set(idKey(call.id), call);
    this.#ids?.add(request);
    return call;
  }

  /** Whether a call with the id of this request is running. */
  isRunning(request: Message): boolean {
    if (this.#ids === undefined) {
      this.#ids = new RunningIds();
      for (const { request: running } of this.#calls.members()) this.#ids.add(running);
    }
    return this.#ids.has(request);
  }

  get running(): number {
    return this.#calls.size;
  }

  /** A source made a task for this client: requests about the task go to that source. */
  claimTask(task: string | undefined, source: Source | undefined): boolean {
    if (task === undefined || source === undefined) return false;
    return claim(this.#tasks, task, source, MAX_TASKS);
  }

  /** Calls back once the client can take requests; at once if it already can. */
  whenReady(then: () => void): void {
    if (this.#waitingForReady === undefined) then();
    else this.#waitingForReady = [...this.#waitingForReady, then];
  }

  /** The client has finished its handshake. */
  ready(): void {
    const waiting = this.#waitingForReady;
    this.#waitingForReady = undefined;
    if (waiting === undefined || waiting === NO_LISTENERS) return;
    for (const then of waiting) then();
  }

  /** Records the resources that a tool result links to: clients can read them although they are not listed. */
  recordLinks(answer: Message, source: Source): void {
    if (source.about()?.capabilities.resources === undefined || !answer.mentions('"resource_link"')) return;
    for (const uri of linksIn(answer.value(Server.content))) {
      claim(this.#links, uri, source, MAX_LINKS);
    }
  }

  linkOwner(uri: string): Source | undefined {
    return this.#links.get(uri);
  }

  taskOwner(task: string): Source | undefined {
    return this.#tasks.get(task);
  }

  /** Cancels the call with this id, given as JSON text, so that `1` and `"1"` differ. */
  cancel(id: string, reason: string | undefined): void {
    if (this.#byId === undefined) {
      this.#byId = new Map();
      for (const call of this.#calls.members()) this.#byId.set(idKey(call.id), call);
    }
    this.#byId.get(idKey(id))?.cancel(reason);
  }

  /** Gives up on the running calls: each is answered with an error and cancelled where it runs. */
  failAll(): void {
    for (let call = this.#calls.newest; call; call = this.#calls.newest) {
      call.abort(
        new SwitchboardError('STOPPING', `${call.subject()} was not finished: Switchboard is stopping.`),
      );
    }
  }

  /** The client has left: its calls are cancelled. */
  cancelAll(): void {
    while (this.#calls.newest) this.#calls.newest.cancel('The client disconnected.');
  }

  ended(call: Call): void {
    this.#calls.remove(call);
    this.#ids?.remove(call.request);
    if (this.#byId) this.#forget(call, this.#byId);
    if (this.#calls.size > 0 || this.#onIdle === NO_LISTENERS) return;
    const listeners = this.#onIdle;
    this.#onIdle = NO_LISTENERS;
    for (const listener of listeners) listener();
  }

  #forget(call: Call, byId: Map<string, Call>): void {
    const key = idKey(call.id);
    if (byId.get(key) === call) byId.delete(key);
    if (this.#calls.size === 0) this.#byId = undefined;
  }

  /** Resolves when no call is running. */
  idle(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle = [...this.#onIdle, resolve];
    });
  }
}

/**
 * Records the owner of a task or link. The first source to name it keeps it: no other source may answer for it. Returns
 * whether this source owns it.
 */
function claim(owners: Map<string, Source>, what: string, source: Source, most: number): boolean {
  if (what.length > MAX_KEY_CHARS) return false;
  const owner = owners.get(what);
  if (owner !== undefined && owner !== source) return false;
  owners.delete(what);
  owners.set(what, source);
  dropOldest(owners, most);
  return true;
}

function linksIn(content: unknown): string[] {
  if (!Array.isArray(content)) return [];
  return content.flatMap((item: unknown) =>
    isObject(item) && item.type === 'resource_link' && typeof item.uri === 'string' ? [item.uri] : [],
  );
}
