import type { SwitchboardError } from '../../shared/errors.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import { otherEra, type Era, type EraSupport } from '../../protocol/index.ts';
import type { Peer } from '../../wire/index.ts';
import { discoverServer, type Discovery } from './discover-server.ts';
import { handshake, type ClientIdentity, type HandshakeResult } from './handshake.ts';
import type { UpstreamServer } from '../server.ts';

export interface Negotiation {
  readonly peer: Peer;
  /** The server's name. */
  readonly server: string;
  readonly identity: ClientIdentity;
  /** Hides what must not be shown in what the server says. */
  readonly mask: (text: string) => string;
  /** Which eras are tried, in order. */
  readonly eras: readonly Era[];
  /** Calls back when the server seems to ignore `server/discover`. Returns how to end that. */
  readonly whenSilent: (then: () => void) => () => void;
  /** Gets the way to send `initialize` once more, in both framings at once. */
  readonly asked?: (again: () => void) => void;
}

export interface Agreement {
  readonly era: Era;
  readonly info: SourceInfo;
  /** What the attempts have shown. */
  readonly support: EraSupport;
}

/** Initializes a server in one era and, if it refuses, in the other, over the same connection. */
export async function negotiate(negotiation: Negotiation): Promise<Agreement> {
  const { peer, server, identity, mask, eras, whenSilent, asked } = negotiation;
  const support: Partial<Record<Era, boolean>> = {};
  const discoveries: Discovery[] = [];
  let failure: SwitchboardError | undefined;
  let sure = false;
  const tries = [...eras];
  const discover = (): Promise<HandshakeResult> => {
    const discovery = discoverServer(peer, server, identity, mask);
    discoveries.push(discovery);
    // The answer may come after the server was taken for silent.
    void discovery.result.then(
      ({ kind }) => (support.modern = kind === 'agreed'),
      () => undefined,
    );
    return sure ? discovery.result : discovery.unlessSilent(whenSilent);
  };
  try {
    for (let at = 0; at < tries.length; at++) {
      const era = tries[at]!;
      const result =
        era === 'legacy' ? await handshake(peer, server, identity, mask, asked) : await discover();
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
    throw failure!;
  } finally {
    for (const discovery of discoveries) discovery.forget();
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
  if (target.kind === 'remote' && (target.transport === 'sse' || isSse(target.transport, transport)))
    return ['legacy'];
  const preferred = wanted ?? last ?? (target.kind === 'remote' ? 'modern' : 'legacy');
  const first = support[preferred] === false ? otherEra(preferred) : preferred;
  return [first, otherEra(first)];
}

function isSse(configured: 'auto' | 'http' | 'sse', found: 'http' | 'sse' | undefined): boolean {
  return configured === 'auto' && found === 'sse';
}
