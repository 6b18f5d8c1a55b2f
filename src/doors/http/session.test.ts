import { expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { CLIENT_SHAPE } from '../../protocol/index.ts';
import { Message, type MessageReceiver } from '../../wire/index.ts';
import { EventStore } from './event-log.ts';
import { StreamableSession } from './streamable-session.ts';
import { DEFAULT_TIMEOUTS } from './timeouts.ts';

/** A session that delivers its messages to a callback of the test. */
function openSession(receive: (message: Message) => void): StreamableSession {
  const client = {
    version: undefined,
    running: 0,
    idle: () => Promise.resolve(),
    failAll: () => undefined,
    leave: () => undefined,
  };
  return new StreamableSession(
    {
      open: (transport) => {
        transport.connect({ receive } as unknown as MessageReceiver);
        return { client, close: () => Promise.resolve() };
      },
      log: silentLogger,
      timeouts: DEFAULT_TIMEOUTS,
      events: new EventStore(),
      left: () => undefined,
    },
    { principal: 'test' },
    [],
  );
}

const notification = (method: string): Message => Message.from({ jsonrpc: '2.0', method }, CLIENT_SHAPE);

test('a paused session keeps what arrives, and delivers it in order until it is paused again', () => {
  const received: string[] = [];
  const session = openSession((message) => {
    received.push((JSON.parse(message.toString()) as { method: string }).method);
    if (received.at(-1) === 'b') session.pause();
  });
  session.pause();
  for (const method of ['a', 'b', 'c', 'd']) session.take(notification(method));
  expect(received).toEqual([]);
  session.resume();
  expect(received).toEqual(['a', 'b']);
  session.take(notification('e'));
  session.resume();
  expect(received).toEqual(['a', 'b', 'c', 'd', 'e']);
  session.take(notification('f'));
  expect(received.at(-1)).toBe('f');
});

test('it is full when the core does not read, and no longer when it has read', () => {
  let received = 0;
  const session = openSession(() => received++);
  session.pause();
  const message = notification('x'.repeat(1_000_000));
  for (let n = 0; n < 8; n++) session.take(message);
  expect(session.full).toBe(false);
  session.take(message);
  expect(session.full).toBe(true);
  session.resume();
  expect(session.full).toBe(false);
  expect(received).toBe(9);
});
