import { expect, test } from 'vitest';
import type { Session } from '../../gateway/index.ts';
import { BackgroundWork } from './background-work.ts';

const client = (): Session => ({}) as Session;

test('of any number of clients that cancelled a call, the last two are enough to know that there are several', () => {
  const background = new BackgroundWork();
  const clients = Array.from({ length: 1000 }, client);
  for (const each of clients) background.cancelled(each);
  expect(background.sessions()).toEqual(clients.slice(-2));
});

test('one that cancels again and again is one client', () => {
  const background = new BackgroundWork();
  const one = client();
  for (let n = 0; n < 5; n++) background.cancelled(one);
  expect(background.sessions()).toEqual([one]);
});
