import { get, type IncomingMessage } from 'node:http';
import type { Home } from '../state/home.ts';
import { hostOf, type Routes } from './routes.ts';

/** Answered by the proxy itself, whatever the Host. */
export const HEALTH_PATH = '/__switchyard/health';

const NAME = 'switchyard-proxy';

/** What the proxy says of itself. A page from elsewhere gets no paths, should a browser let it read this. */
export function healthOf(request: IncomingMessage, routes: Routes, home: string): string {
  const host = hostOf(request.headers.host);
  const known = host !== undefined && routes.isOwn(host);
  return `${JSON.stringify({ ok: true, name: NAME, ...(known ? { registry_home: home, pid: process.pid } : {}) })}\n`;
}

/**
 * What answers on a port: our proxy, the proxy of another home, somebody else (or nobody in time), or nobody at all.
 */
export type Health = 'ours' | 'another home' | 'stranger' | 'nobody';

/** Long enough for a machine that is busy with starting things, in milliseconds. */
const PATIENCE = 3000;

export function askHealth(host: string, port: number, home: Home): Promise<Health> {
  return new Promise((resolve) => {
    const request = get({ host, port, path: HEALTH_PATH, agent: false, timeout: PATIENCE }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        if ((text += chunk).length > 10_000) request.destroy();
      });
      response.on('end', () => resolve(judge(text, home)));
      response.on('error', () => resolve('stranger'));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', (error: NodeJS.ErrnoException) => {
      resolve(error.code === 'ECONNREFUSED' ? 'nobody' : 'stranger');
    });
  });
}

function judge(text: string, home: Home): Health {
  try {
    const { name, registry_home } = JSON.parse(text) as { name?: unknown; registry_home?: unknown };
    if (name !== NAME) return 'stranger';
    return registry_home === home.root ? 'ours' : 'another home';
  } catch {
    return 'stranger';
  }
}
