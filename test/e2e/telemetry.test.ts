/** Traces as a receiver gets them, and the trace context on its way from clients to servers. */
import { createServer, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, TOKEN, type HttpGateway } from '../helpers/http-gateway.ts';
import { startOtlpReceiver, type OtlpReceiver, type ReceivedSpan } from '../helpers/otlp-receiver.ts';
import { textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { startScriptedHttp } from '../servers/scripted-http.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';
const FROM_META = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=one,other=two' };
const OTHER_TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const JSON_OVER_HTTP = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };

type Servers = Parameters<typeof startHttpGateway>[0];

function startTraced(
  servers: Servers,
  receiver: OtlpReceiver,
  more: { env?: Record<string, string>; telemetry?: object; config?: object } = {},
): Promise<HttpGateway> {
  const telemetry = { endpoint: receiver.endpoint, ...more.telemetry };
  return startHttpGateway(servers, {
    config: { exposure: 'flat', naming: 'plain', telemetry, ...more.config },
    env: { ...JSON_OVER_HTTP, ...more.env },
  });
}

/** Ends the gateway, which sends what is left, and gives the spans. */
async function spansOf(gateway: HttpGateway, receiver: OtlpReceiver): Promise<ReceivedSpan[]> {
  await gateway.stop();
  return receiver.spans;
}

const calls = (spans: readonly ReceivedSpan[]): ReceivedSpan[] =>
  spans.filter(({ kind, attributes }) => kind === 2 && attributes['mcp.method.name'] === 'tools/call');
const below = (spans: readonly ReceivedSpan[], { spanId }: ReceivedSpan): ReceivedSpan[] =>
  spans.filter(({ parentSpanId }) => parentSpanId === spanId);

test('a call is a span in the trace of its client, with spans below it for the wait and the server', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startTraced(
    { odd: nodeServer('odd-fields'), slow: nodeServer('slow-start', '--idle-ms=700') },
    receiver,
    { config: { exposure: 'suite' } },
  );
  const session = await HttpSession.open(gateway);
  const params = {
    name: 'odd_suite',
    arguments: { action: 'call', subtool: 'as_received', args: { secret: 'hush-hush' } },
    _meta: { 'vendor.example/x': { n: 1 }, ...FROM_META, progressToken: 'p', baggage: 'user=alice' },
  };
  const seen = requestIn(await session.request('tools/call', params));
  textOf(await session.call('slow_suite', { action: 'call', subtool: 'echo', args: { text: 'x' } }));
  const spans = await spansOf(gateway, receiver);
  const [first, second] = calls(spans);
  expect(first).toMatchObject({
    ...{ traceId: TRACE, parentSpanId: PARENT, name: 'tools/call as_received', status: 0 },
    attributes: {
      'gen_ai.tool.name': 'as_received',
      'gen_ai.operation.name': 'execute_tool',
      'switchboard.server': 'odd',
    },
  });
  const server = below(spans, first!).find(({ kind }) => kind === 3)!;
  expect(server).toMatchObject({ traceId: TRACE, name: 'tools/call as_received' });
  // The server is told of the span that waits for it, and gets everything else as it was.
  expect(seen.params._meta).toMatchObject({
    traceparent: `00-${TRACE}-${server.spanId}-01`,
    ...{ tracestate: FROM_META.tracestate, baggage: 'user=alice', 'vendor.example/x': { n: 1 } },
  });
  expect(second!.traceId).not.toBe(TRACE);
  expect(below(spans, second!).map(({ name }) => name)).toEqual(['wait for server', 'tools/call echo']);
  expect(receiver.requests[0]?.service).toBe('switchboard');
  for (const private_ of ['hush-hush', 'alice', TOKEN]) expect(JSON.stringify(spans)).not.toContain(private_);
});

test('what fails is an error, with its kind', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startTraced({ echo: nodeServer('echo') }, receiver);
  const session = await HttpSession.open(gateway);
  await session.call('fail', {});
  await session.call('reject', {});
  await session.call('no_such_tool', {});
  const spans = await spansOf(gateway, receiver);
  expect(calls(spans).map(({ status, attributes }) => [status, attributes['error.type']])).toEqual([
    [2, 'tool_error'],
    [2, 'error'],
    [2, 'TOOL_UNKNOWN'],
  ]);
});

test('the context of HTTP headers is used where the message has none, and linked where it has one', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startTraced({ odd: nodeServer('odd-fields') }, receiver);
  const session = await HttpSession.open(gateway);
  const traceparent = `00-${OTHER_TRACE}-00f067aa0ba902b7-01`;
  const call = async (id: number, meta?: object): Promise<void> => {
    const params = { name: 'members', arguments: {}, ...(meta === undefined ? {} : { _meta: meta }) };
    const response = await fetch(gateway.url, {
      method: 'POST',
      headers: session.headers({
        ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        traceparent,
      }),
      body: JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params }),
    });
    await response.text();
  };
  await call(1);
  await call(2, FROM_META);
  await call(3, { traceparent: 'nonsense' });
  const [byHeader, byMeta, broken] = calls(await spansOf(gateway, receiver));
  expect(byHeader).toMatchObject({ traceId: OTHER_TRACE, parentSpanId: '00f067aa0ba902b7', links: [] });
  expect(byMeta).toMatchObject({ traceId: TRACE, parentSpanId: PARENT, links: ['00f067aa0ba902b7'] });
  expect(broken!.traceId).toMatch(/^[0-9a-f]{32}$/);
});

test.each([
  ['2025-11-25', false],
  ['2026-07-28', true],
])(
  'a remote server of %s gets it in headers and in _meta, from clients of both kinds',
  async (_version, modern) => {
    const receiver = await startOtlpReceiver();
    const remote = await recording(await startScriptedHttp({ modern, events: false }));
    const gateway = await startTraced({ remote: { type: 'http', url: remote.url } as never }, receiver);
    const session = await HttpSession.open(gateway);
    const meta = { 'vendor.example/x': 1, ...FROM_META };
    expect(
      textOf(await session.request('tools/call', { name: 'echo', arguments: { text: 'a' }, _meta: meta })),
    ).toBe('a');
    const answer = await fetch(gateway.url, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...{ accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2026-07-28' },
        ...{ 'mcp-method': 'tools/call', 'mcp-name': 'echo' },
      },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 9, method: 'tools/call' },
        params: { name: 'echo', arguments: { text: 'b' }, _meta: { ...ENVELOPE, ...meta } },
      }),
    });
    expect(await answer.text()).toContain('"b"');
    const spans = await spansOf(gateway, receiver);
    const toServer = spans.filter(({ kind, name }) => kind === 3 && name === 'tools/call echo');
    const seen = remote.requests.filter(({ body }) => body.method === 'tools/call');
    expect([toServer.length, seen.length]).toEqual([2, 2]);
    for (const [index, { headers, body }] of seen.entries()) {
      const traceparent = `00-${TRACE}-${toServer[index]!.spanId}-01`;
      expect(headers).toMatchObject({ traceparent, tracestate: FROM_META.tracestate });
      expect(body.params._meta).toMatchObject({ traceparent, 'vendor.example/x': 1 });
    }
  },
);

test('Protobuf is the default, the standard variables apply, and a client may ask not to be recorded', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startHttpGateway(
    { odd: nodeServer('odd-fields') },
    {
      config: { exposure: 'flat', naming: 'plain', telemetry: true },
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
        OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=blue',
        OTEL_SERVICE_NAME: 'tools-gateway',
      },
    },
  );
  const session = await HttpSession.open(gateway);
  const unrecorded = { traceparent: `00-${OTHER_TRACE}-${PARENT}-00` };
  const seen = await session.request('tools/call', { name: 'as_received', arguments: {}, _meta: unrecorded });
  expect(requestIn(seen).params._meta.traceparent).toMatch(new RegExp(`^00-${OTHER_TRACE}-[0-9a-f]{16}-00$`));
  await session.request('tools/call', { name: 'members', arguments: {}, _meta: FROM_META });
  const spans = await spansOf(gateway, receiver);
  expect(calls(spans).map(({ traceId, name }) => [traceId, name])).toEqual([[TRACE, 'tools/call members']]);
  const { headers, service } = receiver.requests[0]!;
  expect([headers['content-type'], headers['x-tenant'], service]).toEqual([
    'application/x-protobuf',
    'blue',
    'tools-gateway',
  ]);
});

test('a receiver that is away costs calls nothing, is logged, and does not delay the end', async () => {
  const receiver = await startOtlpReceiver();
  const gateway = await startTraced({ echo: nodeServer('echo') }, receiver, {
    telemetry: { endpoint: 'http://127.0.0.1:9' },
    env: { OTEL_EXPORTER_OTLP_TIMEOUT: '300' },
  });
  const session = await HttpSession.open(gateway);
  for (let n = 0; n < 50; n++)
    expect(textOf(await session.call('echo', { text: String(n) }))).toBe(String(n));
  await until(() => / warn +traces are lost reason=/.test(gateway.stderr), {
    what: 'the warning',
    deadline: 30_000,
    seen: () => gateway.stderr,
  });
  expect(await gateway.stop()).toEqual({ code: 0, signal: null });
});

/** The request that as_received gives back, where ids are words in parentheses. */
function requestIn(answer: Parameters<typeof textOf>[0]): any {
  return JSON.parse(textOf(answer).replaceAll(/"?\((?:id|token)\)"?/g, '0'));
}

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

interface Recorded {
  readonly headers: IncomingHttpHeaders;
  readonly body: any;
}

/** Stands before a server and notes what it is sent. */
async function recording(server: {
  url: string;
  close(): Promise<void>;
}): Promise<{ url: string; requests: Recorded[] }> {
  const requests: Recorded[] = [];
  const front = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      if (body.length > 0) requests.push({ headers: request.headers, body: JSON.parse(body.toString()) });
      const { method = 'GET', headers } = request;
      const onward = httpRequest(server.url, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      onward.end(body);
    });
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    front.closeAllConnections();
    front.close();
    await server.close();
  });
  return { url: `http://127.0.0.1:${(front.address() as AddressInfo).port}/mcp`, requests };
}
