import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as TransportV2 } from '@modelcontextprotocol/client/stdio';
import { join } from 'node:path';
import { atTestEnd } from './cleanup.ts';
import { marker, waitUntilGone, type Marker } from './processes.ts';
import { ROOT, type ServerCommand } from './temp-project.ts';

/** A request of a server, as the client's handler receives it. */
export interface Question {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list';
  readonly params: any;
  /** Aborted when the server cancels the request. */
  readonly signal: AbortSignal;
}

export interface SdkClientOptions {
  /** The working directory, where a gateway also keeps its state. */
  readonly cwd: string;
  /** The program to connect to. Default: the built `switchboard`. */
  readonly server?: ServerCommand;
  /** Answers every request of a server, with the result. */
  readonly answer: (question: Question) => object | Promise<object>;
}

/** The common interface of the official clients of both generations. */
export interface SdkClient {
  readonly marker: Marker;
  listTools(): Promise<string[]>;
  /** The text of the first content item. */
  call(name: string, args?: object, signal?: AbortSignal): Promise<string>;
  /** The whole result. */
  result(name: string, args?: object): Promise<any>;
  /** How many times it was notified that the tools have changed. */
  toolChanges(): number;
  rootsChanged(): Promise<void>;
  /** Closes it and waits until nothing of it is left; runs by itself at the end of the test. */
  close(): Promise<void>;
}

const NAME = { name: 'test', version: '1' };
const capabilities = {
  elicitation: { form: {}, url: {} },
  sampling: {},
  roots: { listChanged: true },
};

/** The official clients of both generations, connected, each with an answer to every kind of request. */
export const sdkClients = { 'SDK v1': startV1, 'SDK v2': startV2 };

async function startV1({ cwd, server, answer }: SdkClientOptions): Promise<SdkClient> {
  const mark = marker();
  const client = new ClientV1(NAME, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'elicitation/create', params, signal });
  });
  client.setRequestHandler(CreateMessageRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'sampling/createMessage', params, signal });
  });
  client.setRequestHandler(ListRootsRequestSchema, async ({ params }, { signal }) => {
    return await answer({ method: 'roots/list', params, signal });
  });
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });
  const close = closer(client, mark);
  await client.connect(
    new TransportV1({ ...program(server), cwd, env: environment(cwd, mark), stderr: 'ignore' }),
  );
  return {
    marker: mark,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, signal) =>
      firstText(await client.callTool({ name, arguments: { ...args } }, undefined, signal ? { signal } : {})),
    result: (name, args = {}) => client.callTool({ name, arguments: { ...args } }),
    toolChanges: () => changes,
    rootsChanged: () => client.sendRootsListChanged(),
    close,
  };
}

async function startV2({ cwd, server, answer }: SdkClientOptions): Promise<SdkClient> {
  const mark = marker();
  const client = new ClientV2(NAME, { capabilities });
  client.setRequestHandler('elicitation/create', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'elicitation/create', params, signal: mcpReq.signal })) as any;
  });
  client.setRequestHandler('sampling/createMessage', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'sampling/createMessage', params, signal: mcpReq.signal })) as any;
  });
  client.setRequestHandler('roots/list', async ({ params }, { mcpReq }) => {
    return (await answer({ method: 'roots/list', params, signal: mcpReq.signal })) as any;
  });
  let changes = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    changes++;
  });
  const close = closer(client, mark);
  await client.connect(
    new TransportV2({ ...program(server), cwd, env: environment(cwd, mark), stderr: 'ignore' }),
  );
  return {
    marker: mark,
    listTools: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, args = {}, signal) =>
      firstText(await client.callTool({ name, arguments: { ...args } }, signal ? { signal } : {})),
    result: (name, args = {}) => client.callTool({ name, arguments: { ...args } }),
    toolChanges: () => changes,
    rootsChanged: () => client.notification({ method: 'notifications/roots/list_changed' }),
    close,
  };
}

function program(server: ServerCommand | undefined): ServerCommand {
  return server ?? { command: process.execPath, args: [join(ROOT, 'dist/index.js')] };
}

function environment(cwd: string, mark: Marker): Record<string, string> {
  const state = { SWITCHBOARD_STATE_DIR: join(cwd, '.state') };
  return { ...(process.env as Record<string, string>), ...state, ...mark.env };
}

function closer(client: { close(): Promise<void> }, mark: Marker): () => Promise<void> {
  const close = async (): Promise<void> => {
    await client.close();
    await waitUntilGone(mark);
  };
  atTestEnd(close);
  return close;
}

function firstText(result: any): string {
  const text: unknown = result.content?.[0]?.text;
  if (typeof text !== 'string') throw new Error(`No text in ${JSON.stringify(result).slice(0, 500)}`);
  return text;
}
