import { expect, test } from 'vitest';
import { cursorText, EventLog, EventStore, readCursor } from './event-log.ts';

const bytes = (text: string): Buffer => Buffer.from(text);
const open = (): EventLog => new EventLog(new EventStore());
const errorIn = (event: Buffer | undefined) => JSON.parse(/(?<=^data: ).*/m.exec(String(event))![0]);

test('what came behind an event on its stream is given again, in order', () => {
  const log = open();
  log.add({ stream: 1, event: 1 }, bytes('a'));
  log.add({ stream: 2, event: 2 }, bytes('b'));
  log.add({ stream: 1, event: 3 }, bytes('c'));
  expect(log.after({ stream: 1, event: 0 }).map(String)).toEqual(['a', 'c']);
  expect(log.after({ stream: 1, event: 1 }).map(String)).toEqual(['c']);
  expect(log.after({ stream: 3, event: 0 })).toEqual([]);
});

test('the oldest are forgotten, by number and by size', () => {
  const log = open();
  for (let event = 1; event <= 300; event++) log.add({ stream: 1, event }, bytes('x'));
  expect(log.after({ stream: 1, event: 0 })).toHaveLength(256);
  log.add({ stream: 1, event: 301 }, Buffer.alloc(2 * 1024 * 1024 - 10));
  expect(log.after({ stream: 1, event: 0 })).toHaveLength(11);
});

test('for an answer that was pushed out there is an error under its id', () => {
  const log = open();
  log.add({ stream: 1, event: 1 }, bytes('progress'));
  log.add({ stream: 1, event: 2 }, bytes('answer'), '"a"');
  for (let event = 3; event < 300; event++) log.add({ stream: 0, event }, bytes('x'));
  const [lost, ...more] = log.after({ stream: 1, event: 1 });
  expect(more).toEqual([]);
  expect(String(lost)).toMatch(/^id: 1-2\nevent: message\ndata: .*\n\n$/);
  expect(errorIn(lost)).toMatchObject({ jsonrpc: '2.0', id: 'a', error: { code: -32000 } });
  // The client has seen the answer and needs no replay.
  expect(log.after({ stream: 1, event: 2 })).toEqual([]);
});

test('of very many lost answers the oldest are forgotten', () => {
  const log = open();
  for (let event = 1; event <= 101; event++) log.lose({ stream: event, event }, String(event));
  expect(log.after({ stream: 1, event: 0 })).toEqual([]);
  expect(errorIn(log.after({ stream: 2, event: 0 })[0]).id).toBe(2);
});

test('old events are dropped once their stream has ended', () => {
  const store = new EventStore();
  const log = new EventLog(store);
  log.add({ stream: 1, event: 1 }, bytes('open'));
  log.add({ stream: 2, event: 2 }, bytes('over'), '5');
  const isOpen = (stream: number): boolean => stream === 1;
  log.dropBefore(performance.now() - 10_000, isOpen);
  expect(log.after({ stream: 2, event: 0 }).map(String)).toEqual(['over']);
  log.dropBefore(performance.now() + 1, isOpen);
  expect(log.after({ stream: 1, event: 0 }).map(String)).toEqual(['open']);
  expect(errorIn(log.after({ stream: 2, event: 0 })[0]).id).toBe(5);
  expect(store.bytes).toBe(4);
  log.clear();
  expect(store.bytes).toBe(0);
  expect(log.after({ stream: 1, event: 0 })).toEqual([]);
});

test('a cursor is read as it was written, and nothing else is', () => {
  expect(readCursor(cursorText({ stream: 3, event: 17 }))).toEqual({ stream: 3, event: 17 });
  for (const text of [undefined, '', '3', '3-', '-3', '3-x', '3-1-2', ' 3-1', '9'.repeat(20) + '-1'])
    expect(readCursor(text)).toBeUndefined();
});

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
