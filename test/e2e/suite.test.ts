import { describe, expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { processesWith } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';

describe('with everything, filesystem and memory configured', () => {
  const three = (dir: string) => ({
    everything: npmServer('everything'),
    filesystem: { ...npmServer('filesystem', dir), description: 'Files of the project.' },
    memory: { ...npmServer('memory'), env: { MEMORY_FILE_PATH: `${dir}/memory.json` } },
  });

  test('tools/list is exactly three suites and starts no child', async () => {
    const { dir } = createProject();
    const { client } = await startGateway(three(dir));
    const { result } = await client.request('tools/list');
    expect(result.tools.map((tool: { name: string }) => tool.name)).toEqual([
      'everything_suite',
      'filesystem_suite',
      'memory_suite',
    ]);
    expect(result.tools[1]).toEqual({
      name: 'filesystem_suite',
      description: "Use this tool for Files of the project. Actions: 'introspect' | 'call'.",
      inputSchema: {
        type: 'object',
        properties: {
          action: { type: 'string', enum: ['introspect', 'call'] },
          subtool: { type: 'string' },
          args: { type: 'object' },
        },
        required: ['action'],
      },
    });
    expect(processesWith(client.marker).map((process) => process.pid)).toEqual([client.pid]);
  });

  test('each introspects and answers calls, and all are gone at the end', async () => {
    const { dir } = createProject({ 'hello.txt': 'hello from a file' });
    const { client, call, introspect } = await startGateway(three(dir));
    const [everything, filesystem, memory] = await Promise.all(
      ['everything', 'filesystem', 'memory'].map((name) => introspect(name)),
    );
    const names = (response: { result?: any } | undefined): string[] =>
      response?.result.structuredContent.tools.map((tool: { name: string }) => tool.name);
    expect(names(everything)).toContain('echo');
    expect(names(filesystem)).toContain('read_text_file');
    expect(names(memory)).toContain('create_entities');
    expect(textOf(await call('everything', 'echo', { message: 'hi' }))).toBe('Echo: hi');
    const file = await call('filesystem', 'read_text_file', { path: `${dir}/hello.txt` });
    expect(file.result.structuredContent).toEqual({ content: 'hello from a file' });
    await call('memory', 'create_entities', {
      entities: [{ name: 'Ada', entityType: 'person', observations: ['writes'] }],
    });
    expect(textOf(await call('memory', 'search_nodes', { query: 'Ada' }))).toContain('writes');
    const { code } = await client.close();
    expect(code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  });
});

describe('introspect', () => {
  test('summary by default: name, summary and condensed input', async () => {
    const { introspect } = await startGateway({ echo: nodeServer('echo') });
    const response = await introspect('echo');
    expect(response.result.structuredContent.tools[0]).toEqual({
      name: 'echo',
      summary: 'Gives the text back.',
      input: '{text:string}',
    });
    expect(Object.keys(response.result.structuredContent)).toEqual(['tools', 'more']);
    expect(response.result.structuredContent.more).toMatch(/"subtool".*"verbosity"/);
    expect(JSON.parse(textOf(response))).toEqual(response.result.structuredContent);
  });

  test('the instructions of a server come with its list, and not with the greeting', async () => {
    const { client, introspect } = await startGateway(
      { echo: nodeServer('echo', '--instructions=Say it twice.\u001b[31m And a third time.') },
      { config: { instructions: { maxChars: 20 } }, raw: true },
    );
    const greeting = await client.initialize();
    expect(greeting.result.instructions).toContain('*_suite');
    expect(greeting.result.instructions).not.toContain('twice');
    const told = async (more?: object) => (await introspect('echo', more)).result.structuredContent;
    expect((await told()).instructions).toBe('Say it twice. And a…');
    expect((await told({ verbosity: 'full' })).instructions).toContain('twice');
    expect(await told({ verbosity: 'redacted' })).not.toHaveProperty('instructions');
    expect(Object.keys(await told({ subtool: 'echo' }))).toEqual(['tools']);
  });

  test('the mode can be set in the configuration and for one call', async () => {
    const { introspect } = await startGateway(
      { echo: nodeServer('echo') },
      { config: { introspection: { mode: 'redacted' } } },
    );
    const first = async (more?: object) => (await introspect('echo', more)).result.structuredContent.tools[0];
    expect(await first()).toEqual({ name: 'echo', summary: 'Gives the text back.' });
    expect(await first({ verbosity: 'summary' })).toHaveProperty('input');
    expect((await first({ verbosity: 'full' })).inputSchema.properties).toHaveProperty('text');
    const wrong = await introspect('echo', { verbosity: 'loud' });
    expect(wrong.result.isError).toBe(true);
    expect(textOf(wrong)).toContain('"summary", "full", "redacted"');
  });

  test('one subtool in full, every field as the server gave it', async () => {
    const { introspect } = await startGateway({ odd: nodeServer('odd') });
    const direct = await startGateway({ odd: nodeServer('odd') });
    const { tools } = (await direct.introspect('odd', { verbosity: 'full' })).result.structuredContent;
    const one = await introspect('odd', { subtool: 'big_integers' });
    expect(one.result.structuredContent.tools).toEqual(
      tools.filter((tool: { name: string }) => tool.name === 'big_integers'),
    );
    const missing = await introspect('odd', { subtool: 'big_integer' });
    expect(missing.result.isError).toBe(true);
    expect(textOf(missing)).toContain('Did you mean "big_integers"');
  });

  test('long lists are read to their end, endless ones are cut and said to be', async () => {
    const { introspect } = await startGateway({
      pages: nodeServer('pages', '--pages=7'),
      endless: nodeServer('pages', '--endless'),
      repeat: nodeServer('pages', '--repeat'),
      many: nodeServer('many-tools', '--count=10000'),
    });
    const [pages, endless, repeat, many] = await Promise.all(
      ['pages', 'endless', 'repeat', 'many'].map((name) => introspect(name)),
    );
    expect(pages?.result.structuredContent.tools).toHaveLength(14);
    expect(pages?.result.structuredContent.note).toBeUndefined();
    expect(endless?.result.structuredContent.note).toContain('more than 100 pages');
    expect(repeat?.result.structuredContent.note).toContain('repeats');
    expect(many?.result.structuredContent.tools).toHaveLength(1000);
    expect(many?.result.structuredContent.note).toContain('first 1000');
  });
});

describe('suites as configured', () => {
  test('name, description and summaries are the configured ones', async () => {
    const { client } = await startGateway(
      { echo: { ...nodeServer('echo'), description: 'ignored' }, plain: nodeServer('echo') },
      {
        config: {
          suites: { echo: { suiteName: 'parrot', description: 'Says it again.', summaryMaxChars: 12 } },
        },
      },
    );
    const { result } = await client.request('tools/list');
    expect(result.tools.map(({ name, description }: any) => [name, description])).toEqual([
      ['parrot', 'Says it again.'],
      ['plain_suite', "Use this tool for plain. Actions: 'introspect' | 'call'."],
    ]);
    const introspected = await client.call('parrot', { action: 'introspect' });
    for (const { summary } of introspected.result.structuredContent.tools)
      expect(summary.length).toBeLessThanOrEqual(12);
  });

  test('allow and deny hold for listing and for calling', async () => {
    const { call, introspect } = await startGateway(
      { echo: nodeServer('echo') },
      { config: { suites: { echo: { expose: { allow: ['*echo', 'add'], deny: ['slow_*'] } } } } },
    );
    const names = (await introspect('echo')).result.structuredContent.tools.map((tool: any) => tool.name);
    expect(names).toEqual(['echo', 'add']);
    expect(textOf(await call('echo', 'echo', { text: 'x' }))).toBe('x');
    const denied = await call('echo', 'slow_echo', { text: 'x' });
    expect(denied.result.isError).toBe(true);
    expect(textOf(denied)).toMatch(/^Subtool 'slow_echo' not allowed by Switchboard \(suite 'echo'\)\./);
    expect(textOf(denied)).not.toContain('Did you mean');
  });

  test('a flat tool that is hidden is not allowed, and no other one is suggested', async () => {
    const { client } = await startGateway({
      echo: { ...nodeServer('echo'), exposure: 'flat', hiddenTools: ['slow_echo'] },
    });
    await client.call('echo__echo', { text: 'x' });
    const { error } = await client.call('echo__slow_echo', { text: 'x' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('is not allowed') });
    expect(error!.message).not.toContain('Did you mean');
  });

  test('names that are no tool names become ones, and never meet', async () => {
    const { client } = await startGateway({
      'my server': nodeServer('echo'),
      my_server: nodeServer('echo'),
      'größe/ß': nodeServer('echo'),
      constructor: nodeServer('echo'),
      ['x'.repeat(64)]: nodeServer('echo'),
    });
    const { result } = await client.request('tools/list');
    const names: string[] = result.tools.map((tool: any) => tool.name);
    expect(new Set(names).size).toBe(5);
    for (const name of names) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(names).toContain('constructor_suite');
    expect(
      textOf(
        await client.call('constructor_suite', { action: 'call', subtool: 'echo', args: { text: 'ok' } }),
      ),
    ).toBe('ok');
  });
});

describe('call', () => {
  test('a wrong subtool is answered with the nearest names and never reaches the server', async () => {
    const { call } = await startGateway({ echo: nodeServer('echo') });
    const wrong = await call('echo', 'ehco', { text: 'x' });
    expect(wrong.result.isError).toBe(true);
    expect(textOf(wrong)).toContain(`Server 'echo' has no subtool 'ehco'. Did you mean "echo"`);
    expect(textOf(await call('echo', 'received'))).not.toContain('ehco');
  });

  test('arguments beside args run nothing, and are answered with the call as it should be', async () => {
    const { client, call } = await startGateway({ echo: nodeServer('echo') });
    const misplaced = { action: 'call', subtool: 'echo', text: 'hello' };
    const refused = await client.call('echo_suite', misplaced);
    expect(refused.result.isError).toBe(true);
    expect(textOf(refused)).toContain('{"action":"call","subtool":"echo","args":{"text":"hello"}}');
    expect(textOf(await call('echo', 'received'))).not.toContain('hello');
  });

  test('what the server refuses comes back with its own error, untouched', async () => {
    const { call } = await startGateway({ echo: nodeServer('echo'), everything: npmServer('everything') });
    const rejected = await call('echo', 'reject', { message: 'not like this' });
    expect(rejected.error?.message).toBe('not like this');
    expect(rejected.error?.data).toBeDefined();
    const failed = await call('echo', 'fail', { message: 'inside' });
    expect(failed.result.isError).toBe(true);
    const refused = await call('everything', 'echo', { message: 7 });
    expect(JSON.stringify(refused)).toMatch(/expected string|Invalid/i);
  });

  test.each([
    [{}, 'needs an action'],
    [{ action: 'dance' }, 'needs an action'],
    [{ action: 'call' }, 'needs the name of a subtool'],
    [{ action: 'call', subtool: 7 }, 'needs the name of a subtool'],
    [{ action: 'call', subtool: 'echo', args: [1] }, 'must be an object'],
    [{ action: 'call', subtool: 'echo', args: 'text' }, 'must be an object'],
  ])('%j is explained', async (args, explanation) => {
    const { client } = await startGateway({ echo: nodeServer('echo') });
    const response = await client.call('echo_suite', args);
    expect(response.result.isError).toBe(true);
    expect(textOf(response)).toContain(explanation);
  });

  test('arguments that a model wrote as a JSON string are understood', async () => {
    const { client } = await startGateway({ echo: nodeServer('echo') });
    const response = await client.call('echo_suite', {
      action: 'call',
      subtool: 'echo',
      args: '{"text":"in a string"}',
    });
    expect(textOf(response)).toBe('in a string');
  });

  test('everything else in the request reaches the server: _meta, and what nobody knows yet', async () => {
    const { client } = await startGateway({ asks: nodeServer('asks'), echo: nodeServer('echo') });
    const response = await client.request('tools/call', {
      future: { x: 1 },
      arguments: { args: { text: 'y' }, subtool: 'echo', action: 'call' },
      name: 'echo_suite',
      _meta: { 'example.org/trace': 'abc' },
    });
    expect(textOf(response)).toBe('y');
  });
});
