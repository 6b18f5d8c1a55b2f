import { queryObjects } from 'node:v8';
import { expect, test, vi } from 'vitest';
import { SseSession } from './sse-session.ts';
import { holdCall, initializeRequest, openTestDoor, type EventReader, type TestDoor } from './door.cases.ts';

const READY = { jsonrpc: '2.0', method: 'notifications/initialized' };

async function arrive(test: TestDoor): Promise<{ events: EventReader; path: string }> {
  const events = await test.open({ path: '/sse', headers: { accept: 'text/event-stream' } });
  const endpoint = (await events.next())!;
  expect(endpoint.event).toBe('endpoint');
  return { events, path: endpoint.data! };
}

const send = (test: TestDoor, path: string, message: object) =>
  test.request({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });

test('an HTTP+SSE client learns where to post, and gets everything on its stream', async () => {
  const test = await openTestDoor();
  const { events, path } = await arrive(test);
  expect(path).toMatch(/^\/message\?sessionId=[\w-]{22,}$/);
  const reply = await send(test, path, initializeRequest('2024-11-05'));
  expect([reply.status, reply.text]).toEqual([202, '']);
  const initialize = (await events.next())!;
  expect(initialize.event).toBe('message');
  expect(initialize.json.result.protocolVersion).toBe('2024-11-05');
  await send(test, path, READY);
  await send(test, path, holdCall('x'));
  const call = await test.nextCall();
  call.session.client.notify('notifications/tools/list_changed');
  call.succeed({ big: 'é'.repeat(100_000) });
  expect((await events.next())!.json.method).toBe('notifications/tools/list_changed');
  expect((await events.next())!.json).toMatchObject({ id: 'x', result: { big: 'é'.repeat(100_000) } });
});

test('its session ends with its stream', async () => {
  const test = await openTestDoor();
  const { events, path } = await arrive(test);
  await send(test, path, initializeRequest());
  await events.next();
  await send(test, path, READY);
  await send(test, path, holdCall(1));
  await test.nextCall();
  const left = new Promise<void>((resolve) => {
    const look = (): void => {
      if (test.door.sessions === 0) resolve();
      else setTimeout(look, 5);
    };
    look();
  });
  events.hangUp();
  await left;
  expect(test.clients).toEqual({ opened: 1, closed: 1 });
  expect((await send(test, path, READY)).status).toBe(404);
});

test('nothing is kept of clients that have left', async () => {
  const test = await openTestDoor();
  for (let client = 0; client < 10; client++) {
    const { events, path } = await arrive(test);
    await send(test, path, initializeRequest());
    await events.next();
    events.hangUp();
    await vi.waitUntil(() => test.door.sessions === 0);
  }
  // The last one may still be in use.
  expect(queryObjects(SseSession) as number).toBeLessThan(3);
});

test('a body that is not a message is refused, and so is an unknown session', async () => {
  const test = await openTestDoor();
  const { path } = await arrive(test);
  expect((await send(test, path, [])).status).toBe(400);
  expect((await test.request({ method: 'POST', path, body: '{}' })).status).toBe(415);
  expect((await send(test, '/message', READY)).status).toBe(400);
  expect((await send(test, '/message?sessionId=nobody', READY)).status).toBe(404);
  const wanting = { accept: 'application/json' };
  expect((await test.request({ path: '/sse', headers: wanting })).status).toBe(406);
});

test('the id of a session is worth nothing at the other address', async () => {
  const test = await openTestDoor();
  const { path } = await arrive(test);
  const sse = path.split('=')[1]!;
  const streamable = await test.startSession();
  expect((await test.post(sse, READY)).status).toBe(404);
  expect((await send(test, `/message?sessionId=${streamable}`, READY)).status).toBe(404);
});

test('comments keep a silent stream alive', async () => {
  const test = await openTestDoor({ timeouts: { tickMs: 10, keepAliveMs: 20 } });
  const { events } = await arrive(test);
  await events.until(() => events.comments >= 2);
});
