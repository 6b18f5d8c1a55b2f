import { get } from 'node:http';
import { REFUSED_BY } from '../forwarder/refuse.ts';
import { failedCall } from '../../../shared/node-error-code.ts';

/** The result of opening a port as a browser would. */
export interface HttpVisit {
  readonly address: string;
  /** Null if the response was not HTTP, which not every service speaks. */
  readonly status: number | null;
  /** Why no connection to the service was possible. */
  readonly error?: string;
}

/** How long the first line of a response may take, in milliseconds. Services with other protocols may stay silent. */
const TIMEOUT_MS = 2000;

/** Opens `http://localhost:PORT/` at each of these addresses, each over its own connection. */
export function browse(port: number, addresses: readonly string[]): Promise<readonly HttpVisit[]> {
  return Promise.all(addresses.map((address) => visit(port, address)));
}

function visit(port: number, address: string): Promise<HttpVisit> {
  return new Promise((resolve) => {
    const headers = { host: `localhost:${port}`, accept: 'text/html,*/*', connection: 'keep-alive' };
    const request = get({ host: address, port, path: '/', headers, agent: false, timeout: TIMEOUT_MS });
    request.on('response', (response) => {
      // The body is not needed.
      response.destroy();
      const error = response.headers.server === REFUSED_BY ? 'connection refused by the service' : undefined;
      resolve({ address, status: response.statusCode ?? null, ...(error === undefined ? {} : { error }) });
    });
    request.on('timeout', () => request.destroy(new Error('no response')));
    request.on('error', (error) => {
      const refused = failedCall(error) === 'connect';
      resolve({ address, status: null, ...(refused ? { error: error.message } : {}) });
    });
  });
}
