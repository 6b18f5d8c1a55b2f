import { expect, test } from 'vitest';
import { silentLogger } from '../../shared/log.ts';
import { SERVER_SHAPE } from '../../protocol/index.ts';
import { Message } from '../../wire/index.ts';
import { listAll } from './list.ts';

/** The tools listed by a server that returns these results, as JSON texts, one per page. */
function listing(...results: string[]) {
  const pages = results.map((result) =>
    Message.fromText(`{"jsonrpc":"2.0","id":1,"result":${result}}`, SERVER_SHAPE),
  );
  const ask = () => Promise.resolve(pages.shift()!);
  return listAll({ ask, mask: (text) => text }, 'tools', { server: 'server', log: silentLogger });
}

const tool = (name: string, padding = 0): string =>
  JSON.stringify({ name, description: 'x'.repeat(padding), inputSchema: { type: 'object' } });
const page = (...tools: string[]): string => `{"tools":[${tools.join(',')}]}`;

test('all pages are collected, in order', async () => {
  const { components, incomplete, ttlMs } = await listing(
    `{"nextCursor":"2","tools":[${tool('a')},${tool('b')}],"ttlMs":5}`,
    `{"tools":[${tool('c')}],"ttlMs":3,"nextCursor":""}`,
  );
  expect(components.map(({ key }) => key)).toEqual(['a', 'b', 'c']);
  expect(incomplete).toBeUndefined();
  expect(ttlMs).toBe(3);
});

test.each(['{}', '[]', '{"tools":{}}', '{"tools":[],"tools":[]}', '"tools"'])(
  'a result %s is no list',
  async (result) => {
    await expect(listing(result)).rejects.toMatchObject({ code: 'LIST_FAILED' });
  },
);

test('a tool that is too long is left out, and the others are kept', async () => {
  const { components, incomplete } = await listing(page(tool('a'), tool('long', 300_000), tool('b')));
  expect(components.map(({ key }) => key)).toEqual(['a', 'b']);
  expect(incomplete).toBe('1 of its tools are left out, because they are longer than 262144 characters.');
});

test('of a list that is too long, the beginning is kept', async () => {
  const tools = Array.from({ length: 100 }, (_, n) => tool(`t${n}`, 100_000));
  const { components, incomplete } = await listing(page(...tools));
  expect(components).toHaveLength(41);
  expect(components.at(-1)?.key).toBe('t40');
  expect(incomplete).toBe('its list is larger than 4194304 bytes.');
});

test('all pages together are bounded like one', async () => {
  const next = Array.from(
    { length: 100 },
    (_, n) => `{"tools":[${tool(`t${n}`, 100_000)}],"nextCursor":"${n}"}`,
  );
  const { components, incomplete } = await listing(...next);
  expect(components).toHaveLength(41);
  expect(incomplete).toBe('its list is larger than 4194304 bytes.');
});

test('others get a turn while a long list is read', async () => {
  const schema = `{"type":"object","x":[${'{"a":[]},'.repeat(20_000)}0]}`;
  const tools = Array.from({ length: 20 }, (_, n) => `{"name":"t${n}","inputSchema":${schema}}`);
  let turns = 0;
  let timer: NodeJS.Immediate;
  const count = (): void => {
    turns++;
    timer = setImmediate(count);
  };
  timer = setImmediate(count);
  const { components } = await listing(page(...tools));
  clearImmediate(timer);
  expect(components).toHaveLength(20);
  expect(turns).toBeGreaterThan(2);
});
