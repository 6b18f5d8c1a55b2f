import { followMessages, type HttpBody } from './http-messages.ts';

/**
 * What a connection is doing:
 * - `idle`: no request yet, or all requests have their response.
 * - `busy`: a response is pending or incomplete.
 * - `stream`: a WebSocket or an event stream. It never ends on its own, and its client reconnects when it is closed.
 */
export type ActivityState = 'idle' | 'busy' | 'stream';

/** Observes the bytes of a connection, without delaying or changing them. */
export interface ConnectionActivity {
  /** From the client. */
  readonly onRequestData: (chunk: Buffer) => void;
  /** From the service. */
  readonly onResponseData: (chunk: Buffer) => void;
  state(): ActivityState;
}

/** How long a service must be silent until its response counts as complete, in milliseconds, for unknown protocols. */
const SILENCE = 500;

/** For protocols other than HTTP/1 the state depends on which side sent last, and how long ago. */
export function trackActivity(now: () => number = () => performance.now()): ConnectionActivity {
  let kind: 'http' | 'websocket' | 'unknown' = 'http';
  /** The methods of the requests whose responses are not complete. */
  const waiting: string[] = [];
  let interim = false;
  let events = false;
  let last: { from: 'client' | 'service'; at: number } | undefined;

  const requests = followMessages(
    (lines) => {
      const [, method] = /^(\S+) \S.* HTTP\/1\.[01]$/.exec(lines[0] ?? '') ?? [];
      if (method === undefined) throw new Error('not a request');
      waiting.push(method);
      const body = bodyOf(lines) ?? 0;
      if (body === 'rest') throw new Error('a request without an end');
      return body;
    },
    () => undefined,
  );

  const answers = followMessages(
    (lines) => {
      const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(lines[0] ?? '')?.[1]);
      const [method] = waiting;
      if (Number.isNaN(status) || method === undefined) throw new Error('not an answer');
      if (status === 101) {
        kind = header(lines, 'upgrade')?.toLowerCase() === 'websocket' ? 'websocket' : 'unknown';
        return 'rest';
      }
      if (method === 'CONNECT' && status < 300) throw new Error('a tunnel');
      interim = status < 200;
      // The request of EventSource. Other responses that arrive as events have an end.
      events = method === 'GET' && header(lines, 'content-type')?.startsWith('text/event-stream') === true;
      if (interim || method === 'HEAD' || status === 204 || status === 304) return 0;
      return bodyOf(lines) ?? 'rest';
    },
    () => {
      if (!interim) waiting.shift();
      events = false;
    },
  );

  function follow(from: 'client' | 'service', chunk: Buffer): void {
    last = { from, at: now() };
    if (kind !== 'http') return;
    try {
      // A service that sends first does not speak HTTP.
      if (from === 'service' && waiting.length === 0) throw new Error('no request');
      (from === 'client' ? requests : answers).read(chunk);
    } catch {
      kind = 'unknown';
    }
  }

  return {
    onRequestData: (chunk) => follow('client', chunk),
    onResponseData: (chunk) => follow('service', chunk),
    state() {
      if (kind === 'websocket' || (kind === 'http' && events)) return 'stream';
      if (kind === 'http') return waiting.length > 0 || requests.inHead || answers.inHead ? 'busy' : 'idle';
      return last?.from === 'client' || now() - (last?.at ?? -Infinity) < SILENCE ? 'busy' : 'idle';
    },
  };
}

/** How the body is framed; undefined if the head does not say. */
function bodyOf(lines: readonly string[]): HttpBody | undefined {
  const coding = header(lines, 'transfer-encoding');
  if (coding !== undefined) return /(?:^|,)\s*chunked$/i.test(coding) ? 'chunked' : 'rest';
  const length = header(lines, 'content-length');
  if (length === undefined) return undefined;
  if (!/^\d{1,15}$/.test(length)) throw new Error('not a length');
  return Number(length);
}

/** The last header of that name. */
function header(lines: readonly string[], name: string): string | undefined {
  const found = lines.findLast(
    (line, at) =>
      at > 0 && line.charCodeAt(name.length) === COLON && line.slice(0, name.length).toLowerCase() === name,
  );
  return found?.slice(name.length + 1).trim();
}

const COLON = 58;
