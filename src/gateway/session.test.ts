import { expect, test } from 'vitest';
import { SERVER_SHAPE } from '../protocol/index.ts';
import { Message } from '../wire/index.ts';
import { Session, type ClientLink } from './session.ts';
import type { Source } from './source.ts';

/** Only its name and capabilities are used here. */
const source = (name: string, capabilities: object = { resources: {} }): Source =>
  ({ name, about: () => ({ capabilities }) }) as unknown as Source;

const linking = (...uris: string[]): Message => {
  const content = uris.map((uri) => ({ type: 'resource_link', uri, name: 'l' }));
  return Message.from({ jsonrpc: '2.0', id: 1, result: { content } }, SERVER_SHAPE);
};

const session = (): Session => new Session({} as ClientLink);

test('a task stays with the source that named it first', () => {
  const [good, evil] = [source('good'), source('evil')];
  const client = session();
  expect(client.claimTask('t', good)).toBe(true);
  expect(client.claimTask('t', evil)).toBe(false);
  expect(client.claimTask('t', good)).toBe(true);
  expect(client.taskOwner('t')).toBe(good);
  expect(client.taskOwner('other')).toBeUndefined();
});

test('so does a link, and only a source with resources has any', () => {
  const [good, evil, bare] = [source('good'), source('evil'), source('bare', {})];
  const client = session();
  client.recordLinks(linking('mem://bare'), bare);
  client.recordLinks(linking('mem://1'), good);
  client.recordLinks(linking('mem://1', 'mem://2'), evil);
  expect(['mem://bare', 'mem://1', 'mem://2'].map((uri) => client.linkOwner(uri))).toEqual([
    undefined,
    good,
    evil,
  ]);
});

test('one client’s tasks are not another’s', () => {
  const [good, evil] = [source('good'), source('evil')];
  const [one, two] = [session(), session()];
  one.claimTask('t', good);
  expect(two.taskOwner('t')).toBeUndefined();
  expect(two.claimTask('t', evil)).toBe(true);
  expect(one.taskOwner('t')).toBe(good);
});

test('of very many tasks the oldest are forgotten', () => {
  const good = source('good');
  const client = session();
  for (let n = 0; n <= 10_000; n++) client.claimTask(`t${n}`, good);
  expect(client.taskOwner('t0')).toBeUndefined();
  expect(client.taskOwner('t1')).toBe(good);
});

test('what is for a client that is ready waits until it is, in order, and then no more', () => {
  const client = session();
  const done: number[] = [];
  client.whenReady(() => done.push(1));
  client.whenReady(() => done.push(2));
  expect(done).toEqual([]);
  client.ready();
  client.ready();
  client.whenReady(() => done.push(3));
  expect(done).toEqual([1, 2, 3]);
});
