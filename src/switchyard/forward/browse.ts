import { get } from 'node:http';
import { REFUSED_BY } from './refuse.ts';

/** What somebody gets who opens a port in a browser. */
export interface HttpVisit {
  readonly address: string;
  /** Null when no HTTP came back: not every service speaks it. */
  readonly status: number | null;
  /** Why there was no connection to a service at all. */
  readonly error?: string;
}

/** How long the first line of an answer may take, in milliseconds. Services of other protocols may stay silent. */
const TIMEOUT_MS = 2000;

/** Opens `http://localhost:PORT/` at each of these addresses, over a connection of its own. */
export function browse(port: number, addresses: readonly string[]): Promise<readonly HttpVisit[]> {
  return Promise.all(addresses.map((address) => visit(port, address)));
}

function visit(port: number, address: string): Promise<HttpVisit> {
  return new Promise((resolve) => {
    const headers = { host: `localhost:${port}`, accept: 'text/html,*/*', connection: 'keep-alive' };
    const request = get({ host: address, port, path: '/', headers, agent: false, timeout: TIMEOUT_MS });
    request.on('response', (response) => {
      // Nobody wants the body, however long it is.
      response.destroy();
      const error = response.headers.server === REFUSED_BY ? 'connection refused by the service' : undefined;
      resolve({ address, status: response.statusCode ?? null, ...(error === undefined ? {} : { error }) });
    });
    request.on('timeout', () => request.destroy(new Error('no response')));
    request.on('error', (error: NodeJS.ErrnoException) => {
      const refused = error.syscall === 'connect';
      resolve({ address, status: null, ...(refused ? { error: error.message } : {}) });
    });
  });
}
