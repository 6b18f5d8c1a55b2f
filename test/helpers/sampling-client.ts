import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import type { Stream } from 'node:stream';
import { newClient, type Era } from './eras.ts';
import { killAll, marker, waitUntilGone, type Marker } from './processes.ts';

/** What a client connects to: a program that it starts, or one that listens. */
export type ClientTarget =
  | {
      readonly command: string;
      readonly args: string[];
      readonly cwd: string;
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly url: string; readonly token: string };

export interface SamplingClientOptions {
  readonly target: ClientTarget;
  /** The capabilities for `sampling` and `elicitation` that it declares. */
  readonly capabilities: object;
  /** Answers the server's requests, with the result. */
  readonly answer: (method: string, params: any, signal: AbortSignal) => object | Promise<object>;
}

export interface SamplingCallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (report: { progress: number; message?: string | undefined }) => void;
}

/** An official client of either generation that provides sampling and elicitation to servers. */
export interface SamplingClient {
  /** Marks the processes of the program that it started. */
  readonly marker: Marker;
  /** What that program has written on stderr. */
  readonly stderr: () => string;
  listTools(): Promise<any[]>;
  /**
   * Resolves with the whole result. The client validates it against the tool's schema, once it has listed the tools.
   */
  call(name: string, args: object, options?: SamplingCallOptions): Promise<any>;
  /** Disconnects, and waits until nothing it started is left. */
  close(): Promise<void>;
}

export const samplingClients = {
  'SDK v1': startV1,
  'SDK v2, 2025-11-25': (options: SamplingClientOptions) => startV2('legacy', options),
  'SDK v2, 2026-07-28': (options: SamplingClientOptions) => startV2('modern', options),
};

async function startV1({ target, capabilities, answer }: SamplingClientOptions): Promise<SamplingClient> {
  const client = new ClientV1({ name: 'test', version: '1' }, { capabilities });
  if ('sampling' in capabilities) {
    client.setRequestHandler(CreateMessageRequestSchema, async ({ method, params }, { signal }) => {
      return await answer(method, params, signal);
    });
  }
  if ('elicitation' in capabilities) {
    client.setRequestHandler(ElicitRequestSchema, async ({ method, params }, { signal }) => {
      return await answer(method, params, signal);
    });
  }
  const mark = marker();
  const transport =
    'url' in target
      ? new HttpV1(new URL(target.url), authorized(target))
      : new StdioV1(program(target, mark));
  const stderr = transport instanceof StdioV1 ? textOf(transport.stderr) : () => '';
  await client.connect(transport);
  return {
    marker: mark,
    stderr,
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options = {}) => client.callTool({ name, arguments: { ...args } }, undefined, options),
    close: closer(client, mark),
  };
}

async function startV2(
  era: Era,
  { target, capabilities, answer }: SamplingClientOptions,
): Promise<SamplingClient> {
  const client = newClient(era, capabilities);
  if ('sampling' in capabilities) {
    client.setRequestHandler('sampling/createMessage', async ({ method, params }, { mcpReq }) => {
      return (await answer(method, params, mcpReq.signal)) as any;
    });
  }
  if ('elicitation' in capabilities) {
    client.setRequestHandler('elicitation/create', async ({ method, params }, { mcpReq }) => {
      return (await answer(method, params, mcpReq.signal)) as any;
    });
  }
  const mark = marker();
  const transport =
    'url' in target
      ? new HttpV2(new URL(target.url), authorized(target))
      : new StdioV2(program(target, mark));
  const stderr = transport instanceof StdioV2 ? textOf(transport.stderr) : () => '';
  await client.connect(transport);
  return {
    marker: mark,
    stderr,
    listTools: async () => (await client.listTools()).tools,
    call: (name, args, options = {}) => client.callTool({ name, arguments: { ...args } }, options),
    close: closer(client, mark),
  };
}

function authorized({ token }: { readonly token: string }): object {
  return { requestInit: { headers: { authorization: `Bearer ${token}` } } };
}

function program(target: Exclude<ClientTarget, { url: string }>, mark: Marker) {
  return { ...target, env: { ...target.env, ...mark.env }, stderr: 'pipe' as const };
}

function textOf(stream: Stream | null): () => string {
  let text = '';
  stream?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return () => text;
}

function closer(client: { close(): Promise<void> }, mark: Marker): () => Promise<void> {
  return async () => {
    await client.close();
    await waitUntilGone(mark).finally(() => killAll(mark));
  };
}
