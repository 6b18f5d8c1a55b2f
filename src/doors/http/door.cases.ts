import { request as httpRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { sha256 } from '../../shared/sha256.ts';
import { Gateway, type Call } from '../../gateway/index.ts';
import { SERVER_SHAPE, type JsonObject } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { connectClient } from '../client.ts';
import { entryWith } from '../modern/modern.cases.ts';
import { openHttpDoor, type HttpDoor, type HttpDoorOptions } from './door.ts';
import type { AccessToken, AccessTokens } from './guard.ts';
import { countedEndpoint, type CountedEndpoint } from './modern-endpoint.cases.ts';

export const TOKEN = 'a-token-for-tests-0123456789abcdef';

/** Tokens that grant access; each is a principal. */
export function accessTokens(...tokens: readonly string[]): ChangingTokens {
  const listeners = new Set<() => void>();
  const listOf = (all: readonly string[]): AccessToken[] =>
    all.map((token) => ({ principal: `of ${token}`, name: token, hash: Buffer.from(sha256(token), 'hex') }));
  let current = listOf(tokens);
  let next = current;
  const refresh = (): void => {
    if (current === next) return;
    current = next;
    for (const listener of listeners) listener();
  };
  return {
    get current() {
      return current;
    },
    refresh,
    watch(changed) {
      listeners.add(changed);
      return () => listeners.delete(changed);
    },
    change(...others) {
      next = listOf(others);
    },
  };
}

interface ChangingTokens extends AccessTokens {
  /** Replaces the valid tokens; the change takes effect with the next refresh. */
  change(...tokens: readonly string[]): void;
}

/** A door to a gateway with one tool, `hold`, whose calls the test answers itself. */
export interface TestDoor {
  readonly door: HttpDoor;
  readonly gateway: Gateway;
  /** The next call of the tool. */
  readonly nextCall: () => Promise<Call>;
  /** How many clients have connected to the core, and how many have left. */
  readonly clients: { opened: number; closed: number };
  /** The same for requests of clients without a session. */
  readonly modern: CountedEndpoint;
  /** The gateway path of each client, as passed to the core. */
  readonly gatewayPath: (readonly string[])[];
  readonly request: (options: RequestOptions) => Promise<Reply>;
  /** The same without waiting for the response to end. */
  readonly open: (options: RequestOptions) => Promise<EventReader>;
  /** Opens a session and initializes it. */
  readonly startSession: (version?: string) => Promise<string>;
  /** A POST to /mcp. */
  readonly post: (session: string, message: object, more?: RequestOptions) => Promise<Reply>;
  /** The same for a POST that is answered with a stream. */
  readonly stream: (session: string, message: object) => Promise<EventReader>;
  readonly listen: (session: string, lastEventId?: string) => Promise<EventReader>;
  /** A bare connection. */
  readonly connect: () => Promise<RawConnection>;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  /** Added to a valid Host header and the token; undefined removes one of these. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export interface Reply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body as JSON. */
  readonly json: any;
}

export async function openTestDoor(
  options: Partial<Omit<HttpDoorOptions, 'limits'>> & {
    limits?: Partial<HttpDoorOptions['limits']>;
  } = {},
): Promise<TestDoor> {
  const calls: Call[] = [];
  const waiting: ((call: Call) => void)[] = [];
  const gateway = new Gateway({
    entries: [
      entryWith('test', (call) => {
        const next = waiting.shift();
        if (next) next(call);
        else calls.push(call);
      }),
    ],
  });
  const clients = { opened: 0, closed: 0 };
  const gatewayPath: (readonly string[])[] = [];
  const identity = { name: 'test', title: 'Test', version: '0', instructions: () => '' };
  const modern = countedEndpoint(gateway, identity);
  const door = await openHttpDoor({
    host: '127.0.0.1',
    port: 0,
    guard: { tokens: accessTokens(TOKEN), allowedHosts: [], allowedOrigins: [] },
    log: silentLogger,
    status: () => ({ servers: 0 }),
    open: (transport, through) => {
      clients.opened++;
      gatewayPath.push(through);
      const client = connectClient(transport, { gateway, identity, log: silentLogger });
      return {
        client,
        close: () => {
          clients.closed++;
          client.leave();
          return Promise.resolve();
        },
      };
    },
    modern,
    ...options,
    limits: { bodyBytes: 4 * 1024 * 1024, sessions: 100, sessionIdleMs: 60_000, ...options.limits },
  });
  onTestFinished(() => door.close());

  const open = (given: RequestOptions): Promise<EventReader> => begin(door.port, given);
  const request = async (given: RequestOptions): Promise<Reply> => (await open(given)).whole();
  const posting = (session: string, message: object, more: RequestOptions = {}): RequestOptions => ({
    method: 'POST',
    path: '/mcp',
    body: JSON.stringify(message),
    ...more,
    headers: { ...JSON_HEADERS, 'mcp-session-id': session, ...more.headers },
  });
  return {
    door,
    gateway,
    clients,
    modern,
    gatewayPath,
    request,
    open,
    nextCall: () => {
      const call = calls.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve));
    },
    post: (session, message, more) => request(posting(session, message, more)),
    stream: (session, message) => open(posting(session, message)),
    async startSession(version = '2025-06-18') {
      const { headers } = await request({
        method: 'POST',
        path: '/mcp',
        headers: JSON_HEADERS,
        body: JSON.stringify(initializeRequest(version)),
      });
      const session = headers['mcp-session-id'] as string;
      const ready = { jsonrpc: '2.0', method: 'notifications/initialized' };
      await request(posting(session, ready));
      return session;
    },
    listen: (session, lastEventId) =>
      open({
        path: '/mcp',
        headers: { accept: 'text/event-stream', 'mcp-session-id': session, 'last-event-id': lastEventId },
      }),
    connect: () => connectRaw(door.port),
  };
}

export const JSON_HEADERS = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

export function initializeRequest(version = '2025-06-18'): JsonObject {
  return {
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: {
      protocolVersion: version,
      capabilities: { sampling: {} },
      clientInfo: { name: 'test', version: '0' },
    },
  };
}

/** Polls for a condition that no event announces. */
export async function eventually(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 20_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error('It did not happen');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** A call of the tool, as clients send it. */
export function holdCall(id: unknown, progressToken?: unknown): JsonObject {
  const meta = progressToken === undefined ? {} : { _meta: { progressToken } };
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'hold', arguments: {}, ...meta } };
}

/** A message from a server. */
export function fromServer(message: object): Message {
  return Message.from({ jsonrpc: '2.0', ...message }, SERVER_SHAPE);
}

export function progress(token: unknown, value: number): Message {
  return fromServer({ method: 'notifications/progress', params: { progressToken: token, progress: value } });
}

export interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string | undefined;
  /** The data as JSON; undefined if there is none. */
  readonly json: any;
}

/** Reads a response while it arrives. */
export class EventReader {
  readonly response: IncomingMessage;
  readonly events: StreamEvent[] = [];
  comments = 0;
  #text = '';
  #rest = '';
  #over = false;
  readonly #changed: (() => void)[] = [];

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => {
      this.#text += text;
      this.#read(text);
      this.#tell();
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      this.#over = true;
      this.#tell();
    });
  }

  get status(): number {
    return this.response.statusCode!;
  }

  /** The next event; undefined if the stream has ended. */
  async next(): Promise<StreamEvent | undefined> {
    await this.until(() => this.events.length > 0 || this.#over);
    return this.events.shift();
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#changed.push(resolve));
  }

  async whole(): Promise<Reply> {
    await this.until(() => this.#over);
    const text = this.#text;
    return {
      status: this.status,
      headers: this.response.headers,
      text,
      get json() {
        return JSON.parse(text);
      },
    };
  }

  /** Disconnects the client. */
  hangUp(): void {
    this.response.destroy();
  }

  #tell(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }

  #read(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop()!;
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => {
          const colon = line.indexOf(':');
          return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
        }),
      );
      const data = fields.get('data');
      if (data === undefined) this.comments++;
      else
        this.events.push({
          id: fields.get('id'),
          event: fields.get('event'),
          data,
          get json() {
            return data === '' ? undefined : JSON.parse(data);
          },
        });
    }
  }
}

function begin(port: number, { method = 'GET', path = '/', headers, body }: RequestOptions) {
  return new Promise<EventReader>((resolve, reject) => {
    const all: Record<string, string | undefined> = {
      host: `127.0.0.1:${port}`,
      authorization: `Bearer ${TOKEN}`,
      ...headers,
    };
    const given = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const request = httpRequest(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: Object.fromEntries(given),
        setHost: false,
        agent: false,
      },
      (response) => resolve(new EventReader(response)),
    );
    request.on('error', reject);
    request.end(body);
  });
}

/** A connection on which a test can write any bytes. */
export interface RawConnection {
  readonly socket: Socket;
  readonly received: () => string;
  /** Resolves when this text has arrived. */
  readonly sees: (text: string) => Promise<void>;
  readonly closed: Promise<void>;
}

async function connectRaw(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1');
  let text = '';
  const changed: (() => void)[] = [];
  const tell = (): void => {
    for (const resolve of changed.splice(0)) resolve();
  };
  socket.setEncoding('utf8');
  socket.on('data', (chunk: string) => {
    text += chunk;
    tell();
  });
  socket.on('error', () => undefined);
  const closed = new Promise<void>((resolve) => {
    socket.on('close', () => {
      tell();
      resolve();
    });
  });
  await once(socket, 'connect');
  onTestFinished(() => void socket.destroy());
  return {
    socket,
    received: () => text,
    closed,
    async sees(wanted) {
      while (!text.includes(wanted)) {
        if (socket.destroyed) throw new Error(`The connection closed before ${JSON.stringify(wanted)} came`);
        await new Promise<void>((resolve) => changed.push(resolve));
      }
    },
  };
}
