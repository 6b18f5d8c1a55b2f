import { connectHost } from '../../records/config/loopback.ts';
import type { YardContext } from '../../records/project/context.ts';
import { proxyPortTaken } from '../../runtime/ports/port-taken.ts';
import { isProxyAlive } from './is-alive.ts';

export interface ProxyStatus {
  /** `taken`: another process listens on its port. Named addresses work only while it is `running`. */
  readonly status: 'running' | 'not-running' | 'not-answering' | 'taken';
  readonly host: string;
  readonly port: number;
  /** What is wrong, as a sentence, with the next step. Missing if it runs. */
  readonly note?: string;
}

/** Response timeout, in milliseconds. */
const TIMEOUT_MS = 1000;

/** Checks whether the proxy of this project responds. */
export async function observeProxy(context: YardContext): Promise<ProxyStatus> {
  const { home, config } = context;
  const host = connectHost(config.proxy.host);
  const { port } = config.proxy;
  const { checkProxyHealth } = await import('./health.ts');
  const endpoint = { host, port };
  switch (await checkProxyHealth(host, port, home, TIMEOUT_MS)) {
    case 'ours':
      return { status: 'running', ...endpoint };
    case 'nobody':
      return {
        status: 'not-running',
        ...endpoint,
        note: 'The proxy is not running, so named addresses do not work. `switchyard up` starts it.',
      };
    case 'another home':
      return { status: 'taken', ...endpoint, note: taken(port, 'another home') };
    case 'stranger':
      if (!isProxyAlive(context)) return { status: 'taken', ...endpoint, note: taken(port, 'stranger') };
      return {
        status: 'not-answering',
        ...endpoint,
        note: 'The proxy runs but does not respond. `switchyard up` replaces it.',
      };
  }
}

function taken(port: number, by: 'another home' | 'stranger'): string {
  const { message, hint } = proxyPortTaken(port, by);
  return `${message} Named addresses do not work. ${hint}`;
}
