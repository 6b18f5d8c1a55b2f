import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import type { JsonObject } from '../../protocol/index.ts';
import type { MessageTransport } from '../../wire/index.ts';
import { waitAtMost } from '../wait-at-most.ts';
import { PostReader } from './body.ts';
import { Connections } from './connections.ts';
import { EventStore } from './event-log.ts';
import type { Caller, ProtectedResource } from './caller.ts';
import { Guard, type GuardOptions, type LoopGuardOptions, type AccessRefusal } from './guard.ts';
import { handlersFor, ROUTES } from './handlers.ts';
import type { RepeatedParam } from './modern-headers.ts';
import { ModernPosts, type ModernPrincipals } from './modern-posts.ts';
import { PassedRequests, type HttpReplicas } from './pass-on.ts';
import { answerProbe, PROBES } from './probes.ts';
import { RefusalLog } from './refusal-log.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { isDisconnected, LINGER_MS, replyError, replyErrorUnread, replyJson } from './reply.ts';
import type { ClientWorkspace, HttpSession } from './session.ts';
import { HttpSessions } from './sessions.ts';
import { DEFAULT_TIMEOUTS, type HttpTimeouts } from './timeouts.ts';

export interface HttpDoorOptions {
  /** The address to listen on; usually 127.0.0.1. */
  readonly host: string;
  /** The port; 0: any free one. */
  readonly port: number;
  readonly guard: GuardOptions;
  /** Checks the tokens of an identity provider for clients of this address. Default: no identity provider. */
  readonly resource?: ((url: string) => ProtectedResource) | undefined;
  readonly limits: HttpLimits;
  readonly log: Logger;
  /**
   * Connects a client to the core. Called once per session. `gatewayPath` lists the gateways that its messages come
   * through, the nearest last.
   */
  readonly open: (
    transport: MessageTransport,
    gatewayPath: readonly string[],
    caller: Caller,
  ) => ClientWorkspace;
  /** Handles the requests of clients without a session. */
  readonly modern: ModernPrincipals;
  /** The parameters of a tool, by its exposed name, that a modern client repeats in headers. Default none. */
  readonly paramHeaders?: (tool: string, caller: Caller) => readonly RepeatedParam[];
  /** Further members of the /status response. */
  readonly status: () => JsonObject;
  /**
   * Why new clients should connect elsewhere, in one word for /readyz; undefined: they need not. Default: only while it
   * stops.
   */
  readonly notReady?: (() => string | undefined) | undefined;
  /** The last client has left. A client whose initialize failed does not count. */
  readonly emptied?: () => void;
  /** Handles requests of browsers, which have no token, and returns whether it did. Default: there is no page. */
  readonly page?: PageHandler;
  /** Detects that this gateway is its own client. Default: no detection. */
  readonly loopGuard?: LoopGuardOptions;
  /** The other gateways that serve the same clients. Default: there are none. */
  readonly replicas?: HttpReplicas | undefined;
  /** Default: `DEFAULT_TIMEOUTS`. */
  readonly timeouts?: Partial<HttpTimeouts>;
}

/**
 * Handles a request if it is for a page, and returns whether it did. Calls `admit` once the request has proven that it
 * may connect.
 */
export type PageHandler = (request: IncomingMessage, response: ServerResponse, admit: () => void) => boolean;

export interface HttpLimits {
  /** The largest body of a request, in bytes. */
  readonly bodyBytes: number;
  /** The limit for sessions, and also for concurrent requests without a session. */
  readonly sessions: number;
  /** An idle session is closed after this time, in milliseconds. */
  readonly sessionIdleMs: number;
}

export interface HttpDoor {
  /** Where clients connect, such as http://127.0.0.1:3000/mcp. */
  readonly url: string;
  readonly port: number;
  /** The number of sessions. */
  readonly sessions: number;
  /** Refuses new requests. Running ones have this many milliseconds before they fail; their answers are sent. */
  drain(ms: number): Promise<void>;
  /** Ends every session and every connection. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 2048;
/** The limit for those that have not shown a token. */
const MAX_STRANGERS = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
/** Longer than the usual minute of proxies and clients, so that they close idle connections first. */
const KEEP_ALIVE_MS = 65_000;

/** The door for any number of HTTP clients. */
export async function openHttpDoor(options: HttpDoorOptions): Promise<HttpDoor> {
  const { limits, log, open, status, page, notReady, replicas } = options;
  const timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
  const guard = new Guard(options.guard);
  const { tokens } = options.guard;
  const refusals = new RefusalLog(log);
  let draining = false;
  const sessions = new HttpSessions(options, timeouts);
  const modern = new ModernPosts(options, timeouts);
  /** Handles a bug: one request fails, and the door stays open. */
  const failed = (response: ServerResponse, error: unknown): void => {
    log.error('an HTTP request failed', { cause: messageOf(error) });
    if (response.headersSent) response.destroy();
    else replyError(response, HTTP_REFUSALS.failed);
  };
  const posts = new PostReader(limits.bodyBytes, failed);
  const passed = replicas && new PassedRequests(replicas, log);
  const ticking = setInterval(() => posts.giveUpStalled(timeouts), timeouts.tickMs).unref();
  const handlers = handlersFor({
    sessions,
    modern,
    host: {
      open,
      log,
      timeouts,
      events: new EventStore(),
      ...(replicas && { ownedId: (random) => replicas.ownedId(random) }),
      left: (session: HttpSession) => sessions.remove(session),
    },
    posts,
    draining: () => draining,
    status,
    isRevoked: (caller) => guard.isRevoked(caller),
    loopGuard: options.loopGuard,
    passed,
  });

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const path = pathOf(request);
    if (PROBES.has(path)) {
      answerProbe(path, request, response, draining ? 'stopping' : notReady?.());
      return;
    }
    const route = ROUTES.get(path);
    const admit = (): void => connections.admit(request.socket);
    if (route === undefined && page?.(request, response, admit) === true) return;
    const refuse = ({ status, message, why, headers }: AccessRefusal): void => {
      // Any other path is untrusted and may contain a token.
      refusals.add(status, why, route === undefined ? undefined : path);
      replyErrorUnread(request, response, { status, message, ...(headers && { headers }) });
    };
    const fromReplica = passed?.callerOf(request);
    if (fromReplica !== undefined) {
      if ('principal' in fromReplica) serve(request, response, fromReplica);
      else {
        refusals.add(fromReplica.status, 'no valid proof of a replica', undefined);
        replyErrorUnread(request, response, fromReplica);
      }
      return;
    }
    const refusal = guard.refusal(request);
    if (refusal !== undefined) {
      refuse(refusal);
      return;
    }
    const metadata = guard.resource?.metadataAt(path);
    if (metadata !== undefined) {
      replyJson(request, response, metadata);
      return;
    }
    const go = (checked: Caller | AccessRefusal): void => {
      if ('status' in checked) refuse(checked);
      else if (!isDisconnected(response)) serve(request, response, checked);
    };
    const caller = guard.callerOf(request);
    if (!(caller instanceof Promise)) go(caller);
    else caller.then(go).catch((error: unknown) => failed(response, error));
  };

  /** Serves a request that the guard has admitted. */
  const serve = (request: IncomingMessage, response: ServerResponse, caller: Caller): void => {
    connections.admit(request.socket);
    const path = pathOf(request);
    const route = ROUTES.get(path);
    const name = route?.get(request.method ?? '');
    if (name !== undefined) {
      if (request.method === 'GET') endWithAccess(response, caller);
      handlers[name](request, response, caller);
    } else if (route === undefined) {
      refusals.add(404, 'unknown path', path.slice(0, LONGEST_PATH));
      replyErrorUnread(request, response, HTTP_REFUSALS.noPath);
    } else {
      const headers = { Allow: [...route.keys()].join(', ') };
      replyErrorUnread(request, response, { ...HTTP_REFUSALS.noMethod, headers });
    }
  };

  const connections = new Connections({
    connections: MAX_CONNECTIONS,
    strangers: MAX_STRANGERS,
    strangerMs: timeouts.strangerMs,
    tooSlow: (socket) => {
      refusals.add(408, 'no token in time', undefined);
      // A client that has not read its refusal gets no second one.
      if (socket.bytesWritten > 0) socket.destroy();
      else refuse(socket, TIMED_OUT);
    },
    evicted: () => refusals.add(503, 'too many connections without a token', undefined),
  });
  const server = serverFor(timeouts, connections, (request, response) => {
    // A client that disconnects during its answer must not crash the program.
    response.on('error', ignore);
    try {
      handle(request, response);
    } catch (error) {
      failed(response, error);
    }
  });
  /** Waits a moment for all answers to be sent. */
  const flush = (all: readonly HttpSession[]): Promise<boolean> =>
    waitAtMost(timeouts.flushMs, Promise.all([modern, ...all].map((each) => each.flushed())));
  await listen(server, options.host, options.port);
  server.on('error', (error) => log.error('HTTP server error', { cause: error.message }));
  const { port } = server.address() as AddressInfo;
  const url = `http://${hostInUrl(options.host)}:${port}/mcp`;
  guard.resource = options.resource?.(url);
  const unwatch = tokens.watch(() => {
    const isRevoked = (caller: Caller): boolean => guard.isRevoked(caller);
    sessions.endThose(isRevoked);
    options.modern.endThose(isRevoked);
  });

  return {
    url,
    port,
    get sessions() {
      return sessions.size;
    },
    async drain(ms) {
      draining = true;
      const all = sessions.all();
      await waitAtMost(
        ms,
        Promise.all([options.modern.idle(), passed?.idle(), ...all.map(({ client }) => client.idle())]),
      );
      for (const { client } of all) client.failAll();
      options.modern.failAll();
      await flush(all);
    },
    async close() {
      draining = true;
      unwatch();
      clearInterval(ticking);
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      const all = sessions.all();
      options.modern.failAll();
      await sessions.close();
      await flush(all);
      passed?.close();
      server.closeAllConnections();
      modern.close();
      await closed;
    },
  };
}

const ignore = (): void => undefined;

/** The path without the query. */
function pathOf({ url = '' }: IncomingMessage): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** Ends a stream when the caller's access ends; the client opens it again with its next token. */
function endWithAccess(response: ServerResponse, { expiresAt }: Caller): void {
  if (expiresAt === undefined) return;
  const left = Math.min(Math.max(expiresAt - Date.now(), 0), LONGEST_TIMER_MS);
  const timer = setTimeout(() => response.destroy(), left).unref();
  response.on('close', () => clearTimeout(timer));
}

const LONGEST_TIMER_MS = 2_147_483_647;

/** Paths in the log are cut to this many characters. */
const LONGEST_PATH = 80;

function serverFor(
  timeouts: HttpTimeouts,
  connections: Connections,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Server {
  /** The open responses of each connection. */
  const open = new WeakMap<Duplex, Set<ServerResponse>>();
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: timeouts.headersMs,
    requestTimeout: timeouts.bodyMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(timeouts.headersMs, 5000),
    // The guard checks it and answers with a better message.
    requireHostHeader: false,
  });
  // No header is dropped, so the guard misses none. MAX_HEADER_BYTES limits their number.
  server.maxHeadersCount = 0;
  server.on('connection', (socket) => {
    connections.add(socket);
    const responses = new Set<ServerResponse>();
    open.set(socket, responses);
    socket.on('close', () => {
      // Node emits `close` only for the response being sent, not for those pipelined behind it.
      for (const response of responses) if (response.socket === null) response.emit('close');
    });
  });
  const onClose = function (this: ServerResponse): void {
    open.get(this.req.socket)?.delete(this);
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    open.get(request.socket)?.add(response);
    response.on('close', onClose);
    handle(request, response);
  };
  server.on('request', onRequest);
  // Requests with an Expect header must pass the guard first, too.
  server.on('checkContinue', onRequest);
  server.on('checkExpectation', onRequest);
  server.on('clientError', (error, socket) => {
    const answering = [...(open.get(socket) ?? [])].filter(({ writableFinished }) => !writableFinished);
    // During an answer, or before the answer to an earlier request, an error response would look like part of that
    // answer.
    if (answering.length === 0 || answering.every(isOfRequestUnderWay)) refuse(socket, statusOf(error));
    else socket.destroy();
  });
  return server;
}

/** Whether this response, the next on its connection, answers a request that is still being received. */
function isOfRequestUnderWay(response: ServerResponse): boolean {
  return !response.headersSent && !response.req.complete;
}

/** Answers with only a status and closes the connection. */
function refuse(socket: Duplex, status: string): void {
  if (!socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  // This closes only our side: without the timer, a client without a token could keep the connection open.
  const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.on('close', () => clearTimeout(timer));
}

function statusOf(error: Error): string {
  const code = nodeErrorCode(error);
  if (code === 'HPE_HEADER_OVERFLOW') return '431 Request Header Fields Too Large';
  return code === 'ERR_HTTP_REQUEST_TIMEOUT' ? TIMED_OUT : '400 Bad Request';
}

const TIMED_OUT = '408 Request Timeout';

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners('error');
      resolve();
    });
  });
}

function explain(error: Error, host: string, port: number): SwitchboardError {
  const code = nodeErrorCode(error);
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  if (code === 'EADDRINUSE')
    return new SwitchboardError('PORT_TAKEN', `Cannot listen on ${address}: port already in use.`, {
      hint: 'Stop the program that uses it, or choose another port; 0 picks any free one.',
      cause: error,
    });
  const why =
    code === 'EACCES'
      ? 'permission denied'
      : `it is not an address of this computer (${code ?? error.message})`;
  return new SwitchboardError('ADDRESS_UNUSABLE', `Cannot listen on ${address}: ${why}.`, {
    hint:
      code === 'EACCES' ? 'Choose a port of 1024 or above.' : 'Use 127.0.0.1 for clients on this computer.',
    cause: error,
  });
}

/** The host name that local clients use for an address we listen on. */
function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
