import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  overHttp,
  overStdio,
  parsedText,
  scratchFile,
  startModernServer,
  TestClient,
} from '../modern/modern.cases.ts';
import { serve } from '../http/remote-transport.cases.ts';
import { erasOf } from './negotiate.ts';
import type { UpstreamServer } from '../server.ts';

const MODERN = '2026-07-28';
const methodsIn = (file: string): string[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { method: string }).method);

describe('a program', () => {
  test('that refuses initialize and names the modern version is discovered, in the same process', async () => {
    const journal = scratchFile('journal');
    const { source } = overStdio([`--journal=${journal}`]);
    await source.start();
    expect(source.about()).toEqual({
      protocolVersion: MODERN,
      serverInfo: { name: 'modern', version: '1.0.0' },
      capabilities: expect.objectContaining({ tools: { listChanged: true } }),
      instructions: 'Be modern.',
    });
    expect(methodsIn(journal).slice(0, 2)).toEqual(['initialize', 'server/discover']);
    expect((await source.list('tools')).byKey.has('ask')).toBe(true);
    const read = await new TestClient().send(source, 'resources/read', { uri: 'mem://one' }).answer;
    expect(read.result.contents[0].text).toBe('text of mem://one');
  });

  test('that does not know initialize at all is discovered too', async () => {
    const { source } = overStdio(['--initialize=unknown']);
    await source.start();
    expect(source.about()?.protocolVersion).toBe(MODERN);
  });

  test('that knows both eras gets the handshake', async () => {
    const { source } = overStdio(['--initialize=accept']);
    await source.start();
    expect(source.about()?.serverInfo).toEqual({ name: 'older', version: '1' });
  });

  test('that knows neither fails with what it said to initialize', async () => {
    const { source } = overStdio(['--initialize=unknown', '--discover=unknown']);
    await expect(source.start()).rejects.toThrow(/refused initialize: "Method not found: initialize"\./);
  });

  test('that refuses initialize and is silent to discover fails in bounded time', async () => {
    const { source } = overStdio(['--initialize=unknown', '--discover=silent'], {
      timeouts: { childSpawnMs: 6000 },
    });
    await expect(source.start()).rejects.toThrow(/refused initialize/);
  });

  test('is tried first as it was in its last run', async () => {
    const journal = scratchFile('journal');
    const { source, log, starts } = overStdio([`--journal=${journal}`]);
    await source.start();
    await source.fail(new Error('for the test'));
    await source.start();
    expect(starts()).toBe(2);
    const handshakes = methodsIn(journal).filter((method) => /initialize|discover/.test(method));
    expect(handshakes).toEqual(['initialize', 'server/discover', 'server/discover']);
    expect(log.join('')).not.toContain('another protocol version');
  });

  test('is tried first as it was in an earlier run', async () => {
    const journal = scratchFile('journal');
    const recalled = { protocolVersion: MODERN, serverInfo: {}, capabilities: {}, instructions: undefined };
    const { source } = overStdio([`--journal=${journal}`], { recalled });
    await source.start();
    expect(methodsIn(journal)[0]).toBe('server/discover');
  });

  test.each([
    ['modern', 'legacy', 'older'],
    ['legacy', 'modern', 'modern'],
  ])('that was %s and is %s now is found out, and told of', async (before, after, name) => {
    const eras = scratchFile('eras');
    writeFileSync(eras, before);
    const { source, log } = overStdio([`--eras=${eras}`]);
    await source.start();
    writeFileSync(eras, after);
    await source.fail(new Error('for the test'));
    await source.start();
    expect(source.about()?.serverInfo.name).toBe(name);
    expect(log.filter((line) => line.includes('speaks another protocol version now'))).toHaveLength(1);
  });

  test('that is remembered as modern and does not answer discover any more gets the handshake', async () => {
    const recalled = { protocolVersion: MODERN, serverInfo: {}, capabilities: {}, instructions: undefined };
    const { source } = overStdio(['--initialize=accept', '--discover=silent'], {
      recalled,
      timeouts: { childSpawnMs: 6000 },
    });
    await source.start();
    expect(source.about()?.serverInfo.name).toBe('older');
  });
});

test('a program that is remembered as modern and starts slowly is found to be modern still', async () => {
  const recalled = { protocolVersion: MODERN, serverInfo: {}, capabilities: {}, instructions: undefined };
  const { source, log } = overStdio(['--slow-start=3000'], { recalled, timeouts: { childSpawnMs: 8000 } });
  await source.start();
  expect(source.about()?.protocolVersion).toBe(MODERN);
  expect(log.join('')).not.toContain('another protocol version');
}, 15_000);

describe('a remote server', () => {
  test.each(['http', 'auto'] as const)('is asked the modern way first (%s)', async (transport) => {
    const endpoint = await startModernServer();
    const { source } = overHttp(endpoint.url, { transport });
    await source.start();
    expect(source.about()?.protocolVersion).toBe(MODERN);
    expect(endpoint.seen[0]).toMatchObject({
      method: 'POST',
      headers: { 'mcp-protocol-version': MODERN, 'mcp-method': 'server/discover' },
      message: { method: 'server/discover' },
    });
    expect(endpoint.seen.some(({ message }) => message?.method === 'initialize')).toBe(false);
  });

  test('of both eras is spoken to in the modern one', async () => {
    const endpoint = await startModernServer({ initialize: 'accept' });
    const { source } = overHttp(endpoint.url);
    await source.start();
    expect(source.about()?.protocolVersion).toBe(MODERN);
  });

  test.each([
    [
      'an error of any other code',
      400,
      'application/json',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No session"}}',
    ],
    ['an empty refusal', 404, 'text/plain', ''],
    ['a page', 200, 'text/html', '<html></html>'],
    ['a result that is none', 200, 'application/json', '{"jsonrpc":"2.0","id":1,"result":{}}'],
    [
      'a modern error that names an older version',
      400,
      'application/json',
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2025-11-25"]}}}',
    ],
  ])('that answers with %s gets the handshake', async (_, status, type, body) => {
    const endpoint = await serve(({ message, method }, response) => {
      if (method !== 'POST') response.writeHead(405).end();
      else if (message.method === 'server/discover')
        response.writeHead(status, { 'content-type': type }).end(body);
      else if (message.method === 'initialize')
        response
          .writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 's1' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: OLDER }));
      else response.writeHead(202).end();
    });
    const { source } = overHttp(endpoint.url);
    await source.start();
    expect(source.about()?.serverInfo.name).toBe('older');
    expect(endpoint.seen.find(({ message }) => message?.method === 'initialize')?.headers).not.toHaveProperty(
      'mcp-method',
    );
  });

  test('that is silent gets the handshake after a part of its time', async () => {
    const endpoint = await startModernServer({
      initialize: 'accept',
      silent: (message) => message.method === 'server/discover',
    });
    const { source } = overHttp(endpoint.url, { timeouts: { childSpawnMs: 6000 } });
    await source.start();
    expect(source.about()?.serverInfo.name).toBe('older');
  });

  test.each([-32020, -32021])(
    'that answers with the modern error %d is not asked otherwise',
    async (code) => {
      const endpoint = await serve(({ message }, response) => {
        response
          .writeHead(400, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error: { code, message: 'Not so' } }));
      });
      const { source } = overHttp(endpoint.url);
      await expect(source.start()).rejects.toThrow(/refused server\/discover: "Not so"\./);
      expect(endpoint.seen).toHaveLength(1);
    },
  );

  test('of a version that nobody knows yet is told as such', async () => {
    const endpoint = await serve(({ message }, response) => {
      const error = { code: -32022, message: 'no', data: { supported: ['2031-01-01'] } };
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id: message.id, error }));
    });
    const { source } = overHttp(endpoint.url);
    await expect(source.start()).rejects.toThrow(/"2031-01-01", which Switchboard does not support/);
  });

  test('that cannot be reached is tried once', async () => {
    const endpoint = await startModernServer();
    await endpoint.close();
    const { source } = overHttp(endpoint.url);
    await expect(source.start()).rejects.toMatchObject({ code: 'START_FAILED' });
    await expect(source.start()).rejects.toThrow(/connection refused/);
  });

  test('that is remembered as older and is modern now is found out', async () => {
    const endpoint = await startModernServer();
    const recalled = {
      protocolVersion: '2025-11-25',
      serverInfo: {},
      capabilities: {},
      instructions: undefined,
    };
    const { source, log } = overHttp(endpoint.url, { recalled, transport: 'auto' });
    await source.start();
    expect(endpoint.seen[0]?.message.method).toBe('initialize');
    expect(source.about()?.protocolVersion).toBe(MODERN);
    expect(log.join('')).toContain('speaks another protocol version now');
    expect(parsedText(await new TestClient().tool(source, 'params').answer)).toHaveProperty('_meta');
  });
});

const OLDER = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  serverInfo: { name: 'older', version: '1' },
};

test('a server that is configured as SSE, or was found to be, is never asked the modern way', () => {
  const server = (transport: 'auto' | 'http' | 'sse'): UpstreamServer =>
    ({ target: { kind: 'remote', transport } }) as UpstreamServer;
  const unknown = { wanted: undefined, last: undefined, support: {} };
  expect(erasOf(server('sse'), { ...unknown, wanted: 'modern' })).toEqual(['legacy']);
  expect(erasOf(server('auto'), { ...unknown, transport: 'sse' })).toEqual(['legacy']);
  expect(erasOf(server('auto'), { ...unknown, last: 'legacy', transport: 'http' })).toEqual([
    'legacy',
    'modern',
  ]);
  expect(erasOf(server('http'), unknown)).toEqual(['modern', 'legacy']);
});
