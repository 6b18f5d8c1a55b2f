/** What mcpmux is called, what it calls the tools of servers, and when something happened. */
import { expect, test } from 'vitest';
import { envelope } from '../helpers/eras.ts';
import { failed, MUX, startMux, type Mux } from '../helpers/management.ts';
import { responseText, startClient, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

const NAMES = ['日本語', '天気', 'Погода', 'Погода2', '😀', '🚀', 'größe', 'with space', 'a.b/c'];

const offering = (name: string) => nodeServer('offering', `--name=${name}`, '--tools=look', '--quiet');

async function addAll(mux: Mux): Promise<Map<string, string>> {
  const spaces = new Map<string, string>();
  for (const name of NAMES) {
    const { tools } = await mux.added(name, offering(name));
    const own = tools.map((tool) => tool.split('__'));
    expect(
      own.every(({ length }) => length === 2),
      tools.join(),
    ).toBe(true);
    expect(own.map(([, tool]) => tool)).toContain('look');
    // All its tools are in one place.
    expect(new Set(own.map(([space]) => space)).size).toBe(1);
    spaces.set(name, own[0]![0]!);
  }
  return spaces;
}

test('a server whose name is in another script has a namespace that is valid, its own and the same in every run', async () => {
  const mux = await startMux();
  const spaces = await addAll(mux);
  expect(new Set(spaces.values()).size).toBe(NAMES.length);
  expect(spaces.get('größe')).toMatch(/^grosse_/);
  expect(spaces.get('with space')).toMatch(/^with_space_/);
  expect(spaces.get('日本語')).toMatch(/^[a-z]/);
  const listed = await mux.client.listTools();
  for (const { name } of listed) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  for (const [name, space] of spaces) {
    expect(textOf(await mux.client.call(`${space}__look`, { n: 1 }))).toBe(`${name} ran look with {"n":1}`);
    // The name itself is where a person or a model can read it.
    expect(listed.find((tool) => tool.name === `${space}__look`).description).toContain(`[${name}]`);
  }
  const again = await startMux();
  expect(await addAll(again)).toEqual(spaces);
});

test('the tools of such a server are known as its tools after it has crashed, too', async () => {
  const mux = await startMux();
  const { tools, pid } = await mux.added('日本語', nodeServer('crash'));
  const echo = tools.find((tool) => tool.endsWith('__echo'))!;
  expect(textOf(await mux.client.call(echo, { text: 'a' }))).toBe('a');
  process.kill(pid, 'SIGKILL');
  await mux.serverOnce('日本語', 'crashed');
  const lost = await mux.client.call(echo, { text: 'b' });
  expect(failed(lost)).toBe(true);
  expect(responseText(lost)).toMatch(/'日本語' has crashed.*reload_server/);
});

test('it has a name and a title of its own, in both eras', async () => {
  const own = { name: 'mcpmux', title: 'mcpmux', version: expect.stringMatching(/^\d/) };
  const mux = await startMux();
  expect(mux.client.messages.find(({ id }) => id === 1)!.result.serverInfo).toEqual(own);
  const modern = startClient(MUX);
  const { result } = await modern.request('server/discover', { _meta: envelope() });
  expect(result._meta['io.modelcontextprotocol/serverInfo']).toEqual(own);
});

test('each line of its log, and each line that a server writes, has a time', async () => {
  const mux = await startMux();
  const { command, args } = nodeServer('echo');
  const script = 'echo one >&2; echo two >&2; exec "$@"';
  await mux.added('talks', { command: 'sh', args: ['-c', script, 'sh', command, ...args] });
  await mux.client.close();
  const lines = mux.client.stderr.trimEnd().split('\n');
  expect(lines.filter((line) => line.includes('[talks]'))).toHaveLength(2);
  expect(lines.filter((line) => line.includes('mcpmux info')).length).toBeGreaterThan(0);
  for (const line of lines) expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z \S/);
});
