import type { ErrorCode } from '../../shared/error-codes.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { plainLine } from '../../shared/printable.ts';
import type { NotRenewed } from '../login.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';
import type { ErrorResponse } from './http-transport.ts';

// The errors of remote servers. None of them contains any address except the one without secrets.

/** Why a connection failed, as the end of a sentence. */
export function causeOf(error: unknown): string {
  const code = nodeErrorCode(error);
  if (code === undefined) return error instanceof Error ? excerpt(error.message) : 'unknown cause';
  const known = CAUSES[code];
  if (known !== undefined) return known.cause;
  if (isCertificate(code)) return `its certificate is not accepted (${excerpt(code)})`;
  if (code.startsWith('HPE_')) return 'the response is not HTTP';
  return excerpt(code);
}

const CHECK_HOST = 'Check the host name in its url, and the network.';
const CHECK_SCHEME = 'Check whether its url should begin with http: instead of https:.';
/** Causes by error code, with a hint if there is a specific one. */
const CAUSES: Readonly<Record<string, { readonly cause: string; readonly hint?: string }>> = {
  ECONNREFUSED: { cause: 'connection refused' },
  ECONNRESET: { cause: 'the connection was closed' },
  EPIPE: { cause: 'the connection was closed' },
  ENOTFOUND: { cause: 'host not found', hint: CHECK_HOST },
  EAI_AGAIN: { cause: 'DNS lookup failed', hint: CHECK_HOST },
  EHOSTUNREACH: { cause: 'host unreachable' },
  ENETUNREACH: { cause: 'network unreachable' },
  ETIMEDOUT: { cause: 'connection timed out' },
  EPROTO: { cause: 'that address does not use TLS', hint: CHECK_SCHEME },
  ERR_SSL_WRONG_VERSION_NUMBER: { cause: 'that address does not use TLS', hint: CHECK_SCHEME },
};

/** No connection could be made. The result ends a sentence that begins with the server. */
export function serverUnreachable(endpoint: RemoteEndpoint, cause: unknown): string {
  return `cannot be reached at ${endpoint.shown}: ${causeOf(cause)}`;
}

/** The same as an error of the first request. */
export function httpStartFailed(endpoint: RemoteEndpoint, cause: unknown): SwitchboardError {
  const code = nodeErrorCode(cause) ?? '';
  const hint = isCertificate(code)
    ? 'Check the certificate of that server; set NODE_EXTRA_CA_CERTS to a file with your own certificate authorities.'
    : (CAUSES[code]?.hint ?? 'Check that it is running and that its url is right.');
  return unreachable(endpoint, 'START_FAILED', hint, cause);
}

/** The same for a later request, while others are being processed: only this one fails. */
export function notConnected(endpoint: RemoteEndpoint, cause: unknown): SwitchboardError {
  const hint = 'The request was not sent; try again.';
  return unreachable(endpoint, 'SERVER_LOST', hint, cause);
}

/** The server was reached but could not be used; `how` completes the sentence. */
export function notReady(endpoint: RemoteEndpoint, how: string): SwitchboardError {
  return failure(endpoint, 'START_FAILED', how, checkAddress(endpoint));
}

/** The connection was lost when the server had received, or may have received, the request. */
export function broken(endpoint: RemoteEndpoint, cause: unknown): SwitchboardError {
  const message = `Lost the connection to server '${endpoint.server}' before it responded: ${causeOf(cause)}.`;
  return new SwitchboardError('SERVER_LOST', message, { hint: MAY_HAVE_RUN, cause });
}

/** The response ended without an answer; `how` completes the sentence. */
export function noHttpAnswer(endpoint: RemoteEndpoint, how: string): SwitchboardError {
  return failure(endpoint, 'SERVER_LOST', how, MAY_HAVE_RUN);
}

const MAY_HAVE_RUN = 'The request may have been processed; it was not sent again.';

/** The response is unusable; `what` completes the sentence. */
export function answeredBadly(endpoint: RemoteEndpoint, what: string): SwitchboardError {
  return failure(endpoint, 'SERVER_ANSWERED_BADLY', `responded with ${what}`, checkAddress(endpoint));
}

/** The response has another media type, `type`. */
export function wrongType(endpoint: RemoteEndpoint, type: string, text: string): SwitchboardError {
  const what = `${type === '' ? 'an unknown type' : excerpt(type)} instead of JSON or an event stream`;
  return answeredBadly(endpoint, what + inBrackets(endpoint, text));
}

/** An HTTP error status, with the beginning of the body. */
export function badStatus(endpoint: RemoteEndpoint, status: number, text: string): SwitchboardError {
  const answered = `responded with ${statusText(endpoint, { status, text })}`;
  // Before a version is negotiated, this can only be the response to initialize.
  if (endpoint.version === undefined && OTHER_TRANSPORT.has(status)) {
    const hint =
      'If its entry has a "type", remove it so that both transports are tried, Streamable HTTP and HTTP+SSE. ' +
      'Otherwise check the path in its url.';
    return failure(endpoint, 'SERVER_ANSWERED_BADLY', `${answered} to initialize at ${endpoint.shown}`, hint);
  }
  const later =
    status >= 500 || status === 429 ? 'The problem is on the server; try again later.' : undefined;
  const hint = status === 404 || status === 405 ? checkAddress(endpoint) : later;
  return failure(endpoint, 'SERVER_ANSWERED_BADLY', answered, hint);
}

/** How a server responds to the handshake of a transport that it does not support. */
const OTHER_TRANSPORT = new Set([400, 404, 405, 406, 415]);

/** The server supports neither of the two transports. */
export function neither(
  endpoint: RemoteEndpoint,
  first: ErrorResponse,
  second: ErrorResponse,
): SwitchboardError {
  const how =
    `does not speak MCP at ${endpoint.shown}: it responded to Streamable HTTP with ` +
    `${statusText(endpoint, first)}, and to HTTP+SSE with ${statusText(endpoint, second)}`;
  const hint = 'Check the path in its url; often it ends in /mcp or /sse.';
  return failure(endpoint, 'SERVER_ANSWERED_BADLY', how, hint);
}

/** The server requires a login, or a different one. `sent`: a login was sent. `next`: why it could not be renewed. */
export function loginNeeded(
  endpoint: RemoteEndpoint,
  status: number,
  sent: boolean,
  next: NotRenewed | undefined,
): SwitchboardError {
  const { ownAuthorization, login, loginHint } = endpoint;
  const needed = (how: string, hint: string): SwitchboardError =>
    failure(endpoint, 'LOGIN_NEEDED', how, hint);
  if (ownAuthorization !== undefined) {
    const what = ownAuthorization === 'header' ? 'the Authorization header' : 'the user name and password';
    return needed(
      `rejected ${what} from the configuration (HTTP ${status})`,
      'Correct it in the configuration.',
    );
  }
  if (login === undefined)
    return needed(
      `requires a login (HTTP ${status})`,
      'Set an Authorization header for it in the configuration.',
    );
  if (next?.kind === 'unavailable') {
    const how = `requires a login, and the stored one cannot be renewed now: ${excerpt(next.reason)}`;
    const hint = 'Try again later: the login is kept, and a new one would come from the same issuer.';
    return failure(endpoint, 'LOGIN_UNAVAILABLE', how, hint);
  }
  if (next?.kind === 'rights') {
    const which = next.scope === undefined ? '' : `: ${excerpt(next.scope)}`;
    const first = next.configured
      ? 'Add them to "scope" under "oauth" in its entry. Then log in again. '
      : '';
    return needed(`requires permissions that the login does not have${which}`, `${first}${loginHint}`);
  }
  return needed(sent ? 'no longer accepts the login' : 'requires a login', loginHint);
}

/** The server does not accept the proof that was sent with the login. */
export function proofRejected(endpoint: RemoteEndpoint, challenge: string): SwitchboardError {
  const wantsNonce = /use_dpop_nonce/i.test(challenge);
  const how = wantsNonce
    ? 'did not accept a DPoP proof with its own nonce'
    : 'rejected the DPoP proof of the login';
  const hint = wantsNonce
    ? 'Try again; if it keeps failing, contact the operator of the server.'
    : `Check the clock of this machine. If it is right, log in again. ${endpoint.loginHint}`;
  return failure(endpoint, 'LOGIN_UNAVAILABLE', how, hint);
}

/** The server redirects to another origin, which must not receive our headers. */
export function badRedirect(
  endpoint: RemoteEndpoint,
  status: number,
  target: URL | undefined,
): SwitchboardError {
  const where = target === undefined ? 'without an address' : `to ${excerpt(target.origin)}`;
  const how = `redirects ${where} (HTTP ${status}), which Switchboard does not follow`;
  const hint = 'If that is where the server is now, change its url in the configuration.';
  return failure(endpoint, 'SERVER_ANSWERED_BADLY', how, hint);
}

/** The server redirects too often, probably in a loop. */
export function tooManyRedirects(endpoint: RemoteEndpoint, status: number, most: number): SwitchboardError {
  const how = `redirects more than ${most} times (HTTP ${status})`;
  return failure(endpoint, 'SERVER_ANSWERED_BADLY', how, 'Check its url in the configuration.');
}

/** A configured header that HTTP cannot carry. Contains its name but never its value. */
export function unsendable(endpoint: RemoteEndpoint, cause: unknown): SwitchboardError {
  const name = /\["([\w-]+)"\]/.exec(String((cause as Error | undefined)?.message))?.[1];
  return new SwitchboardError(
    'START_FAILED',
    `Cannot send requests to server '${endpoint.server}': ${name === undefined ? 'one of its headers' : `its header ${name}`} contains characters that HTTP does not allow.`,
    { hint: 'Correct headers in the configuration.' },
  );
}

/** An error whose sentence begins with the server; `how` completes it. */
function failure(
  { server }: RemoteEndpoint,
  code: ErrorCode,
  how: string,
  hint: string | undefined,
): SwitchboardError {
  return new SwitchboardError(code, `Server '${server}' ${how}.`, { hint });
}

function unreachable(
  endpoint: RemoteEndpoint,
  code: ErrorCode,
  hint: string,
  cause: unknown,
): SwitchboardError {
  const message = `Server '${endpoint.server}' ${serverUnreachable(endpoint, cause)}.`;
  return new SwitchboardError(code, message, { hint, cause });
}

function checkAddress({ shown }: RemoteEndpoint): string {
  return `Check that ${shown} is the address of an MCP server.`;
}

function statusText(endpoint: RemoteEndpoint, { status, text }: ErrorResponse): string {
  return `HTTP ${status}${inBrackets(endpoint, text)}`;
}

/** The body of an error response, if there is one, without our secrets; for a web page, only its text. */
function inBrackets(endpoint: RemoteEndpoint, text: string): string {
  const masked = endpoint.mask(text);
  const shown = /^\s*<(?:!doctype|html|head|body)\b/i.test(masked)
    ? // Masked again, because a page may contain a secret written with entities.
      excerpt(endpoint.mask(textOfPage(masked.slice(0, LONGEST_PAGE))), LONGEST_PAGE_TEXT)
    : excerpt(masked);
  return shown === '' ? '' : ` (${shown})`;
}

/** How much of a page is read, and how much of its text is shown, in characters. */
const LONGEST_PAGE = 8 * 1024;
const LONGEST_PAGE_TEXT = 120;

function textOfPage(page: string): string {
  return page
    .replace(/<(script|style)\b.*?(?:<\/\1\s*>|$)/gis, ' ')
    .replace(/<!--.*?(?:-->|$)/gs, ' ')
    .replace(/<[^>]*(?:>|$)/g, ' ')
    .replace(/&(nbsp|amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

const ENTITIES: Readonly<Record<string, string>> = {
  nbsp: ' ',
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

/** Untrusted text, shortened and safe to print on one line. */
function excerpt(text: string, longest = 200): string {
  const line = plainLine(text.replace(/\s+/g, ' ').trim());
  return line.length > longest ? `${line.slice(0, longest)}…` : line;
}

function isCertificate(code: string): boolean {
  return /CERT|SIGNATURE|SELF_SIGNED|ERR_TLS|CRL/.test(code);
}
