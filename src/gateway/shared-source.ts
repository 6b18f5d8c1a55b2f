import { isJsonObject, LOG_MESSAGE_LEVELS, Server, severity } from '../protocol/index.ts';
import { RpcCode, type Message } from '../wire/index.ts';
import type { Session } from './session.ts';
import type { CloseOptions, ServerRequest, Source, SourceListener } from './source.ts';
import { Subscriptions } from './subscriptions.ts';

/**
 * One source that several gateways use. Each gets a `Source` of its own in front of the same one. Messages from it go to
 * the gateway of the client they are for, and are dropped where that cannot be known.
 */
export class SharedSource {
  readonly #subscriptions = new Subscriptions();
  readonly #members = new Set<Member>();
  /** Which gateway a client belongs to, learnt from its calls. */
  readonly #memberOf = new WeakMap<Session, Member>();
  #source: Source;

  constructor(source: Source) {
    this.#source = source;
    source.listen(this.#listener());
  }

  /** A source for one more gateway. Closing it leaves the others theirs. */
  join(): Source {
    const source = (): Source => this.#source;
    const shared: Source = {
      get name() {
        return source().name;
      },
      get state() {
        return source().state;
      },
      get listsToolsUnstarted() {
        return source().listsToolsUnstarted ?? false;
      },
      get problem() {
        return source().problem;
      },
      subscriptions: this.#subscriptions,
      about: () => source().about(),
      list: (kind) => source().list(kind),
      known: (kind) => source().known(kind),
      remembered: (kind) => source().remembered(kind),
      request: (edits, call) => {
        this.#memberOf.set(call.session, member);
        member.sessions.add(call.session);
        source().request(edits, call);
      },
      start: () => source().start(),
      ask: (method, params) => {
        if (method !== 'logging/setLevel') return source().ask(method, params);
        member.level = typeof params?.level === 'string' ? params.level : undefined;
        return source().ask(method, { level: this.#lowestLevel() });
      },
      // With several clients, the server could not tell which client it is from.
      notify: (notification) => {
        if (this.#members.size === 1) source().notify(notification);
      },
      listen: (listener) => {
        member.listener = listener;
      },
      setIdleTimeout: (idleMs) => source().setIdleTimeout(idleMs),
      fail: (error) => source().fail(error),
      close: () => {
        const most = this.#lowestLevel();
        this.#members.delete(member);
        const level = this.#lowestLevel();
        // The client with the lowest level has left.
        if (level !== undefined && level !== most)
          source()
            .ask('logging/setLevel', { level })
            .catch(() => undefined);
        return Promise.resolve();
      },
    };
    const member: Member = { source: shared, sessions: new Set(), listener: undefined, level: undefined };
    this.#members.add(member);
    return shared;
  }

  /** Replaces the source for all. Resolves when the old one has ended. */
  async replace(make: (after: Promise<unknown>) => Source, options: CloseOptions): Promise<void> {
    const closed = this.#source.close(options);
    this.#source = make(closed.catch(() => undefined));
    this.#source.listen(this.#listener());
    await closed;
  }

  close(options?: CloseOptions): Promise<void> {
    return this.#source.close(options);
  }

  #listener(): SourceListener {
    return {
      started: () => {
        this.#each((listener) => listener.started());
        for (const uri of this.#subscriptions.uris())
          this.#source.ask('resources/subscribe', { uri }).catch(() => undefined);
      },
      failed: () => this.#each((listener) => listener.failed()),
      stopped: () => this.#each((listener) => listener.stopped()),
      changed: (kind) => this.#each((listener) => listener.changed(kind)),
      notified: (notification, callers) => {
        const task = taskNamedIn(notification);
        if (task !== undefined) {
          const owner = this.#taskOwner(task);
          return owner?.member.listener?.notified(notification, () => new Set([owner.session]));
        }
        // Subscriptions are shared, so one gateway can notify the clients of all.
        const member =
          notification.string(Server.method) === 'notifications/resources/updated'
            ? this.#members.values().next().value
            : this.#targetMember(callers());
        return member?.listener?.notified(notification, callers);
      },
      requested: (serverRequest) => {
        const task = taskNamedIn(serverRequest.request);
        const owner = task === undefined ? undefined : this.#taskOwner(task);
        const member = task === undefined ? this.#targetMember(serverRequest.callers()) : owner?.member;
        if (member?.listener)
          member.listener.requested(owner ? withCaller(owner.session, serverRequest) : serverRequest);
        else
          serverRequest.refuse(
            RpcCode.serverError,
            `${serverRequest.method} was not forwarded: ${
              this.#members.size === 0
                ? 'no client is connected'
                : 'several clients share this server, and it does not say which of them it is for'
            }.`,
          );
      },
      inUse: () => [...this.#members].some(({ listener }) => listener?.inUse() === true),
    };
  }

  /** The client that a task was made for. */
  #taskOwner(task: string): { readonly member: Member; readonly session: Session } | undefined {
    for (const member of this.#members) {
      for (const session of member.sessions)
        if (session.taskOwner(task) === member.source) return { member, session };
    }
    return undefined;
  }

  #each(tell: (listener: SourceListener) => void): void {
    for (const { listener } of this.#members) if (listener) tell(listener);
  }

  /** The gateway of the one client that has calls running, or the only gateway there is. */
  #targetMember(callers: ReadonlySet<Session>): Member | undefined {
    if (callers.size > 1) return undefined;
    const [caller] = callers;
    if (caller !== undefined) return this.#memberOf.get(caller);
    return this.#members.size === 1 ? this.#members.values().next().value : undefined;
  }

  /** The lowest level that a client wants, so that each gets its messages. */
  #lowestLevel(): string | undefined {
    const wanted = [...this.#members].map(({ level }) => severity(level)).filter((at) => at >= 0);
    return LOG_MESSAGE_LEVELS[Math.min(...wanted)];
  }
}

interface Member {
  /** What it holds. */
  readonly source: Source;
  /** Its clients that have called. */
  readonly sessions: Set<Session>;
  listener: SourceListener | undefined;
  /** The least severe log messages that its clients want. */
  level: string | undefined;
}

/** The task that a message names, which identifies its client whatever other calls are running. */
function taskNamedIn(message: Message): string | undefined {
  if (!message.mentions('"taskId"')) return undefined;
  const params = message.value(Server.params);
  if (!isJsonObject(params)) return undefined;
  const related = isJsonObject(params._meta) ? params._meta[RELATED_TASK] : undefined;
  const task = isJsonObject(related) ? related.taskId : params.taskId;
  return typeof task === 'string' ? task : undefined;
}

const RELATED_TASK = 'io.modelcontextprotocol/related-task';

function withCaller(session: Session, serverRequest: ServerRequest): ServerRequest {
  return {
    method: serverRequest.method,
    request: serverRequest.request,
    callers: () => new Set([session]),
    relayTo: (client) => serverRequest.relayTo(client),
    refuse: (code, message) => serverRequest.refuse(code, message),
  };
}
