import { get } from 'node:http';
import { urlOf } from '../names.ts';

export interface ServiceHealthResult {
  readonly healthy: boolean;
  /** What was asked and what came back, for people. */
  readonly text: string;
}

export interface ServiceHealthCheck {
  /** The `health` of the service: a path is asked on its own port, a URL as it is. */
  readonly health: string;
  readonly host: string;
  readonly port: number;
  /** How long it may take to answer, in milliseconds. */
  readonly timeout: number;
}

/** Asks a service how it is. A status below 400 is healthy. */
export function checkServiceHealth({
  health,
  host,
  port,
  timeout,
}: ServiceHealthCheck): Promise<ServiceHealthResult> {
  const url = health.startsWith('/') ? `${urlOf(host, port)}${health}` : health;
  return new Promise((resolve) => {
    const finish = (healthy: boolean, outcome: string): void => {
      clearTimeout(timer);
      resolve({ healthy, text: `GET ${health} ${outcome}` });
    };
    // A connection of its own: one that is kept open would hold up the service when it is asked to end.
    const request = get(url, { agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      // Nobody wants the body, however long it is.
      response.destroy();
      finish(status >= 200 && status < 400, `returned ${status}`);
    });
    request.once('error', (error) => finish(false, `failed: ${error.message}`));
    const timer = setTimeout(() => request.destroy(new Error(`timed out after ${timeout} ms`)), timeout);
  });
}
