import type { LookupAddress } from 'node:dns';
import { request as overHttp, type IncomingMessage } from 'node:http';
import { request as overHttps } from 'node:https';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { VERSION } from '../../shared/version.ts';
import type { AddressGuard } from './addresses.ts';

export type Fetch = (url: string | URL, init?: Init) => Promise<Response>;

interface Init extends RequestInit {
  /** Whether to ignore the body and not wait for it: it may be an endless stream. Default false. */
  readonly headOnly?: boolean;
}

/** The longest response, in bytes, and the longest time for all of it, in milliseconds. */
const MAX_BYTES = 1024 * 1024;
const TIMEOUT_MS = 15_000;

/**
 * Sends requests to the parties of a login, at addresses that the guard admits and checks again for each connection,
 * with limits on size and time. Redirects are returned, not followed.
 */
export function createGuardedFetch(guard: AddressGuard, signal?: AbortSignal, timeoutMs = TIMEOUT_MS): Fetch {
  return async (address, init = {}) => {
    const url = new URL(address);
    const late = AbortSignal.timeout(timeoutMs);
    const ending = signal === undefined ? late : AbortSignal.any([signal, late]);
    try {
      return await Promise.race([ask(url, init, guard, ending), endOf(ending)]);
    } catch (error) {
      if (error instanceof SwitchboardError) throw error;
      if (signal?.aborted === true) throw new UnreachableError(url, new Error('it was cancelled'));
      const why = `no complete response within ${timeoutMs / 1000} s`;
      throw new UnreachableError(url, late.aborted ? new Error(why) : error);
    }
  };
}

/** Also ends operations that cannot be cancelled, such as a name lookup. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = (): void => reject(signal.reason as Error);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
  });
}

/** AUTH_UNREACHABLE: a request of a login got no complete response. Its `cause` is the connection error. */
export class UnreachableError extends SwitchboardError {
  /** The origin of the request's URL. */
  readonly origin: string;
  /** Whether nothing listens at that address. */
  readonly refused: boolean;

  constructor({ origin, pathname }: URL, cause: unknown) {
    // If several addresses were tried, there is an error for each.
    const first = cause instanceof AggregateError ? (cause.errors[0] as unknown) : cause;
    const code = nodeErrorCode(first);
    const refused = code === 'ECONNREFUSED';
    const why = refused ? 'connection refused' : (code ?? messageOf(first));
    // Without the query, which may contain secrets.
    super('AUTH_UNREACHABLE', `Request to ${origin}${pathname} failed: ${why}.`, {
      hint: 'Check the network, and try again.',
      cause,
    });
    this.origin = origin;
    this.refused = refused;
  }
}

async function ask(url: URL, init: Init, guard: AddressGuard, signal: AbortSignal): Promise<Response> {
  await guard.checkDocument(url);
  const { body = null } = init;
  const content = body === null ? undefined : bytesOf(body);
  const headers = new Headers(init.headers);
  headers.set('user-agent', `switchboard/${VERSION}`);
  headers.set('accept-encoding', 'identity');
  if (content !== undefined) headers.set('content-length', String(content.length));
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? overHttps : overHttp;
    const request = send(url, {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(headers),
      agent: false,
      signal,
      lookup: (hostname, options, done) => {
        guard.resolve(hostname).then(
          (found) => {
            if (options.all === true) (done as unknown as LookedUp)(null, found);
            else done(null, found[0]?.address ?? '', found[0]?.family);
          },
          (error: unknown) => done(error as NodeJS.ErrnoException, '', 0),
        );
      },
    });
    request.once('error', reject);
    request.once('response', (answer) => {
      const body = init.headOnly === true ? nothingOf(answer) : collect(answer);
      body.then((bytes) => resolve(asResponse(answer, bytes)), reject);
    });
    request.end(content);
  });
}

type LookedUp = (error: null, addresses: readonly LookupAddress[]) => void;

/** The bodies that a login sends are forms or JSON. */
function bytesOf(body: NonNullable<RequestInit['body']>): Buffer {
  if (typeof body !== 'string' && !(body instanceof URLSearchParams))
    throw new Error('unsupported request body');
  return Buffer.from(String(body));
}

function nothingOf(answer: IncomingMessage): Promise<Buffer> {
  answer.once('error', () => undefined);
  answer.destroy();
  return Promise.resolve(Buffer.alloc(0));
}

async function collect(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`its response is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Statuses of responses without a body. */
const BODILESS = new Set([204, 205, 304]);

function asResponse({ statusCode = 0, headers }: IncomingMessage, bytes: Buffer): Response {
  if (statusCode < 200 || statusCode > 599) throw new Error(`it responded with status ${statusCode}`);
  return new Response(BODILESS.has(statusCode) ? null : new Uint8Array(bytes), {
    status: statusCode,
    headers: Object.entries(headers).map(([name, value]) => [name, String(value)]),
  });
}
