import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { Client, CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type MessageReceiver } from '../../wire/index.ts';
import type { RemoteTarget } from '../server.ts';
import type { SendFailure, TransportEnd } from '../transport.ts';
import { RemoteTransport, type RemoteTransportOptions } from './remote-transport.ts';

/** A request as the test server received it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The body, if it is JSON. */
  readonly message: any;
  /** True once its connection or response was closed before its end. */
  readonly cutOff: () => boolean;
}

export type Handler = (seen: Seen, response: ServerResponse, request: IncomingMessage) => void;

/** A real server on loopback that is closed after the test. */
export async function serve(handler: Handler) {
  const seen: Seen[] = [];
  const server = http.createServer((request, response) => {
    let cut = false;
    response.on('close', () => {
      cut = !response.writableFinished;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one: Seen = {
        method: request.method!,
        path: request.url!,
        headers: request.headers,
        body,
        message: body.startsWith('{') ? JSON.parse(body) : undefined,
        cutOff: () => cut,
      };
      seen.push(one);
      handler(one, response, request);
    });
  });
  const listen = (port: number): Promise<number> =>
    new Promise((resolve) =>
      server.listen(port, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
    );
  const port = await listen(0);
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    origin: `http://127.0.0.1:${port}`,
    seen,
    server,
    close,
    again: () => listen(port),
    connections: () =>
      new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count))),
  };
}

/** Whether the server refuses connections. */
export function turnedAway(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => resolve(true));
  });
}

/** A transport with everything that it delivered and reported. */
export function open(target: string | Partial<RemoteTarget>, options: Partial<RemoteTransportOptions> = {}) {
  const url = typeof target === 'string' ? target : target.url!;
  const lines: string[] = [];
  /** The requests on whose response streams the messages arrived. */
  const streams: (number | undefined)[] = [];
  const failures: { id: number; failure: SendFailure }[] = [];
  const ends: TransportEnd[] = [];
  const failedBeforeEnd: typeof failures = [];
  const transport = new RemoteTransport(
    {
      server: 'far',
      target: {
        kind: 'remote',
        transport: 'http',
        url,
        shown: { url },
        headers: {},
        ...(typeof target === 'string' ? {} : target),
      },
      messageBytes: 16 * 1024 * 1024,
      log: silentLogger,
      learned: {},
      ...options,
    },
    {
      ended: (end) => {
        failedBeforeEnd.push(...failures);
        ends.push(end);
      },
    },
  );
  const unexpected = (): never => {
    throw new Error('Not part of a transport over HTTP');
  };
  const receiver: MessageReceiver = {
    receive: (message, requestId) => {
      lines.push(message.toString());
      streams.push(requestId);
    },
    abandon: (id, kind, error) =>
      failures.push({ id, failure: { kind, ...(error && { error }) } as SendFailure }),
    receiveUnreadable: unexpected,
    receiveOversize: unexpected,
    receiveBadHeader: unexpected,
    receiveEnd: unexpected,
  };
  transport.messages.connect(receiver);
  onTestFinished(() => transport.stop());
  return {
    transport,
    lines,
    streams,
    failures,
    failedBeforeEnd,
    ends,
    write: (message: object | string) => write(transport, message),
    /** The answer to the request with this id. */
    answer: async (id: number): Promise<any> => {
      await until(() => lines.some((line) => idOf(line) === id));
      return JSON.parse(lines.find((line) => idOf(line) === id)!);
    },
    failure: async (id: number): Promise<SendFailure> => {
      await until(() => failures.some((one) => one.id === id));
      return failures.find((one) => one.id === id)!.failure;
    },
    /** The message of the error that a request failed with. */
    sentence: async (id: number): Promise<string> => {
      await until(() => failures.some((one) => one.id === id));
      const { failure } = failures.find((one) => one.id === id)!;
      return failure.kind === 'failed' ? `${failure.error.code}: ${failure.error.explained}` : failure.kind;
    },
  };
}

/** Sends a message as a peer does. */
function write(transport: RemoteTransport, given: object | string): void {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  const message = Message.fromText(text, CLIENT_SHAPE);
  const method = message.string(Client.method);
  if (method === undefined) transport.messages.forwardAnswer(message, message, []);
  else if (method === 'notifications/cancelled')
    transport.messages.sendText(text, {
      kind: 'notification',
      method,
      cancels: message.integer(Client.requestId),
    });
  else if (message.has(Client.id)) transport.messages.forwardRequest(message.integer(Client.id), message, []);
  else transport.messages.forward(message, []);
}

function idOf(line: string): unknown {
  // Large messages have it at the beginning.
  return Number(/"id":(\d+)/.exec(line.slice(0, 200))?.[1] ?? NaN);
}

/** Waits for a condition, for at most twenty seconds. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`Waited in vain for ${condition.toString()}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
export const initializeResult = {
  jsonrpc: '2.0',
  id: 1,
  result: { protocolVersion: '2025-06-18', capabilities: {}, serverInfo: { name: 'far', version: '1' } },
};

/** A tool call with the given id. */
export function call(id: number, args: object = {}): object {
  return { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'echo', arguments: args } };
}

export function json(response: ServerResponse, message: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(200, { 'Content-Type': 'application/json', ...headers });
  response.end(typeof message === 'string' ? message : JSON.stringify(message));
}

export function events(response: ServerResponse, text = ''): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream' });
  response.flushHeaders();
  if (text !== '') response.write(text);
}

/** A well-behaved server with a session; `handler` receives everything except the handshake and the final DELETE. */
export function sessionful(handler: Handler): Handler {
  return (seen, response, request) => {
    if (seen.message?.method === 'initialize')
      json(response, initializeResult, { 'Mcp-Session-Id': 'session-1' });
    else if (seen.message?.method === 'notifications/initialized') response.writeHead(202).end();
    else if (seen.method === 'DELETE') response.writeHead(200).end();
    else handler(seen, response, request);
  };
}

/** Refuses the server's own stream, as most servers do, and passes everything else on. */
export function withoutStream(handler: Handler): Handler {
  return sessionful((seen, response, request) => {
    if (seen.method === 'GET') response.writeHead(405).end();
    else handler(seen, response, request);
  });
}

/** Opens a transport and initializes it. */
export async function openInitialized(
  target: string | Partial<RemoteTarget>,
  options: Partial<RemoteTransportOptions> = {},
) {
  const rig = open(target, options);
  rig.write(initialize);
  await rig.answer(1);
  rig.write(initialized);
  return rig;
}

export const result = (id: number, value: unknown = {}): object => ({ jsonrpc: '2.0', id, result: value });

/** A message as an event of a stream. */
export const data = (message: unknown): string => `data: ${JSON.stringify(message)}\n\n`;

export const note = (text: string): object => ({
  jsonrpc: '2.0',
  method: 'notifications/message',
  params: { level: 'info', data: text },
});

export const cancelled = (requestId: number): object => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId },
});

/** A server on loopback that does not speak HTTP, or stops halfway. */
export async function serveRaw(connected: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    connected(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}
