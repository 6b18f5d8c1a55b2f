import { expect, test } from 'vitest';
import { EventLog } from './event-log.ts';
import { EventStore } from './event-store.ts';

test('of too much in all logs together the oldest is given up, whosever it is', () => {
  const store = new EventStore(100);
  const [one, two] = [new EventLog(store), new EventLog(store)];
  const kept = (log: EventLog): string[] => log.after({ stream: 1, event: 0 }).map(String);
  one.add({ stream: 1, event: 1 }, Buffer.from('a'.repeat(40)));
  two.add({ stream: 1, event: 1 }, Buffer.from('b'.repeat(40)));
  one.add({ stream: 1, event: 2 }, Buffer.from('c'.repeat(20)));
  expect(store.bytes).toBe(100);
  two.add({ stream: 1, event: 2 }, Buffer.from('d'));
  expect([kept(one), kept(two)]).toEqual([['c'.repeat(20)], ['b'.repeat(40), 'd']]);
  expect(store.bytes).toBe(61);
  two.clear();
  expect(store.bytes).toBe(20);
});
