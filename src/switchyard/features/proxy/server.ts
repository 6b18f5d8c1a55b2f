import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { asLoopback } from '../../records/config/loopback.ts';
import type { ServiceRecord } from '../../records/state/records.ts';
import { createBackendAgents } from './backend-agent.ts';
import { closeAfter, pairs } from './headers.ts';
import { HEALTH_PATH, healthOf } from './health.ts';
import { passRequest } from './pass-request.ts';
import { passUpgrade } from './pass-upgrade.ts';
import {
  badRequest,
  failed,
  backendFailed,
  noRoute,
  notLoopback,
  render,
  unknownEncoding,
  type Refusal,
} from './refusal.ts';
import { hostOf, type Routes } from './routes.ts';

export interface ProxyServer {
  /** Not listening yet. */
  readonly http: Server;
  /** Closes all connections. */
  close(): void;
}

/** How long a client may take to begin a request, the first one or the next, in milliseconds. */
const IDLE_TIME = 60_000;

/** The reverse proxy: every service of this home under its name. `home` is returned by the health check. */
export function createProxyServer(routes: Routes, home: string): ProxyServer {
  const agents = createBackendAgents();
  const tunnels = new Set<Socket>();
  // Requests have no time limit, because uploads and streams have no natural end.
  const http = createServer({ requestTimeout: 0, headersTimeout: IDLE_TIME, keepAliveTimeout: IDLE_TIME });

  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    request.on('error', () => undefined);
    const refuse = (refusal: Refusal): void => {
      if (response.headersSent) {
        response.destroy();
        return;
      }
      const { status, headers, body } = render(refusal, request);
      // The status text is set explicitly, because an invalid one of the service may already be set.
      response.writeHead(status, STATUS_CODES[status] ?? '', [...headers, ...closeAfter(request)]).end(body);
      // A client that is still sending reads the response afterwards.
      request.resume();
    };
    orRefuse(refuse, () => {
      if (request.url === HEALTH_PATH) {
        const health = healthOf(request, routes, home);
        response
          .writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' })
          .end(health);
        return;
      }
      const found = routeOf(request, routes);
      if ('status' in found) refuse(found);
      else {
        const onFailure = (error: unknown): void => refuse(backendFailed(found.route, error));
        passRequest({ request, response, ...found, agents, onFailure });
      }
    });
  };
  http.on('request', handle);
  http.on('checkContinue', handle);
  http.on('upgrade', (request: IncomingMessage, client: Socket, head: Buffer) => {
    tunnels.add(client);
    client.on('close', () => tunnels.delete(client));
    client.on('error', () => client.destroy());
    const refuse = (refusal: Refusal): void => refuseRaw(client, refusal, request);
    orRefuse(refuse, () => {
      const found = routeOf(request, routes);
      if ('status' in found) refuse(found);
      else {
        const onFailure = (error: unknown): void => refuse(backendFailed(found.route, error));
        passUpgrade({ request, client, head, ...found, onFailure });
      }
    });
  });

  return {
    http,
    close() {
      http.close();
      http.closeAllConnections();
      for (const tunnel of tunnels) tunnel.destroy();
      agents.kept.destroy();
      agents.fresh.destroy();
    },
  };
}

/** A request that cannot be handled, or records that cannot be read at the moment, must not end the proxy. */
function orRefuse(refuse: (refusal: Refusal) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    refuse(failed(error));
  }
}

interface Found {
  readonly route: ServiceRecord;
  readonly host: string;
  readonly target: string;
}

/** Routes a request by its Host alone, and only to a recorded service. */
function routeOf(request: IncomingMessage, routes: Routes): Found | Refusal {
  const { url = '', rawHeaders, headers } = request;
  // With two Host headers, we might use one and the service the other.
  if (pairs(rawHeaders).filter(([name]) => name.toLowerCase() === 'host').length !== 1) {
    return badRequest('A request must have exactly one Host header.');
  }
  const header = headers.host;
  const host = hostOf(header);
  const target = targetOf(url, host);
  if (target === undefined) return badRequest('The request target must be a path or match the Host header.');
  const encoding = headers['transfer-encoding'];
  if (encoding !== undefined && encoding.trim().toLowerCase() !== 'chunked') return unknownEncoding();
  const route = host === undefined ? undefined : routes.find(host);
  if (route === undefined || header === undefined) return noRoute(header, host, routes);
  if (asLoopback(route.backend_host) === undefined) return notLoopback(route);
  return { route, host: header, target };
}

/** The path, also from an absolute target as sent to proxies; its host must be the same. */
function targetOf(url: string, host: string | undefined): string | undefined {
  if (url.startsWith('/') || url === '*') return url;
  const [, authority, path = ''] = /^http:\/\/([^/?#]*)([^#]*)$/i.exec(url) ?? [];
  if (authority === undefined || host === undefined || hostOf(authority) !== host) return undefined;
  return path.startsWith('/') ? path : `/${path}`;
}

function refuseRaw(client: Socket, refusal: Refusal, request: IncomingMessage): void {
  const { status, headers, body } = render(refusal, request);
  const lines = pairs(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  client.write(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}Connection: close\r\n\r\n`,
  );
  client.end(body);
  // Closing with unread bytes would reset the connection and lose the response.
  client.resume();
}
