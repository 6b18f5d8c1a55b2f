import { spawn } from 'node:child_process';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from './http-client.ts';
import { startHttpGateway } from './http-gateway.ts';
import type { RawClient, RpcMessage } from './raw-client.ts';
import { killAll, marker, waitUntilGone, type Marker } from './processes.ts';
import { createProject, nodeServer, ROOT, type Project } from './temp-project.ts';
import { until } from './until.ts';

/** The two eras of the protocol: with a handshake, or 2026-07-28. */
export type Era = 'legacy' | 'modern';
export type Wire = 'stdio' | 'http';

export const MODERN = '2026-07-28';
export const LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** The capabilities of the clients here. */
export const ALL_CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
};

/** The four kinds of servers, by their names in the gateway. */
export const CHILDREN = [
  { name: 'old_pipe', era: 'legacy', wire: 'stdio' },
  { name: 'old_net', era: 'legacy', wire: 'http' },
  { name: 'new_pipe', era: 'modern', wire: 'stdio' },
  { name: 'new_net', era: 'modern', wire: 'http' },
] as const satisfies readonly { name: string; era: Era; wire: Wire }[];

export type ChildName = (typeof CHILDREN)[number]['name'];

export interface EraQuestion {
  readonly method: string;
  readonly params: any;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** An official client of one era, connected to a gateway with all four kinds of servers. */
export interface EraHarness {
  readonly client: Client;
  /** Every notification received, except progress. */
  readonly heard: { readonly method: string; readonly params?: any }[];
  /** Every request that the client received. */
  readonly questions: EraQuestion[];
  /** How requests to the client are answered from now on; undefined for the usual answers. */
  answer: ((question: EraQuestion) => object | Promise<object>) | undefined;
  /** Calls a tool of a server; resolves with its text. */
  readonly call: (child: ChildName, tool: string, args?: object, options?: EraCallOptions) => Promise<string>;
  /** What the servers have recorded: "waiting tag", "aborted tag". */
  readonly journal: () => string[];
  /** Closes everything, and checks that nothing is left. */
  readonly close: () => Promise<void>;
}

export interface EraCallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { progress: number; total?: number; message?: string }) => void;
  readonly _meta?: Readonly<Record<string, unknown>>;
}

/** The headers of every POST of a modern client; `name` is that of the tool, prompt or resource. */
export function modernHeaders(token: string, method: string, name?: unknown): Record<string, string> {
  return {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': MODERN,
    'mcp-method': method,
    ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
  };
}

/** The `_meta` of every request of a modern client. */
export function envelope(capabilities: object = ALL_CAPABILITIES): Record<string, unknown> {
  return {
    'io.modelcontextprotocol/protocolVersion': MODERN,
    'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '0' },
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  };
}

/** A raw client of the modern era that makes one call at a time, one round of it at a time. */
export class ModernCaller {
  readonly #send: (method: string, params: any, id?: number) => Promise<RpcMessage>;
  readonly #capabilities: object;

  constructor(
    send: (method: string, params: any, id?: number) => Promise<RpcMessage>,
    capabilities: object = ALL_CAPABILITIES,
  ) {
    this.#send = send;
    this.#capabilities = capabilities;
  }

  static over(client: RawClient, capabilities?: object): ModernCaller {
    const send = (method: string, params: any, id?: number): Promise<RpcMessage> =>
      client.request(method, params, id === undefined ? {} : { id });
    return new ModernCaller(send, capabilities);
  }

  /** Makes each request a separate exchange, as over HTTP; `signal` closes those that are open. */
  static overHttp(
    { url, token }: Target,
    { capabilities = ALL_CAPABILITIES, signal }: { capabilities?: object; signal?: AbortSignal } = {},
  ): ModernCaller {
    let lastId = 0;
    const send = async (method: string, params: any, id = ++lastId): Promise<RpcMessage> => {
      const response = await fetch(url, {
        method: 'POST',
        headers: modernHeaders(token, method, params.name ?? params.uri),
        body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
        ...(signal === undefined ? {} : { signal }),
      });
      const text = await response.text();
      if (response.headers.get('content-type')?.startsWith('text/event-stream') !== true)
        return JSON.parse(text) as RpcMessage;
      const lines = text.split('\n').filter((line) => line.startsWith('data: {'));
      return JSON.parse(lines.at(-1)!.slice('data: '.length)) as RpcMessage;
    };
    return new ModernCaller(send, capabilities);
  }

  request(method: string, params: any = {}, id?: number): Promise<RpcMessage> {
    return this.#send(method, { ...params, _meta: { ...envelope(this.#capabilities), ...params._meta } }, id);
  }

  /** One round of a call: the first or, with `more`, a later one. */
  call(name: string, args: object = {}, more: object = {}, id?: number): Promise<RpcMessage> {
    return this.request('tools/call', { name, arguments: args, ...more }, id);
  }

  /** Repeats the call with these answers to its input requests. */
  back(
    name: string,
    args: object,
    asked: RpcMessage,
    inputResponses: object,
    id?: number,
  ): Promise<RpcMessage> {
    return this.call(name, args, { inputResponses, requestState: asked.result.requestState }, id);
  }

  /**
   * All rounds of a call, with the usual answer to each request. Resolves with the last response and the number of
   * rounds.
   */
  async whole(name: string, args: object = {}): Promise<{ answer: RpcMessage; turns: number }> {
    let answer = await this.call(name, args);
    for (let turns = 1; ; turns++) {
      if (answer.result?.resultType !== 'input_required') return { answer, turns };
      answer = await this.back(name, args, answer, answersTo(answer));
    }
  }
}

/** The usual answers to all input requests. */
export function answersTo({ result }: RpcMessage): Record<string, object> {
  return Object.fromEntries(
    Object.entries<any>(result.inputRequests ?? {}).map(([key, question]) => [key, usualAnswer(question)]),
  );
}

/** The usual answer to a request. */
export function usualAnswer({ method, params }: Pick<EraQuestion, 'method' | 'params'>): object {
  if (method === 'roots/list') return { roots: [{ uri: 'file:///ground', name: 'ground' }] };
  if (method === 'sampling/createMessage')
    return { role: 'assistant', model: 'm', content: { type: 'text', text: 'very well' } };
  return params.mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { answer: 'green' } };
}

/** Starts the remote servers, a gateway with all four, and an official client of that era. */
export async function startEraHarness(era: Era, wire: Wire): Promise<EraHarness> {
  const closing: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const work of closing.splice(0).reverse()) await work();
  };
  try {
    const notes = createProject();
    closing.push(() => notes.remove());
    const journal = notes.path('journal');
    const servers: Record<string, any> = {};
    for (const child of CHILDREN) {
      const args = [`--name=${child.name}`, `--era=${child.era}`, `--journal=${journal}`];
      if (child.wire === 'stdio') servers[child.name] = nodeServer('sdk-v2', ...args);
      else {
        const remote = await startRemoteSdk(args);
        closing.push(() => remote.close());
        servers[child.name] = { url: remote.url };
      }
    }
    const client = newClient(era);
    const harness = createHarness(client, journal, close);
    // The last one started is ended first: the client.
    const connect = wire === 'stdio' ? overStdio : overHttp;
    await connect(client, servers, closing);
    await until(() => allThere(client), { deadline: 30_000, what: 'the resources of all children' });
    return harness;
  } catch (error) {
    await close();
    throw error;
  }
}

/** The official server as a remote one. */
export async function startRemoteSdk(
  args: readonly string[],
): Promise<{ readonly url: string; readonly close: () => Promise<void> }> {
  const mark = marker();
  const { command, args: program } = nodeServer('sdk-v2', '--http', ...args);
  const child = spawn(command, program, {
    env: { ...process.env, ...mark.env },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stdin.on('error', () => undefined);
  const close = async (): Promise<void> => {
    child.stdin.end();
    await waitUntilGone(mark).finally(() => killAll(mark));
  };
  try {
    const [url] = await until(() => /^http\S+(?=\n)/.exec(output), {
      deadline: 30_000,
      what: 'the address of the server',
    });
    return { url, close };
  } catch (error) {
    await killAll(mark);
    throw error;
  }
}

/** An official client that supports only this era. */
export function newClient(era: Era, capabilities: object = ALL_CAPABILITIES): Client {
  return new Client(
    { name: 'official', version: '1' },
    {
      capabilities,
      versionNegotiation: { mode: era === 'legacy' ? 'legacy' : { pin: MODERN } },
    },
  );
}

function createHarness(client: Client, journal: string, close: () => Promise<void>): EraHarness {
  const harness: EraHarness = {
    client,
    heard: [],
    questions: [],
    answer: undefined,
    call: async (child, tool, args = {}, { _meta, ...options } = {}) => {
      const meta = _meta === undefined ? {} : { _meta };
      const params = { name: `${child}__${tool}`, arguments: { ...args }, ...meta };
      return firstText(await client.callTool(params, options as object));
    },
    journal: () =>
      existsSync(journal)
        ? readFileSync(journal, 'utf8')
            .split('\n')
            .filter((line) => line !== '')
            .map((line) => JSON.parse(line) as { event: string; tag: string })
            .map(({ event, tag }) => `${event} ${tag}`)
        : [],
    close,
  };
  const asked = async (method: string, params: any, signal: AbortSignal): Promise<any> => {
    const question = { method, params, signal };
    harness.questions.push(question);
    return (harness.answer ?? usualAnswer)(question);
  };
  client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
    asked('elicitation/create', params, mcpReq.signal),
  );
  client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
    asked('sampling/createMessage', params, mcpReq.signal),
  );
  client.setRequestHandler('roots/list', ({ params }, { mcpReq }) =>
    asked('roots/list', params, mcpReq.signal),
  );
  client.fallbackNotificationHandler = (notification) => {
    harness.heard.push(notification);
    return Promise.resolve();
  };
  return harness;
}

/** A client cannot subscribe to what a server offers before the gateway knows its capabilities. */
async function allThere(client: Client): Promise<boolean> {
  const { resources } = await client.listResources(undefined, { cacheMode: 'refresh' });
  return CHILDREN.every(({ name }) => resources.some(({ uri }) => uri === `mem://${name}/one`));
}

const FLAT = { exposure: 'flat', naming: 'prefixed' };

type Connect = (
  client: Client,
  servers: Readonly<Record<string, any>>,
  closing: (() => Promise<void>)[],
) => Promise<void>;

const overStdio: Connect = async (client, servers, closing) => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: servers, ...FLAT } });
  closing.push(() => project.remove());
  const mark = marker();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join(ROOT, 'dist/index.js')],
    cwd: project.dir,
    env: environment(project, mark),
    stderr: 'ignore',
  });
  closing.push(async () => {
    await client.close();
    await waitUntilGone(mark).finally(() => killAll(mark));
  });
  await client.connect(transport);
};

const overHttp: Connect = async (client, servers, closing) => {
  const gateway = await startHttpGateway(servers, { config: FLAT });
  closing.push(
    () => gateway.project.remove(),
    async () => {
      await gateway.stop();
    },
  );
  const transport = new StreamableHTTPClientTransport(new URL(gateway.url), {
    requestInit: { headers: { authorization: `Bearer ${gateway.token}` } },
  });
  closing.push(() => client.close());
  await client.connect(transport);
};

function environment(project: Project, mark: Marker): Record<string, string> {
  const state = { SWITCHBOARD_STATE_DIR: project.path('.state') };
  return { ...(process.env as Record<string, string>), ...state, ...mark.env };
}

function firstText(result: any): string {
  const text: unknown = result.content?.[0]?.text;
  if (typeof text !== 'string') throw new Error(`No text in ${JSON.stringify(result).slice(0, 500)}`);
  return text;
}
