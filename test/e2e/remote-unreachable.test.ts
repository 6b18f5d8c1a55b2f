/** Remote servers that cannot be reached, each with its cause. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../helpers/cleanup.ts';
import { startGateway } from '../helpers/gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import {
  BOUNDED,
  expectClear,
  failure,
  freePort,
  remoteEntry,
  startOddServer,
} from '../helpers/remote-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';

describe('a server that cannot be reached', () => {
  /** A port that takes connections and does as it is told with them. */
  async function plainPort(greet: (socket: Socket) => void): Promise<number> {
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      greet(socket);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atTestEnd(async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    });
    return (server.address() as { port: number }).port;
  }

  test.each(['http', 'sse', 'auto'])('connection refused (%s), then it is there', async (type) => {
    const port = await freePort();
    const { call } = await startGateway({
      far: remoteEntry(`http://127.0.0.1:${port}/${type === 'sse' ? 'sse' : 'mcp'}`, { type }),
    });
    const sentence = failure(await call('far', 'ok', {}));
    expect(sentence).toMatch(
      new RegExp(`cannot be reached at http://127\\.0\\.0\\.1:${port}/.*connection refused`),
    );
    expectClear(sentence, 'far');
    if (type === 'sse') return;
    const server = await startOddServer({ port });
    expect(textOf(await call('far', 'ok', { tag: 'there' }))).toBe('ran there');
    expect(server.ran('there')).toBe(1);
  });

  test('a name that there is not, TLS where there is none, a port that never answers: each with its cause, side by side', async () => {
    const hasty = { timeouts: { childSpawnMs: 1500 } };
    const silent = await plainPort(() => undefined);
    const plain = await plainPort((socket) =>
      socket.once('data', () => socket.end('HTTP/1.0 400 no\r\n\r\n')),
    );
    const { call } = await startGateway({
      nowhere: remoteEntry('http://no-such-host.invalid/mcp', { type: 'http' }),
      nowhereSse: remoteEntry('http://no-such-host.invalid/sse', { type: 'sse' }),
      tls: remoteEntry(`https://127.0.0.1:${plain}/mcp`, { type: 'http' }),
      silent: remoteEntry(`http://127.0.0.1:${silent}/mcp`, { type: 'http', ...hasty }),
      silentSse: remoteEntry(`http://127.0.0.1:${silent}/sse`, { type: 'sse', ...hasty }),
      near: nodeServer('echo'),
    });
    const expected: Record<string, RegExp> = {
      nowhere: /cannot be reached at http:\/\/no-such-host\.invalid\/mcp: (host not found|DNS lookup failed)/,
      nowhereSse: /cannot be reached at http:\/\/no-such-host\.invalid\/sse: /,
      tls: /cannot be reached at https:.*that address does not use TLS/,
      silent: /did not respond to initialize within 1\.\d s/,
      silentSse: /did not respond to initialize within 1\.\d s/,
    };
    const answers = await Promise.all(
      Object.keys(expected).map((name) => call(name, 'ok', {}, { deadline: BOUNDED })),
    );
    for (const [index, [name, says]] of Object.entries(expected).entries()) {
      const sentence = failure(answers[index]!);
      expect(sentence).toMatch(says);
      expectClear(sentence, name);
    }
    expect(textOf(await call('near', 'echo', { text: 'here' }))).toBe('here');
  });

  test('an SSE server that names an address of another origin for messages gets none, and neither does that', async () => {
    const elsewhere = await startOddServer();
    const server = await startOddServer({ endpoint: `${elsewhere.origin}/message` });
    const { call, client } = await startGateway({
      far: remoteEntry(`${server.origin}/sse`, { type: 'sse', headers: { 'X-Key': 'not-for-strangers' } }),
    });
    const sentence = failure(await call('far', 'ok', {}));
    expect(sentence).toContain(elsewhere.origin);
    expectClear(sentence, 'far');
    expect(elsewhere.requests).toEqual([]);
    expect(server.requests.every(({ method }) => method === 'GET')).toBe(true);
    await client.close();
    expect(client.stderr).not.toContain('not-for-strangers');
  });

  test('an address where something else lives: what was answered is said, for auto to both attempts', async () => {
    const server = await startOddServer({
      before: (_request, response) => {
        response.writeHead(404, { 'content-type': 'text/html' }).end('<h1>Not \u001b[1mFound</h1>');
        return true;
      },
    });
    const { call } = await startGateway({
      http: remoteEntry(server.url, { type: 'http' }),
      sse: remoteEntry(server.url, { type: 'sse' }),
      auto: remoteEntry(server.url),
    });
    for (const name of ['http', 'sse', 'auto']) {
      const sentence = failure(await call(name, 'ok', {}));
      expect(sentence).toMatch(/HTTP 404 \(.*Found/);
      expectClear(sentence, name);
      if (name === 'auto') expect(sentence).toMatch(/Streamable HTTP with HTTP 404.*HTTP\+SSE with HTTP 404/);
    }
  });
});
