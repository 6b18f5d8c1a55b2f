/** Results that are too long: cut, kept for their client, read in parts, and gone in the end. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { encode } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { CLIENT_KINDS, connectHostile } from '../helpers/client-kinds.ts';
import { envelope, MODERN } from '../helpers/eras.ts';
import { startGateway } from '../helpers/gateway.ts';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const MAX_TOKENS = 600;
const RESULTS = { results: { maxTokens: MAX_TOKENS } };
const LINES = Array.from({ length: 4000 }, (_, at) => `line ${at + 1} – é 😀`);
const WHOLE = LINES.join('\n');
const MIB = 1024 * 1024;

/** A folder with a long file, and the official server that reads it. */
function files() {
  const project = createProject({ 'long.txt': WHOLE, 'short.txt': 'short' });
  return {
    server: npmServer('filesystem', project.dir),
    read: (name: string) => ({
      action: 'call',
      subtool: 'read_text_file',
      args: { path: project.path(name) },
    }),
  };
}

/** The id of the result that a response is a part of. */
function idIn(response: RpcMessage): string {
  return /"result":"([0-9a-f]{10})"|switchboard-result:\/\/([0-9a-f]{10})/
    .exec(textOf(response))!
    .slice(1)
    .find(Boolean)!;
}

const read = (result: string, selection: object = {}) => ({ action: 'read', result, ...selection });
const resource = (id: string, query = '') => ({ uri: `switchboard-result://${id}${query}` });

describe.each(CLIENT_KINDS)('a client of $version over $transport', (kind) => {
  test('gets a part of a long file, and reads the rest as it likes', async () => {
    const { server, read: readFile } = files();
    const client = await connectHostile(kind, { files: server }, { config: RESULTS });
    const short = await client.call('files_suite', readFile('short.txt'));
    expect(textOf(short)).toBe('short');
    const long = await client.call('files_suite', readFile('long.txt'));
    const { content, structuredContent } = long.result;
    expect(content[0].text).toMatch(/^line 1 – é 😀\nline 2 /);
    expect(content[0].text).toMatch(/left out[^]*\nline 4000 – é 😀$/);
    expect(encode(content[0].text).length).toBeLessThan(MAX_TOKENS);
    if (structuredContent !== undefined) expect(structuredContent.content).toBe(content[0].text);
    const id = idIn(long);
    const link = { type: 'resource_link', uri: `switchboard-result://${id}` };
    // Older clients know no links.
    if (kind.version >= '2025-06-18') expect(content[1]).toMatchObject(link);
    else expect(content.length).toBe(1);
    if (kind.version === MODERN) expect(long.result.resultType).toBe('complete');

    const some = await client.call('files_suite', read(id, { lines: '2000-2002' }));
    expect(textOf(some)).toBe(LINES.slice(1999, 2002).join('\n'));
    const found = await client.call('files_suite', read(id, { pattern: 'line 3.77 ' }));
    expect(textOf(found).split('\n').length).toBe(10);
    const part = await client.request('resources/read', resource(id, '?chars=1-6'));
    expect(part.result.contents).toEqual([
      { ...resource(id, '?chars=1-6'), mimeType: 'text/plain', text: 'line 1' },
    ]);
    const templates = await client.request('resources/templates/list');
    expect(templates.result.resourceTemplates.map(({ name }: { name: string }) => name)).toContain('result');
    const unknown = await client.request('resources/read', resource('0000000000'));
    expect(unknown.error?.code).toBe(kind.version === MODERN ? -32602 : -32002);
    const gone = await client.call('files_suite', read('0000000000'));
    expect(gone.result.isError).toBe(true);
    expect(client.problems()).toEqual([]);
  });
});

test('without limits, a suite costs what it did, and results pass byte for byte', async () => {
  const { server, read: readFile } = files();
  const { client, project } = await startGateway(
    { files: { ...server, results: false }, echo: nodeServer('echo') },
    { config: { results: { maxTokens: 600 } }, args: ['--log-level', 'debug'] },
  );
  const { result } = await client.request('tools/list');
  const actions = (name: string): string[] =>
    result.tools.find((tool: { name: string }) => tool.name === name).inputSchema.properties.action.enum;
  expect(actions('files_suite')).toEqual(['introspect', 'call']);
  expect(actions('echo_suite')).toEqual(['introspect', 'call', 'read']);
  const long = await client.call('files_suite', readFile('long.txt'));
  expect(textOf(long)).toBe(WHOLE);
  expect(long.result.structuredContent).toEqual({ content: WHOLE });
  const refused = await client.call('files_suite', read('0000000000'));
  expect(textOf(refused)).toContain('needs an action');
  expect(existsSync(project.path('.state', 'results'))).toBe(false);
});

test('flat and compound tools, and tools with limits of their own', async () => {
  const echo = nodeServer('echo');
  const { client } = await startGateway(
    {
      flat: { ...echo, exposure: 'flat', tools: { big: { results: false }, echo: { name: 'say' } } },
      own: { ...echo, exposure: 'hidden', results: { maxTokens: 2000 } },
    },
    {
      config: {
        ...RESULTS,
        tools: { both: { description: 'both', subtools: { own: { tools: [{ name: 'echo' }] } } } },
      },
    },
  );
  const said = await client.call('flat__say', { text: WHOLE });
  const id = idIn(said);
  expect(textOf(said)).toContain(`resources/read switchboard-result://${id}?lines=`);
  const { result } = await client.request('resources/read', resource(id, '?path=$&pattern='));
  expect(result).toBeUndefined();
  const rest = await client.request('resources/read', resource(id, '?lines=4000'));
  expect(rest.result.contents[0].text).toBe(LINES[3999]);
  expect(textOf(await client.call('flat__big', { bytes: 100_000 })).length).toBe(100_000);
  const both = textOf(await client.call('both', { server: 'own', tool: 'echo', args: { text: WHOLE } }));
  expect(both).toContain('left out');
  expect(encode(both).length).toBeGreaterThan(MAX_TOKENS);
  expect(encode(both).length).toBeLessThanOrEqual(2000);
});

test('errors, images and progress; JSON without white space where that is wanted', async () => {
  const { client } = await startGateway(
    {
      echo: nodeServer('echo'),
      everything: npmServer('everything'),
      small: { ...nodeServer('echo'), results: { minify: true } },
    },
    { config: RESULTS },
  );
  const call = (server: string, subtool: string, args: object) =>
    client.call(`${server}_suite`, { action: 'call', subtool, args }, { progressToken: 'p' });
  const failed = await call('echo', 'fail', { message: WHOLE });
  expect(failed.result.isError).toBe(true);
  expect(textOf(failed)).toContain('left out');
  const image = await call('everything', 'get-tiny-image', {});
  expect(image.result.content.some(({ type }: { type: string }) => type === 'image')).toBe(true);
  const echoed = await call('everything', 'echo', { message: WHOLE });
  expect(textOf(echoed)).toMatch(/^Echo: line 1 /);
  expect(textOf(echoed)).toContain('left out');
  await call('everything', 'trigger-long-running-operation', { duration: 0.2, steps: 2 });
  expect(client.notifications.filter(({ method }) => method === 'notifications/progress').length).toBe(2);
  expect(textOf(await call('small', 'echo', { text: '{ "a": 1.0 }' }))).toBe('{"a":1.0}');
});

test('a server of the newest version, for clients of both', async () => {
  const { client } = await startGateway({ modern: nodeServer('modern') }, { config: RESULTS });
  const args = { action: 'call', subtool: 'params', args: { text: WHOLE } };
  const legacy = await client.call('modern_suite', args);
  expect(textOf(legacy)).toContain('left out');
  expect(
    textOf(await client.call('modern_suite', read(idIn(legacy), { path: '$.arguments.text', chars: '1-7' }))),
  ).toBe('"line 1');
  const other = await startGateway({ modern: nodeServer('modern') }, { config: RESULTS, raw: true });
  const modern = await other.client.request('tools/call', {
    name: 'modern_suite',
    arguments: args,
    _meta: envelope({}),
  });
  expect(textOf(modern)).toContain('left out');
  expect(modern.result.resultType).toBe('complete');
});

test('another client reads nothing, not even of a server that both share', async () => {
  const gateway = await startHttpGateway(
    { echo: { ...nodeServer('echo'), isolation: 'shared' } },
    { config: RESULTS },
  );
  const [one, two] = [await HttpSession.open(gateway), await HttpSession.open(gateway)];
  const long = await one.call('echo_suite', { action: 'call', subtool: 'echo', args: { text: WHOLE } });
  const id = idIn(long);
  expect(textOf(await one.call('echo_suite', read(id, { lines: '7' })))).toBe(LINES[6]);
  const guessed = await two.call('echo_suite', read(id, { lines: '7' }));
  expect(guessed.result.isError).toBe(true);
  expect(textOf(guessed)).toBe(textOf(await two.call('echo_suite', read('0000000000', { lines: '7' }))));
  for (const uri of [resource(id).uri, resource(id, '?lines=7').uri, `switchboard-result://x/../${id}`]) {
    const answer = await two.request('resources/read', { uri });
    expect(answer.error?.code).toBe(-32002);
  }
});

/** All files of kept results. */
function filesOf(state: string): string[] {
  const directory = join(state, 'results');
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((run) =>
    readdirSync(join(directory, run)).map((name) => join(directory, run, name)),
  );
}

const big = (bytes: number) => ({ action: 'call', subtool: 'big', args: { bytes } });

describe('on disk', () => {
  test('only its owner can read what is kept, and a client that leaves takes it along', async () => {
    const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: RESULTS });
    const state = gateway.project.path('.state');
    const session = await HttpSession.open(gateway);
    const results = [];
    for (let count = 0; count < 2; count++) results.push(await session.call('echo_suite', big(10 * MIB)));
    const kept = filesOf(state).filter((file) => !file.endsWith('owner.json'));
    expect(kept.map((file) => [statSync(file).size, statSync(file).mode & 0o777])).toEqual([
      [10 * MIB, 0o600],
    ]);
    for (const result of results) {
      const text = textOf(await session.call('echo_suite', read(idIn(result), { chars: '-20' })));
      expect(text).toBe('x'.repeat(20));
    }
    await session.end();
    await until(() => filesOf(state).every((file) => file.endsWith('owner.json')), {
      what: 'the file to be gone',
    });
    await gateway.stop();
    expect(filesOf(state)).toEqual([]);
  });

  test('the next gateway removes what a killed one has left', async () => {
    const { client, project } = await startGateway({ echo: nodeServer('echo') }, { config: RESULTS });
    const state = project.path('.state');
    for (let count = 0; count < 2; count++) await client.call('echo_suite', big(10 * MIB));
    expect(filesOf(state).length).toBe(2);
    await client.kill('SIGKILL');
    expect(filesOf(state).length).toBe(2);
    const next = await startGateway(
      { echo: nodeServer('echo') },
      { config: RESULTS, env: { SWITCHBOARD_STATE_DIR: state } },
    );
    await until(() => filesOf(state).length === 0, { what: 'the files to be gone' });
    expect((await next.client.close()).code).toBe(0);
  });

  test('a disk that is full costs nothing but the shortening', async () => {
    // No file may be larger than 1 MiB (in blocks of 512 bytes).
    const script = `ulimit -f 2048; exec "${process.execPath}" "${join(ROOT, 'dist/index.js')}"`;
    const { client } = await startGateway(
      { echo: nodeServer('echo') },
      { config: RESULTS, command: 'sh', args: ['-c', script] },
    );
    const first = await client.call('echo_suite', big(12 * MIB));
    expect(textOf(first)).toContain('left out');
    const second = await client.call('echo_suite', big(12 * MIB));
    expect(textOf(second).length).toBe(12 * MIB);
    expect(client.stderr).toMatch(/could not be kept and is passed on whole.*(EFBIG|ENOSPC)/);
    expect(textOf(await client.call('echo_suite', read(idIn(first), { chars: '1-3' })))).toBe('xxx');
  });
});

test('while a huge result is cut and searched, other calls are answered', async () => {
  const { client } = await startGateway(
    { echo: nodeServer('echo'), other: nodeServer('echo') },
    { config: RESULTS },
  );
  await client.call('other_suite', { action: 'call', subtool: 'canary', args: {} });
  const long = client.call('echo_suite', big(14 * MIB));
  const waits: number[] = [];
  let done = false;
  const finished = long.then(async (response) => {
    await client.call('echo_suite', read(idIn(response), { pattern: '^(x+x+)+y$' }));
    done = true;
  });
  while (!done) {
    const since = performance.now();
    await client.call('other_suite', { action: 'call', subtool: 'canary', args: {} });
    waits.push(performance.now() - since);
  }
  await finished;
  expect(waits.length).toBeGreaterThan(10);
  // The test itself takes a while to read 14 MiB.
  expect(waits.sort((a, b) => a - b)[Math.floor(waits.length * 0.9)]).toBeLessThan(250);
});
