import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import {
  isJsonObject,
  isLegacyVersion,
  Meta,
  MODERN_VERSION,
  ModernCode,
  Server,
} from '../../protocol/index.ts';
import type { Message, Peer } from '../../wire/index.ts';
import { paramsWithMeta } from './request-meta.ts';
import { errorCode, errorText, versionsSupported } from '../error-answer.ts';
import { unheard, unknownVersions, type ClientIdentity, type HandshakeResult } from './handshake.ts';

/** One `server/discover` on its way. */
export interface Discovery {
  /** Any answer that is not a proper one counts as a refusal. */
  readonly result: Promise<HandshakeResult>;
  /** The same, or a refusal once the server counts as silent; its answer may still come. */
  unlessSilent(whenSilent: (then: () => void) => () => void): Promise<HandshakeResult>;
  /** Its answer is of no interest any more. */
  forget(): void;
}

/** Asks a server what it is, in the way of the modern era. */
export function discoverServer(
  peer: Peer,
  server: string,
  identity: ClientIdentity,
  mask: (text: string) => string,
): Discovery {
  let id = 0;
  const result = new Promise<HandshakeResult>((resolve, reject) => {
    id = peer.request('server/discover', paramsWithMeta(undefined, identity), {
      answered: (answer) => {
        try {
          resolve(readDiscovery(answer, server, mask));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      unanswered: (reason, error) => {
        const outcome = unheard(server, 'server/discover', reason, error);
        if (outcome instanceof SwitchboardError) reject(outcome);
        else resolve(outcome);
      },
    });
  });
  return {
    result,
    unlessSilent: async (whenSilent) => {
      let stop: (() => void) | undefined;
      const silence = new Promise<HandshakeResult>((resolve) => {
        stop = whenSilent(() => {
          const error = new SwitchboardError(
            'START_FAILED',
            `Server '${server}' did not respond to server/discover.`,
          );
          resolve({ kind: 'refused', error, silent: true });
        });
      });
      return Promise.race([result, silence]).finally(stop);
    },
    forget: () => {
      if (peer.forget(id)) peer.cancel(id);
    },
  };
}

function readDiscovery(answer: Message, server: string, mask: (text: string) => string): HandshakeResult {
  if (answer.has(Server.error)) return readRefusal(answer, server, mask);
  const result = answer.value(Server.result);
  if (!isJsonObject(result) || !Array.isArray(result.supportedVersions)) {
    const message = `Server '${server}' sent an invalid response to server/discover.`;
    return { kind: 'refused', error: new SwitchboardError('START_FAILED', message) };
  }
  const versions = result.supportedVersions as unknown[];
  if (!versions.includes(MODERN_VERSION)) return other(versions, server);
  const meta = isJsonObject(result._meta) ? result._meta : {};
  const serverInfo = meta[Meta.serverInfo];
  const info = {
    protocolVersion: MODERN_VERSION,
    serverInfo: isJsonObject(serverInfo) ? serverInfo : {},
    capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  };
  return { kind: 'agreed', info };
}

/** Only errors that the modern era has brought show a modern server; older ones answer with any code there is. */
function readRefusal(answer: Message, server: string, mask: (text: string) => string): HandshakeResult {
  const code = errorCode(answer);
  const said = quoted(mask(errorText(answer)));
  const error = new SwitchboardError('START_FAILED', `Server '${server}' refused server/discover: ${said}.`);
  if (code === ModernCode.unsupportedVersion) return other(versionsSupported(answer) ?? [], server);
  if (code === ModernCode.headerMismatch || code === ModernCode.missingCapability) throw error;
  return { kind: 'refused', error };
}

/** It knows how to be asked, and does not speak our version: there may be an older one that both know. */
function other(versions: readonly unknown[], server: string): HandshakeResult {
  const error = unknownVersions(server, versions);
  // It names the very version that it was asked in: it is asked once more.
  if (versions.includes(MODERN_VERSION)) return { kind: 'refused', error, again: true };
  if (!versions.some(isLegacyVersion)) throw error;
  return { kind: 'refused', error, sure: true };
}
