import { otherEra, type Era, type EraSupport } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import type { Session } from './session.ts';
import { SharedSide, type SharedMember } from './shared-side.ts';
import type { CloseOptions, Source } from './source.ts';

/** What a source has to know that is one of two. */
export interface SharedSourceRole {
  /** The clients it is for. */
  readonly era: () => Era;
  /** How calls reach the other one, where that is in use; undefined where this one has to serve all clients. */
  readonly other: () => ((edits: Edit[], call: Call) => void) | undefined;
}

export interface SharedSourceOptions {
  /** Makes the source that serves the clients of one era; it does not start before `after`. */
  readonly make: (role: SharedSourceRole, after: Promise<unknown> | undefined) => Source;
  /** The eras that the server supports. */
  readonly support: () => EraSupport;
}

/** How long the calls of a source that is not needed may still finish, in milliseconds. */
const DRAIN_MS = 2000;

/**
 * A server that several gateways use. Each gets a `Source` of its own. Gateways whose clients speak the same era share
 * one source, and so do all of them where the server supports one era only.
 */
export class SharedSource {
  readonly #options: SharedSourceOptions;
  readonly #members = new Set<SharedMember>();
  /** Which gateway a client belongs to, learnt from its calls. */
  readonly #memberOf = new WeakMap<Session, SharedMember>();
  readonly #sides = new Map<Era, SharedSide>();
  /** The end of the sources that were replaced. */
  #after: Promise<unknown> | undefined;

  constructor(options: SharedSourceOptions) {
    this.#options = options;
  }

  /** A source for one more gateway, whose clients speak this era. Closing it leaves the others theirs. */
  join(era: Era): Source {
    const source = (): Source => member.side.source;
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
      get subscriptions() {
        return member.side.subscriptions;
      },
      about: () => source().about(),
      list: (kind) => this.#serve(member, (serving) => serving.list(kind)),
      known: (kind) => source().known(kind),
      remembered: (kind) => source().remembered(kind),
      request: (edits, call) => {
        this.#memberOf.set(call.session, member);
        member.sessions.add(call.session.keeper);
        source().request(edits, call);
      },
      start: () => this.#serve(member, (serving) => serving.start()),
      ask: (method, params) => {
        if (method !== 'logging/setLevel')
          return this.#serve(member, (serving) => serving.ask(method, params));
        member.level = typeof params?.level === 'string' ? params.level : undefined;
        return source().ask(method, { level: member.side.lowestLevel() });
      },
      // With several clients, the server could not tell which client it is from.
      notify: (notification) => {
        if (member.side.members.size === 1) source().notify(notification);
      },
      listen: (listener) => {
        member.listener = listener;
      },
      setIdleTimeout: (idleMs) => {
        for (const side of this.#sides.values()) side.source.setIdleTimeout(idleMs);
      },
      fail: (error) => source().fail(error),
      close: () => {
        this.#leave(member);
        return Promise.resolve();
      },
    };
    const side = this.#sideFor(era);
    const member: SharedMember = {
      source: shared,
      era,
      sessions: new Set(),
      listener: undefined,
      level: undefined,
      side,
    };
    this.#members.add(member);
    side.members.add(member);
    return shared;
  }

  /** Makes all sources again. Resolves when the old ones have ended. */
  async replace(options: CloseOptions): Promise<void> {
    const closed = this.close(options);
    this.#after = closed.catch(() => undefined);
    for (const side of this.#sides.values()) side.replace((each) => this.#make(each));
    await closed;
  }

  async close(options?: CloseOptions): Promise<void> {
    await Promise.all([...this.#sides.values()].map(({ source }) => source.close(options)));
  }

  #leave(member: SharedMember): void {
    const { side } = member;
    const most = side.lowestLevel();
    this.#members.delete(member);
    side.members.delete(member);
    const level = side.lowestLevel();
    // The client with the lowest level has left.
    if (level !== undefined && level !== most)
      side.source.ask('logging/setLevel', { level }).catch(() => undefined);
  }

  /** Serves a request of our own for a member, by the other source if its own turns out not to be able to. */
  async #serve<T>(member: SharedMember, work: (source: Source) => Promise<T>): Promise<T> {
    const { side } = member;
    try {
      return await work(side.source);
    } catch (error) {
      this.#settle();
      const full = error instanceof SwitchboardError && error.code === 'TOO_MANY_PROCESSES';
      const next = member.side === side && full ? this.#liveBeside(side) : member.side;
      if (next === undefined || next === side) throw error;
      return work(next.source);
    }
  }

  /** Where clients of an era are served. */
  #sideFor(era: Era): SharedSide {
    const support = this.#options.support();
    const served = support[era] === false && support[otherEra(era)] !== false ? otherEra(era) : era;
    const known = this.#sides.get(served);
    if (known) return known;
    const side = new SharedSide(served, {
      make: (each) => this.#make(each),
      memberOf: (session) => this.#memberOf.get(session),
      started: () => this.#settle(),
    });
    this.#sides.set(served, side);
    return side;
  }

  #make(side: SharedSide): Source {
    const other = (): ((edits: Edit[], call: Call) => void) | undefined => {
      const beside = this.#liveBeside(side);
      return (
        beside &&
        ((edits, call) => {
          beside.source.request(edits, call);
          this.#settle();
        })
      );
    };
    return this.#options.make({ era: () => side.era, other }, this.#after);
  }

  #liveBeside({ era }: SharedSide): SharedSide | undefined {
    const beside = this.#sides.get(otherEra(era));
    return beside?.live === true ? beside : undefined;
  }

  /** Brings every member to the side of its era; a server that supports one era has one side. */
  #settle(): void {
    for (const side of [...this.#sides.values()]) {
      const [era, other] = [side.era, otherEra(side.era)];
      const support = this.#options.support();
      if (support[era] !== false || support[other] === false) continue;
      const beside = this.#sides.get(other);
      // One that is starting hands its calls over itself.
      if (beside !== undefined && side.source.state.kind === 'starting') continue;
      // The one that runs goes on.
      const kept = beside !== undefined && (beside.live || !side.live) ? beside : side;
      const dropped = kept === side ? beside : side;
      this.#sides.delete(era);
      this.#sides.set(other, kept);
      kept.era = other;
      const reason = 'The server supports one protocol version, which another connection uses.';
      void dropped?.source.close({ reason, drainMs: DRAIN_MS });
    }
    for (const member of this.#members) {
      const side = this.#sideFor(member.era);
      if (side !== member.side) side.takeOver(member);
    }
  }
}
