import { expect, test } from 'vitest';
import { initializeRequest, openTestDoor, type TestDoor } from './door.cases.ts';

const TRAIL = { header: 'x-path', self: 'me-1' };

const begin = (test: TestDoor, path: string) =>
  test.post('', initializeRequest(), { headers: { 'mcp-session-id': undefined, 'x-path': path } });

test('a gateway that is its own client is refused, by whatever detour it comes', async () => {
  const test = await openTestDoor({ loopGuard: TRAIL });
  for (const path of ['me-1', 'a, me-1', 'me-1,b,c']) {
    const reply = await begin(test, path);
    expect([reply.status, reply.json.id]).toEqual([508, 0]);
    expect(reply.json.error.message).toContain('its own servers');
    expect((await test.request({ path: '/sse', headers: { 'x-path': path } })).status).toBe(508);
  }
  expect(test.clients.opened).toBe(0);
});

test('it takes nobody else the place', async () => {
  const test = await openTestDoor({ loopGuard: TRAIL, limits: { sessions: 1 }, timeouts: { evictMs: 0 } });
  const session = await test.startSession();
  expect((await begin(test, 'me-1')).status).toBe(508);
  expect((await test.post(session, { jsonrpc: '2.0', id: 1, method: 'ping' })).status).toBe(200);
});

test('a chain of gateways that does not end is refused', async () => {
  const test = await openTestDoor({ loopGuard: TRAIL });
  const path = (length: number): string => Array.from({ length }, (_, n) => `g${n}`).join(', ');
  expect((await begin(test, path(8))).status).toBe(200);
  expect((await begin(test, path(9))).status).toBe(508);
});

test('the core is told of the gateways before a client, and of nothing that is no name', async () => {
  const test = await openTestDoor({ loopGuard: TRAIL });
  await begin(test, 'a ,b-2, ,{x},"me-1"');
  await test.startSession();
  await test.open({ path: '/sse', headers: { 'x-path': 'c' } });
  expect(test.gatewayPath).toEqual([['a', 'b-2'], [], ['c']]);
});
