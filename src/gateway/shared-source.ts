import { otherEra, type Era, type EraSupport } from '../protocol/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Edit } from '../wire/index.ts';
import type { Call } from './call.ts';
import type { Session } from './session.ts';
import { SharedSide, type SharedMember } from './shared-side.ts';
import type { CloseOptions, Source } from './source.ts';

/** What a source needs to know when it is one of two. */
export interface SharedSourceRole {
  /** The era of the clients it serves. */
  readonly era: () => Era;
  /** How calls reach the other source if that one is in use; undefined if this one has to serve all clients. */
  readonly other: () => ((edits: Edit[], call: Call) => void) | undefined;
}

export interface SharedSourceOptions {
  /** Creates the source that serves the clients of one era; it does not start before `after`. */
  readonly make: (role: SharedSourceRole, after: Promise<unknown> | undefined) => Source;
  /** The eras that the server supports. */
  readonly support: () => EraSupport;
  /** A source that was replaced could not be stopped. */
  readonly failedToStop: (error: unknown) => void;
}

/** How long the calls of a source that is no longer needed may take to finish, in milliseconds. */
const DRAIN_MS = 2000;

/**
 * A server that several gateways use. Each gateway gets its own `Source`. Behind them, gateways whose clients speak the
 * same era share one source; all gateways do if the server supports only one era.
 */
export class SharedSource {
  readonly #support: SharedSourceOptions['support'];
  readonly #failedToStop: SharedSourceOptions['failedToStop'];
  #make: SharedSourceOptions['make'];
  readonly #members = new Set<SharedMember>();
  /** The gateway that a client belongs to, learnt from its calls. */
  readonly #memberOf = new WeakMap<Session, SharedMember>();
  readonly #sides = new Map<Era, SharedSide>();
  /** Sources that will replace others once they run. */
  #starting: readonly Source[] = [];
  /** Resolves when the replaced sources have ended. */
  #after: Promise<unknown> | undefined;

  constructor({ make, support, failedToStop }: SharedSourceOptions) {
    this.#make = make;
    this.#failedToStop = failedToStop;
    this.#support = support;
  }

  /** Whether a gateway uses it. */
  get inUse(): boolean {
    return this.#members.size > 0;
  }

  /**
   * Creates a source for one more gateway, whose clients speak this era. Closing it does not affect the other gateways.
   * With `replaced`, it starts after that replacement has finished, and fails if the replacement fails.
   */
  join(era: Era, replaced?: Promise<void>): Source {
    let waitsFor = replaced;
    const over = (): void => {
      waitsFor = undefined;
    };
    void replaced?.then(over, over);
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
      list: async (kind) => {
        await waitsFor;
        return this.#serve(member, (serving) => serving.list(kind));
      },
      known: (kind) => source().known(kind),
      remembered: (kind) => source().remembered(kind),
      request: (edits, call) => {
        this.#memberOf.set(call.session, member);
        member.sessions.add(call.session.keeper);
        source().request(edits, call);
      },
      start: async () => {
        await waitsFor;
        await this.#serve(member, (serving) => serving.start());
      },
      ask: (method, params) => {
        if (method !== 'logging/setLevel')
          return this.#serve(member, (serving) => serving.ask(method, params));
        member.level = typeof params?.level === 'string' ? params.level : undefined;
        return source().ask(method, { level: member.side.lowestLevel() });
      },
      // With several clients, the server could not tell which one sent it.
      notify: (notification) => {
        if (member.side.members.size === 1) source().notify(notification);
      },
      listen: (listener) => {
        member.listener = listener;
      },
      setIdleTimeout: (idleMs) => {
        for (const side of this.#sides.values()) side.source.setIdleTimeout(idleMs);
      },
      stop: async () => source().stop?.(),
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

  /**
   * Creates all sources anew, with `make` if given. The old ones end when the new ones run; if those do not start, it
   * rejects and the old ones stay. With `stopFirst`, the old ones end first.
   */
  async replace(
    ending: CloseOptions,
    {
      make = this.#make,
      stopFirst = false,
    }: { make?: SharedSourceOptions['make']; stopFirst?: boolean } = {},
  ): Promise<void> {
    const sides = [...this.#sides.values()];
    const running = sides.filter((side) => side.source.state.kind === 'running');
    if (stopFirst || running.length === 0) {
      this.#make = make;
      this.#end(
        sides.map(({ source }) => source),
        ending,
      );
      for (const side of sides) side.goOnWith(this.#sourceFor(side));
      return;
    }
    const fresh = new Map(running.map((side) => [side, this.#sourceFor(side, make)]));
    this.#starting = [...fresh.values()];
    const started = await Promise.allSettled(this.#starting.map(startAndList));
    this.#starting = [];
    const [failure] = started.flatMap((each) => (each.status === 'rejected' ? [each.reason as Error] : []));
    // A server that now supports only one era has started in that one.
    if (failure !== undefined && started.every(({ status }) => status === 'rejected')) {
      this.#end(fresh.values());
      throw failure;
    }
    this.#make = make;
    const old = [...this.#sides.values()].map((side) => {
      const { source } = side;
      side.goOnWith(fresh.get(side) ?? this.#sourceFor(side));
      fresh.delete(side);
      return source;
    });
    // The others belong to sides that are no longer needed.
    this.#end([...old, ...fresh.values()], ending);
    this.#settle();
  }

  async close(options?: CloseOptions): Promise<void> {
    const sources = [...[...this.#sides.values()].map(({ source }) => source), ...this.#starting];
    await Promise.all(sources.map((source) => source.close(options)));
  }

  /** Ends sources; sources created from now on start only after these have ended. */
  #end(sources: Iterable<Source>, ending?: CloseOptions): void {
    const closed = [...sources].map((source) => source.close(ending).catch(this.#failedToStop));
    this.#after = Promise.all([this.#after, ...closed]);
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

  /** Serves our own request for a member; uses the other source if the member's own cannot serve it. */
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

  /** The side that serves clients of an era. */
  #sideFor(era: Era): SharedSide {
    const support = this.#support();
    const served = support[era] === false && support[otherEra(era)] !== false ? otherEra(era) : era;
    const known = this.#sides.get(served);
    if (known) return known;
    const side = new SharedSide(served, {
      make: (each) => this.#make(this.#roleOf(each), this.#after),
      memberOf: (session) => this.#memberOf.get(session),
      started: () => this.#settle(),
    });
    this.#sides.set(served, side);
    return side;
  }

  /** Creates another source for a side, which listens to it. */
  #sourceFor(side: SharedSide, make = this.#make): Source {
    return side.listenTo(make(this.#roleOf(side), this.#after));
  }

  #roleOf(side: SharedSide): SharedSourceRole {
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
    return { era: () => side.era, other };
  }

  #liveBeside({ era }: SharedSide): SharedSide | undefined {
    const beside = this.#sides.get(otherEra(era));
    return beside?.live === true ? beside : undefined;
  }

  /** Moves every member to the side of its era; a server that supports one era has one side. */
  #settle(): void {
    for (const side of [...this.#sides.values()]) {
      const [era, other] = [side.era, otherEra(side.era)];
      const support = this.#support();
      if (support[era] !== false || support[other] === false) continue;
      const beside = this.#sides.get(other);
      // A starting source hands over its calls itself.
      if (beside !== undefined && side.source.state.kind === 'starting') continue;
      // The source that runs is kept.
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

async function startAndList(source: Source): Promise<void> {
  await source.start();
  await source.list('tools');
}
