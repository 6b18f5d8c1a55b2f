import { expect, test } from 'vitest';
import type { Session } from './session.ts';
import { Subscriptions } from './subscriptions.ts';

const [one, two] = [{} as Session, {} as Session];

test('a change is announced to subscribers, under the URI each knows', () => {
  const subscriptions = new Subscriptions();
  subscriptions.add('x://1', one, 'x://1');
  subscriptions.add('x://1', two, 'switchboard://B/x://1');
  expect([...subscriptions.subscribersOf('x://1')]).toEqual([
    [one, 'x://1'],
    [two, 'switchboard://B/x://1'],
  ]);
  expect(subscriptions.subscribersOf('x://2').size).toBe(0);
  expect(subscriptions.subscribersOf('x://11').size).toBe(0);
});

test('a change below a subscribed URI is announced too', () => {
  const subscriptions = new Subscriptions();
  subscriptions.add('x://dir', one, 'switchboard://B/x://dir');
  expect([...subscriptions.subscribersOf('x://dir/file')]).toEqual([[one, 'switchboard://B/x://dir/file']]);
});

test('the last one to leave is known, and a client that goes takes all of its own along', () => {
  const subscriptions = new Subscriptions();
  subscriptions.add('x://1', one, 'x://1');
  subscriptions.add('x://1', two, 'x://1');
  subscriptions.add('x://2', two, 'x://2');
  expect(subscriptions.remove('x://1', one)).toBe(false);
  expect(subscriptions.leave(two)).toEqual(['x://1', 'x://2']);
  expect(subscriptions.size).toBe(0);
  expect(subscriptions.remove('x://9', one)).toBe(true);
});
