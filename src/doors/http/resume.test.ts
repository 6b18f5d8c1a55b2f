import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { holdCall, eventually, fromServer, openTestDoor } from './door.cases.ts';
import { EventStore } from './event-log.ts';
import { DEFAULT_TIMEOUTS } from './timeouts.ts';
import { StreamableSession } from './streamable-session.ts';

const SOON = { tickMs: 10, silenceMs: 20 };
const LARGE = { content: [{ type: 'text', text: 'x'.repeat(3_000_000) }] };

test('a client that resumes for a response that was too large to keep gets an error that says so', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor({ timeouts: SOON });
  const session = await startSession('2025-11-25');
  const lost = await stream(session, holdCall('a'));
  const call = await nextCall();
  const { id } = (await lost.next())!;
  lost.hangUp();
  call.succeed(LARGE);
  const resumed = await listen(session, id);
  expect(resumed.status).toBe(200);
  const event = (await resumed.next())!;
  expect(event.json).toMatchObject({ id: 'a', error: { message: expect.stringContaining('too large') } });
  expect(await resumed.next()).toBeUndefined();
  expect((await listen(session, event.id)).status).toBe(204);
});

test('resuming after a complete large response returns nothing; after half of it, an error', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor({ timeouts: SOON });
  const session = await startSession('2025-11-25');
  const events = await stream(session, holdCall(1));
  const call = await nextCall();
  const { id } = (await events.next())!;
  call.succeed(LARGE);
  const answer = (await events.next())!;
  expect(answer.json.result).toEqual(LARGE);
  expect((await listen(session, answer.id)).status).toBe(204);
  expect((await (await listen(session, id)).next())!).toMatchObject({ id: answer.id, json: { id: 1 } });
});

test('what was sent on a stream that is over is kept for a while only', async () => {
  const { startSession, stream, listen, nextCall } = await openTestDoor({
    timeouts: { ...SOON, resumeMs: 50 },
  });
  const session = await startSession('2025-11-25');
  const events = await stream(session, holdCall(1));
  const call = await nextCall();
  const { id } = (await events.next())!;
  call.succeed({ ok: true });
  await events.whole();
  await eventually(async () => {
    const { text } = await (await listen(session, id)).whole();
    return text.includes('too old');
  });
});

test('undelivered data of a client is dropped when it leaves', async () => {
  const store = new EventStore();
  const client = {
    version: undefined,
    running: 0,
    idle: () => Promise.resolve(),
    failAll: () => undefined,
    leave: () => undefined,
  };
  const session = new StreamableSession(
    {
      open: () => ({ client, close: () => Promise.resolve() }),
      log: silentLogger,
      timeouts: DEFAULT_TIMEOUTS,
      events: store,
      left: () => undefined,
    },
    { principal: 'test' },
    [],
  );
  const server = createServer((_request, response: ServerResponse) => session.listen(response, undefined));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port }, (response) => response.resume());
  await once(server, 'request');
  session.forward(fromServer({ method: 'notifications/hello' }), []);
  expect(store.bytes).toBeGreaterThan(0);
  await session.close();
  expect(store.bytes).toBe(0);
});
