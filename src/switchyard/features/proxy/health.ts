import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import type { Home } from '../../records/state/home.ts';
import { hostOf, type Routes } from './routes.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';

/** Handled by the proxy itself, for any Host. */
export const HEALTH_PATH = '/__switchyard/health';

const NAME = 'switchyard-proxy';

/** The health response of the proxy. Pages of other sites get no paths, in case a browser lets them read it. */
export function healthOf(request: IncomingMessage, routes: Routes, home: string): string {
  const host = hostOf(request.headers.host);
  const known = host !== undefined && routes.isOwn(host);
  return `${JSON.stringify({ ok: true, name: NAME, ...(known ? { registry_home: home, pid: process.pid } : {}) })}\n`;
}

/**
 * What responds on a port: our proxy, the proxy of another home, another process (also if nothing responds in time), or
 * nothing.
 */
export type ProxyHealth = 'ours' | 'another home' | 'stranger' | 'nobody';

/** Long enough for a machine that is busy starting services, in milliseconds. */
const TIMEOUT_MS = 3000;

/** Does not use Node's HTTP client: loading it takes as long as the check, and every `up` waits for this first. */
export function checkProxyHealth(
  host: string,
  port: number,
  home: Home,
  timeoutMs = TIMEOUT_MS,
): Promise<ProxyHealth> {
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.once('connect', () =>
      socket.write(
        `GET ${HEALTH_PATH} HTTP/1.1\r\nHost: ${host.includes(':') ? `[${host}]` : host}:${port}\r\nConnection: close\r\n\r\n`,
      ),
    );
    socket.on('data', (chunk: string) => {
      if ((text += chunk).length > 10_000) socket.destroy();
    });
    socket.once('error', (error) => {
      if (nodeErrorCode(error) === 'ECONNREFUSED') resolve('nobody');
    });
    socket.once('close', () => resolve(classify(bodyOf(text), home)));
  });
}

/** The JSON object after the headers, however the body is framed. Without one it is not our proxy. */
function bodyOf(answer: string): string {
  const headers = answer.indexOf('\r\n\r\n');
  const start = headers < 0 ? -1 : answer.indexOf('{', headers);
  return start < 0 ? '' : answer.slice(start, answer.lastIndexOf('}') + 1);
}

function classify(text: string, home: Home): ProxyHealth {
  try {
    const { name, registry_home } = JSON.parse(text) as { name?: unknown; registry_home?: unknown };
    if (name !== NAME) return 'stranger';
    return registry_home === home.root ? 'ours' : 'another home';
  } catch {
    return 'stranger';
  }
}
