import { once } from 'node:events';
import { PassThrough, Transform } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { envelope } from '../test/helpers/eras.ts';
import { until } from '../test/helpers/until.ts';
import { yardRepository, type YardRepository } from '../test/helpers/yard-repository.ts';
import { silentLogger } from './shared/log.ts';
import { homeOf } from './switchyard/records/state/home.ts';
import { withProjectLock } from './switchyard/records/state/project-lock.ts';
import { openYardServer } from './yard.ts';

/** A server with a client that writes what it likes and reads lines. */
function serve(yard: YardRepository) {
  const input = new PassThrough();
  const output = new PassThrough();
  const heard: any[] = [];
  let rest = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop()!;
    heard.push(...lines.map((line) => JSON.parse(line)));
  });
  const server = openYardServer({
    project: { directory: yard.root },
    env: yard.env,
    input,
    output,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  return {
    ...server,
    input,
    heard,
    say: (...messages: readonly (object | string)[]) =>
      input.write(
        messages
          .map((each) => (typeof each === 'string' ? each : JSON.stringify({ jsonrpc: '2.0', ...each })))
          .map((line) => `${line}\n`)
          .join(''),
      ),
    ids: () => heard.map(({ id }) => id),
    answers: (count: number) =>
      until(() => heard.length >= count, { what: `${count} answers`, seen: () => JSON.stringify(heard) }),
  };
}

const call = (id: number | string, name: string, args: object = {}, more: object = {}): object => ({
  id,
  method: 'tools/call',
  params: { name: `switchyard_${name}`, arguments: args, ...more },
});
const ping = (id: number | string): object => ({ id, method: 'ping' });
const cancelled = (requestId: number | string): object => ({
  method: 'notifications/cancelled',
  params: { requestId },
});

/** Keeps the project from being changed by anybody else, until it is let go. */
async function hold(yard: YardRepository): Promise<() => Promise<void>> {
  let release = (): void => undefined;
  const free = new Promise<void>((resolve) => (release = resolve));
  let holding: Promise<void> | undefined;
  await new Promise<void>((resolve) => {
    holding = withProjectLock({ home: homeOf(yard.env), config: yard }, { what: 'a test' }, () => {
      resolve();
      return free;
    });
  });
  const letGo = async (): Promise<void> => {
    release();
    await holding;
  };
  onTestFinished(letGo);
  return letGo;
}

test('a piped session gets its responses in order, however long one request takes', async () => {
  const yard = yardRepository();
  const letGo = await hold(yard);
  const { say, input, door, ids } = serve(yard);
  say(ping(1), call('2', 'down'), ping(3), '{ no json', '[]', ping(4));
  input.end();
  await door.ended;
  // Longer than a client that is still there would have to wait.
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(ids()).toEqual([1]);
  await letGo();
  await door.drain(20_000);
  expect(ids()).toEqual([1, '2', 3, null, null, 4]);
});

test('a slow request lets others pass, and the order is restored after its response', async () => {
  const yard = yardRepository();
  const letGo = await hold(yard);
  const { say, ids, answers } = serve(yard);
  say(call(1, 'down'), ping(2), '{ no json', call(3, 'list'));
  await answers(3);
  expect(ids()).toEqual([2, null, 3]);
  say(call(4, 'status'), ping(5));
  await answers(5);
  expect([...ids()].sort()).toEqual([2, 3, 4, 5, null]);
  await letGo();
  await answers(6);
  expect(ids()[5]).toBe(1);
  say(call(6, 'list'), ping(7), '{ no json', ping(8));
  await answers(10);
  expect(ids().slice(6)).toEqual([6, 7, null, 8]);
});

test('a cancelled running request gets no response, and the next one starts', async () => {
  const yard = yardRepository();
  await hold(yard);
  const { say, ids, answers } = serve(yard);
  say(call(1, 'down'), ping(2));
  await new Promise((resolve) => setImmediate(resolve));
  expect(ids()).toEqual([]);
  say(cancelled(1));
  await answers(1);
  say(ping(3));
  await answers(2);
  expect(ids()).toEqual([2, 3]);
});

test('a cancelled waiting request is never started', async () => {
  const yard = yardRepository();
  const letGo = await hold(yard);
  const { say, ids, answers } = serve(yard);
  say(call(1, 'down'), call('a"b', 'down'), ping(3), cancelled('a"b'), cancelled('1'), cancelled(99));
  await letGo();
  await answers(2);
  say(ping(4));
  await answers(3);
  expect([...ids()].sort()).toEqual([1, 3, 4]);
});

test('everything received before the end of the input gets a response', async () => {
  const yard = yardRepository();
  const { say, input, door, ids } = serve(yard);
  say(call(1, 'brief'), call(2, 'list'), { id: 3, method: 'tools/list' }, call(4, 'doctor'), ping(5));
  input.end();
  expect(await door.ended).toBe('end');
  await door.drain(20_000);
  expect(ids()).toEqual([1, 2, 3, 4, 5]);
});

test('the same in the era without a handshake, whose code is loaded with the first request', async () => {
  const yard = yardRepository();
  const { say, input, door, ids, heard } = serve(yard);
  const _meta = envelope();
  say(
    { id: 1, method: 'server/discover', params: { _meta } },
    call(2, 'brief', {}, { _meta }),
    { id: 3, method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true }, _meta } },
    { id: 4, method: 'resources/read', params: { uri: 'switchyard://agent/guide', _meta } },
  );
  input.end();
  await door.ended;
  await door.drain(20_000);
  // Who listens hears that there is nothing to listen to, and holds nobody up.
  expect(ids()).toEqual([1, 2, undefined, 4, 3]);
  expect(heard[0].result).toMatchObject({
    capabilities: {
      tools: { listChanged: false },
      resources: { subscribe: false, listChanged: false },
      prompts: { listChanged: false },
    },
    instructions: expect.stringContaining('switchyard://project/brief'),
  });
  expect(heard[1].result).toMatchObject({ resultType: 'complete', structuredContent: { project: 'shop' } });
  expect(heard[2]).toMatchObject({
    method: 'notifications/subscriptions/acknowledged',
    params: { notifications: {} },
  });
});

test('a stop ends running and waiting requests, with an error for each', async () => {
  const yard = yardRepository();
  await hold(yard);
  const { say, door, heard, ids } = serve(yard);
  say(call(1, 'down'), call(2, 'brief'), '{', ping(3));
  await door.drain(0);
  expect(ids()).toEqual([1, 2, null, 3]);
  expect(heard[0].result).toMatchObject({ isError: true });
  expect(heard[1].error.message).toContain('was not started');
});

test('thousands of concurrent requests are read as responses are written', async () => {
  const yard = yardRepository();
  const letGo = await hold(yard);
  const { say, ids, input, door } = serve(yard);
  const many = Array.from({ length: 5000 }, (_, at) => ping(at + 1));
  say(call(0, 'down'));
  for (let at = 0; at < many.length; at += 100) say(...many.slice(at, at + 100));
  await until(() => input.isPaused(), { what: 'the client not to be listened to' });
  await letGo();
  input.end();
  await door.ended;
  await door.drain(20_000);
  expect([...ids()].sort((a, b) => a - b)).toEqual(Array.from({ length: 5001 }, (_, at) => at));
});

test('a client need not greet, and is told of no changes that are none', async () => {
  const yard = yardRepository();
  const { say, heard, answers } = serve(yard);
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '0' } },
  });
  await answers(1);
  expect(heard[0].result).toMatchObject({
    protocolVersion: '2025-06-18',
    serverInfo: { name: 'switchyard', title: 'Switchyard', version: expect.any(String) },
    capabilities: { tools: { listChanged: false } },
  });
  // Reading makes the lists of resources known, which the client has not asked for.
  say({ id: 2, method: 'resources/read', params: { uri: 'switchyard://agent/guide' } });
  await answers(2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  say({ id: 3, method: 'no/such' }, { id: 4, method: 'resources/list' });
  await answers(4);
  expect(heard.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  expect(heard[2].error).toMatchObject({ code: -32601 });
  expect(heard[3].result.resources[0]).toMatchObject({ name: 'project-brief' });
});

test('a client that does not read gets no more responses until it does', async () => {
  const yard = yardRepository();
  const input = new PassThrough();
  // As a pipe of the system does, it keeps a copy of what it was given: the memory is used again.
  const output = new Transform({ transform: (chunk: Buffer, _, done) => done(null, Buffer.from(chunk)) });
  const server = openYardServer({
    project: { directory: yard.root },
    env: yard.env,
    input,
    output,
    log: silentLogger,
  });
  onTestFinished(() => server.close());
  const guide = { uri: 'switchyard://agent/guide' };
  const count = 6000;
  for (let id = 1; id <= count; id++)
    input.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'resources/read', params: guide })}\n`);
  input.end();
  await until(() => output.readableLength > 0 && output.writableNeedDrain, { what: 'the output to be full' });
  let lines = 0;
  output.on('data', (chunk: Buffer) => (lines += chunk.toString('latin1').split('\n').length - 1));
  await server.door.ended;
  await server.door.drain(25_000);
  await until(() => lines === count, { what: 'all answers', seen: () => String(lines) });
  output.end();
  await once(output, 'end');
});
