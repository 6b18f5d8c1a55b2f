import { get } from 'node:http';
import { urlOf } from '../../records/names.ts';

export interface ServiceHealthResult {
  readonly healthy: boolean;
  /** The request and its result, as text. */
  readonly text: string;
}

export interface ServiceHealthCheck {
  /** The `health` of the service: a path is requested on its own port, a URL as it is. */
  readonly health: string;
  readonly host: string;
  readonly port: number;
  /** Response timeout, in milliseconds. */
  readonly timeout: number;
}

/** Runs the health check of a service. A status below 400 is healthy. */
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
    // On its own connection: an open keep-alive connection would delay the end of the service.
    const request = get(url, { agent: false }, (response) => {
      const status = response.statusCode ?? 0;
      // The body is not needed.
      response.destroy();
      finish(status >= 200 && status < 400, `returned ${status}`);
    });
    request.once('error', (error) => finish(false, `failed: ${error.message}`));
    const timer = setTimeout(() => request.destroy(new Error(`timed out after ${timeout} ms`)), timeout);
  });
}
