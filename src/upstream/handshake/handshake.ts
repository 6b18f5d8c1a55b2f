import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { quoted } from '../../shared/printable.ts';
import { inLaterTurn } from '../../shared/turns.ts';
import type { SourceInfo } from '../../gateway/index.ts';
import {
  BATCHING_VERSION,
  HANDSHAKE_SHAPE,
  HandshakeAnswer,
  isLegacyVersion,
  LATEST_LEGACY_VERSION,
  MODERN_VERSION,
  ModernCode,
  Server,
  type JsonObject,
} from '../../protocol/index.ts';
import { MAX_PARSED, type Message, type Peer, type Unanswered } from '../../wire/index.ts';
import { errorCode, errorText, versionsSupported } from '../error-answer.ts';
import { paramsWithMeta } from './request-meta.ts';

export interface ClientIdentity {
  /** Our name and version for servers. */
  readonly clientInfo: { readonly name: string; readonly version: string };
  /** The capabilities that the client declared: requests of the server are passed on to it. */
  readonly capabilities: JsonObject;
}

export interface HandshakeOptions {
  readonly peer: Peer;
  /** The server's name. */
  readonly server: string;
  readonly identity: ClientIdentity;
  /** Hides secrets in text from the server. */
  readonly mask: (text: string) => string;
}

/** A handshake in progress. Its result is rejected if another handshake would not help. */
export interface Handshake {
  readonly result: Promise<HandshakeResult>;
  /** Sends the request once more, in both framings at once. */
  again(): void;
  /** Ignores the response if it still comes. */
  forget(): void;
}

export type HandshakeResult =
  | { readonly kind: 'agreed'; readonly info: SourceInfo }
  /**
   * The server refused this handshake. `sure`: it said that it uses the other era. `silent`: it did not answer, perhaps
   * because it is not listening yet. `again`: it wants the request to be repeated.
   */
  | {
      readonly kind: 'refused';
      readonly error: SwitchboardError;
      readonly sure?: boolean;
      readonly silent?: boolean;
      readonly again?: boolean;
    };

/** The meaning of a response; an error if another handshake would not help. */
type Outcome = HandshakeResult | SwitchboardError;

/** Starts a session in the legacy era: sends `initialize` and, after the response, `initialized`. */
export function initializeServer(options: HandshakeOptions): Handshake {
  const { peer, identity } = options;
  const { clientInfo, capabilities } = identity;
  const params = { protocolVersion: LATEST_LEGACY_VERSION, capabilities, clientInfo };
  return send(options, 'initialize', params, (answer) => {
    const outcome = readInitialize(answer, options);
    if (!(outcome instanceof SwitchboardError) && outcome.kind === 'agreed') {
      if (outcome.info.protocolVersion === BATCHING_VERSION) peer.allowBatches();
      peer.notify('notifications/initialized');
    }
    return outcome;
  });
}

/** Sends `server/discover`, as in the modern era. Any response that is not valid counts as a refusal. */
export function discoverServer(options: HandshakeOptions): Handshake {
  const params = paramsWithMeta(undefined, options.identity);
  return send(options, 'server/discover', params, (answer) => readDiscovery(answer, options));
}

function send(
  { peer, server }: HandshakeOptions,
  method: string,
  params: JsonObject,
  read: (answer: Message) => Outcome,
): Handshake {
  let id = 0;
  const result = new Promise<HandshakeResult>((resolve, reject) => {
    const settle = (outcome: Outcome): void => {
      if (outcome instanceof SwitchboardError) reject(outcome);
      else resolve(outcome);
    };
    id = peer.request(method, params, {
      answered: (answer) => {
        // It was just checked. Reading a long response again happens in another turn of the event loop.
        if (answer.length > MAX_PARSED) inLaterTurn(() => settle(read(answer)));
        else settle(read(answer));
      },
      unanswered: (reason, error) => settle(unheard(server, method, reason, error)),
    });
  });
  return {
    result,
    again: () => {
      peer.transport.framing = 'either';
      peer.repeat(id, method, params);
    },
    forget: () => {
      if (peer.forget(id)) peer.cancel(id);
    },
  };
}

function unheard(
  server: string,
  method: string,
  reason: Unanswered,
  error: SwitchboardError | undefined,
): Outcome {
  const why =
    error ??
    new SwitchboardError('START_FAILED', `Server '${server}' did not respond to ${method} (${reason}).`);
  // The server is unreachable or requires a login.
  const final =
    reason === 'closed' ||
    reason === 'not-taken' ||
    (reason === 'failed' && (why.code === 'START_FAILED' || why.code === 'LOGIN_NEEDED'));
  return final ? why : { kind: 'refused', error: why };
}

function readInitialize(answer: Message, { server, mask }: HandshakeOptions): Outcome {
  if (answer.has(Server.error)) {
    const said = mask(errorText(answer));
    const error = new SwitchboardError(
      'START_FAILED',
      `Server '${server}' refused initialize: ${quoted(said)}.`,
    );
    const unsupported = errorCode(answer) === ModernCode.unsupportedVersion;
    const supported = unsupported ? versionsSupported(answer) : undefined;
    if (supported !== undefined && !supported.includes(MODERN_VERSION))
      return unknownVersions(server, supported);
    return { kind: 'refused', error, sure: unsupported };
  }
  const read = answer.as(HANDSHAKE_SHAPE);
  const version = read?.value(HandshakeAnswer.protocolVersion);
  if (read === undefined || !isLegacyVersion(version)) {
    const error = unknownVersions(server, version === undefined ? [] : [version]);
    // The server may have named the version that does not start with this handshake.
    return { kind: 'refused', error, sure: version === MODERN_VERSION };
  }
  return { kind: 'agreed', info: infoIn(read, version, HandshakeAnswer.serverInfo) };
}

function readDiscovery(answer: Message, options: HandshakeOptions): Outcome {
  const { server } = options;
  if (answer.has(Server.error)) return readRefusal(answer, options);
  const read = answer.as(HANDSHAKE_SHAPE);
  const versions = read?.value(HandshakeAnswer.supportedVersions);
  if (read === undefined || !Array.isArray(versions)) {
    const message = `Server '${server}' sent an invalid response to server/discover.`;
    return { kind: 'refused', error: new SwitchboardError('START_FAILED', message) };
  }
  if (!versions.includes(MODERN_VERSION)) return otherVersions(versions, server);
  return { kind: 'agreed', info: infoIn(read, MODERN_VERSION, HandshakeAnswer.modernServerInfo) };
}

/** A value too long to be parsed counts as missing. */
function infoIn(answer: Message, protocolVersion: string, serverInfoSlot: number): SourceInfo {
  const serverInfo = answer.value(serverInfoSlot);
  const capabilities = answer.value(HandshakeAnswer.capabilities);
  const instructions = answer.value(HandshakeAnswer.instructions);
  return {
    protocolVersion,
    serverInfo: isObject(serverInfo) ? serverInfo : {},
    capabilities: isObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === 'string' ? instructions.slice(0, MAX_INSTRUCTIONS) : undefined,
  };
}

/** The most that is kept of a server's instructions, in UTF-16 units. */
const MAX_INSTRUCTIONS = 100_000;

/** Only error codes introduced by the modern era indicate a modern server; older servers use any code. */
function readRefusal(answer: Message, { server, mask }: HandshakeOptions): Outcome {
  const code = errorCode(answer);
  const said = quoted(mask(errorText(answer)));
  const error = new SwitchboardError('START_FAILED', `Server '${server}' refused server/discover: ${said}.`);
  if (code === ModernCode.unsupportedVersion) return otherVersions(versionsSupported(answer) ?? [], server);
  const modern = code === ModernCode.headerMismatch || code === ModernCode.missingCapability;
  return modern ? error : { kind: 'refused', error };
}

/** The server supports discovery but not our version. There may be an older version that both support. */
function otherVersions(versions: readonly unknown[], server: string): Outcome {
  const error = unknownVersions(server, versions);
  // The server lists the very version that was requested, so the request is repeated.
  if (versions.includes(MODERN_VERSION)) return { kind: 'refused', error, again: true };
  return versions.some(isLegacyVersion) ? { kind: 'refused', error, sure: true } : error;
}

/** The server supports none of our versions. */
function unknownVersions(server: string, versions: readonly unknown[]): SwitchboardError {
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
