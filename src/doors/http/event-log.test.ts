import { expect, test } from 'vitest';
import { cursorText, EventLog, readCursor } from './event-log.ts';

const bytes = (text: string): Buffer => Buffer.from(text);

test('what came behind an event on its stream is given again, in order', () => {
  const log = new EventLog();
  log.add({ stream: 1, event: 1 }, bytes('a'));
  log.add({ stream: 2, event: 2 }, bytes('b'));
  log.add({ stream: 1, event: 3 }, bytes('c'));
  expect(log.after({ stream: 1, event: 0 }).map(String)).toEqual(['a', 'c']);
  expect(log.after({ stream: 1, event: 1 }).map(String)).toEqual(['c']);
  expect(log.after({ stream: 3, event: 0 })).toEqual([]);
});

test('the oldest are forgotten, by number and by size', () => {
  const log = new EventLog();
  for (let event = 1; event <= 300; event++) log.add({ stream: 1, event }, bytes('x'));
  expect(log.after({ stream: 1, event: 0 })).toHaveLength(256);
  log.add({ stream: 1, event: 301 }, Buffer.alloc(2 * 1024 * 1024 - 10));
  expect(log.after({ stream: 1, event: 0 })).toHaveLength(11);
});

test('a cursor is read as it was written, and nothing else is', () => {
  expect(readCursor(cursorText({ stream: 3, event: 17 }))).toEqual({ stream: 3, event: 17 });
  for (const text of [undefined, '', '3', '3-', '-3', '3-x', '3-1-2', ' 3-1', '9'.repeat(20) + '-1'])
    expect(readCursor(text)).toBeUndefined();
});
