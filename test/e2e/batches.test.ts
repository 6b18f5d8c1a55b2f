import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject } from '../helpers/temp-project.ts';

const program = fileURLToPath(new URL('../../dist/index.js', import.meta.url));
const script = (name: string) => ({
  command: process.execPath,
  args: [fileURLToPath(new URL(`../servers/${name}.mjs`, import.meta.url))],
});
const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params });
const echo = (id: number, text: string) =>
  request(id, 'tools/call', {
    name: 'echo_suite',
    arguments: { action: 'call', subtool: 'echo', args: { text } },
  });

/** A host on stdio that has agreed on a version, and reads whole lines. */
async function host(version: string) {
  const project = createProject({ 'switchboard.config.json': { mcpServers: { echo: script('echo') } } });
  const env = { ...process.env, ...ownState(project) };
  const child = spawn(process.execPath, [program], {
    cwd: project.dir,
    env,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  onTestFinished(() => {
    child.kill();
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const say = (message: unknown) => child.stdin.write(`${JSON.stringify(message)}\n`);
  const next = async (): Promise<any> => JSON.parse((await lines.next()).value as string);
  say(
    request(0, 'initialize', {
      protocolVersion: version,
      capabilities: {},
      clientInfo: { name: 't', version: '1' },
    }),
  );
  expect((await next()).result.protocolVersion).toBe(version);
  say({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { say, next };
}

test('where 2025-03-26 was agreed on, an array of requests is answered with an array', async () => {
  const { say, next } = await host('2025-03-26');
  say([
    echo(1, 'one'),
    { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    request(2, 'ping'),
    'no message',
    request(3, 'nonsense'),
    echo(4, 'four "quoted"\n'),
  ]);
  const answers = await next();
  expect(answers).toHaveLength(5);
  const byId = new Map<unknown, any>(answers.map((answer: any) => [answer.id, answer]));
  expect(byId.get(1).result.content[0].text).toBe('one');
  expect(byId.get(2).result).toEqual({});
  expect(byId.get(3).error.code).toBe(-32601);
  expect(byId.get(4).result.content[0].text).toBe('four "quoted"\n');
  expect(byId.get(null).error.code).toBe(-32600);
  // What is cancelled gets no answer, and the rest does not wait for it.
  const slow = {
    name: 'echo_suite',
    arguments: { action: 'call', subtool: 'slow_echo', args: { text: 'x', ms: 60_000 } },
  };
  const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } };
  say([request(5, 'tools/call', slow), request(6, 'ping'), cancel]);
  expect(await next()).toEqual([{ jsonrpc: '2.0', id: 6, result: {} }]);
  say([]);
  expect((await next()).error.code).toBe(-32600);
  say([[request(7, 'ping')]]);
  expect((await next()).error.code).toBe(-32600);
  say(request(8, 'ping'));
  expect(await next()).toEqual({ jsonrpc: '2.0', id: 8, result: {} });
});

test('a batch of megabytes is refused, over stdio and HTTP', async () => {
  const batch = [request(1, 'ping'), request(2, 'ping', { x: 'x'.repeat(2_200_000) })];
  const { say, next } = await host('2025-03-26');
  say(batch);
  expect((await next()).error).toMatchObject({ code: -32600, message: expect.stringContaining('2 MiB') });
  say([batch[0]]);
  expect(await next()).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  const session = await HttpSession.open(await startHttpGateway({}), { version: '2025-03-26' });
  expect((await session.post(JSON.stringify(batch))).status).toBe(400);
});

test('of two requests with one id in a batch the second is refused, in the same answer', async () => {
  const { say, next } = await host('2025-03-26');
  say([echo(1, 'first'), echo(1, 'second'), request(2, 'ping')]);
  const answers: any[] = await next();
  const same = answers.filter(({ id }) => id === 1);
  expect(same.find(({ error }) => error).error.code).toBe(-32600);
  expect(same.find(({ result }) => result).result.content[0].text).toBe('first');
  expect(answers).toHaveLength(3);
});

test('in every other version an array is refused', async () => {
  const { say, next } = await host('2025-06-18');
  say([request(1, 'ping')]);
  expect((await next()).error).toMatchObject({
    code: -32600,
    message: expect.stringContaining('2025-03-26'),
  });
});

test('over HTTP the answers of a batch come on one stream', async () => {
  const gateway = await startHttpGateway({ echo: script('echo') });
  const session = await HttpSession.open(gateway, { version: '2025-03-26' });
  const response = await session.post(JSON.stringify([echo(11, 'a'), echo(12, 'b'), request(13, 'ping')]));
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events = (await response.text()).matchAll(/^data: (\{.*)$/gm);
  const answers = [...events].map(([, data]) => JSON.parse(data!));
  expect(answers.map(({ id }) => id).sort()).toEqual([11, 12, 13]);
  expect(textOf(answers.find(({ id }) => id === 12))).toBe('b');
  const notes = [{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }];
  expect((await session.post(JSON.stringify(notes))).status).toBe(202);
  const newer = await HttpSession.open(gateway, { version: '2025-06-18' });
  expect((await newer.post(JSON.stringify([request(1, 'ping')]))).status).toBe(400);
});

test('a server of 2025-03-26 may answer in arrays', async () => {
  const { call } = await startGateway({ odd: script('batching') });
  expect(textOf(await call('odd', 'echo', { text: 'from an array' }))).toBe('from an array');
});
