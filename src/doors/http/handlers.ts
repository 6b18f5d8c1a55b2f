import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  BATCHING_VERSION,
  Client,
  isJsonObject,
  isLegacyVersion,
  isModernVersion,
  type JsonObject,
} from '../../protocol/index.ts';
import { faultError, RpcCode, type Message } from '../../wire/index.ts';
import type { PostedMessage, PostReader } from './body.ts';
import { accepts, EVENTS_TYPE, JSON_TYPE } from './media.ts';
import { ModernPosts } from './modern-posts.ts';
import { replyEmpty, replyError, replyErrorUnread } from './reply.ts';
import type { RouteName } from './routes.ts';
import type { HttpSession, HttpSessionHost } from './session.ts';
import type { HttpSessions } from './sessions.ts';
import { SseSession } from './sse-session.ts';
import { StreamableSession } from './streamable-session.ts';
import { readGatewayPath, type LoopGuardOptions } from './loop-guard.ts';

export interface HandlersOptions {
  readonly sessions: HttpSessions;
  /** Handles requests of clients without a session. */
  readonly modern: ModernPosts;
  readonly host: HttpSessionHost;
  readonly posts: PostReader;
  /** Whether the door is closing and refuses new requests. */
  readonly draining: () => boolean;
  readonly health: () => JsonObject;
  /** Detects clients that are this gateway itself. */
  readonly loopGuard: LoopGuardOptions | undefined;
}

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** The handlers of the routes, for requests that have passed the guard. */
export function handlersFor({
  sessions,
  modern,
  host,
  posts,
  draining,
  health,
  loopGuard,
}: HandlersOptions): Readonly<Record<RouteName, Handler>> {
  /** The gateway path of a new client; undefined if it was refused, with the error sent. */
  const admit = (response: ServerResponse, id?: string): readonly string[] | undefined => {
    const gatewayPath = readGatewayPath(response.req, loopGuard);
    if (draining()) replyError(response, { ...STOPPING, id });
    else if (gatewayPath === 'loop') replyError(response, { ...LOOP, id });
    else if (!sessions.makeRoom()) replyError(response, { ...NO_ROOM, id });
    else return gatewayPath;
    return undefined;
  };

  /** Refuses a message that cannot be taken now. Returns whether it did. */
  const refuseMessage = (message: Message, session: HttpSession, response: ServerResponse): boolean => {
    const id = isRequest(message) ? message.text(Client.id) : undefined;
    // Running requests may still need responses and cancellations.
    if (draining() && id !== undefined) replyError(response, { ...STOPPING, id });
    else if (session.full) replyError(response, { ...TOO_BUSY, id });
    else return false;
    return true;
  };

  /** Whether a batch can be taken now; if not, the error has been sent. */
  const takesBatch = (batch: readonly Message[], session: HttpSession, response: ServerResponse): boolean => {
    if (session.version === BATCHING_VERSION)
      return !batch.some((each) => refuseMessage(each, session, response));
    replyError(response, NO_BATCH);
    return false;
  };

  /** The session a request to /mcp belongs to; undefined if there is none, with the error sent. */
  const sessionOf = (
    request: IncomingMessage,
    response: ServerResponse,
    id: string | undefined,
  ): StreamableSession | undefined => {
    const session = id === undefined ? undefined : sessions.find(id, StreamableSession);
    if (session === undefined) replyErrorUnread(request, response, id === undefined ? NO_ID : NO_SESSION);
    return session;
  };

  const begin = (message: Message, response: ServerResponse): void => {
    const id = isRequest(message) ? message.text(Client.id) : undefined;
    if (id === undefined || message.string(Client.method) !== 'initialize') {
      replyError(response, { ...NO_ID, id });
      return;
    }
    const gatewayPath = admit(response, id);
    if (gatewayPath === undefined) return;
    const session = new StreamableSession(host, gatewayPath);
    sessions.add(session);
    session.begin(message, response);
    response.on('finish', () => {
      if (session.initialized) sessions.initialized(session, clientNameIn(message));
    });
  };

  /** Modern requests carry their version and need no session. */
  const takeModern = (message: Message, request: IncomingMessage, response: ServerResponse): void => {
    const id = isRequest(message) ? message.text(Client.id) : undefined;
    if (draining()) replyError(response, { ...STOPPING, code: RpcCode.internalError, id });
    else if (readGatewayPath(request, loopGuard) === 'loop') replyError(response, { ...LOOP, id });
    else modern.take(message, request, response);
  };

  return {
    send(request, response) {
      if (!accepts(request.headers.accept, JSON_TYPE, EVENTS_TYPE)) {
        replyErrorUnread(request, response, NOT_BOTH);
        return;
      }
      const claimsModern = ModernPosts.claims(request);
      const id = claimsModern ? undefined : sessionIdOf(request);
      if (id !== undefined && sessionOf(request, response, id) === undefined) return;
      posts.read(request, response, claimsModern, (posted) => {
        // The session may have ended while the body was read.
        const session = id === undefined ? undefined : sessions.find(id, StreamableSession);
        if (isBatch(posted)) {
          if (session === undefined) replyError(response, id === undefined ? NO_BATCH : NO_SESSION);
          else if (takesBatch(posted, session, response)) session.receiveBatch(posted, response);
        } else if (claimsModern || ModernPosts.carries(posted)) takeModern(posted, request, response);
        else if (id === undefined) begin(posted, response);
        else if (session === undefined) replyError(response, NO_SESSION);
        else if (!refuseMessage(posted, session, response)) session.receive(posted, response);
      });
    },

    listen(request, response) {
      if (!accepts(request.headers.accept, EVENTS_TYPE)) {
        replyErrorUnread(request, response, NOT_EVENTS);
        return;
      }
      if (refuseVersion(request, response)) return;
      const last = request.headers['last-event-id'];
      sessionOf(request, response, sessionIdOf(request))?.listen(
        response,
        typeof last === 'string' ? last : undefined,
      );
    },

    leave(request, response) {
      if (refuseVersion(request, response)) return;
      const session = sessionOf(request, response, sessionIdOf(request));
      if (session === undefined) return;
      // The client does not wait for its servers to end.
      void session.close();
      replyEmpty(response, 204);
    },

    'open-events'(request, response) {
      if (!accepts(request.headers.accept, EVENTS_TYPE)) {
        replyErrorUnread(request, response, NOT_EVENTS);
        return;
      }
      const gatewayPath = admit(response);
      if (gatewayPath === undefined) return;
      const session = new SseSession(host, gatewayPath);
      sessions.add(session);
      session.begin('/message', response);
    },

    'send-message'(request, response) {
      const id = new URLSearchParams(request.url?.split('?')[1]).get('sessionId');
      if (id === null || sessions.find(id, SseSession) === undefined) {
        replyErrorUnread(request, response, id === null ? NO_SSE_ID : NO_SSE_SESSION);
        return;
      }
      posts.read(request, response, false, (posted) => {
        const session = sessions.find(id, SseSession);
        if (session === undefined) replyError(response, NO_SSE_SESSION);
        else if (isBatch(posted)) {
          if (!takesBatch(posted, session, response)) return;
          replyEmpty(response, 202);
          for (const each of posted) session.take(each);
        } else if (!refuseMessage(posted, session, response)) {
          replyEmpty(response, 202);
          session.take(posted);
          if (posted.string(Client.method) === 'initialize')
            sessions.initialized(session, clientNameIn(posted));
        }
      });
    },

    health(_request, response) {
      const status = draining() ? 'stopping' : 'ok';
      const body = JSON.stringify({ status, sessions: sessions.size, ...health() });
      response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    },
  };
}

const RETRY = { 'Retry-After': '5' };

const STOPPING = {
  status: 503,
  message: 'Service unavailable: the gateway is shutting down.',
  headers: RETRY,
};
const LOOP = {
  status: 508,
  message:
    'Loop detected: this gateway is configured as one of its own servers, perhaps through another gateway. ' +
    'Remove the entry with its address from the configuration.',
};
const NO_ROOM = {
  status: 503,
  message:
    'Service unavailable: the session limit (http.maxSessions) is reached. ' +
    'End one with DELETE, or try again later.',
  headers: RETRY,
};
const TOO_BUSY = {
  status: 503,
  message: 'Service unavailable: too many messages of this session are waiting. Try again later.',
  headers: { 'Retry-After': '1' },
};
const NO_ID = {
  status: 400,
  code: RpcCode.invalidRequest,
  message:
    'Bad request: without an Mcp-Session-Id header only an initialize request is accepted, which starts a session.',
};
const NO_BATCH = { status: 400, ...faultError('batch') };
const NO_SESSION = {
  status: 404,
  message: 'Not found: the session does not exist or has ended. Start a new one with initialize.',
};
const NO_SSE_ID = { status: 400, message: 'Bad request: the URL has no sessionId.' };
const NO_SSE_SESSION = {
  status: 404,
  message: 'Not found: the session does not exist or has ended. Start a new one with GET /sse.',
};
const NOT_BOTH = {
  status: 406,
  message: 'Not acceptable: the Accept header must allow application/json and text/event-stream.',
};
const NOT_EVENTS = {
  status: 406,
  message: 'Not acceptable: the Accept header must allow text/event-stream.',
};
const NO_STREAM = {
  status: 405,
  message: 'Method not allowed: this protocol version only allows POST.',
  headers: { Allow: 'POST' },
};
const BAD_VERSION = {
  status: 400,
  code: RpcCode.invalidRequest,
  message: 'Bad request: the MCP-Protocol-Version header names a version that this gateway does not support.',
};

function isBatch(posted: PostedMessage): posted is readonly Message[] {
  return Array.isArray(posted);
}

function isRequest(message: Message): boolean {
  return message.has(Client.method) && message.has(Client.id);
}

/** The client name in an initialize request, cut to fit a log line. */
function clientNameIn(initialize: Message): string | undefined {
  const params = initialize.value(Client.params);
  const name = isJsonObject(params) && isJsonObject(params.clientInfo) ? params.clientInfo.name : undefined;
  return typeof name === 'string' ? name.slice(0, LONGEST_NAME) : undefined;
}

const LONGEST_NAME = 60;

function sessionIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['mcp-session-id'];
  // Node joins duplicates, and no session has such an id.
  return typeof id === 'string' ? id : undefined;
}

/** Refuses a protocol version that is unsupported here. Returns whether it did. */
function refuseVersion(request: IncomingMessage, response: ServerResponse): boolean {
  const version = request.headers['mcp-protocol-version'];
  if (version === undefined || isLegacyVersion(version)) return false;
  replyErrorUnread(request, response, isModernVersion(version) ? NO_STREAM : BAD_VERSION);
  return true;
}
