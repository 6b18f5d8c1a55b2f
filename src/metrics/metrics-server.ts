import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, SwitchboardError } from '../shared/errors.ts';

export interface MetricsServerOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly text: () => string;
}

export interface MetricsServer {
  readonly url: string;
  close(): void;
}

/** More than any number of scrapers; further connections are refused. */
const MOST_CONNECTIONS = 64;

/**
 * Answers GET /metrics at a separate address: scrapers have no client token, and clients must not see the figures of
 * all others.
 */
export function openMetricsServer({ host, port, text }: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    response.on('error', () => undefined);
    const { method, url = '', headers } = request;
    if (isLoopback(host) && !isLoopback(nameIn(headers.host))) {
      // A web page whose host name was made to resolve to this machine (DNS rebinding).
      response.writeHead(403).end();
    } else if (url.split('?', 1)[0] !== '/metrics') response.writeHead(404).end('See /metrics.\n');
    else if (method !== 'GET' && method !== 'HEAD') response.writeHead(405, { Allow: 'GET, HEAD' }).end();
    else {
      response.writeHead(200, {
        'Content-Type': 'text/plain; version=0.0.4; charset=utf-8',
        'Cache-Control': 'no-store',
      });
      response.end(method === 'HEAD' ? undefined : text());
    }
  });
  server.maxConnections = MOST_CONNECTIONS;
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(
        new SwitchboardError(
          'ADDRESS_UNUSABLE',
          `Cannot serve metrics on ${host}:${port}: ${messageOf(cause)}.`,
          {
            hint: 'Change metrics.host or metrics.port in the configuration; port 0 picks a free one.',
            cause,
          },
        ),
      ),
    );
    server.listen(port, host, () => {
      server.removeAllListeners('error').on('error', () => undefined);
      // The program ends once its clients are served, even during a scrape.
      server.unref();
      const { port: bound } = server.address() as AddressInfo;
      resolve({
        url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`,
        close: () => {
          server.close();
          server.closeAllConnections();
        },
      });
    });
  });
}

/** The host of a Host header without its port. */
function nameIn(host = ''): string {
  return host
    .replace(/:\d+$/, '')
    .replace(/^\[(.*)\]$/, '$1')
    .toLowerCase();
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}
