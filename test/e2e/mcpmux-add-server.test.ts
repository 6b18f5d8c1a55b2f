/** mcpmux: add_server, and the names that servers and their tools get. */
import { describe, expect, test } from 'vitest';
import {
  changesBy,
  failed,
  MANAGEMENT_TOOLS,
  MUX,
  SERVER_WITHOUT_TOOLS,
  startMux,
  type ListedServer,
} from '../helpers/management.ts';
import { ownTools, swappable } from '../helpers/mcpmux.ts';
import { processesWith } from '../helpers/processes.ts';
import { responseText, startClient, textOf, type Json } from '../helpers/raw-client.ts';
import { nodeServer, serverPath } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('add_server', () => {
  test('starts the program, initializes it, lists its tools and notifies the client once', async () => {
    const mux = await startMux();
    let added: ListedServer | undefined;
    const changes = await changesBy(mux, async () => {
      added = await mux.added('echo', nodeServer('echo', '--tools=echo,received'));
      await mux.changed(1);
    });
    expect(changes).toBe(1);
    expect(added).toEqual({
      name: 'echo',
      ...nodeServer('echo', '--tools=echo,received'),
      status: 'running',
      tools: ['echo__echo', 'echo__received'],
      pid: expect.any(Number),
      uptime_seconds: 0,
    });
    const [child] = processesWith(mux.client.marker).filter(({ command }) => command.includes('received'));
    expect(child).toMatchObject({ pid: added!.pid, parent: mux.client.pid });
    expect(JSON.parse(textOf(await mux.client.call('echo__received'))).slice(0, 3)).toEqual([
      'initialize',
      'notifications/initialized',
      'tools/list',
    ]);
  });

  test('shows each tool as its server describes it, with another name', async () => {
    const mux = await startMux();
    for (const server of ['echo', 'odd-fields']) {
      const direct = startClient({ ...nodeServer(server), strict: false });
      await direct.initialize();
      await mux.added(server, nodeServer(server));
      const tools = (await mux.client.listTools()).filter(({ name }) => name.startsWith(`${server}__`));
      expect(tools.length).toBeGreaterThan(3);
      expect(tools).toEqual(
        (await direct.listTools()).map((tool) => ({ ...tool, name: `${server}__${tool.name}` })),
      );
    }
  });

  test('succeeds without any tools, and is announced too', async () => {
    const mux = await startMux();
    const changes = await changesBy(mux, async () => {
      expect(responseText(await mux.add('bare', SERVER_WITHOUT_TOOLS))).toContain('no tools');
    });
    expect(changes).toBe(1);
    expect(await mux.server('bare')).toMatchObject({ status: 'running', tools: [] });
    expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
  });

  test('merges env into ours, runs in cwd, and takes every string literally', async () => {
    const mux = await startMux({ env: { OUTER: 'outer', BOTH: 'ours' } });
    const folder = mux.project.path('some folder');
    mux.project.write('some folder/.keep', '');
    const env = { BOTH: 'theirs', INNER: 'a ${OUTER} $HOME "quoted"' };
    await mux.added('absolute', {
      ...nodeServer('echo', '${OUTER}', '$HOME', '*', ''),
      env,
      cwd: folder,
    });
    await mux.added('relative', { ...nodeServer('echo'), cwd: 'some folder' });
    await mux.added('default', nodeServer('echo'));
    const value = async (name: string): Promise<Json> =>
      JSON.parse(textOf(await mux.client.call('absolute__env', { name }))).value;
    expect(await value('BOTH')).toBe('theirs');
    expect(await value('INNER')).toBe(env.INNER);
    expect(await value('OUTER')).toBe('outer');
    expect(await value('PATH')).toBe(process.env.PATH);
    expect(JSON.parse(textOf(await mux.client.call('absolute__whoami')))).toMatchObject({
      args: ['${OUTER}', '$HOME', '*', ''],
      cwd: folder,
    });
    expect(textOf(await mux.client.call('relative__cwd'))).toBe(folder);
    expect(textOf(await mux.client.call('default__cwd'))).toBe(mux.project.dir);
    const inherited = await mux.client.call('default__env', { name: 'BOTH' });
    expect(JSON.parse(textOf(inherited)).value).toBe('ours');
    // Values may be secrets.
    for (const text of [JSON.stringify(await mux.servers()), mux.client.stderr]) {
      expect(text).not.toContain('theirs');
    }
  });

  test('takes names of any script and up to 64 characters; every tool gets a name that is valid and its own', async () => {
    const mux = await startMux();
    const names = ['größe', '名前', '😀', 'with space', 'a.b/c', 'n'.repeat(64), '-', 'constructor'];
    for (const name of names) await mux.added(name, nodeServer('offering', `--name=${name}`, '--tools=look'));
    const tools = await ownTools(mux);
    expect(new Set(tools).size).toBe(tools.length);
    for (const tool of tools) expect(tool).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    const servers = await mux.servers();
    expect(servers.map(({ name }) => name)).toEqual(names);
    expect(servers.flatMap((server) => server.tools)).toEqual(tools);
    for (const { name, tools: own } of servers) {
      expect(textOf(await mux.client.call(own[0]!, { n: 1 }))).toBe(`${name} ran look with {"n":1}`);
    }
  });

  const tooLong = 'x'.repeat(65);
  test.each<[string, object, RegExp]>([
    ['an empty name', { name: '' }, /needs a name.*for example/i],
    ['a blank name', { name: ' \t ' }, /needs a name.*for example/i],
    ['a name with __', { name: 'a__b' }, /"a__b".*"__".*single "_"/],
    ['a name that ends in _', { name: 'a_' }, /"a_" ends in "_".*remove/i],
    ['a name with a bell', { name: 'a\u0007b' }, /control character.*letters/i],
    ['a name with a line break', { name: 'a\nb' }, /control character.*letters/i],
    ['a name of 65 characters', { name: tooLong }, /at most 64.*65.*shorter/i],
    ['no name', { name: undefined }, /name is required.*for example/i],
    ['a number as name', { name: 5 }, /name is required.*for example/i],
    ['no command', { command: undefined }, /command is required.*for example/i],
    ['an empty command', { command: '  ' }, /command is empty.*name the program/i],
    ['arguments that are no list', { args: '--x' }, /args must be an array.*for example/i],
    ['an argument that is no text', { args: ['a', 1] }, /args must be an array.*for example/i],
    ['an env that is no object', { env: ['A=1'] }, /env must be an object.*for example/i],
    ['a variable that is no text', { env: { A: { B: 'C' } } }, /env must be an object.*for example/i],
    ['a variable with = in its name', { env: { 'A=B': 'C' } }, /environment variable.*a name and a value/i],
    ['a cwd that is no text', { cwd: 5 }, /cwd must be a string.*for example/i],
    ['a NUL in an argument', { args: ['a\0b'] }, /NUL.*arguments.*remove/i],
    ['itself', MUX, /this gateway itself.*name the server/i],
  ])('refuses %s, says why and what to do, and starts nothing', async (_what, wrong, expected) => {
    const mux = await startMux();
    const response = await mux.client.call('add_server', { name: 'fine', ...nodeServer('echo'), ...wrong });
    expect(failed(response)).toBe(true);
    expect(responseText(response)).toMatch(expected);
    expect(await mux.servers()).toEqual([]);
    expect(mux.client.stderr).not.toContain('spawned');
  });

  test('refuses a name that is taken, says what to do, and leaves the one there alone', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('taken', nodeServer('echo'));
    await mux.changed(1);
    const changes = await changesBy(mux, async () => {
      expect(responseText(await mux.add('taken', nodeServer('echo')))).toMatch(
        /"taken" already.*remove_server.*reload_server.*another name/,
      );
      expect(responseText(await mux.add('taken', { command: 'nowhere-at-all' }))).toContain(
        '"taken" already',
      );
    });
    expect(changes).toBe(0);
    expect(await mux.server('taken')).toMatchObject({ status: 'running', pid });
  });

  test.each<[string, object, RegExp]>([
    [
      'a command that does not exist',
      { command: 'no-such-program-anywhere' },
      /"bad".*command not found: "no-such-program-anywhere".*Install it/,
    ],
    ['a file that is no program', { command: serverPath('echo') }, /is not executable.*chmod/],
    [
      'a folder that does not exist',
      { ...nodeServer('echo'), cwd: 'no/such/folder' },
      /no\/such\/folder.*cwd/,
    ],
    [
      'a server that exits at once',
      nodeServer('close-early', '--lines=3', '--code=4'),
      /'bad' exited with code 4\. It wrote: "close-early: missing API key, line 1.*in a terminal/s,
    ],
    [
      'a server that dies when it is greeted',
      nodeServer('crash', '--at-initialize', '--stderr-lines=2', '--code=3'),
      /'bad' exited with code 3\. It wrote: .*crash line 2.*in a terminal/s,
    ],
    [
      'a program that is no MCP server',
      { command: 'sh', args: ['-c', 'echo hello there'] },
      /It printed "hello there" to stdout\. Its command does not seem to start an MCP server/,
    ],
    [
      'a server that never answers',
      nodeServer('never-initialize'),
      /'bad' did not respond to initialize within 1\.\d s.*timeouts\.childSpawnMs/s,
    ],
    [
      'a server that refuses its list',
      nodeServer('bad-list'),
      /Server 'bad' could not list its tools: "the catalogue is on fire"/,
    ],
    [
      'a server that never lists',
      nodeServer('bad-list', '--hang'),
      /'bad' did not respond to tools\/list within 1000 ms.*timeouts\.rpcMs/,
    ],
  ])('with %s fails, says why and what to do, and leaves nothing', async (_what, server, expected) => {
    // Enough for a good server on a busy machine.
    const mux = await startMux({ config: { timeouts: { childSpawnMs: 1000, rpcMs: 1000 } } });
    const changes = await changesBy(mux, async () => {
      const response = await mux.add('bad', server);
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(expected);
      expect(response.result).not.toHaveProperty('structuredContent');
      expect(await mux.servers()).toEqual([]);
    });
    expect(changes).toBe(0);
    expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
    expect(responseText(await mux.reload('bad'))).toContain('No server named "bad"');
    expect(responseText(await mux.client.call('bad__echo'))).toMatch(
      /Unknown tool: "bad__echo"\. Call tools\/list/,
    );
    await until(() => processesWith(mux.client.marker).length === 2, { what: 'nothing of it to be left' });
  });

  test('has the name free again after it failed', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'close-early');
    expect(failed(await mux.add('dev', server))).toBe(true);
    become('echo');
    await mux.added('dev', server);
    expect(textOf(await mux.client.call('dev__echo', { text: 'now' }))).toBe('now');
  });

  test('that is slow delays no other; meanwhile it is starting, and calls of its tools wait for it', async () => {
    const mux = await startMux();
    // Only the first list waits for servers that are starting.
    expect(await ownTools(mux)).toEqual([]);
    const late = mux.add('late', nodeServer('slow', '--initialize-ms=1500'));
    await mux.serverOnce('late', 'starting');
    const early = mux.client.call('late__echo', { text: 'early' });
    await mux.added('fast', nodeServer('echo', '--tools=echo'));
    expect(textOf(await mux.client.call('fast__echo', { text: 'fast' }))).toBe('fast');
    expect(await ownTools(mux)).toEqual(['fast__echo']);
    expect(mux.client.ledger.unanswered()).toHaveLength(2);
    expect(failed(await late)).toBe(false);
    expect(textOf(await early)).toBe('early');
  });
});

describe('names', () => {
  test('of the four tools cannot be taken', async () => {
    const mux = await startMux();
    const before = await mux.client.listTools();
    await mux.added(
      'evil',
      nodeServer('offering', `--tools=${MANAGEMENT_TOOLS.join(',')}`, '--name=evil', '--quiet'),
    );
    await mux.added('add', nodeServer('offering', '--tools=server,_server', '--name=add', '--quiet'));
    expect((await mux.client.listTools()).slice(0, 4)).toEqual(before);
    expect(await ownTools(mux)).toEqual([
      ...MANAGEMENT_TOOLS.map((name) => `evil__${name}`),
      'add__server',
      'add___server',
    ]);
    for (const name of MANAGEMENT_TOOLS) {
      expect(textOf(await mux.client.call(`evil__${name}`))).toBe(`evil ran ${name} with {}`);
    }
    expect((await mux.servers()).map(({ name }) => name)).toEqual(['evil', 'add']);
  });

  test('that two servers share are distinguished; removing one removes only its own', async () => {
    const mux = await startMux();
    const of = (name: string) => nodeServer('offering', `--name=${name}`, '--tools=same,other', '--quiet');
    for (const name of ['one', 'two']) await mux.added(name, of(name));
    const tools = ['one__same', 'one__other', 'two__same', 'two__other'];
    expect(await ownTools(mux)).toEqual(tools);
    for (const tool of tools) {
      const [server, own] = tool.split('__');
      expect(textOf(await mux.client.call(tool))).toBe(`${server} ran ${own} with {}`);
    }
    await mux.remove('one');
    expect(await ownTools(mux)).toEqual(['two__same', 'two__other']);
    expect(textOf(await mux.client.call('two__same'))).toBe('two ran same with {}');
  });

  test('of tools may hold __ themselves', async () => {
    const mux = await startMux();
    const awkward = ['b__c', '__x', 'y__', 'a__b__c', '___'];
    await mux.added('a', nodeServer('offering', '--name=a', `--tools=${awkward.join(',')}`, '--quiet'));
    await mux.added('b', nodeServer('offering', '--name=b', '--tools=c', '--quiet'));
    await mux.added('a_b', nodeServer('offering', '--name=a_b', '--tools=c,_c', '--quiet'));
    for (const server of await mux.servers()) {
      for (const tool of server.tools) {
        const own = tool.slice(server.name.length + 2);
        expect(textOf(await mux.client.call(tool))).toBe(`${server.name} ran ${own} with {}`);
      }
    }
    expect(await ownTools(mux)).toEqual([
      ...awkward.map((tool) => `a__${tool}`),
      'b__c',
      'a_b__c',
      'a_b___c',
    ]);
  });
});
