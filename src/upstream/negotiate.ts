import type { SwitchboardError } from '../shared/errors.ts';
import type { SourceInfo } from '../gateway/index.ts';
import { MODERN_VERSION } from '../protocol/index.ts';
import type { Peer } from '../wire/index.ts';
import { discoverServer } from './discover-server.ts';
import { handshake, type ClientIdentity, type HandshakeResult } from './handshake.ts';
import type { UpstreamServer } from './server.ts';

/** How a server is spoken to: with a handshake and a session, or with every request standing for itself. */
export type Era = 'legacy' | 'modern';

export interface Negotiation {
  readonly peer: Peer;
  /** The server's name. */
  readonly server: string;
  readonly identity: ClientIdentity;
  /** Hides what must not be shown in what the server says. */
  readonly mask: (text: string) => string;
  /** Which eras are tried, in order. */
  readonly eras: readonly Era[];
  /** How long all of it may take, in milliseconds; the caller sees to that. */
  readonly timeoutMs: number;
  /** Gets the way to send `initialize` once more, in both framings at once. */
  readonly asked?: (again: () => void) => void;
}

/** How long a server may stay silent to the modern handshake before it gets the handshake, in milliseconds. */
const SILENCE = 3000;
/** And the part of the timeout that this may take at most. */
const SILENT_PART = 1 / 3;

/** Greets a server in one era and, where it does not understand, in the other, over the same link. */
export async function negotiate({
  peer,
  server,
  identity,
  mask,
  eras,
  timeoutMs,
  asked,
}: Negotiation): Promise<{ era: Era; info: SourceInfo }> {
  let failure: SwitchboardError | undefined;
  let sure = false;
  const silence = Math.min(SILENCE, timeoutMs * SILENT_PART);
  const tries = [...eras];
  for (let at = 0; at < tries.length; at++) {
    const era = tries[at]!;
    const result: HandshakeResult =
      era === 'legacy'
        ? await handshake(peer, server, identity, mask, asked)
        : await discoverServer(peer, server, identity, mask, sure ? timeoutMs : silence);
    if (result.kind === 'agreed') return { era, info: result.info };
    sure = result.sure === true;
    if (result.again === true && tries.indexOf(era) === at) tries.splice(at + 1, 0, era);
    // It may have needed longer to start than it was given; by the time it refuses the handshake it listens.
    if (result.silent === true && tries.length === eras.length && eras[0] === 'modern') tries.push('modern');
    // Most servers know only the handshake, so what they say to that tells most.
    if (era === 'legacy' || failure === undefined) failure = result.error;
  }
  throw failure!;
}

/**
 * The eras to try, the likelier first: what was found last time, else the handshake for programs, which nearly all of
 * them know, and the modern handshake over HTTP, where a server that does not know it says so at once.
 */
export function erasOf(
  { target }: UpstreamServer,
  found: Era | undefined,
  transport?: 'http' | 'sse',
): Era[] {
  if (target.kind === 'remote' && (target.transport === 'sse' || isSse(target.transport, transport)))
    return ['legacy'];
  const first = found ?? (target.kind === 'remote' ? 'modern' : 'legacy');
  return first === 'modern' ? ['modern', 'legacy'] : ['legacy', 'modern'];
}

/** The era of a server by what it said of itself. */
export function eraOf(info: SourceInfo | undefined): Era | undefined {
  return info === undefined ? undefined : info.protocolVersion === MODERN_VERSION ? 'modern' : 'legacy';
}

function isSse(configured: 'auto' | 'http' | 'sse', found: 'http' | 'sse' | undefined): boolean {
  return configured === 'auto' && found === 'sse';
}
