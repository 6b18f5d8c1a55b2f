import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { createAddressGuard } from './addresses.ts';
import { createGuardedFetch, type Fetch } from './fetch.ts';

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resume) => server.close(resume));
  }
});

async function serve(answer: RequestListener): Promise<URL> {
  const server = createServer(answer);
  servers.push(server);
  await new Promise<void>((resume) => server.listen(0, '127.0.0.1', resume));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/page?key=secret-in-query`);
}

const fetchFor = (url: URL, signal?: AbortSignal, timeoutMs?: number): Fetch =>
  createGuardedFetch(createAddressGuard(url), signal, timeoutMs);

const unreachable = (why: string): unknown =>
  expect.objectContaining({ code: 'AUTH_UNREACHABLE', message: expect.stringContaining(why) });

test('an answer comes with its status, headers and body', async () => {
  const url = await serve((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += String(chunk)));
    request.on('end', () => {
      response.writeHead(418, { 'x-a': 'b', 'set-cookie': ['c=d', 'e=f'] });
      response.end(`${request.method} ${body} ${String(request.headers.x)}`);
    });
  });
  const answer = await fetchFor(url)(url, {
    method: 'POST',
    headers: { x: 'y' },
    body: new URLSearchParams({ a: 'b c' }),
  });
  expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([418, 'b', 'POST a=b+c y']);
});

test('an answer without a body is one', async () => {
  const url = await serve((_, response) => response.writeHead(204).end());
  expect((await fetchFor(url)(url)).status).toBe(204);
});

test('a redirect is handed back', async () => {
  const url = await serve((_, response) =>
    response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
  );
  expect((await fetchFor(url)(url)).status).toBe(302);
});

test.each<[string, RequestListener]>([
  ['never answers', () => undefined],
  ['never ends its answer', (_, response) => response.writeHead(200).write('{')],
])('a server that %s is given up after a while', async (_, answer) => {
  const url = await serve(answer);
  await expect(fetchFor(url, undefined, 200)(url)).rejects.toEqual(
    unreachable('no complete response within 0.2 s'),
  );
});

test('an answer that is too large is not read to its end', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200);
    const more = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65536, 'x')));
      if (!response.destroyed) response.once('drain', more);
    };
    more();
  });
  await expect(fetchFor(url)(url)).rejects.toEqual(unreachable('larger than'));
});

test('an answer that breaks off is none, and no error shows the query', async () => {
  const url = await serve((_, response) => {
    response.writeHead(200, { 'content-length': 100 });
    response.write('half', () => response.destroy());
  });
  const failure: unknown = await fetchFor(url)(url).catch((error: unknown) => error);
  expect(failure).toEqual(unreachable('failed: '));
  expect((failure as Error).message).not.toContain('secret-in-query');
});

test('of a stream without end only the head is taken where that is enough', async () => {
  const url = await serve((_, response) => response.writeHead(200, { 'x-a': 'b' }).write('data: 1\n\n'));
  const answer = await fetchFor(url)(url, { headOnly: true });
  expect([answer.status, answer.headers.get('x-a'), await answer.text()]).toEqual([200, 'b', '']);
});

test('it stops when it is cancelled', async () => {
  const stop = new AbortController();
  const url = await serve(() => stop.abort());
  await expect(fetchFor(url, stop.signal)(url)).rejects.toEqual(unreachable('cancelled'));
  await expect(fetchFor(url, stop.signal)(url)).rejects.toEqual(unreachable('cancelled'));
});

test('an address is checked again when connecting: a name may resolve differently', async () => {
  const url = await serve((_, response) => response.end('reached'));
  let asked = 0;
  const changing = (): Promise<{ address: string; family: number }[]> =>
    Promise.resolve([{ address: ++asked <= 2 ? '203.0.113.7' : '127.0.0.1', family: 4 }]);
  const guard = createAddressGuard(new URL('https://mcp.example.com/'), changing);
  await expect(createGuardedFetch(guard)(`https://rebinding.example.com:${url.port}/`)).rejects.toMatchObject(
    { code: 'ADDRESS_REFUSED' },
  );
  expect(asked).toBeGreaterThan(2);
});

test('so is that of the typed server itself', async () => {
  let reached = false;
  const url = await serve((_, response) => {
    reached = true;
    response.end();
  });
  let asked = 0;
  const changing = (): Promise<{ address: string; family: number }[]> =>
    Promise.resolve([{ address: ++asked <= 2 ? '203.0.113.7' : '127.0.0.1', family: 4 }]);
  const typed = `http://mcp.example.com:${url.port}/mcp`;
  const fetch = createGuardedFetch(createAddressGuard(new URL(typed), changing));
  await expect(fetch(typed)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' });
  expect(asked).toBeGreaterThan(2);
  expect(reached).toBe(false);
});
