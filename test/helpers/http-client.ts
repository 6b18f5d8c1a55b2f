import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { RpcMessage } from './raw-client.ts';
import { until } from './until.ts';

/** Where a client connects. */
export interface Target {
  readonly url: string;
  readonly token: string;
}

/** A response over HTTP, read to its end. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface HttpAsk {
  readonly port: number;
  readonly path: string;
  readonly method?: string;
  /** Sent unchanged; undefined ones are left out. Host defaults to the address. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

/** One request with any headers, including those that `fetch` does not allow. */
export function ask({ port, path, method = 'GET', headers = {}, body }: HttpAsk): Promise<HttpAnswer> {
  const given = Object.fromEntries(
    Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method, headers: given, agent: false, setHost: !('host' in headers) },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        const done = (): void =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
        response.on('data', (chunk: string) => (text += chunk));
        response.on('end', done);
        // An event stream does not end: it is enough that it has begun.
        if (response.headers['content-type'] === 'text/event-stream') {
          response.once('data', () => {
            done();
            request.destroy();
          });
        }
        response.on('error', done);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** One event of a stream. */
export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** A stream of events that is being read. */
export class EventReader {
  readonly events: StreamEvent[] = [];
  ended = false;
  readonly #response: Response;
  readonly #cut: AbortController;

  constructor(response: Response, cut: AbortController) {
    this.#response = response;
    this.#cut = cut;
    void this.#read();
  }

  get status(): number {
    return this.#response.status;
  }

  /** The messages received; the first event of the older transport is not one. */
  get messages(): RpcMessage[] {
    return this.events
      .filter(({ event, data }) => data !== '' && event !== 'endpoint')
      .map(({ data }) => JSON.parse(data) as RpcMessage);
  }

  /** Breaks the connection. */
  cut(): void {
    this.#cut.abort();
  }

  waitFor(wanted: (message: RpcMessage) => boolean, what = 'a message'): Promise<RpcMessage> {
    return until(() => this.messages.find(wanted), {
      what,
      deadline: 20_000,
      seen: () => this.events.map(({ data }) => data.slice(0, 200)).join('\n'),
    });
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = '';
    try {
      for await (const chunk of this.#response.body!) {
        rest += decoder.decode(chunk as Uint8Array, { stream: true });
        const blocks = rest.split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) {
          const event = readEvent(block);
          if (event !== undefined) this.events.push(event);
        }
      }
    } catch {
      // Cut off, by us or by the other side.
    }
    this.ended = true;
  }
}

function readEvent(block: string): StreamEvent | undefined {
  const fields = block.split('\n').filter((line) => !line.startsWith(':'));
  if (fields.length === 0) return undefined;
  const valuesOf = (name: string): string[] =>
    fields
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''));
  return { id: valuesOf('id')[0], event: valuesOf('event')[0], data: valuesOf('data').join('\n') };
}

const BOTH = 'application/json, text/event-stream';

/** A minimal client of Streamable HTTP that exposes the bytes it receives. */
export class HttpSession {
  readonly target: Target;
  readonly id: string;
  #lastId = 0;

  private constructor(target: Target, id: string) {
    this.target = target;
    this.id = id;
  }

  /** Begins a session; throws the gateway's response if it refuses. */
  static async open(
    target: Target,
    { version = '2025-06-18', capabilities = {} }: { version?: string; capabilities?: object } = {},
  ): Promise<HttpSession> {
    const response = await begin(target, version, capabilities);
    const text = await response.text();
    const id = response.headers.get('mcp-session-id');
    if (response.status !== 200 || id === null) throw new Error(`${response.status} ${text}`);
    const session = new HttpSession(target, id);
    await session.notify('notifications/initialized');
    return session;
  }

  /** The same session at another address, with separate ids. */
  through(target: Target): HttpSession {
    const other = new HttpSession(target, this.id);
    other.#lastId = this.#lastId += 1000;
    return other;
  }

  /** Posts any text as the body. */
  post(body: string, signal?: AbortSignal): Promise<Response> {
    return fetch(this.target.url, {
      method: 'POST',
      headers: this.headers({ 'content-type': 'application/json', accept: BOTH }),
      body,
      ...(signal === undefined ? {} : { signal }),
    });
  }

  /** Sends a request and resolves with its response, whether it arrives as JSON or on a stream. */
  async request(
    method: string,
    params: object = {},
    id: string | number = ++this.#lastId,
  ): Promise<RpcMessage> {
    return JSON.parse(await this.requestText(method, params, id)) as RpcMessage;
  }

  /** The unparsed text of the response. */
  async requestText(
    method: string,
    params: object = {},
    id: string | number = ++this.#lastId,
  ): Promise<string> {
    const response = await this.post(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    const text = await response.text();
    if (response.headers.get('content-type') !== 'text/event-stream') return text;
    const events = text.split('\n\n').flatMap((block) => readEvent(block) ?? []);
    return events.findLast(({ data }) => data !== '')?.data ?? '';
  }

  call(name: string, args: object = {}): Promise<RpcMessage> {
    return this.request('tools/call', { name, arguments: args });
  }

  async notify(method: string, params?: object): Promise<void> {
    await this.say({ method, ...(params === undefined ? {} : { params }) });
  }

  /** Sends a notification, or a response to a request of the server. */
  async say(message: object): Promise<void> {
    const response = await this.post(JSON.stringify({ jsonrpc: '2.0', ...message }));
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`);
  }

  /** Sends a request whose response is read as a stream. */
  async stream(
    method: string,
    params: object = {},
    id: string | number = ++this.#lastId,
  ): Promise<EventReader> {
    const cut = new AbortController();
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    return new EventReader(await this.post(body, cut.signal), cut);
  }

  /** Opens the stream for server messages, or resumes it after the event with that id. */
  async listen(lastEventId?: string): Promise<EventReader> {
    const cut = new AbortController();
    const last = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const headers = this.headers({ accept: 'text/event-stream', ...last });
    return new EventReader(await fetch(this.target.url, { headers, signal: cut.signal }), cut);
  }

  /** Ends the session. Resolves with the status. */
  async end(): Promise<number> {
    return (await fetch(this.target.url, { method: 'DELETE', headers: this.headers() })).status;
  }

  headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return { authorization: `Bearer ${this.target.token}`, 'mcp-session-id': this.id, ...more };
  }
}

/** The request that begins a session. */
export function begin(target: Target, version = '2025-06-18', capabilities: object = {}): Promise<Response> {
  const params = { protocolVersion: version, capabilities, clientInfo: { name: 'light', version: '0' } };
  return fetch(target.url, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${target.token}`,
      'content-type': 'application/json',
      accept: BOTH,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  });
}
