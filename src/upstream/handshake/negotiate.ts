import { SwitchboardError } from '../../shared/errors.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import { otherEra, type Era, type EraSupport } from '../../protocol/index.ts';
import type { UpstreamServer } from '../server.ts';
import type { Transport } from '../transport.ts';
import {
  discoverServer,
  initializeServer,
  type Handshake,
  type HandshakeOptions,
  type HandshakeResult,
} from './handshake.ts';

export interface Negotiation extends HandshakeOptions {
  readonly transport: Pick<Transport, 'watch'>;
  /** Which eras are tried, in order. */
  readonly eras: readonly Era[];
  /** The time that all of it has, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the server has responded to `server/discover` before. */
  readonly discovered: boolean;
  /** Gets the way to send `initialize` once more, in both framings at once. */
  readonly asked: (again: () => void) => void;
}

export interface Agreement {
  readonly era: Era;
  readonly info: SourceInfo;
  /** What the attempts have shown. */
  readonly support: EraSupport;
}

/** Initializes a server in one era and, if it refuses, in the other, over the same connection. */
export async function negotiate(negotiation: Negotiation): Promise<Agreement> {
  const { eras } = negotiation;
  const support: Partial<Record<Era, boolean>> = {};
  const discoveries: Handshake[] = [];
  let failure: SwitchboardError | undefined;
  let sure = false;
  const tries = [...eras];
  const initialize = (): Promise<HandshakeResult> => {
    const handshake = initializeServer(negotiation);
    negotiation.asked(() => handshake.again());
    return handshake.result;
  };
  const discover = (): Promise<HandshakeResult> => {
    const discovery = discoverServer(negotiation);
    discoveries.push(discovery);
    // The answer may come after the server was taken for silent.
    void discovery.result.then(
      ({ kind }) => (support.modern = kind === 'agreed'),
      () => undefined,
    );
    return sure ? discovery.result : unlessSilent(discovery.result, negotiation);
  };
  try {
    // Those that are added meanwhile are tried, too.
    for (const [at, era] of tries.entries()) {
      const result = await (era === 'legacy' ? initialize() : discover());
      if (result.kind === 'agreed') {
        // What it did not agree to before this, it does not support.
        const refused = tries.slice(0, at).includes(otherEra(era)) ? { [otherEra(era)]: false } : {};
        return { era, info: result.info, support: { ...refused, ...support, [era]: true } };
      }
      sure = result.sure === true;
      if (result.again === true && tries.indexOf(era) === at) tries.splice(at + 1, 0, era);
      // It may have needed longer to start than it was given; by the time it refuses the handshake it listens.
      if (result.silent === true && tries.length === eras.length && eras[0] === 'modern')
        tries.push('modern');
      // Most servers know only the handshake, so what they say to that tells most.
      if (era === 'legacy' || failure === undefined) failure = result.error;
    }
    throw failure ?? new Error('There is no era to try');
  } finally {
    for (const discovery of discoveries) discovery.forget();
  }
}

/** A remote server that does not respond for so long counts as silent, in milliseconds. */
const SILENCE = 3000;
/** And so does a program that has only waited for so long, if it has never responded to this before. */
const PROGRAM_SILENCE = 250;
/** The part of the start timeout that all of this may take at most. */
const SILENT_PART = 1 / 3;

/**
 * The outcome of a discovery, or a refusal once the server seems to ignore it; its answer may still come. A program that
 * is busy is still starting: only the time in which it waits counts.
 */
async function unlessSilent(
  result: Promise<HandshakeResult>,
  { server, transport, timeoutMs, discovered }: Negotiation,
): Promise<HandshakeResult> {
  const longest = timeoutMs * SILENT_PART;
  const limit = Math.min(SILENCE, longest);
  let timer: NodeJS.Timeout | undefined;
  let unwatch: (() => void) | undefined;
  const silence = new Promise<HandshakeResult>((resolve) => {
    const silent = (): void => {
      const message = `Server '${server}' did not respond to server/discover.`;
      resolve({ kind: 'refused', error: new SwitchboardError('START_FAILED', message), silent: true });
    };
    timer = setTimeout(silent, transport.watch === undefined ? limit : longest);
    unwatch = transport.watch?.((idleMs) => {
      if (idleMs >= (discovered ? limit : Math.min(PROGRAM_SILENCE, limit))) silent();
    });
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearTimeout(timer);
    unwatch?.();
  }
}

export interface EraPreference {
  /** The era of the client that the server is started for; undefined where there is none. */
  readonly wanted: Era | undefined;
  /** The era it spoke last. */
  readonly last: Era | undefined;
  readonly support: EraSupport;
  /** The transport of a remote server that was found. */
  readonly transport?: 'http' | 'sse' | undefined;
}

/**
 * The eras to try, in order: first that of the client, unless the server is known not to support it. Without a client,
 * the one that worked last, else the handshake for programs, because nearly all of them know it, and discovery over
 * HTTP, where a server that does not know it says so immediately.
 */
export function erasOf({ target }: UpstreamServer, preference: EraPreference): Era[] {
  const { wanted, last, support, transport } = preference;
  if (target.kind === 'remote' && (target.transport === 'auto' ? transport : target.transport) === 'sse')
    return ['legacy'];
  const preferred = wanted ?? last ?? (target.kind === 'remote' ? 'modern' : 'legacy');
  const first = support[preferred] === false ? otherEra(preferred) : preferred;
  return [first, otherEra(first)];
}
