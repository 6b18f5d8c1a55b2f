import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import { Connections } from './connections.ts';

/** The parts of a socket that are used here. */
function connectTo(connections: Connections) {
  const socket = Object.assign(new EventEmitter(), {
    destroyed: false,
    destroy: () => {
      socket.destroyed = true;
      socket.emit('close');
    },
  });
  connections.add(socket as unknown as Socket);
  return {
    get open() {
      return !socket.destroyed;
    },
    admit: () => connections.admit(socket as unknown as Socket),
    close: () => socket.destroy(),
  };
}

function limited() {
  let evicted = 0;
  const connections = new Connections({
    connections: 4,
    strangers: 2,
    strangerMs: 60_000,
    tooSlow: () => expect.unreachable(),
    evicted: () => evicted++,
  });
  return { connect: () => connectTo(connections), evicted: () => evicted };
}

test('of the strangers, the oldest goes when one too many comes', () => {
  const { connect, evicted } = limited();
  const all = [connect(), connect(), connect(), connect()];
  expect(all.map(({ open }) => open)).toEqual([false, false, true, true]);
  expect(evicted()).toBe(2);
});

test('those with a token stay, and take the places of strangers', () => {
  const { connect } = limited();
  const known = [1, 2, 3].map(() => {
    const one = connect();
    one.admit();
    return one;
  });
  const strangers = [connect(), connect()];
  expect(strangers.map(({ open }) => open)).toEqual([false, true]);
  strangers[1]!.admit();
  // All places are taken.
  expect(connect().open).toBe(false);
  known[0]!.close();
  expect(connect().open).toBe(true);
  expect(known.map(({ open }) => open)).toEqual([false, true, true]);
});
