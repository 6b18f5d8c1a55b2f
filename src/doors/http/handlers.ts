import type { IncomingMessage, ServerResponse } from 'node:http';
import { isObject } from '../../shared/is-object.ts';
import {
  BATCHING_VERSION,
  Client,
  isLegacyVersion,
  isModernVersion,
  Meta,
  traceHeaders,
  type JsonObject,
} from '../../protocol/index.ts';
import { idKey, RpcCode, type Message } from '../../wire/index.ts';
import type { Caller } from './caller.ts';
import { isBatch, type PostedMessage, type PostReader } from './body.ts';
import { readGatewayPath, type LoopGuardOptions } from './guard.ts';
import { accepts, EVENTS_TYPE, JSON_TYPE } from './media.ts';
import { SuspendedRequests } from '../modern/suspended-requests.ts';
import type { ModernPosts } from './modern-posts.ts';
import type { PassedRequests } from './pass-on.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { replyEmpty, replyError, replyErrorUnread, type ErrorReply } from './reply.ts';
import type { HttpSession, HttpSessionHost } from './session.ts';
import type { HttpSessions } from './sessions.ts';
import { SseSession } from './sse-session.ts';
import { StreamableSession } from './streamable-session.ts';

type RouteName = 'send' | 'listen' | 'leave' | 'openEvents' | 'sendMessage' | 'status';

/** Every path with its methods. Anything else is answered with "not found". */
export const ROUTES: ReadonlyMap<string, ReadonlyMap<string, RouteName>> = new Map([
  ['/mcp', methods({ POST: 'send', GET: 'listen', DELETE: 'leave' })],
  ['/sse', methods({ GET: 'openEvents' })],
  ['/message', methods({ POST: 'sendMessage' })],
  ['/status', methods({ GET: 'status' })],
]);

function methods(routes: Readonly<Record<string, RouteName>>): ReadonlyMap<string, RouteName> {
  return new Map(Object.entries(routes));
}

export interface HandlersOptions {
  readonly sessions: HttpSessions;
  /** Handles requests of clients without a session. */
  readonly modern: ModernPosts;
  readonly host: HttpSessionHost;
  readonly posts: PostReader;
  /** Whether the door is closing and refuses new requests. */
  readonly draining: () => boolean;
  readonly status: () => JsonObject;
  /** Whether a caller's token has been revoked, possibly while the body of its request was being read. */
  readonly isRevoked: (caller: Caller) => boolean;
  /** Detects that a client is this gateway itself. */
  readonly loopGuard: LoopGuardOptions | undefined;
  /** Passes on requests that belong to other replicas; undefined if there are none. */
  readonly passed: PassedRequests | undefined;
}

type Handler = (request: IncomingMessage, response: ServerResponse, caller: Caller) => void;

/** The handlers of the routes, for requests that have passed the guard. */
export function handlersFor({
  sessions,
  modern,
  host,
  posts,
  draining,
  status,
  isRevoked,
  loopGuard,
  passed,
}: HandlersOptions): Readonly<Record<RouteName, Handler>> {
  /** The gateway path of a new client; undefined if it was refused, after an error was sent. */
  const admit = (response: ServerResponse, caller: Caller, id?: string): readonly string[] | undefined => {
    const gatewayPath = readGatewayPath(response.req, loopGuard);
    if (draining()) replyError(response, { ...HTTP_REFUSALS.stopping, id });
    else if (isRevoked(caller)) replyError(response, { ...HTTP_REFUSALS.revoked, id });
    else if (gatewayPath === 'loop') replyError(response, { ...HTTP_REFUSALS.loop, id });
    else if (!sessions.makeRoom()) replyError(response, { ...HTTP_REFUSALS.noSessionRoom, id });
    else return gatewayPath;
    return undefined;
  };

  /** Refuses what cannot be accepted now. Returns whether it did. */
  const refuses = (posted: PostedMessage, session: HttpSession, response: ServerResponse): boolean => {
    const id = isBatch(posted) ? undefined : requestIdOf(posted);
    if (isBatch(posted) && session.version === BATCHING_VERSION)
      return posted.some((each) => refuses(each, session, response));
    if (isBatch(posted)) replyError(response, HTTP_REFUSALS.noBatch);
    // Only requests are refused: running ones may still need responses and cancellations. With replicas, the client
    // starts a session on another one.
    else if (draining() && id !== undefined)
      replyError(response, { ...(passed ? HTTP_REFUSALS.noSession : HTTP_REFUSALS.stopping), id });
    else if (session.full) replyError(response, { ...HTTP_REFUSALS.tooBusy, id });
    else return false;
    return true;
  };

  /**
   * Refuses a request whose id is still in use by a running one: their answers could not be told apart. Returns whether
   * it did.
   */
  const refusesId = (
    posted: PostedMessage,
    session: StreamableSession,
    response: ServerResponse,
  ): boolean => {
    const ids = idsOf(posted);
    const keys = new Set<string>();
    const isRepeated = (id: string): boolean => keys.size === keys.add(idKey(id)).size;
    const inUse = ids.find((id) => session.isRunning(id) || isRepeated(id));
    if (inUse !== undefined) replyError(response, { ...HTTP_REFUSALS.idInUse, id: inUse });
    return inUse !== undefined;
  };

  /** The session of a request to /mcp; undefined if there is none, after an error was sent. */
  const sessionOf = (
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
    id: string | undefined,
  ): StreamableSession | undefined => {
    const session = id === undefined ? undefined : sessions.find(id, StreamableSession, caller);
    if (session === undefined)
      replyErrorUnread(request, response, id === undefined ? HTTP_REFUSALS.noId : HTTP_REFUSALS.noSession);
    return session;
  };

  /** Passes a request without a body on to the owner of its session. Returns whether another replica owns it. */
  const passesOn = (request: IncomingMessage, response: ServerResponse, caller: Caller): boolean => {
    const owner = passed?.ownerOf(request, sessionIdOf(request));
    if (owner === undefined) return false;
    passed?.pass({ owner, request, response, caller, gone: HTTP_REFUSALS.noSession });
    return true;
  };

  const begin = (message: PostedMessage, response: ServerResponse, caller: Caller): void => {
    if (isBatch(message)) {
      replyError(response, HTTP_REFUSALS.noBatch);
      return;
    }
    const id = requestIdOf(message);
    if (id === undefined || message.string(Client.method) !== 'initialize') {
      replyError(response, { ...HTTP_REFUSALS.noId, id });
      return;
    }
    const gatewayPath = admit(response, caller, id);
    if (gatewayPath === undefined) return;
    const session = new StreamableSession(host, caller, gatewayPath);
    sessions.add(session);
    session.begin(message, response);
    response.on('finish', () => {
      if (session.initialized) sessions.initialized(session, clientNameIn(message));
    });
  };

  /** Handles modern requests, which carry their version and need no session. */
  const takeModern = (
    message: Message,
    request: IncomingMessage,
    response: ServerResponse,
    caller: Caller,
  ): void => {
    const id = requestIdOf(message);
    if (draining()) replyError(response, { ...HTTP_REFUSALS.stopping, code: RpcCode.internalError, id });
    else if (isRevoked(caller))
      replyError(response, { ...HTTP_REFUSALS.revoked, code: RpcCode.internalError, id });
    else if (readGatewayPath(request, loopGuard) === 'loop')
      replyError(response, { ...HTTP_REFUSALS.loop, id });
    else modern.take(message, request, response, caller);
  };

  return {
    send(request, response, caller) {
      if (!accepts(request.headers.accept, JSON_TYPE, EVENTS_TYPE)) {
        replyErrorUnread(request, response, HTTP_REFUSALS.notBoth);
        return;
      }
      const claimsModern = namesModernVersion(request);
      const id = claimsModern ? undefined : sessionIdOf(request);
      const owner = passed?.ownerOf(request, id);
      if (id !== undefined && owner === undefined && sessionOf(request, response, caller, id) === undefined)
        return;
      posts.read(request, response, claimsModern, (posted, body) => {
        noteTrace(request, posted);
        // The session may have ended while the body was being read.
        const session = id === undefined ? undefined : sessions.find(id, StreamableSession, caller);
        const pass = (to: string, gone: ErrorReply): void =>
          passed?.pass({ owner: to, request, response, caller, body, ids: idsOf(posted), gone });
        if (!isBatch(posted) && (claimsModern || carriesVersion(posted))) {
          const ownerOfState = passed?.ownerOf(request, SuspendedRequests.idIn(posted));
          if (ownerOfState === undefined) takeModern(posted, request, response, caller);
          else pass(ownerOfState, HTTP_REFUSALS.stateGone);
        } else if (owner !== undefined) pass(owner, HTTP_REFUSALS.noSession);
        else if (id !== undefined && session === undefined) replyError(response, HTTP_REFUSALS.noSession);
        else if (session === undefined) begin(posted, response, caller);
        else if (!refuses(posted, session, response) && !refusesId(posted, session, response))
          session.receive(posted, response);
      });
    },

    listen(request, response, caller) {
      if (!accepts(request.headers.accept, EVENTS_TYPE)) {
        replyErrorUnread(request, response, HTTP_REFUSALS.notEvents);
        return;
      }
      if (refuseVersion(request, response)) return;
      if (passesOn(request, response, caller)) return;
      const last = request.headers['last-event-id'];
      sessionOf(request, response, caller, sessionIdOf(request))?.listen(
        response,
        typeof last === 'string' ? last : undefined,
      );
    },

    leave(request, response, caller) {
      if (refuseVersion(request, response)) return;
      if (passesOn(request, response, caller)) return;
      const session = sessionOf(request, response, caller, sessionIdOf(request));
      if (session === undefined) return;
      // The client does not wait for its servers to end.
      void session.close();
      replyEmpty(response, 204);
    },

    openEvents(request, response, caller) {
      if (!accepts(request.headers.accept, EVENTS_TYPE)) {
        replyErrorUnread(request, response, HTTP_REFUSALS.notEvents);
        return;
      }
      const gatewayPath = admit(response, caller);
      if (gatewayPath === undefined) return;
      const session = new SseSession(host, caller, gatewayPath);
      sessions.add(session);
      session.begin('/message', response);
    },

    sendMessage(request, response, caller) {
      const id = new URLSearchParams(request.url?.split('?')[1]).get('sessionId');
      const owner = id === null ? undefined : passed?.ownerOf(request, id);
      if (id === null || (owner === undefined && sessions.find(id, SseSession, caller) === undefined)) {
        replyErrorUnread(request, response, id === null ? HTTP_REFUSALS.noSseId : HTTP_REFUSALS.noSseSession);
        return;
      }
      posts.read(request, response, false, (posted, body) => {
        noteTrace(request, posted);
        const session = sessions.find(id, SseSession, caller);
        if (owner !== undefined)
          passed?.pass({
            ...{ owner, request, response, caller, body, ids: idsOf(posted) },
            gone: HTTP_REFUSALS.noSseSession,
          });
        else if (session === undefined) replyError(response, HTTP_REFUSALS.noSseSession);
        else if (!refuses(posted, session, response)) {
          replyEmpty(response, 202);
          for (const each of isBatch(posted) ? posted : [posted]) {
            session.take(each);
            if (each.string(Client.method) === 'initialize')
              sessions.initialized(session, clientNameIn(each));
          }
        }
      });
    },

    status(_request, response) {
      const now = draining() ? 'stopping' : 'ok';
      const body = JSON.stringify({ status: now, sessions: sessions.size, ...status() });
      response.writeHead(200, { 'Content-Type': JSON_TYPE, 'Content-Length': Buffer.byteLength(body) });
      response.end(body);
    },
  };
}

/**
 * Records the trace that a request belongs to, for tracing its calls. Ignored for a batch, whose header covers many
 * messages.
 */
function noteTrace({ headers }: IncomingMessage, posted: PostedMessage): void {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string' || isBatch(posted)) return;
  traceHeaders.received.set(posted, {
    traceparent,
    tracestate: typeof tracestate === 'string' ? tracestate : undefined,
  });
}

/** The id of a request, as JSON text; undefined for any other message. */
function requestIdOf(message: Message): string | undefined {
  return message.has(Client.method) ? message.text(Client.id) : undefined;
}

/** The ids of the requests in a body. */
function idsOf(posted: PostedMessage): string[] {
  return (isBatch(posted) ? posted : [posted]).flatMap((each) => requestIdOf(each) ?? []);
}

/** Whether the header of a request names a version without a handshake. */
function namesModernVersion({ headers }: IncomingMessage): boolean {
  const version = headers['mcp-protocol-version'];
  return version !== undefined && !isLegacyVersion(version);
}

/** Whether the body names a version, as modern requests do, whatever the header says. */
function carriesVersion(message: Message): boolean {
  // Reading a rare member costs a second scan of the message.
  return message.mentions(Meta.protocolVersion) && message.has(Client.version);
}

/** The client's name in an initialize request, cut to fit a log line. */
function clientNameIn(initialize: Message): string | undefined {
  const params = initialize.value(Client.params);
  const name = isObject(params) && isObject(params.clientInfo) ? params.clientInfo.name : undefined;
  return typeof name === 'string' ? name.slice(0, LONGEST_NAME) : undefined;
}

const LONGEST_NAME = 60;

function sessionIdOf({ headers }: IncomingMessage): string | undefined {
  const id = headers['mcp-session-id'];
  // Node joins duplicate headers, and no session has such an id.
  return typeof id === 'string' ? id : undefined;
}

/** Refuses an unsupported protocol version. Returns whether it did. */
function refuseVersion(request: IncomingMessage, response: ServerResponse): boolean {
  if (!namesModernVersion(request)) return false;
  const version = request.headers['mcp-protocol-version'];
  replyErrorUnread(
    request,
    response,
    isModernVersion(version) ? HTTP_REFUSALS.noStream : HTTP_REFUSALS.badVersion,
  );
  return true;
}
