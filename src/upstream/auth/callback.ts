import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { escapeHtml } from '../../shared/escape-html.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { withTimeout } from '../../shared/with-timeout.ts';

/** The page on this machine to which the browser returns after a login. It exists only for that login. */
export interface Callback {
  readonly redirectUri: string;
  readonly port: number;
  /** The first answer with our state. Others get an error page and change nothing. */
  readonly answer: Promise<CallbackAnswer>;
  /** Closes it. A page that is being loaded is still delivered. */
  close(): Promise<void>;
}

export interface CallbackAnswer {
  readonly params: URLSearchParams;
  /** Shows the person in the browser how the login ended. */
  show(outcome: LoginOutcome): void;
}

interface LoginOutcome {
  readonly ok: boolean;
  readonly text: string;
}

export interface CallbackOptions {
  /** The port that must be used. Default: any port. */
  readonly port?: number | undefined;
  /** The port to use if it is free. Default: none. */
  readonly preferred?: number | undefined;
  /** Distinguishes the response to our request from any other. */
  readonly state: string;
}

export async function openCallback({ port, preferred, state }: CallbackOptions): Promise<Callback> {
  const server = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 });
  server.maxConnections = 32;
  await listen(server, port === undefined ? [preferred ?? 0, 0] : [port]);
  const { port: actual } = server.address() as AddressInfo;
  let shown: Promise<unknown> = Promise.resolve();
  let taken = false;
  const answer = new Promise<CallbackAnswer>((resolve) => {
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      const asked = readRequest(request, actual);
      if (asked === undefined) {
        send(response, 404, { ok: false, text: 'Not found.' });
        return;
      }
      if (taken || !isSame(asked.get('state') ?? '', state)) {
        const text = 'This page does not belong to the current login. Start the login again in the terminal.';
        send(response, 400, { ok: false, text });
        return;
      }
      taken = true;
      shown = new Promise((resume) => response.once('close', resume));
      resolve({ params: asked, show: (outcome) => send(response, outcome.ok ? 200 : 400, outcome) });
    });
  });
  return {
    redirectUri: `http://${HOST}:${actual}/callback`,
    port: actual,
    answer,
    async close() {
      const closed = new Promise((resume) => server.close(resume));
      await withTimeout(shown, LINGER, () => undefined, { ref: false });
      server.closeAllConnections();
      await closed;
    },
  };
}

const HOST = '127.0.0.1';
/** How long a browser may take to fetch its last page, in milliseconds. */
const LINGER = 2000;

/** Listens on the first port that is free; 0 means any port. */
async function listen(server: Server, [port = 0, ...others]: readonly number[]): Promise<void> {
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
  } catch (error) {
    if (others.length > 0) return listen(server, others);
    const why = nodeErrorCode(error) ?? messageOf(error);
    throw new SwitchboardError('AUTH_PORT', `Cannot listen on ${HOST}:${port} for the login: ${why}.`, {
      hint: port === 0 ? undefined : 'Stop the program that uses that port, or set another "callbackPort".',
    });
  }
}

/** What the browser brings back; undefined for any other request, under any host name. */
function readRequest(
  { method, url = '', headers }: IncomingMessage,
  port: number,
): URLSearchParams | undefined {
  if (method !== 'GET' || ![`${HOST}:${port}`, `localhost:${port}`].includes(headers.host ?? ''))
    return undefined;
  const base = `http://${HOST}`;
  if (!URL.canParse(url, base)) return undefined;
  const { pathname, searchParams } = new URL(url, base);
  return pathname === '/callback' ? searchParams : undefined;
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function send(response: ServerResponse, status: number, outcome: LoginOutcome): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    connection: 'close',
  });
  response.end(page(outcome));
}

/** The page shown in the browser at the end of a login. It has no scripts, and the message is escaped. */
function page({ ok, text }: LoginOutcome): string {
  const title = ok ? 'Logged in' : 'Not logged in';
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title} – Switchboard</title>
<style>
  body { font: 1.1rem/1.5 system-ui, sans-serif; max-width: 32rem; margin: 20vh auto; padding: 0 1rem }
  h1 { font-size: 1.5rem; color: ${ok ? '#17692b' : '#a11b1b'} }
</style>
<h1>${title}</h1>
<p>${escapeHtml(text)}</p>
<p>You can close this page.</p>
</html>
`;
}
