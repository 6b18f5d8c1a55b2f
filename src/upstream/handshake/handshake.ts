import { SwitchboardError } from '../../shared/errors.ts';
import { quoted } from '../../shared/printable.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import {
  BATCHING_VERSION,
  isJsonObject,
  isLegacyVersion,
  LATEST_LEGACY_VERSION,
  MODERN_VERSION,
  ModernCode,
  Server,
  type JsonObject,
} from '../../protocol/index.ts';
import type { Message, Peer, Unanswered } from '../../wire/index.ts';
import { errorCode, errorText, versionsSupported } from '../error-answer.ts';

export interface ClientIdentity {
  /** What we call ourselves towards servers. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** What the client behind us can do, as it said it: what the server asks for is passed on to it. */
  readonly capabilities: JsonObject;
}

/** The outcome of a handshake. What another handshake cannot help is thrown instead. */
export type HandshakeResult =
  | { readonly kind: 'agreed'; readonly info: SourceInfo }
  /**
   * Not in these words; `sure` where the server says itself that it speaks the other era, `silent` where it said
   * nothing, which may only mean that it has not begun to listen, `again` where it asks to be asked once more.
   */
  | {
      readonly kind: 'refused';
      readonly error: SwitchboardError;
      readonly sure?: boolean;
      readonly silent?: boolean;
      readonly again?: boolean;
    };

/**
 * Opens the conversation as a client does: `initialize`, and once it is answered `initialized`. `asked` gets the way to
 * ask the same once more, in both framings at once.
 */
export function handshake(
  peer: Peer,
  server: string,
  { clientInfo, capabilities }: ClientIdentity,
  mask: (text: string) => string,
  asked?: (again: () => void) => void,
): Promise<HandshakeResult> {
  return new Promise((resolve, reject) => {
    const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities, clientInfo };
    const id = peer.request('initialize', params, {
      answered: (answer) => {
        try {
          const result = readGreeting(answer, server, mask);
          if (result.kind === 'agreed') {
            if (result.info.protocolVersion === BATCHING_VERSION) peer.allowBatches();
            peer.notify('notifications/initialized');
          }
          resolve(result);
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      },
      unanswered: (reason, error) => {
        const result = unheard(server, 'initialize', reason, error);
        if (result instanceof SwitchboardError) reject(result);
        else resolve(result);
      },
    });
    asked?.(() => {
      peer.transport.framing = 'either';
      peer.repeat(id, 'initialize', params);
    });
  });
}

/** What it means that a handshake got no answer: an error where another one would get none either. */
export function unheard(
  server: string,
  method: string,
  reason: Unanswered,
  error: SwitchboardError | undefined,
): HandshakeResult | SwitchboardError {
  const why =
    error ??
    new SwitchboardError('START_FAILED', `Server '${server}' did not respond to ${method} (${reason}).`);
  // Nobody is there, or nobody is let in.
  const final =
    reason === 'closed' ||
    reason === 'not-taken' ||
    (reason === 'failed' && (why.code === 'START_FAILED' || why.code === 'LOGIN_NEEDED'));
  return final ? why : { kind: 'refused', error: why };
}

function readGreeting(answer: Message, server: string, mask: (text: string) => string): HandshakeResult {
  if (answer.has(Server.error)) {
    const said = mask(errorText(answer));
    const error = new SwitchboardError(
      'START_FAILED',
      `Server '${server}' refused initialize: ${quoted(said)}.`,
    );
    const unsupported = errorCode(answer) === ModernCode.unsupportedVersion;
    const supported = unsupported ? versionsSupported(answer) : undefined;
    if (supported !== undefined && !supported.includes(MODERN_VERSION))
      throw unknownVersions(server, supported);
    return { kind: 'refused', error, sure: unsupported };
  }
  const result = answer.value(Server.result);
  const version = isJsonObject(result) ? result.protocolVersion : undefined;
  if (!isJsonObject(result) || !isLegacyVersion(version)) {
    const error = unknownVersions(server, version === undefined ? [] : [version]);
    // It may have named the version that does not begin like this.
    return { kind: 'refused', error, sure: version === MODERN_VERSION };
  }
  const info = {
    protocolVersion: version,
    serverInfo: isJsonObject(result.serverInfo) ? result.serverInfo : {},
    capabilities: isJsonObject(result.capabilities) ? result.capabilities : {},
    instructions: typeof result.instructions === 'string' ? result.instructions : undefined,
  };
  return { kind: 'agreed', info };
}

/** The server speaks, but nothing that we do. */
export function unknownVersions(server: string, versions: readonly unknown[]): SwitchboardError {
  const named = versions
    .slice(0, 5)
    .map((version) => JSON.stringify(version).slice(0, 100))
    .join(', ');
  return new SwitchboardError(
    'START_FAILED',
    `Server '${server}' speaks protocol version ${named === '' ? 'none' : named}, which Switchboard does not support.`,
    { hint: 'Update Switchboard, or use another version of that server.' },
  );
}
