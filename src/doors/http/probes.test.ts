import { expect, test } from 'vitest';
import { openTestDoor } from './door.cases.ts';

test('probes are answered without a token, under any name, and learn one word', async () => {
  const { request } = await openTestDoor();
  const stranger = { authorization: undefined, host: '10.1.2.3:3006' } as unknown as Record<string, string>;
  const ask = (path: string, method = 'GET') => request({ path, method, headers: stranger });
  const [alive, ready] = [await ask('/healthz'), await ask('/readyz')];
  expect([alive.status, alive.json]).toEqual([200, { status: 'ok' }]);
  expect([ready.status, ready.json]).toEqual([200, { status: 'ready' }]);
  expect(ready.headers).toMatchObject({ connection: 'close', 'cache-control': 'no-store' });
  expect((await ask('/readyz?verbose')).status).toBe(200);
  const posted = await ask('/healthz', 'POST');
  expect([posted.status, posted.headers.allow]).toEqual([405, 'GET, HEAD']);
  for (const path of ['/healthz/', '/readyz/x', '/status']) expect((await ask(path)).status).toBe(403);
});

test('a gateway that waits for something else is not ready, and alive all the same', async () => {
  let reason: string | undefined = 'store';
  const { request } = await openTestDoor({ notReady: () => reason });
  const refused = await request({ path: '/readyz' });
  expect([refused.status, refused.json, refused.headers['retry-after']]).toEqual([
    503,
    { status: 'store' },
    '5',
  ]);
  expect((await request({ path: '/healthz' })).json).toEqual({ status: 'ok' });
  reason = undefined;
  expect((await request({ path: '/readyz' })).status).toBe(200);
});
