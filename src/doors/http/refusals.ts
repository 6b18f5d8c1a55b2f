import { faultError, RpcCode } from '../../wire/index.ts';
import { UNKNOWN_STATE } from '../modern/suspended-requests.ts';
import type { ErrorReply } from './reply.ts';

const RETRY = { 'Retry-After': '5' };

/** The errors for refused requests, except those that the token and the headers decide. */
export const HTTP_REFUSALS = {
  stopping: {
    status: 503,
    message: 'Service unavailable: the gateway is shutting down.',
    headers: RETRY,
  },
  revoked: {
    status: 401,
    message: 'Unauthorized: the token was revoked. Create another one with `switchboard token create`.',
    headers: { 'WWW-Authenticate': 'Bearer' },
  },
  loop: {
    status: 508,
    message:
      'Loop detected: this gateway is configured as one of its own servers, perhaps through another gateway. ' +
      'Remove the entry with its address from the configuration.',
  },
  noSessionRoom: {
    status: 503,
    message:
      'Service unavailable: the session limit (http.maxSessions) is reached. ' +
      'End one with DELETE, or try again later.',
    headers: RETRY,
  },
  tooBusy: {
    status: 503,
    message: 'Service unavailable: too many messages of this session are waiting. Try again later.',
    headers: { 'Retry-After': '1' },
  },
  noId: {
    status: 400,
    code: RpcCode.invalidRequest,
    message:
      'Bad request: without an Mcp-Session-Id header only an initialize request is accepted, which starts a session.',
  },
  idInUse: { status: 400, ...faultError('id-in-use') },
  noBatch: { status: 400, ...faultError('batch') },
  noSession: {
    status: 404,
    message: 'Not found: the session does not exist or has ended. Start a new one with initialize.',
  },
  noSseId: { status: 400, message: 'Bad request: the URL has no sessionId.' },
  noSseSession: {
    status: 404,
    message: 'Not found: the session does not exist or has ended. Start a new one with GET /sse.',
  },
  notBoth: {
    status: 406,
    message: 'Not acceptable: the Accept header must allow application/json and text/event-stream.',
  },
  notEvents: {
    status: 406,
    message: 'Not acceptable: the Accept header must allow text/event-stream.',
  },
  noStream: {
    status: 405,
    message: 'Method not allowed: this protocol version only allows POST.',
    headers: { Allow: 'POST' },
  },
  badVersion: {
    status: 400,
    code: RpcCode.invalidRequest,
    message:
      'Bad request: the MCP-Protocol-Version header names a version that this gateway does not support.',
  },
  stalled: {
    status: 408,
    message: 'Request timeout: the body of the request stopped arriving.',
  },
  notJson: {
    status: 415,
    message: 'Unsupported media type: send the message as application/json.',
  },
  encoded: {
    status: 415,
    message: 'Unsupported media type: send the message without a Content-Encoding.',
  },
  noAnswers: {
    status: 400,
    code: RpcCode.invalidRequest,
    message:
      'Invalid request: only requests and notifications are accepted. Answer server requests with inputResponses.',
    // The modern era has no null ids.
    omitId: true,
  },
  noRequestRoom: {
    status: 503,
    code: RpcCode.internalError,
    message: 'Service unavailable: the request limit (http.maxSessions) is reached. Try again later.',
    headers: { 'Retry-After': '1' },
  },
  noPath: { status: 404, message: 'Not found: the gateway is at /mcp, for older clients at /sse.' },
  noMethod: { status: 405, message: 'Method not allowed: see the Allow header.' },
  sessionEnded: {
    status: 404,
    message: 'Not found: the session has ended. Start a new one with initialize.',
  },
  badProof: {
    status: 403,
    message:
      'Forbidden: the Switchboard-Replica header is not valid. Replicas need the same store, group and token, and clocks ' +
      'that differ by less than 30 seconds. Clients must not send it.',
  },
  replicaLost: {
    status: 502,
    code: RpcCode.internalError,
    message:
      'The gateway that handled this request was lost, and nobody knows whether it was carried out. ' +
      'Start a new session with initialize, and send the request again if it is safe to run twice.',
  },
  replicaUnreachable: {
    status: 503,
    message:
      'Service unavailable: the request belongs to another gateway, which does not take connections. Try again later.',
    headers: { 'Retry-After': '1' },
  },
  storeAway: {
    status: 503,
    message:
      'Service unavailable: the request belongs to another gateway, which cannot be found because the store is away. ' +
      'Try again later.',
    headers: { 'Retry-After': '1' },
  },
  tooManyPassed: {
    status: 503,
    message: 'Service unavailable: too many requests are passed on to other gateways. Try again later.',
    headers: { 'Retry-After': '1' },
  },
  stateGone: {
    status: 200,
    code: RpcCode.invalidParams,
    message: UNKNOWN_STATE,
  },
  failed: {
    status: 500,
    code: RpcCode.internalError,
    message: 'Internal error: see the log of the gateway.',
  },
} as const satisfies Record<string, ErrorReply>;

export interface GuardRefusal {
  readonly status: 400 | 401 | 403 | 431;
  /** Which check failed and how to pass it; never the value that failed. */
  readonly message: string;
  /** The same in a few words, for the log. */
  readonly why: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Far more than any client sends. Libraries and proxies ignore headers above limits of their own. */
export const MAX_HEADERS = 500;

const WHERE_IT_IS =
  'The token is http.token in the configuration, or the one that the gateway prints when started with --show-token, ' +
  'or one made with `switchboard token create`.';

/** The errors for requests that the guard refuses. */
export const GUARD_REFUSALS = {
  tooManyHeaders: {
    status: 431,
    message: `Too many headers: a request has at most ${MAX_HEADERS}.`,
    why: 'too many headers',
  },
  badTarget: {
    status: 400,
    message: 'Bad request: the request target must be a path, such as /mcp.',
    why: 'its target is not a path',
  },
  doubled: {
    status: 403,
    message: 'Forbidden: duplicate Host, Origin or Authorization header.',
    why: 'duplicate header',
  },
  badHost: {
    status: 403,
    message:
      'Forbidden: the Host header is missing or does not name this computer. ' +
      'To allow another name, add it to http.allowedHosts.',
    why: 'not our Host',
  },
  badOrigin: {
    status: 403,
    message:
      'Forbidden: the Origin header is not allowed. ' +
      'To allow a client that sends one, add it to http.allowedOrigins. ' +
      'Web pages cannot connect: they need CORS, which this gateway does not support.',
    why: 'not our Origin',
  },
  noToken: {
    status: 401,
    message: `Unauthorized: the request has no token. Send "Authorization: Bearer <token>". ${WHERE_IT_IS}`,
    why: 'no token',
  },
  noBearer: {
    status: 401,
    message:
      'Unauthorized: the Authorization header does not begin with "Bearer ". ' +
      `Send "Authorization: Bearer <token>". ${WHERE_IT_IS}`,
    why: 'no Bearer scheme',
  },
  noLogin: {
    status: 401,
    message:
      'Unauthorized: the request has no valid token. Log in with the identity provider that ' +
      'resource_metadata in the WWW-Authenticate header leads to.',
    why: 'no token',
  },
  badToken: {
    status: 401,
    message: `Unauthorized: wrong token. ${WHERE_IT_IS}`,
    why: 'wrong token',
  },
} as const satisfies Record<string, GuardRefusal>;
