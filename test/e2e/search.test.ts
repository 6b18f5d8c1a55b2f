/** "exposure": "search": `find_tool` and `call_tool` for any number of servers. */
import { existsSync, readFileSync } from 'node:fs';
import { encode } from 'gpt-tokenizer/encoding/o200k_base';
import { expect, test } from 'vitest';
import { connectHostile } from '../helpers/client-kinds.ts';
import { MODERN } from '../helpers/eras.ts';
import { ownState, startGateway } from '../helpers/gateway.ts';
import { responseText, startClient, textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const SEARCH = { exposure: 'search' };

/** What a host puts into its prompt. */
function promptTokens({ result }: RpcMessage): number {
  const tools = result.tools as { name: string; description: string; inputSchema: object }[];
  return encode(
    tools
      .map(({ name, description, inputSchema }) => JSON.stringify({ name, description, inputSchema }))
      .join('\n'),
  ).length;
}

for (const kind of [
  { version: '2025-06-18', transport: 'stdio' },
  { version: '2025-11-25', transport: 'http' },
  { version: MODERN, transport: 'http' },
] as const)
  test(`a client of ${kind.version} over ${kind.transport} finds tools and calls them`, async () => {
    const lines = Array.from({ length: 3000 }, (_, at) => `line ${at + 1}`).join('\n');
    const project = createProject({ 'long.txt': lines });
    const client = await connectHostile(
      kind,
      { files: npmServer('filesystem', project.dir), memory: npmServer('memory') },
      { config: { ...SEARCH, results: { maxTokens: 600 } } },
    );
    const listed = await client.request('tools/list');
    expect(listed.result.tools.map(({ name }: { name: string }) => name)).toEqual(['find_tool', 'call_tool']);

    const found = textOf(await client.call('find_tool', { query: 'read text of a file' }));
    expect(found).toMatch(/^files\.read_text_file\(\{path:string/);
    expect(encode(found).length).toBeLessThanOrEqual(800);

    const args = { path: project.path('long.txt') };
    const cut = textOf(await client.call('call_tool', { tool: 'files.read_text_file', args }));
    expect(cut).toMatch(/^line 1\nline 2\n/);
    const id = /call_tool \{"tool":"read_result","args":\{"result":"([0-9a-f]{10})"/.exec(cut)?.[1];
    const rest = { tool: 'read_result', args: { result: id, lines: '1500-1502' } };
    expect(textOf(await client.call('call_tool', rest))).toContain('line 1500\nline 1501\nline 1502');

    // Underscores as hosts write them, and a name that only one server has.
    for (const tool of ['memory__read_graph', 'read_graph'])
      expect(textOf(await client.call('call_tool', { tool }))).toContain('"entities"');
  });

test('wrong calls are answered with what would be right, and reach no tool', async () => {
  const { client } = await startGateway(
    { memory: npmServer('memory'), echo: { ...nodeServer('echo'), hiddenTools: ['big'] } },
    { config: SEARCH },
  );
  const call = async (args: object): Promise<string> => responseText(await client.call('call_tool', args));
  expect(await call({})).toContain('needs the name of a tool');
  expect(await call({ tool: 'memory.read_grap' })).toContain('Did you mean memory.read_graph()');
  expect(await call({ tool: 'memroy.read_graph' })).toContain('memory.read_graph()');
  expect(await call({ tool: 'echo.big', args: {} })).toContain('not allowed');
  expect(await call({ tool: 'memory.open_nodes', args: { name: ['a'] } })).toMatch(
    /was not run: "names" is missing \(there is "name"\)[^]*"type":"array"/,
  );
  expect(await call({ tool: 'memory.open_nodes', names: ['a'] })).toContain('belong in "args"');

  const find = async (args: object): Promise<string> => textOf(await client.call('find_tool', args));
  expect(await find({ query: 'big' })).not.toContain('echo.big');
  expect(await find({ query: 'memory.open_nodes' })).toMatch(/^memory\.open_nodes\(/);
  expect(await find({ query: 'opn_nodes' })).toMatch(/^memory\.open_nodes\(/);
  expect(await find({ query: 'qqq', server: 'nobody' })).toContain('Servers: memory, echo');
  expect(await find({ query: 'zzzzqqqq' })).toContain('memory (9)');
  expect(await find({ query: 'delete relations; add two numbers' })).toMatch(
    /# delete relations\nmemory\.delete_relations[^]*# add two numbers\necho\.add/,
  );
  expect(responseText(await client.call('find_tool', { query: ' ' }))).toContain('needs a query');
});

test('the list is the same, and short, before and after servers are added', async () => {
  const gone = { command: 'never-started', args: [] };
  const five = { a: gone, b: gone, github: gone, slack: gone, browser: gone };
  const { client, project } = await startGateway(five, { config: SEARCH });
  const before = await client.request('tools/list');
  const added = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`server-${at}`, gone]));
  project.write('switchboard.config.json', { ...SEARCH, mcpServers: { ...five, ...added } });
  const { json } = await runCli(project, ['reload', '--json']);
  expect(json).toBeDefined();
  const after = await client.request('tools/list');
  expect(JSON.stringify(after.result)).toBe(JSON.stringify(before.result));
  expect(promptTokens(after)).toBeLessThanOrEqual(150);
  expect(client.stderr).not.toContain('spawned');

  const many = await startGateway(added, { config: SEARCH, raw: true });
  const { result } = await many.client.initialize();
  expect(result.instructions).toMatch(
    /find_tool finds the tools of these MCP servers.*server-0.* and \d+ more\./,
  );
  expect(encode(result.instructions).length).toBeLessThanOrEqual(200);
  expect(promptTokens(await many.client.request('tools/list'))).toBeLessThanOrEqual(150);
});

test('what was listed once is found without starting a server, and one bad server hides no other', async () => {
  const servers = {
    echo: nodeServer('echo'),
    hangs: nodeServer('never-initialize'),
    gone: { command: 'no-such', args: [] },
  };
  const first = await startGateway(servers, { config: { ...SEARCH, timeouts: { firstListMs: 1500 } } });
  const found = textOf(await first.client.call('find_tool', { query: 'add two numbers' }));
  expect(found).toMatch(/^echo\.add\(/);
  expect(found).toContain('Not searched: hangs. It is still starting.');
  expect(found).toMatch(/Not searched: gone\. .*no-such/);
  await first.client.close();

  const { project } = first;
  project.write('switchboard.config.json', { ...SEARCH, mcpServers: { echo: servers.echo } });
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize();
  expect(textOf(await client.call('find_tool', { query: 'add two numbers' }))).toMatch(/^echo\.add\(/);
  expect(client.stderr).not.toContain('spawned');
  const cli = await runCli(project, ['search', 'add two numbers', '--json']);
  expect(cli.json.needs[0].tools[0]).toMatchObject({ tool: 'echo.add', server: 'echo', name: 'add' });
  expect(cli.stderr).not.toContain('spawned');
});

test('a tool that was used after some words comes first for them, until that is cleared', async () => {
  const { client, project } = await startGateway({ memory: npmServer('memory') }, { config: SEARCH });
  const first = async (): Promise<string> =>
    textOf(await client.call('find_tool', { query: 'zigzag crumbs' })).split('(')[0]!;
  const before = await first();
  expect(before).not.toBe('memory.read_graph');
  await client.call('find_tool', { query: 'read graph' });
  // One that fails teaches nothing.
  expect((await client.call('call_tool', { tool: 'memory.no_such' })).result?.isError).toBe(true);
  await client.call('call_tool', { tool: 'memory.read_graph' });
  expect(await first()).toBe('memory.read_graph');
  const file = project.path('.state/search/learned.json');
  await until(() => existsSync(file), { what: 'what was learned' });
  expect(JSON.parse(readFileSync(file, 'utf8')).tools['memory.read_graph']).toMatchObject({
    zigzag: 1,
    crumb: 1,
  });
  const { json } = await runCli(project, ['search', '--clear-learned', '--json']);
  expect(json.cleared).toBe(1);
  await until(async () => (await first()) === before, { what: 'the first order' });
  await client.close();
  expect(existsSync(file)).toBe(false);
});

test('progress and cancellation go through call_tool', async () => {
  const { client } = await startGateway(
    { progress: nodeServer('progress'), slow: nodeServer('slow') },
    { config: SEARCH },
  );
  const steps = { tool: 'progress.steps', args: { n: 3 } };
  await client.call('call_tool', steps, { progressToken: 'mine' });
  const notes = client.messages.filter(({ method }) => method === 'notifications/progress');
  expect(notes.map(({ params }) => [params.progressToken, params.progress])).toEqual([
    ['mine', 1],
    ['mine', 2],
    ['mine', 3],
  ]);
  client.send({
    jsonrpc: '2.0',
    id: 'h',
    method: 'tools/call',
    params: { name: 'call_tool', arguments: { tool: 'slow.hang' } },
  });
  const running = async (tool: string): Promise<string> =>
    textOf(await client.call('call_tool', { tool: `slow.${tool}` }));
  await until(async () => (await running('running_count')) === '1', { what: 'the call that hangs' });
  client.notify('notifications/cancelled', { requestId: 'h' });
  await until(async () => (await running('cancelled_count')) === '1', { what: 'the cancellation' });
});

test('hostile texts stay in their line, and cannot come before an exact name', async () => {
  const { client } = await startGateway(
    {
      echo: nodeServer('echo'),
      odd: nodeServer('many-tools', '--count=300', '--description-bytes=20000', '--names=foreign'),
      bomb: nodeServer('many-tools', '--count=20', '--schema=ref-bomb'),
    },
    { config: SEARCH },
  );
  expect(textOf(await client.call('find_tool', { query: 'echo.add' }))).toMatch(/^echo\.add\(/);
  for (const query of [
    'has space',
    '日本語',
    'tool_1',
    'a'.repeat(5000),
    '{"$ref":"#"}',
    '__proto__ constructor',
  ]) {
    const text = textOf(await client.call('find_tool', { query, more: true }));
    expect(encode(text).length).toBeLessThanOrEqual(800);
    expect(text.length).toBeGreaterThan(10);
  }
});

test('dry-run compares the exposures and recommends one', async () => {
  const project = createProject({
    'switchboard.config.json': {
      ...SEARCH,
      mcpServers: { memory: npmServer('memory'), everything: npmServer('everything') },
    },
  });
  const { stdout } = await runCli(project, ['--dry-run']);
  expect(stdout).toMatch(/^find_tool, call_tool +≈ \d+$/m);
  expect(stdout).toMatch(/^suite {2}← recommended +≈ \d+ +≈ [\d,]+$/m);
  const { json } = await runCli(project, ['--dry-run', '--json']);
  expect(json.exposures.recommended).toBe('suite');
  const cost = Object.fromEntries(
    json.exposures.costs.map(({ exposure, start }: { exposure: string; start: number }) => [exposure, start]),
  );
  expect(cost.search).toBeLessThan(cost.suite);
  expect(cost.suite).toBeLessThan(cost.flat);
});
