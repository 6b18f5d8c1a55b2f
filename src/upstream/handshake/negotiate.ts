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
  /** The eras to try, in order. */
  readonly eras: readonly Era[];
  /** Time limit for the whole negotiation, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the server has answered `server/discover` before. */
  readonly discovered: boolean;
  /** Receives a function that sends `initialize` once more, in both framings at once. */
  readonly asked: (again: () => void) => void;
}

export interface Agreement {
  readonly era: Era;
  readonly info: SourceInfo;
  /** Which eras the server supports, as far as the attempts have shown. */
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
    // The response may come after the server was considered silent.
    void discovery.result.then(
      ({ kind }) => (support.modern = kind === 'agreed'),
      () => undefined,
    );
    return sure ? discovery.result : unlessSilent(discovery.result, negotiation);
  };
  try {
    // Includes eras that are added during the loop.
    for (const [at, era] of tries.entries()) {
      const result = await (era === 'legacy' ? initialize() : discover());
      if (result.kind === 'agreed') {
        // The server does not support the eras that it refused before this one.
        const refused = tries.slice(0, at).includes(otherEra(era)) ? { [otherEra(era)]: false } : {};
        return { era, info: result.info, support: { ...refused, ...support, [era]: true } };
      }
      sure = result.sure === true;
      if (result.again === true && tries.indexOf(era) === at) tries.splice(at + 1, 0, era);
      // It may have needed longer to start than the time it was given. By the time it refuses the handshake, it is
      // listening.
      if (result.silent === true && tries.length === eras.length && eras[0] === 'modern')
        tries.push('modern');
      // Most servers support only the handshake, so their response to that is the most helpful one.
      if (era === 'legacy' || failure === undefined) failure = result.error;
    }
    throw failure ?? new Error('There is no era to try');
  } finally {
    for (const discovery of discoveries) discovery.forget();
  }
}

/** A remote server that does not respond for this long counts as silent, in milliseconds. */
const SILENCE = 3000;
/** So does a program that has been waiting for this long, if it has never answered this request before. */
const PROGRAM_SILENCE = 250;
/** The largest part of the start timeout that all of this may take. */
const SILENT_PART = 1 / 3;

/**
 * The outcome of a discovery, or a refusal once the server seems to ignore it; the response may still come. A busy
 * program is still starting: only the time it spends waiting counts.
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
  /** The era of the client that the server is started for; undefined if there is none. */
  readonly wanted: Era | undefined;
  /** The era that the server used last. */
  readonly last: Era | undefined;
  readonly support: EraSupport;
  /** The transport of a remote server, if it is known. */
  readonly transport?: 'http' | 'sse' | undefined;
}

/**
 * The eras to try, in order. The client's era comes first, unless the server is known not to support it. Without a
 * client, it is the one that worked last; otherwise the handshake for programs, because nearly all of them support it,
 * and discovery over HTTP, where a server that does not support it says so immediately.
 */
export function erasOf({ target }: UpstreamServer, preference: EraPreference): Era[] {
  const { wanted, last, support, transport } = preference;
  if (target.kind === 'remote' && (target.transport === 'auto' ? transport : target.transport) === 'sse')
    return ['legacy'];
  const preferred = wanted ?? last ?? (target.kind === 'remote' ? 'modern' : 'legacy');
  const first = support[preferred] === false ? otherEra(preferred) : preferred;
  return [first, otherEra(first)];
}
