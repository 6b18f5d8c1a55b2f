import { isObject } from '../shared/is-object.ts';
import { LOG_MESSAGE_LEVELS, Server, severity, type Era } from '../protocol/index.ts';
import { RpcCode, type Message } from '../wire/index.ts';
import type { Session } from './session.ts';
import type { ServerRequest, Source, SourceListener } from './source.ts';
import { Subscriptions } from './subscriptions.ts';

/** A gateway that uses a shared source. */
export interface SharedMember {
  /** The source that this gateway was given. */
  readonly source: Source;
  /** The era of its clients. */
  readonly era: Era;
  /** Those of its clients that have made calls, each as the session that keeps its tasks. */
  readonly sessions: Set<Session>;
  listener: SourceListener | undefined;
  /** The level of the least severe log messages that its clients want. */
  level: string | undefined;
  side: SharedSide;
}

export interface SharedSideOptions {
  readonly make: (side: SharedSide) => Source;
  /** Finds the member that a client belongs to. */
  readonly memberOf: (session: Session) => SharedMember | undefined;
  /** Called when its source has started. */
  readonly started: () => void;
}

/**
 * One source and the gateways that share it. A message from the source goes to the gateway of the client it is for, and
 * is dropped if that client cannot be known.
 */
export class SharedSide {
  /** The era of the clients it serves. */
  era: Era;
  readonly members = new Set<SharedMember>();
  readonly subscriptions = new Subscriptions();
  readonly #options: SharedSideOptions;
  #source: Source;

  constructor(era: Era, options: SharedSideOptions) {
    this.era = era;
    this.#options = options;
    this.#source = this.listenTo(options.make(this));
  }

  get source(): Source {
    return this.#source;
  }

  /** Whether its source runs or is starting. */
  get live(): boolean {
    const { kind } = this.#source.state;
    return kind === 'running' || kind === 'starting';
  }

  /** Listens to a source that may become its own. Until then, only that source's requests reach clients. */
  listenTo(source: Source): Source {
    source.listen(this.#listenerFor(() => this.#source === source));
    return source;
  }

  /** Switches to another source, which it already listens to. */
  goOnWith(source: Source): void {
    this.#source = source;
    if (source.state.kind === 'running') this.#started();
  }

  /** The lowest log level that any client wants, so that each gets its messages. */
  lowestLevel(): string | undefined {
    const wanted = [...this.members].map(({ level }) => severity(level)).filter((at) => at >= 0);
    return LOG_MESSAGE_LEVELS[Math.min(...wanted)];
  }

  /** Takes over a member of another side. Its clients keep their subscriptions. */
  takeOver(member: SharedMember): void {
    const before = member.side;
    before.members.delete(member);
    this.members.add(member);
    member.side = this;
    const isMine = (session: Session): boolean => this.#options.memberOf(session) === member;
    const taken = this.subscriptions.adopt(before.subscriptions, isMine);
    const left = before.subscriptions.leaveAll(isMine);
    if (before.source.state.kind === 'running') before.#askQuietly('resources/unsubscribe', left);
    if (this.#source.state.kind !== 'running') return;
    this.#askQuietly('resources/subscribe', taken);
    member.listener?.started();
  }

  #started(): void {
    this.#each((listener) => listener.started());
    this.#askQuietly('resources/subscribe', this.subscriptions.uris());
    this.#options.started();
  }

  #listenerFor(isCurrent: () => boolean): SourceListener {
    const tell = (news: (listener: SourceListener) => void): void => {
      if (isCurrent()) this.#each(news);
    };
    return {
      started: () => {
        if (isCurrent()) this.#started();
      },
      failed: () => tell((listener) => listener.failed()),
      stopped: () => tell((listener) => listener.stopped()),
      changed: (kind) => tell((listener) => listener.changed(kind)),
      notified: (notification, callers) => {
        const task = taskNamedIn(notification);
        if (task !== undefined) {
          const owner = this.#taskOwner(task);
          return owner?.member.listener?.notified(notification, () => new Set([owner.session]));
        }
        // Subscriptions are shared, so one gateway can notify the clients of all.
        const member =
          notification.string(Server.method) === 'notifications/resources/updated'
            ? this.members.values().next().value
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
              this.members.size === 0
                ? 'no client is connected'
                : 'several clients share this server, and it does not say which of them it is for'
            }.`,
          );
      },
      inUse: () => [...this.members].some(({ listener }) => listener?.inUse() === true),
    };
  }

  #askQuietly(method: string, uris: Iterable<string>): void {
    for (const uri of uris) this.#source.ask(method, { uri }).catch(() => undefined);
  }

  /** The client for which a task was made. */
  #taskOwner(task: string): { readonly member: SharedMember; readonly session: Session } | undefined {
    for (const member of this.members) {
      for (const session of member.sessions)
        if (session.taskOwner(task) === member.source) return { member, session };
    }
    return undefined;
  }

  #each(tell: (listener: SourceListener) => void): void {
    for (const { listener } of this.members) if (listener) tell(listener);
  }

  /** The gateway of the one client with running calls, or the only gateway. */
  #targetMember(callers: ReadonlySet<Session>): SharedMember | undefined {
    if (callers.size > 1) return undefined;
    const [caller] = callers;
    if (caller !== undefined) return this.#options.memberOf(caller);
    return this.members.size === 1 ? this.members.values().next().value : undefined;
  }
}

/** The task that a message names; it identifies the client whatever other calls are running. */
function taskNamedIn(message: Message): string | undefined {
  if (!message.mentions('"taskId"')) return undefined;
  const params = message.value(Server.params);
  if (!isObject(params)) return undefined;
  const related = isObject(params._meta) ? params._meta[RELATED_TASK] : undefined;
  const task = isObject(related) ? related.taskId : params.taskId;
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
