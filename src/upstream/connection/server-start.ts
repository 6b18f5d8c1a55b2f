import { SwitchboardError } from '../../shared/errors.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import {
  eraOfVersion,
  LATEST_LEGACY_VERSION,
  MODERN_VERSION,
  otherEra,
  type Era,
} from '../../protocol/index.ts';
import type { OutputFraming } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { erasOf, type Agreement } from '../handshake/negotiate.ts';
import { ServerRun, type RunListener } from '../run/server-run.ts';
import type { ProcessTarget } from '../server.ts';
import { inSeconds, StartPostponed, StartTimeout } from './start-errors.ts';

export interface ServerStartOptions {
  /** Receives the events of the run. */
  readonly listener: RunListener;
  /** Whether a call waits for the start. */
  readonly urgent: () => boolean;
  /** Called when the start's turn has come. */
  readonly admitted: () => void;
}

/** A program that shows no activity for this long makes room for others that want to start, in milliseconds. */
const MAKES_ROOM = 500;
/** After this long, it is asked again in the other framing. */
const ASKED_AGAIN = 3000;
/**
 * How much later it is restarted in the other framing. Long, because it may only be waiting for a download or a
 * container.
 */
const STARTED_AGAIN = 7000;
/** The largest parts of the start timeout that these two may take. */
const ASKED_AGAIN_PART = 1 / 4;
const STARTED_AGAIN_PART = 1 / 4;

/**
 * One start of a server: waits for its turn, finds the framing, and ends when the server has answered the handshake.
 */
export class ServerStart {
  /** How many wait for the start, not counting calls. */
  waiters = 0;
  readonly #setup: ServerSetup;
  readonly #options: ServerStartOptions;
  /** When the start was requested, on the performance clock. */
  readonly #since = performance.now();
  #awaitsTurn = false;
  /** The run that has not answered the handshake yet. */
  #pending: ServerRun | undefined;
  /** The era that the last run was tried in first. */
  #firstEra: Era | undefined;
  /** Why the start must not continue. */
  #stopped: SwitchboardError | undefined;

  constructor(setup: ServerSetup, options: ServerStartOptions) {
    this.#setup = setup;
    this.#options = options;
  }

  /**
   * Resolves with a run that has answered the handshake. Rejects with `StartPostponed` if nothing is wrong with the
   * server.
   */
  run(): Promise<ServerRun> {
    const { server, context } = this.#setup;
    const { urgent, admitted } = this.#options;
    const { target } = server;
    if (target.kind === 'remote') {
      admitted();
      return this.#startInClientEra(() =>
        this.#startIn(
          'newline',
          this.#time(() => undefined),
        ),
      );
    }
    this.#awaitsTurn = true;
    return context.inTurn({
      name: server.name,
      urgent: () => this.waiters > 0 || urgent(),
      run: (leave) => {
        // Other starts may have come first for a while.
        if (this.#stopped) throw this.#stopped;
        // Asked when the process is about to be spawned: many may have started while this one waited.
        const refusal = context.mayNotStart();
        if (refusal) throw new StartPostponed(refusal);
        this.#awaitsTurn = false;
        admitted();
        return this.#startInClientEra(() => this.#startProgram(target, leave));
      },
    });
  }

  /** Stops a run that has not answered yet. */
  stop(why: SwitchboardError): Promise<void> | undefined {
    this.#stopped = why;
    return this.#pending?.stop();
  }

  /** The error for a caller that has waited too long. */
  stillStarting(): SwitchboardError {
    const passed = inSeconds(performance.now() - this.#since);
    const turn = this.#awaitsTurn ? ', waiting for its turn' : '';
    const words = this.#pending?.words() ?? '';
    return new SwitchboardError(
      'STILL_STARTING',
      `Server '${this.#setup.server.name}' is still starting after ${passed}${turn}.${words && ` ${words}`}`,
      { hint: 'It continues to start; try again.' },
    );
  }

  /** Starts the server in the era of its clients if it supports that, otherwise in the other one. */
  async #startInClientEra(start: () => Promise<ServerRun>): Promise<ServerRun> {
    const { context, server } = this.#setup;
    const wanted = context.era();
    const suits = ({ agreed }: ServerRun): boolean => wanted === undefined || agreed.era === wanted;
    let run = await this.#startAlsoWithoutDiscover(start);
    // We gave up on that era while the server was still starting, and it has answered since.
    if (wanted !== undefined && !suits(run) && run.agreed.support[wanted] === true) {
      await run.stop();
      run = await start();
    }
    if (suits(run) || context.other() === undefined) return run;
    await run.stop();
    const version = wanted === 'modern' ? MODERN_VERSION : LATEST_LEGACY_VERSION;
    const message = `Server '${server.name}' does not support protocol version ${version}.`;
    throw new StartPostponed(new SwitchboardError('START_FAILED', message));
  }

  /** Some programs exit if the first message is not `initialize`; they are restarted with that. */
  async #startAlsoWithoutDiscover(start: () => Promise<ServerRun>): Promise<ServerRun> {
    const { context, learned, server } = this.#setup;
    try {
      return await start();
    } catch (error) {
      const mayHelp = server.target.kind === 'process' && this.#firstEra === 'modern' && !this.#stopped;
      if (!mayHelp || !(error instanceof SwitchboardError) || error.code !== 'SERVER_LOST') throw error;
      context.log.info('ended on server/discover; starting it again with initialize', {
        server: server.name,
      });
    }
    learned.endsOnDiscover = true;
    try {
      const run = await start();
      context.cache.learn({ support: { modern: false } });
      return run;
    } catch (error) {
      // It exits in any case, which says nothing about its era.
      delete learned.endsOnDiscover;
      throw error;
    }
  }

  #time(looked: StartTime['looked']): StartTime {
    return { began: performance.now(), limit: this.#setup.server.timeouts.childSpawnMs, looked };
  }

  #startProgram({ framing }: ProcessTarget, leave: () => void): Promise<ServerRun> {
    const { learned, context } = this.#setup;
    const time = this.#time((idleMs) => {
      if (idleMs >= MAKES_ROOM) leave();
    });
    if (framing !== 'auto') return this.#startIn(framing, time);
    const known = learned.framing ?? context.cache.framing;
    if (known === undefined) return this.#search(time);
    // The remembered framing may have changed.
    return known === 'newline' ? this.#startIn(known, time) : this.#startInEither(time);
  }

  /**
   * Nearly every server uses newline framing. One that neither answers nor shows activity is asked again in both
   * framings at once, and later restarted like that, once. A server that is active is left alone until the timeout.
   */
  async #search(time: StartTime): Promise<ServerRun> {
    const { server, learned, context } = this.#setup;
    const { log } = context;
    const { name } = server;
    const askAfter = Math.min(ASKED_AGAIN, time.limit * ASKED_AGAIN_PART);
    const startAfter = Math.min(STARTED_AGAIN, time.limit * STARTED_AGAIN_PART);
    let askedAt: number | undefined;
    const watch: Watch = (idleMs, run, giveUp) => {
      time.looked(idleMs);
      if (idleMs < askAfter || run.peer.transport.inputFraming !== undefined) return;
      if (askedAt === undefined) {
        askedAt = performance.now();
        log.info('silent and idle; trying again with Content-Length framing', { server: name });
        run.askAgain();
      } else if (performance.now() - askedAt >= startAfter) giveUp(new StaysSilent());
    };
    try {
      return await this.#startIn('newline', time, watch);
    } catch (error) {
      if (askedAt === undefined || this.#stopped) throw error;
      learned.framing = 'newline';
      if (error instanceof StartTimeout) throw alsoAsked(error);
      log.info('starting it again with Content-Length framing', { server: name });
      return this.#startInEither(time);
    }
  }

  async #startInEither(time: StartTime): Promise<ServerRun> {
    try {
      return await this.#startIn('either', time);
    } catch (error) {
      if (this.#stopped) throw error;
      if (error instanceof StartTimeout) throw alsoAsked(error);
      // It may have exited because of a message it did not understand.
      return this.#startIn('newline', time);
    }
  }

  async #startIn(framing: OutputFraming, time: StartTime, watch: Watch = time.looked): Promise<ServerRun> {
    const { server } = this.#setup;
    const run = await ServerRun.begin(this.#setup, framing, this.#options.listener);
    if (this.#stopped) {
      void run.stop();
      throw this.#stopped;
    }
    this.#pending = run;
    let agreement: Agreement;
    try {
      agreement = await this.#initialize(run, time, watch);
      // The run may have been lost at the moment it answered.
      if (run.end)
        throw new SwitchboardError('START_FAILED', `Server '${server.name}' lost the session immediately.`);
    } catch (error) {
      const stopped = run.stop();
      // A failure is reported immediately; only a second attempt waits until the first process has exited.
      if (error instanceof StaysSilent) await stopped;
      // The reason why the process exited says more than the missing answer.
      throw run.end?.error ?? error;
    } finally {
      this.#pending = undefined;
    }
    this.#learn(run, agreement);
    return run;
  }

  /** Rejects when the server fails or exceeds its time, or when `watch` gives up on it. */
  async #initialize(run: ServerRun, { began, limit }: StartTime, watch: Watch): Promise<Agreement> {
    const { server, context, learned } = this.#setup;
    const { about, support: known } = context.cache;
    const support = learned.endsOnDiscover === true ? { ...known, modern: false } : known;
    const eras = erasOf(server, {
      wanted: context.era(),
      last: about && eraOfVersion(about.protocolVersion),
      support,
      transport: learned.transport,
    });
    this.#firstEra = eras[0];
    const timeoutMs = began + limit - performance.now();
    let timer: NodeJS.Timeout | undefined;
    let unwatch: (() => void) | undefined;
    const givenUp = new Promise<never>((_, reject) => {
      const expired = (): void => reject(new StartTimeout(server, performance.now() - began, run.words()));
      timer = setTimeout(expired, timeoutMs);
      unwatch = run.transport.watch?.((idleMs) => watch(idleMs, run, reject));
    });
    try {
      return await Promise.race([run.initialize(eras, support.modern === true, timeoutMs), givenUp]);
    } finally {
      clearTimeout(timer);
      unwatch?.();
    }
  }

  #learn({ peer, transport }: ServerRun, { info: about, era, support }: Agreement): void {
    const { server, context, learned } = this.#setup;
    const { cache, log } = context;
    const { target, name } = server;
    const framing = peer.transport.inputFraming ?? 'newline';
    const isNews = framing === 'content-length' && target.kind === 'process' && target.framing === 'auto';
    if (isNews && (learned.framing ?? cache.framing) !== framing)
      log.warn(
        'speaks Content-Length framing; set "framing": "content-length" in its entry to skip detection',
        { server: name },
      );
    if (support[otherEra(era)] === false && cache.support[otherEra(era)] === true)
      log.info('speaks another protocol version now', { server: name, era });
    // A new version of the server may support what an old one did not.
    const forgotten = isUpdated(cache.about, about) ? { [otherEra(era)]: undefined } : {};
    learned.framing = framing;
    cache.learn({ about, framing, support: { ...forgotten, ...support } });
    log.info('running', { server: name, pid: transport.pid, version: about.protocolVersion });
  }
}

/** The time available to a start. */
interface StartTime {
  /** When it began, on the performance clock. */
  readonly began: number;
  /** In milliseconds. */
  readonly limit: number;
  /** Called now and then with the number of milliseconds for which a program has shown no activity. */
  readonly looked: (idleMs: number) => void;
}

/** The same for one of its runs, which may be given up. */
type Watch = (idleMs: number, run: ServerRun, giveUp: (why: Error) => void) => void;

/** Whether a server reports another version than when it last used this era. */
function isUpdated(before: SourceInfo | undefined, about: SourceInfo): boolean {
  if (before === undefined || typeof before.serverInfo.version !== 'string') return false;
  return (
    eraOfVersion(before.protocolVersion) === eraOfVersion(about.protocolVersion) &&
    before.serverInfo.version !== about.serverInfo.version
  );
}

function alsoAsked(error: StartTimeout): StartTimeout {
  error.message += ' Content-Length framing was tried as well.';
  return error;
}

/** The server neither answers nor shows activity. */
class StaysSilent extends Error {}
