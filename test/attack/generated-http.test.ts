/**
 * HTTP requests of any shape, written byte by byte: nothing but a request with a valid token, a host of this machine and
 * no foreign origin is let in.
 */
import fc from 'fast-check';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { tryGenerated } from '../helpers/generated.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, TOKEN } from '../helpers/http-gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { openFiles, rss } from '../helpers/resources.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const BODY = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const RIGHT_TOKEN = `Authorization: Bearer ${TOKEN}`;
const RIGHT_HOST = 'Host: 127.0.0.1:$port';

/** One of each kind of line, now and then none or two. */
const lines = (...choices: readonly [string, ...string[]]): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...choices).map((line) => [line]) },
    { weight: 1, arbitrary: fc.constant<string[]>([]) },
    { weight: 1, arbitrary: fc.array(fc.constantFrom(...choices), { minLength: 2, maxLength: 3 }) },
  );

const someRequest = fc.record({
  method: fc.constantFrom('POST', 'POST', 'GET', 'DELETE', 'OPTIONS', 'HEAD', 'PUT', 'TRACE', 'post', 'BREW'),
  path: fc.constantFrom(
    ...[
      '/mcp',
      '/mcp',
      '/sse',
      '/message?sessionId=x',
      '/status',
      '/healthz',
      '/readyz',
      '/',
      '//mcp',
      '/mcp/',
      '/%6dcp',
      '*',
    ],
    ...['/mcp/../healthz', 'http://127.0.0.1/mcp', 'http://evil.test/mcp', `/${'x'.repeat(20_000)}`],
  ),
  headers: fc
    .tuple(
      lines(
        RIGHT_HOST,
        RIGHT_HOST,
        'Host: localhost:$port',
        'Host: evil.test',
        'Host: 127.0.0.1.evil.test:$port',
        'Host:',
      ),
      lines(
        ...[RIGHT_TOKEN, RIGHT_TOKEN, `authorization:bearer ${TOKEN}`, `Authorization: Bearer ${TOKEN}x`],
        ...[
          `Authorization: Basic ${TOKEN}`,
          'Authorization: Bearer',
          `Authorization: ${TOKEN}`,
          `X-Token: ${TOKEN}`,
        ],
      ),
      lines(
        'X-Nothing: 1',
        'X-Nothing: 1',
        'Origin: https://evil.test',
        'Origin: null',
        'Origin:',
        'Origin: http://localhost',
      ),
      lines(
        'Content-Type: application/json',
        'Content-Type: text/plain',
        'Content-Type: application/json; charset=x',
      ),
      lines('Accept: application/json, text/event-stream', 'Accept: */*', 'Accept: text/html'),
      lines(
        `Content-Length: ${BODY.length}`,
        'Content-Length: 5',
        'Content-Length: -1',
        'Transfer-Encoding: chunked',
      ),
      lines(
        'X-Nothing: 2',
        'Expect: 100-continue',
        'Upgrade: websocket',
        'Mcp-Session-Id: x',
        'Content-Encoding: gzip',
        ' folded: x',
        'bad header',
        `X: ${'y'.repeat(20_000)}`,
      ),
    )
    .map((parts) => parts.flat()),
  newline: fc.constantFrom('\r\n', '\r\n', '\r\n', '\n'),
});

/** What no client from elsewhere can have right. */
function isAllowed(headers: readonly string[]): boolean {
  const has = (pattern: RegExp): boolean => headers.some((line) => pattern.test(line));
  const foreign = has(/^origin: *\S/i);
  return (
    has(new RegExp(`^authorization: ?bearer ${TOKEN}$`, 'i')) &&
    has(/^Host: (127\.0\.0\.1|localhost):\$port$/) &&
    !foreign
  );
}

/** The status of the first response; 0 where the connection ends without any. */
function statusOf(port: number, bytes: string): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      resolve(Number(/^HTTP\/1\.1 ((?!100)\d+)/m.exec(text)?.[1] ?? 0));
      socket.destroy();
    };
    // A request that is not complete is waited for; a short while is enough to see that it is not served.
    const timer = setTimeout(done, 200);
    socket.on('data', (chunk) => {
      text += String(chunk);
      if (/^HTTP\/1\.1 (?!100)\d+/m.test(text)) done();
    });
    socket.on('error', done).on('close', done);
  });
}

test('only a request with a token, a host of this machine and no foreign origin is served', async () => {
  const gateway = await startHttpGateway({ echo: nodeServer('echo') });
  const { port, pid } = gateway;
  const session = await HttpSession.open(gateway);
  const innocent = async (text: string): Promise<void> => {
    const answer = await session.call('echo_suite', { action: 'call', subtool: 'echo', args: { text } });
    expect(textOf(answer)).toBe(text);
  };
  await innocent('first');
  const before = { files: openFiles(pid), memory: rss(pid) };
  let count = 0;
  await tryGenerated(someRequest, async ({ method, path, headers, newline }) => {
    const head = [`${method} ${path} HTTP/1.1`, ...headers].join(newline).replaceAll('$port', String(port));
    const status = await statusOf(port, `${head}${newline}${newline}${BODY}`);
    if (!isAllowed(headers)) expect(status < 200 || status >= 300, `${status} for ${head}`).toBe(true);
    expect(status, head).not.toBe(500);
    if (++count % 50 === 0) await innocent(`call ${count}`);
  });
  await innocent('last');
  expect(gateway.stderr).not.toContain(TOKEN);
  await until(() => openFiles(pid) <= before.files + 2, {
    deadline: 30_000,
    what: 'all connections to be closed',
    seen: () => `${openFiles(pid)} open files instead of ${before.files}`,
  });
  expect(rss(pid) - before.memory).toBeLessThan(96);
});
