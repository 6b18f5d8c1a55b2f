import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as StreamableV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import {
  Client as ClientV2,
  SSEClientTransport as SseV2,
  StreamableHTTPClientTransport as StreamableV2,
} from '@modelcontextprotocol/client';
import { atTestEnd } from './cleanup.ts';
import type { HttpGateway } from './http-gateway.ts';
import type { Question } from './sdk-client.ts';

export interface ConnectOptions {
  /** Answers every request of a server, with the result. Default: none is expected. */
  readonly answer?: (question: Question) => object | Promise<object>;
}

export interface CallExtras {
  readonly signal?: AbortSignal;
  readonly onprogress?: (report: { progress: number }) => void;
}

/** What an official client over HTTP can do, in either generation. */
export interface OfficialClient {
  /** The methods that have the same name in both generations. */
  readonly client: Pick<
    ClientV1,
    | 'listTools'
    | 'listPrompts'
    | 'getPrompt'
    | 'listResources'
    | 'readResource'
    | 'subscribeResource'
    | 'setLoggingLevel'
    | 'complete'
    | 'ping'
  >;
  call(name: string, args?: object, extras?: CallExtras): Promise<any>;
  /** Every notification received, except progress. */
  readonly heard: { readonly method: string; readonly params?: any }[];
  /** Disconnects in the way of its transport. */
  leave(): Promise<void>;
}

const NAME = { name: 'official', version: '1' };
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };
const unexpected = (question: Question): never => {
  throw new Error(`Nobody expected ${question.method}`);
};

type Connect = (gateway: HttpGateway, options?: ConnectOptions) => Promise<OfficialClient>;

/** The official clients of both generations over both transports. */
export const officialClients: Readonly<Record<string, Connect>> = {
  'SDK v1 over Streamable HTTP': (gateway, options) => {
    const transport = new StreamableV1(new URL(gateway.url), authorized(gateway));
    return connectV1(transport, () => transport.terminateSession(), options);
  },
  'SDK v1 over SSE': (gateway, options) =>
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- hosts that have nothing newer use it
    connectV1(new SseV1(new URL(gateway.sse), authorized(gateway)), undefined, options),
  'SDK v2 over Streamable HTTP': (gateway, options) => {
    const transport = new StreamableV2(new URL(gateway.url), authorized(gateway));
    return connectV2(transport, () => transport.terminateSession(), options);
  },
  'SDK v2 over SSE': (gateway, options) =>
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- hosts that have nothing newer use it
    connectV2(new SseV2(new URL(gateway.sse), authorized(gateway)), undefined, options),
};

function authorized({ token }: HttpGateway): { requestInit: { headers: Record<string, string> } } {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

async function connectV1(
  transport: Parameters<ClientV1['connect']>[0],
  terminate: (() => Promise<void>) | undefined,
  { answer = unexpected }: ConnectOptions = {},
): Promise<OfficialClient> {
  const client = new ClientV1(NAME, { capabilities });
  const heard: OfficialClient['heard'] = [];
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'elicitation/create', params, signal });
  });
  client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'sampling/createMessage', params, signal });
  });
  client.setRequestHandler(ListRootsRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'roots/list', params, signal });
  });
  client.fallbackNotificationHandler = (notification) => {
    heard.push(notification);
    return Promise.resolve();
  };
  atTestEnd(() => client.close());
  await client.connect(transport);
  return {
    client,
    heard,
    call: (name, args = {}, extras = {}) =>
      client.callTool({ name, arguments: { ...args } }, undefined, extras),
    leave: async () => {
      await terminate?.();
      await client.close();
    },
  };
}

async function connectV2(
  transport: Parameters<ClientV2['connect']>[0],
  terminate: (() => Promise<void>) | undefined,
  { answer = unexpected }: ConnectOptions = {},
): Promise<OfficialClient> {
  const client = new ClientV2(NAME, { capabilities });
  const heard: OfficialClient['heard'] = [];
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'elicitation/create', params, signal: mcpReq.signal })) as any;
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'sampling/createMessage', params, signal: mcpReq.signal })) as any;
  });
  client.setRequestHandler('roots/list', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'roots/list', params, signal: mcpReq.signal })) as any;
  });
  client.fallbackNotificationHandler = (notification) => {
    heard.push(notification);
    return Promise.resolve();
  };
  atTestEnd(() => client.close());
  await client.connect(transport);
  return {
    client: client as unknown as OfficialClient['client'],
    heard,
    call: (name, args = {}, extras = {}) => client.callTool({ name, arguments: { ...args } }, extras),
    leave: async () => {
      await terminate?.();
      await client.close();
    },
  };
}
