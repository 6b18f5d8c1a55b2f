import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { expect, onTestFinished, test } from 'vitest';
import { openTestDoor, progress, fromServer, TOKEN } from './door.cases.ts';

const requestInit = { headers: { authorization: `Bearer ${TOKEN}` } };

test.each([
  ['Streamable HTTP', '/mcp', (url: URL) => new StreamableHTTPClientTransport(url, { requestInit })],
  // eslint-disable-next-line @typescript-eslint/no-deprecated -- hosts that have nothing newer use it
  ['HTTP+SSE', '/sse', (url: URL) => new SSEClientTransport(url, { requestInit })],
])('the client that most hosts use gets along with %s', async (_name, path, transportFor) => {
  const { door, nextCall } = await openTestDoor();
  const client = new Client({ name: 'test', version: '0' }, { capabilities: { sampling: {} } });
  onTestFinished(() => client.close());
  client.setRequestHandler(CreateMessageRequestSchema, () => ({
    model: 'm',
    role: 'assistant' as const,
    content: { type: 'text' as const, text: 'sampled' },
  }));
  const changed = new Promise<void>((resolve) => {
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve());
  });
  await client.connect(transportFor(new URL(path, door.url)));
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['hold']);

  const seen: number[] = [];
  let heard: () => void = () => undefined;
  const reported = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const result = client.callTool({ name: 'hold', arguments: {} }, undefined, {
    onprogress: (report) => {
      seen.push(report.progress);
      heard();
    },
  });
  const call = await nextCall();
  const { params } = JSON.parse(call.request.toString());
  call.notify(progress(params._meta.progressToken, 7), []);
  await reported;
  const sampled = await new Promise<string>((resolve) => {
    const question = { messages: [], maxTokens: 1 };
    call.session.client.ask(fromServer({ id: 1, method: 'sampling/createMessage', params: question }), {
      answered: (answer) => resolve(answer.toString()),
      unanswered: (why) => resolve(why),
    });
  });
  expect(sampled).toContain('"sampled"');
  call.session.client.notify('notifications/tools/list_changed');
  await changed;
  call.succeed({ content: [{ type: 'text', text: 'done' }] });
  expect(await result).toEqual({ content: [{ type: 'text', text: 'done' }] });
  expect(seen).toEqual([7]);
});

test('it resumes a stream that broke, and ends its session', async () => {
  const { door, nextCall } = await openTestDoor({ timeouts: { tickMs: 10, silenceMs: 20 } });
  const client = new Client({ name: 'test', version: '0' });
  onTestFinished(() => client.close());
  let tellBroken: () => void = () => undefined;
  const broke = new Promise<void>((resolve) => {
    tellBroken = resolve;
  });
  let broken = false;
  const transport = new StreamableHTTPClientTransport(new URL(door.url), {
    requestInit,
    reconnectionOptions: {
      initialReconnectionDelay: 10,
      maxReconnectionDelay: 50,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 5,
    },
    // The first stream that answers a call loses its connection after its first bytes.
    fetch: async (url, init) => {
      const response = await fetch(url, init);
      const isStream = response.headers.get('content-type') === 'text/event-stream';
      if (init?.method !== 'POST' || !isStream || broken || response.body === null) return response;
      broken = true;
      tellBroken();
      const reader = response.body.getReader();
      const cut = new ReadableStream<Uint8Array>({
        async start(controller) {
          const { value } = await reader.read();
          if (value) controller.enqueue(value);
          await reader.cancel();
          controller.error(new Error('The connection broke'));
        },
      });
      return new Response(cut, { status: 200, headers: response.headers });
    },
  });
  await client.connect(transport);
  const result = client.callTool({ name: 'hold', arguments: {} });
  const call = await nextCall();
  await broke;
  call.succeed({ content: [{ type: 'text', text: 'at last' }] });
  expect(await result).toEqual({ content: [{ type: 'text', text: 'at last' }] });
  await transport.terminateSession();
  expect(door.sessions).toBe(0);
});
