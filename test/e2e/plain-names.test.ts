/** Whose a name is that several servers have: that of the first in the file, or nobody's, however fast each of them starts. */
import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import { failed } from '../helpers/management.ts';
import { responseText, startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const offering = (name: string, ...more: string[]) =>
  nodeServer('offering', `--name=${name}`, '--quiet', ...more);

/** Servers `first` and `second`, in this order in the file, and a file that holds the first one up as long as it exists. */
function twoServers(first: ReturnType<typeof nodeServer>, second: object, config: object = {}) {
  const project = createProject();
  const gate = project.path('gate');
  const waits = `while [ -e "${gate}" ]; do sleep 0.05; done; exec "$@"`;
  project.write('switchboard.config.json', {
    exposure: 'flat',
    naming: 'plain',
    ...config,
    mcpServers: {
      first: { command: 'sh', args: ['-c', waits, 'sh', first.command, ...first.args] },
      second,
    },
  });
  return {
    project,
    closeGate: () => void project.write('gate', ''),
    openGate: () => rmSync(gate, { force: true }),
    run: async (): Promise<RawClient> => {
      const client = startClient({ cwd: project.dir, env: ownState(project) });
      await client.initialize();
      return client;
    },
  };
}

async function names(client: RawClient, method: string): Promise<string[]> {
  const [items] = Object.values((await client.request(method)).result).filter(Array.isArray);
  return items!.map((item: any) => item.uri ?? item.uriTemplate ?? item.name);
}

const listed = (client: RawClient, method: string, ...wanted: string[]) =>
  until(
    async () => {
      const there = await names(client, method);
      return wanted.every((name) => there.includes(name)) ? there : undefined;
    },
    { what: `${method} to have ${wanted.join(', ')}` },
  );

test('a name that was listed before the first server was known is nobody’s once both have it; the next run knows better', async () => {
  const offers = [
    '--tools=transfer',
    '--resources=demo://same',
    '--templates=demo://item/{id}',
    '--prompts=ask',
  ];
  const { closeGate, openGate, run } = twoServers(
    offering('first', ...offers),
    offering('second', ...offers),
    {
      timeouts: { firstListMs: 500 },
    },
  );
  closeGate();
  const client = await run();
  expect(await listed(client, 'tools/list', 'transfer')).toEqual(['transfer']);
  await listed(client, 'resources/list', 'demo://same');
  await listed(client, 'resources/templates/list', 'demo://item/{id}');
  await listed(client, 'prompts/list', 'ask');
  expect(textOf(await client.call('transfer'))).toBe('second ran transfer with {}');

  openGate();
  expect(await listed(client, 'tools/list', 'first__transfer')).toEqual([
    'first__transfer',
    'second__transfer',
  ]);
  const refused = await client.call('transfer');
  expect(failed(refused)).toBe(true);
  expect(responseText(refused)).toMatch(
    /"transfer" is no longer available: several servers have a tool of that name\. Use "first__transfer" or "second__transfer"/,
  );
  for (const server of ['first', 'second'])
    expect(textOf(await client.call(`${server}__transfer`))).toBe(`${server} ran transfer with {}`);
  const aliases = (uri: string) => ['first', 'second'].map((server) => `switchboard://${server}/${uri}`);
  expect(await listed(client, 'resources/list', ...aliases('demo://same'))).not.toContain('demo://same');
  expect(await listed(client, 'resources/templates/list', ...aliases('demo://item/{id}'))).not.toContain(
    'demo://item/{id}',
  );
  expect(await listed(client, 'prompts/list', 'first__ask', 'second__ask')).not.toContain('ask');
  for (const uri of ['demo://same', 'demo://item/7'])
    expect((await client.request('resources/read', { uri })).error?.code).toBeLessThan(0);
  expect((await client.request('prompts/get', { name: 'ask' })).error?.code).toBeLessThan(0);
  await client.close();

  // What the first server has is remembered, however slow it is.
  closeGate();
  const next = await run();
  expect(await names(next, 'tools/list')).toEqual(['transfer', 'second__transfer']);
  expect(await names(next, 'prompts/list')).toEqual(['ask', 'second__ask']);
  expect(textOf(await next.call('second__transfer'))).toBe('second ran transfer with {}');
  const call = next.call('transfer');
  openGate();
  expect(textOf(await call)).toBe('first ran transfer with {}');
});

test('a name that nobody has seen goes to the first in the file, also where the second starts faster', async () => {
  const { closeGate, openGate, run } = twoServers(
    offering('first', '--tools=transfer'),
    offering('second', '--tools=transfer'),
  );
  closeGate();
  const client = await run();
  const list = names(client, 'tools/list');
  await client.waitForStderr(/listed server=second/);
  openGate();
  expect(await list).toEqual(['transfer', 'second__transfer']);
  expect(textOf(await client.call('transfer'))).toBe('first ran transfer with {}');
});

test('a call of a name from an earlier run waits for the first in the file to be listed', async () => {
  const offers = ['--tools=transfer', '--prompts=ask', '--resources=demo://same'];
  const { closeGate, openGate, run } = twoServers(
    offering('first', ...offers),
    offering('second', ...offers),
  );
  closeGate();
  const client = await run();
  const call = client.call('transfer');
  const prompt = client.request('prompts/get', { name: 'ask' });
  const resource = client.request('resources/read', { uri: 'demo://same' });
  await client.waitForStderr(/listed server=second tools/);
  await client.waitForStderr(/listed server=second prompts/);
  await client.waitForStderr(/listed server=second resources/);
  openGate();
  expect(textOf(await call)).toBe('first ran transfer with {}');
  expect((await prompt).result.messages[0].content.text).toBe('first says ask with {}');
  expect((await resource).result.contents[0].text).toBe('first has demo://same');
});

test('a name that was called does not pass to another server when its owner has it no more', async () => {
  const { run } = twoServers(
    nodeServer('offering', '--name=first', '--tools=transfer'),
    offering('second', '--tools=transfer'),
  );
  const client = await run();
  // It never lists anything.
  expect(textOf(await client.call('transfer'))).toBe('first ran transfer with {}');
  await client.call('remove', { kind: 'tool', names: ['transfer'] });
  // Until the new list is known, the server itself refuses.
  const answer = async (): Promise<string> => responseText(await client.call('transfer'));
  await until(async () => (await answer()).includes("its server 'first' no longer has it"), {
    what: 'the name to be gone',
  });
  expect(textOf(await client.call('second__transfer'))).toBe('second ran transfer with {}');
});

test('a remembered name does not pass to another server when its owner comes back without it', async () => {
  const files = createProject();
  const tools = files.write('tools', 'transfer\nother\n');
  const { run } = twoServers(
    offering('first', `--tools-file=${tools}`),
    offering('second', '--tools=transfer'),
  );
  const before = await run();
  expect(await listed(before, 'tools/list', 'second__transfer')).toContain('transfer');
  await before.close();
  files.write('tools', 'other\n');
  const client = await run();
  const refused = await client.call('transfer');
  expect(failed(refused), responseText(refused)).toBe(true);
  expect(responseText(refused)).toContain("its server 'first' no longer has it");
});
