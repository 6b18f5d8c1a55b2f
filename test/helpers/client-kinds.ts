/** Every kind of client a gateway may meet, each able to send bytes that no client should. */
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BATCHING_VERSION, LEGACY_VERSIONS } from '../../src/protocol/index.ts';
import { envelope, MODERN } from './eras.ts';
import { startGateway, type GatewayOptions } from './gateway.ts';
import { EventReader, HttpSession } from './http-client.ts';
import { startHttpGateway, type HttpGateway } from './http-gateway.ts';
import type { RpcId, RpcMessage } from './raw-client.ts';
import type { ServerCommand } from './temp-project.ts';
import { until } from './until.ts';

/** A protocol version over a transport. `sse` is the older HTTP transport. */
export interface ClientKind {
  readonly version: string;
  readonly transport: 'stdio' | 'http' | 'sse';
}

export const CLIENT_KINDS: readonly ClientKind[] = [
  ...[...LEGACY_VERSIONS, MODERN].map((version) => ({ version, transport: 'stdio' as const })),
  { version: '2024-11-05', transport: 'sse' },
  ...[...LEGACY_VERSIONS.slice(1), MODERN].map((version) => ({ version, transport: 'http' as const })),
];

/** The response to the bytes of one message. */
export interface Reaction {
  /** The status of the HTTP response; 200 over stdio. */
  readonly status: number;
  /** Responses only, without notifications and requests of the server. */
  readonly responses: readonly RpcMessage[];
}

/** A client connected to a gateway of its own. */
export interface HostileClient {
  /** The gateway's process. */
  readonly pid: number;
  /** Everything the gateway has logged. */
  readonly log: () => string;
  /** Everything wrong with the gateway's output, including second responses to well-formed requests. */
  readonly problems: () => string[];
  /** Sends these pieces as one message. Waits for at least that many responses (default 0). */
  readonly send: (pieces: readonly Uint8Array[], due?: number) => Promise<Reaction>;
  /** Sends a well-formed request. */
  readonly request: (method: string, params?: object) => Promise<RpcMessage>;
  /** Calls a tool. */
  readonly call: (name: string, args?: object) => Promise<RpcMessage>;
}

type Servers = Readonly<Record<string, ServerCommand | (ServerCommand & Record<string, unknown>)>>;
type Options = Pick<GatewayOptions, 'config' | 'env'>;

/** Starts a gateway with these servers and connects a client of this kind. Both end with the test. */
export async function connectHostile(
  { version, transport }: ClientKind,
  servers: Servers,
  options: Options = {},
): Promise<HostileClient> {
  if (transport === 'stdio') return overStdio(version, servers, options);
  const gateway = await startHttpGateway(servers, options);
  const connect = transport === 'sse' ? overSse : version === MODERN ? overPosts : overSession;
  const send = await connect(gateway, version);
  return {
    pid: gateway.pid,
    log: () => gateway.stderr,
    problems: () => [],
    send,
    ...requests(version, async (message) => {
      const { responses } = await send([Buffer.from(JSON.stringify(message))], 1);
      return responses[0]!;
    }),
  };
}

type Send = HostileClient['send'];
type Requests = Pick<HostileClient, 'request' | 'call'>;

function requests(
  version: string,
  ask: (message: RpcMessage & { id: RpcId }) => Promise<RpcMessage>,
): Requests {
  let count = 0;
  const request = (method: string, params: object = {}): Promise<RpcMessage> => {
    const own = version === MODERN ? { ...params, _meta: envelope({}) } : params;
    return ask({ jsonrpc: '2.0', id: `innocent-${++count}`, method, params: own });
  };
  return { request, call: (name, args = {}) => request('tools/call', { name, arguments: args }) };
}

async function overStdio(version: string, servers: Servers, options: Options): Promise<HostileClient> {
  // Errors without an id are expected in most of these tests.
  const { client } = await startGateway(servers, { ...options, raw: true, strict: false });
  const own = requests(version, ({ id, method, params }) => client.request(method!, params, { id }));
  if (version === MODERN) await own.request('server/discover');
  else await client.initialize(version);
  /** A request that is answered immediately, after everything that was sent before. */
  const sentinel = version === MODERN ? 'server/discover' : 'ping';
  return {
    pid: client.pid!,
    log: () => client.stderr,
    problems: () => [
      // Batches are answered with arrays.
      ...client.problems.filter((problem) => version !== BATCHING_VERSION || !/ "\[/.test(problem)),
      ...client.ledger.doubled().map(({ id }) => `${String(id)} was answered twice`),
    ],
    send: async (pieces, due = 0) => {
      const from = client.messages.length;
      const responses = (): RpcMessage[] => client.messages.slice(from).filter(isResponse);
      for (const piece of [...pieces, Buffer.from('\n')]) {
        client.sendRaw(piece);
        if (pieces.length > 1) await nextTurn();
      }
      await client.waitUntil(() => responses().length >= due || undefined, `${due} responses`);
      const last = await own.request(sentinel);
      return { status: 200, responses: responses().filter((message) => message !== last) };
    },
    ...own,
  };
}

const isResponse = ({ method }: RpcMessage): boolean => method === undefined;

const BOTH = 'application/json, text/event-stream';

/** A POST in pieces. */
async function post(
  { port, token }: HttpGateway,
  path: string,
  pieces: readonly Uint8Array[],
  headers: Readonly<Record<string, string>>,
): Promise<Reaction> {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path,
    method: 'POST',
    agent: false,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: BOTH,
      ...headers,
    },
  });
  const answered = once(request, 'response') as Promise<[IncomingMessage]>;
  for (const piece of pieces) {
    request.write(piece);
    if (pieces.length > 1) await nextTurn();
  }
  request.end();
  const [response] = await answered;
  const text = Buffer.concat(await response.toArray()).toString();
  const type = response.headers['content-type'] ?? '';
  const messages = type.startsWith('text/event-stream')
    ? [...text.matchAll(/^data: ([^\n]+)$/gm)].map(([, data]) => JSON.parse(data!) as RpcMessage)
    : type.startsWith('application/json') && text !== ''
      ? [JSON.parse(text) as RpcMessage | RpcMessage[]].flat()
      : [];
  return { status: response.statusCode ?? 0, responses: messages.filter(isResponse) };
}

async function overSession(gateway: HttpGateway, version: string): Promise<Send> {
  const { id } = await HttpSession.open(gateway, { version });
  return (pieces) => post(gateway, '/mcp', pieces, { 'mcp-session-id': id, 'mcp-protocol-version': version });
}

/** Headers must repeat parts of the body, so they are set from whatever is readable in it. */
function overPosts(gateway: HttpGateway): Promise<Send> {
  return Promise.resolve((pieces) => {
    const message = readable(pieces);
    const name: unknown = message?.params?.name ?? message?.params?.uri;
    return post(gateway, '/mcp', pieces, {
      'mcp-protocol-version': MODERN,
      'mcp-method': headerText(message?.method) ?? 'tools/call',
      ...(headerText(name) === undefined ? {} : { 'mcp-name': headerText(name)! }),
    });
  });
}

function readable(pieces: readonly Uint8Array[]): RpcMessage | undefined {
  try {
    return (JSON.parse(Buffer.concat(pieces).toString()) ?? undefined) as RpcMessage | undefined;
  } catch {
    return undefined;
  }
}

function headerText(value: unknown): string | undefined {
  return typeof value === 'string' && /^[!-~]+$/.test(value) ? value : undefined;
}

async function overSse(gateway: HttpGateway, version: string): Promise<Send> {
  const cut = new AbortController();
  const headers = { authorization: `Bearer ${gateway.token}` };
  const stream = new EventReader(await fetch(gateway.sse, { headers, signal: cut.signal }), cut);
  const { data: path } = await until(() => stream.events.find(({ event }) => event === 'endpoint'), {
    what: 'the endpoint',
  });
  let sentinels = 0;
  const say = (message: object): Promise<Reaction> =>
    post(gateway, path, [Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))], {});
  const responsesFrom = (from: number): RpcMessage[] =>
    stream.events
      .slice(from)
      .map(({ data }) => JSON.parse(data) as RpcMessage)
      .filter(isResponse);
  const untilThere = (from: number, isThere: (responses: RpcMessage[]) => boolean): Promise<boolean> =>
    until(() => isThere(responsesFrom(from)), {
      what: 'a response on the stream',
      deadline: 20_000,
      every: 2,
    });
  const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'sse', version: '0' } };
  await say({ id: 'first', method: 'initialize', params });
  await untilThere(1, (responses) => responses.length > 0);
  await say({ method: 'notifications/initialized' });
  return async (pieces, due = 0) => {
    const from = stream.events.length;
    const { status, responses } = await post(gateway, path, pieces, {});
    await untilThere(from, (streamed) => responses.length + streamed.length >= due);
    const id = `sentinel-${++sentinels}`;
    await say({ id, method: 'ping' });
    await untilThere(from, (streamed) => streamed.some((message) => message.id === id));
    return {
      status,
      responses: [...responses, ...responsesFrom(from).filter((message) => message.id !== id)],
    };
  };
}
