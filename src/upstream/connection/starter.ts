import type { Deadlines } from '../../shared/deadline.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import {
  eraOfVersion,
  LATEST_LEGACY_VERSION,
  MODERN_VERSION,
  otherEra,
  type Era,
  type EraSupport,
} from '../../protocol/index.ts';
import type { Framing, OutputFraming } from '../../wire/index.ts';
import {
  ServerRun,
  StartTimeout,
  type LearnedFacts,
  type ServerRunEvents,
  type StartTime,
  type UpstreamContext,
} from '../run/server-run.ts';
import type { ProcessTarget, UpstreamServer } from '../server.ts';

export interface StarterOptions {
  readonly server: UpstreamServer;
  readonly context: UpstreamContext;
  readonly deadlines: Deadlines;
  readonly learned: LearnedFacts;
  /** What a new life tells; made for each. */
  readonly events: (run: () => ServerRun) => ServerRunEvents;
  /** Why it must not be started any more; undefined as long as it may. */
  readonly stopped: () => SwitchboardError | undefined;
  /** Whether somebody waits for it now. */
  readonly urgent: () => boolean;
  /** Its turn to start has come. */
  readonly admitted: () => void;
}

/** A life that has answered the handshake. */
export interface StartedRun {
  readonly run: ServerRun;
  readonly about: SourceInfo;
}

/** A program without a sign of life for so long makes room for others that want to start, in milliseconds. */
const MAKES_ROOM = 500;
/** And after so long it is asked again in the other framing. */
const ASKED_AGAIN = 3000;
/** How long after that it is started again in it. Long, for it may only wait for a download or a container. */
const STARTED_AGAIN = 7000;
/** The parts of the time limit that these two may take at most. */
const ASKED_AGAIN_PART = 1 / 4;
const STARTED_AGAIN_PART = 1 / 4;

/** Brings a server to life: in its turn, in the framing that it speaks, until it has answered the handshake. */
export class Starter {
  readonly #options: StarterOptions;
  /** The life that has not answered the handshake yet. */
  #pending: ServerRun | undefined;
  /** The era in which the last one was tried first. */
  #firstEra: Era | undefined;

  constructor(options: StarterOptions) {
    this.#options = options;
  }

  /** Rejects with `NotNow` where nothing is wrong with the server. */
  start(): Promise<StartedRun> {
    const { server, context, stopped, urgent, admitted } = this.#options;
    const { target } = server;
    if (target.kind === 'remote') {
      admitted();
      return this.#startInClientEra(() => this.#startIn('newline', this.#time()));
    }
    return context.inTurn({
      name: server.name,
      urgent,
      run: (leave) => {
        // Others may have been before it for a while.
        const ended = stopped();
        if (ended) throw ended;
        // Asked in the turn in which it is spawned: many may have been let through while it waited.
        const refusal = context.mayNotStart();
        if (refusal) throw new StartPostponed(refusal);
        admitted();
        return this.#startInClientEra(() => this.#startProgram(target, leave));
      },
    });
  }

  /** Starts the server in the era of its clients if it supports that, else in the other one. */
  async #startInClientEra(start: () => Promise<StartedRun>): Promise<StartedRun> {
    const { context, server } = this.#options;
    const wanted = context.era();
    const suits = ({ about }: StartedRun): boolean =>
      wanted === undefined || eraOfVersion(about.protocolVersion) === wanted;
    let started = await this.#startAlsoWithoutDiscover(start);
    // It was given up on in that era while it was still starting, and has responded since.
    if (!suits(started) && started.run.support[wanted!] === true) {
      await started.run.stop();
      started = await start();
    }
    if (suits(started) || context.other() === undefined) return started;
    await started.run.stop();
    const version = wanted === 'modern' ? MODERN_VERSION : LATEST_LEGACY_VERSION;
    const message = `Server '${server.name}' does not support protocol version ${version}.`;
    throw new StartPostponed(new SwitchboardError('START_FAILED', message));
  }

  /** Some programs end if the first message is not `initialize`; such a one is started again with that. */
  async #startAlsoWithoutDiscover(start: () => Promise<StartedRun>): Promise<StartedRun> {
    const { context, learned, server, stopped } = this.#options;
    try {
      return await start();
    } catch (error) {
      const mayHelp = server.target.kind === 'process' && this.#firstEra === 'modern' && !stopped();
      if (!mayHelp || !(error instanceof SwitchboardError) || error.code !== 'SERVER_LOST') throw error;
      context.log.info('ended on server/discover; starting it again with initialize', {
        server: server.name,
      });
    }
    learned.endsOnDiscover = true;
    try {
      const started = await start();
      context.cache.learn({ support: { modern: false } });
      return started;
    } catch (error) {
      // It ends in any case, which says nothing about its era.
      delete learned.endsOnDiscover;
      throw error;
    }
  }

  /** Ends what has not answered yet. */
  stop(): Promise<unknown> | undefined {
    return this.#pending?.stop();
  }

  /** What it has printed and written, while it starts. */
  words(): string {
    return this.#pending?.words() ?? '';
  }

  #time(): StartTime {
    return { began: performance.now(), limit: this.#options.server.timeouts.childSpawnMs };
  }

  #startProgram({ framing }: ProcessTarget, leave: () => void): Promise<StartedRun> {
    const { learned, context } = this.#options;
    const looked = (idleMs: number): void => {
      if (idleMs >= MAKES_ROOM) leave();
    };
    const time = { ...this.#time(), looked };
    if (framing !== 'auto') return this.#startIn(framing, time);
    const known = learned.framing ?? context.cache.framing;
    if (known === undefined) return this.#search(time);
    // What was found earlier may have changed since.
    return known === 'newline' ? this.#startIn(known, time) : this.#startInEither(time);
  }

  /**
   * Nearly every server speaks newline. One that neither answers nor does anything is asked again in both framings at
   * once, and later started again like that, once. A server that is at work is left alone until its time is over.
   */
  async #search(time: StartTime): Promise<StartedRun> {
    const { server, learned, context, stopped } = this.#options;
    const { log } = context;
    const { name } = server;
    const askAfter = Math.min(ASKED_AGAIN, time.limit * ASKED_AGAIN_PART);
    const startAfter = Math.min(STARTED_AGAIN, time.limit * STARTED_AGAIN_PART);
    let askedAt: number | undefined;
    const watched = (run: ServerRun, giveUp: (why: Error) => void) => (idleMs: number) => {
      time.looked?.(idleMs);
      if (idleMs < askAfter || run.peer.transport.inputFraming !== undefined) return;
      if (askedAt === undefined) {
        askedAt = performance.now();
        log.info('silent and idle; trying again with Content-Length framing', { server: name });
        run.askAgain();
      } else if (performance.now() - askedAt >= startAfter) giveUp(new StaysSilent());
    };
    try {
      return await this.#startIn('newline', time, watched);
    } catch (error) {
      if (askedAt === undefined || stopped()) throw error;
      learned.framing = 'newline';
      if (error instanceof StartTimeout) throw alsoAsked(error);
      log.info('starting it again with Content-Length framing', { server: name });
      return this.#startInEither(time);
    }
  }

  async #startInEither(time: StartTime): Promise<StartedRun> {
    try {
      return await this.#startIn('either', time);
    } catch (error) {
      if (this.#options.stopped()) throw error;
      if (error instanceof StartTimeout) throw alsoAsked(error);
      // It may have ended because of what it did not understand.
      return this.#startIn('newline', time);
    }
  }

  async #startIn(framing: OutputFraming, time: StartTime, watched?: Watched): Promise<StartedRun> {
    const { server, context, deadlines, learned } = this.#options;
    let lost: SwitchboardError | undefined;
    let sessionLost: true | undefined;
    const told = this.#options.events(() => run);
    const run: ServerRun = await ServerRun.begin(server, framing, learned, context, deadlines, {
      ...told,
      lost: (error) => {
        lost = error;
        told.lost(error);
      },
      sessionLost: () => {
        sessionLost = true;
        told.sessionLost();
      },
    });
    this.#pending = run;
    let about: SourceInfo;
    try {
      about = await initialized(run, time, watched);
      // It may have been lost in the same breath in which it answered.
      if (lost) throw lost;
      if (sessionLost)
        throw new SwitchboardError('START_FAILED', `Server '${server.name}' lost the session immediately.`);
    } catch (error) {
      const stopped = run.stop();
      // A failure is told now; only a second try waits until the first is gone.
      if (error instanceof StaysSilent) await stopped;
      // Why the process ended says more than that it did not answer.
      throw lost ?? error;
    } finally {
      this.#pending = undefined;
      this.#firstEra = run.eras[0];
    }
    this.#running(run, about);
    return { run, about };
  }

  #running({ peer, transport, support }: ServerRun, about: SourceInfo): void {
    const { server, context, learned } = this.#options;
    const { log } = context;
    const { target, name } = server;
    const framing = peer.transport.inputFraming ?? 'newline';
    const isNews = framing === 'content-length' && target.kind === 'process' && target.framing === 'auto';
    if (isNews && (learned.framing ?? context.cache.framing) !== framing)
      log.warn(
        'speaks Content-Length framing; set "framing": "content-length" in its entry to skip detection',
        {
          server: name,
        },
      );
    learned.framing = framing;
    this.#learn(about, framing, support);
    log.info('running', { server: name, pid: transport.pid, version: about.protocolVersion });
  }

  #learn(about: SourceInfo, framing: Framing, support: EraSupport): void {
    const { server, context } = this.#options;
    const { cache, log } = context;
    const era = eraOfVersion(about.protocolVersion);
    if (support[otherEra(era)] === false && cache.support[otherEra(era)] === true)
      log.info('speaks another protocol version now', { server: server.name, era });
    // A new version of the server may support what an old one did not.
    const forgotten = isUpdated(cache.about, about) ? { [otherEra(era)]: undefined } : {};
    cache.learn({ about, framing, support: { ...forgotten, ...support } });
  }
}

/** Whether a server says that it is of another version than when it last spoke the same era. */
function isUpdated(before: SourceInfo | undefined, about: SourceInfo): boolean {
  if (before === undefined || typeof before.serverInfo.version !== 'string') return false;
  return (
    eraOfVersion(before.protocolVersion) === eraOfVersion(about.protocolVersion) &&
    before.serverInfo.version !== about.serverInfo.version
  );
}

/** Makes what looks at a program that starts, and may give it up. */
type Watched = (run: ServerRun, giveUp: (why: Error) => void) => (idleMs: number) => void;

function initialized(run: ServerRun, time: StartTime, watched?: Watched): Promise<SourceInfo> {
  if (watched === undefined) return run.initialize(time);
  return new Promise((resolve, reject) => {
    run.initialize({ ...time, looked: watched(run, reject) }).then(resolve, reject);
  });
}

function alsoAsked(error: StartTimeout): StartTimeout {
  error.message += ' Content-Length framing was tried as well.';
  return error;
}

/** It neither answers nor does anything. */
class StaysSilent extends Error {}

/** There are too many others. */
export class StartPostponed extends Error {
  readonly reason: SwitchboardError;

  constructor(reason: SwitchboardError) {
    super(reason.message);
    this.reason = reason;
  }
}
