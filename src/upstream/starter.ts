import type { Deadlines } from '../shared/deadline.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { SourceInfo } from '../gateway/index.ts';
import type { Framing } from '../wire/index.ts';
import {
  Incarnation,
  StartTimeout,
  type Findings,
  type IncarnationEvents,
  type Surroundings,
} from './incarnation.ts';
import { startPatience, type ProcessTarget, type UpstreamServer } from './server.ts';

export interface StarterOptions {
  readonly server: UpstreamServer;
  readonly surroundings: Surroundings;
  readonly deadlines: Deadlines;
  readonly findings: Findings;
  /** What a new life tells; made for each. */
  readonly events: (incarnation: () => Incarnation) => IncarnationEvents;
  /** Why it must not be started any more; undefined as long as it may. */
  readonly stopped: () => SwitchboardError | undefined;
}

/** A life that has answered its greeting. */
export interface Started {
  readonly incarnation: Incarnation;
  readonly about: SourceInfo;
}

/** Brings a server to life: in its turn, in the framing that it speaks, until it has answered the greeting. */
export class Starter {
  readonly #options: StarterOptions;
  /** The life that has not answered the greeting yet. */
  #pending: Incarnation | undefined;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** Rejects with `NotNow` where nothing is wrong with the server. */
  start(): Promise<Started> {
    const { server, surroundings, stopped } = this.#options;
    if (server.target.kind === 'remote') return this.#startIn('newline', startPatience(server));
    return surroundings.inTurn(server.name, () => {
      // Others may have been before it for a while.
      const ended = stopped();
      if (ended) throw ended;
      // Asked in the turn in which it is spawned: many may have been let through while it waited.
      const refusal = surroundings.mayNotStart();
      if (refusal) throw new NotNow(refusal);
      return this.#startInSomeFraming(server.target as ProcessTarget);
    });
  }

  /** Ends what has not answered yet. */
  stop(): Promise<unknown> | undefined {
    return this.#pending?.stop();
  }

  /** Nearly every server speaks newline; one that stays silent is tried once, ever, in Content-Length framing. */
  async #startInSomeFraming({ framing }: ProcessTarget): Promise<Started> {
    const { server, findings, surroundings, stopped } = this.#options;
    const patience = startPatience(server);
    if (framing !== 'auto') return this.#startIn(framing, patience);
    const known = findings.framing ?? surroundings.memory.framing;
    if (known !== undefined) return this.#startIn(known, patience);
    try {
      return await this.#startIn('newline', patience);
    } catch (error) {
      if (!(error instanceof StartTimeout) || stopped()) throw error;
      findings.framing = 'newline';
      surroundings.log.warn('no answer to initialize; trying Content-Length framing', {
        server: server.name,
      });
      await error.cleanedUp;
      // Whatever had to be downloaded is there by now.
      return this.#startIn('content-length', server.timeouts.childSpawnMs).catch(() => {
        // It was not the framing; the first error says what is wrong.
        error.message += ' It was also tried with Content-Length framing.';
        throw error;
      });
    }
  }

  async #startIn(framing: Framing, patience: number): Promise<Started> {
    const { server, findings, surroundings, deadlines } = this.#options;
    let lost: SwitchboardError | undefined;
    let forgotten: true | undefined;
    const told = this.#options.events(() => incarnation);
    const incarnation: Incarnation = await Incarnation.begin(
      server,
      framing,
      findings,
      surroundings,
      deadlines,
      {
        ...told,
        lost: (error) => {
          lost = error;
          told.lost(error);
        },
        forgotten: () => {
          forgotten = true;
          told.forgotten();
        },
      },
    );
    this.#pending = incarnation;
    let about: SourceInfo;
    try {
      about = await incarnation.greet(patience);
      // It may have been lost in the same breath in which it answered.
      if (lost) throw lost;
      if (forgotten) throw new SwitchboardError('START_FAILED', `Server '${server.name}' forgot us at once.`);
    } catch (error) {
      const stopped = incarnation.stop();
      // Whoever waits for the start hears of its failure now; only a second try waits until the first is gone.
      if (error instanceof StartTimeout) error.cleanedUp = stopped;
      // Why the process ended says more than that it did not answer.
      throw lost ?? error;
    } finally {
      this.#pending = undefined;
    }
    findings.framing = framing;
    surroundings.memory.learn({ about, framing });
    surroundings.log.info('running', {
      server: server.name,
      pid: incarnation.link.pid,
      version: about.protocolVersion,
    });
    return { incarnation, about };
  }
}

/** There are too many others. */
export class NotNow extends Error {
  readonly reason: SwitchboardError;

  constructor(reason: SwitchboardError) {
    super(reason.message);
    this.reason = reason;
  }
}
