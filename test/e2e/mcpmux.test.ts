/**
 * The program mcpmux: servers that a client adds, reloads, removes and lists while it works, as its specification
 * describes them.
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { chmodSync, existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import {
  SERVER_WITHOUT_TOOLS,
  changesBy,
  failed,
  MUX,
  waitForNotifications,
  startMux,
  type ListedServer,
  type Mux,
} from '../helpers/management.ts';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { responseText, startClient, textOf, type Json } from '../helpers/raw-client.ts';
import { sdkClients } from '../helpers/sdk-client.ts';
import { createProject, nodeServer, serverPath, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const MANAGEMENT = ['add_server', 'remove_server', 'reload_server', 'list_servers'];

/** A program that is one of the test servers now, and another one when it is written anew. */
function swappable(project: Project, name: string) {
  const become = (other: string): string =>
    project.write('server.mjs', `import ${JSON.stringify(pathToFileURL(serverPath(other)).href)};\n`);
  return { become, server: { command: process.execPath, args: [become(name)] } };
}

/** What a call came to, whichever client made it. */
interface Answer {
  readonly text: string;
  readonly isError: boolean;
  readonly structured: Json;
}

/** A client of any make. */
interface Host {
  readonly project: Project;
  tools(): Promise<string[]>;
  call(name: string, args?: object): Promise<Answer>;
  /** How often it was told that the tools have changed. */
  changes(): number;
  /** Ends the program; it must leave nothing behind. */
  leave(): Promise<void>;
}

const hosts: Record<string, () => Promise<Host>> = {
  'the raw client': async () => {
    const mux = await startMux();
    return {
      project: mux.project,
      tools: () => mux.tools(),
      call: async (name, args) => {
        const response = await mux.client.call(name, args);
        return {
          text: responseText(response),
          isError: failed(response),
          structured: response.result?.structuredContent,
        };
      },
      changes: () => mux.changes(),
      leave: async () => {
        expect((await mux.client.close()).code).toBe(0);
        expect(processesWith(mux.client.marker)).toEqual([]);
      },
    };
  },
  ...Object.fromEntries(
    Object.entries(sdkClients).map(([name, start]) => [
      name,
      async (): Promise<Host> => {
        const project = createProject();
        const client = await start({ cwd: project.dir, server: MUX, answer: () => ({}) });
        return {
          project,
          tools: () => client.listTools(),
          call: async (tool, args) => {
            try {
              const { content, isError, structuredContent } = await client.result(tool, args);
              return { text: content[0].text, isError: isError === true, structured: structuredContent };
            } catch (error) {
              return { text: (error as Error).message, isError: true, structured: undefined };
            }
          },
          changes: () => client.toolChanges(),
          leave: () => client.close(),
        };
      },
    ]),
  ),
};

describe.each(Object.entries(hosts))('with %s', (_name, start) => {
  const told = async (host: Host, times: number): Promise<void> => {
    await until(() => host.changes() >= times, { what: `${times} changes of the tools`, every: 5 });
  };
  const listed = async (host: Host, name: string): Promise<ListedServer | undefined> =>
    (await host.call('list_servers')).structured.servers.find((each: ListedServer) => each.name === name);

  test('a server is added, its tools are listed and called, and it is removed', async () => {
    const host = await start();
    expect(await host.tools()).toEqual(MANAGEMENT);
    const added = await host.call('add_server', { name: 'echo', ...nodeServer('echo') });
    expect(added).toMatchObject({ isError: false, structured: { server: { status: 'running' } } });
    await told(host, 1);
    const own = (await host.tools()).filter((name) => !MANAGEMENT.includes(name));
    expect(own).toEqual(added.structured.server.tools);
    expect(own).toContain('echo__echo');
    expect(await host.call('echo__echo', { text: 'grüße 😀' })).toMatchObject({
      text: 'grüße 😀',
      isError: false,
    });
    expect(await host.call('remove_server', { name: 'echo' })).toMatchObject({ isError: false });
    await told(host, 2);
    expect(await host.tools()).toEqual(MANAGEMENT);
    const late = await host.call('echo__echo', { text: 'late' });
    expect(late.isError).toBe(true);
    expect(late.text).toMatch(/'echo' was removed.*add_server/);
    await host.leave();
  });

  test('a server that was built anew is reloaded, and what is new in it can be called', async () => {
    const host = await start();
    const { become, server } = swappable(host.project, 'echo');
    const added = await host.call('add_server', { name: 'dev', ...server });
    await told(host, 1);
    expect(added.structured.server.tools).not.toContain('dev__reverse');
    become('echo-v2');
    // Nobody watches the file.
    expect(await host.tools()).not.toContain('dev__reverse');
    expect((await host.call('dev__reverse', { text: 'abc' })).isError).toBe(true);
    const reloaded = await host.call('reload_server', { name: 'dev' });
    expect(reloaded.structured.server.tools).toContain('dev__reverse');
    await told(host, 2);
    expect(await host.tools()).toContain('dev__reverse');
    expect((await host.call('dev__reverse', { text: 'abc' })).text).toBe('cba');
    expect((await host.call('dev__echo', { text: 'abc' })).text).toBe('abc');
    await host.leave();
  });

  test('a server that is killed is listed as crashed, cannot be called, and comes back by a reload', async () => {
    const host = await start();
    await host.call('add_server', { name: 'frail', ...nodeServer('crash') });
    await told(host, 1);
    const before = await listed(host, 'frail');
    process.kill(before!.pid, 'SIGKILL');
    await told(host, 2);
    expect(await listed(host, 'frail')).toMatchObject({ status: 'crashed', tools: [], pid: 0 });
    expect(await host.tools()).toEqual(MANAGEMENT);
    const lost = await host.call('frail__echo', { text: 'x' });
    expect(lost.isError).toBe(true);
    expect(lost.text).toMatch(/'frail' has crashed.*SIGKILL.*reload_server/);
    const reloaded = await host.call('reload_server', { name: 'frail' });
    expect(reloaded.structured.server.status).toBe('running');
    expect(reloaded.structured.server.pid).not.toBe(before!.pid);
    expect((await host.call('frail__echo', { text: 'again' })).text).toBe('again');
    await host.leave();
  });

  test('ten slow calls at once are all answered; those that run when their server is removed end cleanly', async () => {
    const host = await start();
    await host.call('add_server', { name: 'slow', ...nodeServer('echo') });
    const ten = (ms: (n: number) => number) =>
      Array.from({ length: 10 }, (_, n) => host.call('slow__slow_echo', { text: `number ${n}`, ms: ms(n) }));
    const right = await Promise.all(ten(() => 100));
    expect(right.map(({ text }) => text)).toEqual(right.map((_, n) => `number ${n}`));
    // Half of them take longer than a removal waits.
    const flying = ten((n) => (n % 2 === 0 ? 150 : 60_000));
    // A server takes its requests in turn: when this is answered, all ten are running.
    await host.call('slow__canary');
    expect(await host.call('remove_server', { name: 'slow' })).toMatchObject({ isError: false });
    for (const [n, { text, isError }] of (await Promise.all(flying)).entries()) {
      if (n % 2 === 0) expect({ text, isError }).toEqual({ text: `number ${n}`, isError: false });
      else {
        expect(isError).toBe(true);
        expect(text).toMatch(/'slow_echo' of server 'slow' was not answered: .*'slow' was removed/);
      }
    }
    expect(await host.tools()).toEqual(MANAGEMENT);
    await host.leave();
  });

  test('the whole loop: add, call, reload, call, remove', async () => {
    const host = await start();
    const added = await host.call('add_server', { name: 'own', ...nodeServer('echo') });
    const first = await host.call('own__pid');
    expect(first.text).toBe(String(added.structured.server.pid));
    await host.call('reload_server', { name: 'own' });
    const second = await host.call('own__pid');
    expect(second.text).not.toBe(first.text);
    expect(await listed(host, 'own')).toMatchObject({ status: 'running', pid: Number(second.text) });
    await host.call('remove_server', { name: 'own' });
    expect((await host.call('list_servers')).structured).toEqual({ servers: [] });
    expect([first.text, second.text].filter((pid) => alive(Number(pid)))).toEqual([]);
    await host.leave();
  });
});

const ownTools = async (mux: Mux): Promise<string[]> =>
  (await mux.tools()).filter((name) => !MANAGEMENT.includes(name));

describe('at the start', () => {
  test('there are exactly the four tools, whatever is configured where it is started', async () => {
    const project = createProject({
      'switchboard.config.json': { mcpServers: { a: nodeServer('echo') } },
      '.mcp.json': { mcpServers: { b: nodeServer('echo') } },
      'mcps/c/.mcp.json': { mcpServers: { c: nodeServer('echo') } },
    });
    const mux = await startMux({ cwd: project.dir });
    expect(await mux.tools()).toEqual(MANAGEMENT);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });

  test('it says who it is, and that its list of tools changes', async () => {
    const mux = await startMux();
    const hello = mux.client.messages.find(({ id }) => id === 1)!;
    expect(hello.result).toMatchObject({
      serverInfo: { name: 'mcpmux' },
      capabilities: { tools: { listChanged: true } },
    });
    expect(hello.result.instructions).toContain('add_server');
  });

  test('servers of a configuration that is named run from the beginning', async () => {
    const mux = await startMux({ config: { mcpServers: { pre: nodeServer('echo', '--tools=echo') } } });
    await mux.serverOnce('pre', 'running');
    expect(await mux.tools()).toEqual([...MANAGEMENT, 'pre__echo']);
    expect(textOf(await mux.client.call('pre__echo', { text: 'there' }))).toBe('there');
  });

  test('each tool says what it takes, what it gives and what it may do', async () => {
    const mux = await startMux();
    const tools = await mux.client.listTools();
    const of = (name: string): Json => tools.find((tool: Json) => tool.name === name);
    const ajv = new Ajv2020({ strict: true });
    for (const tool of tools) {
      for (const key of ['title', 'description']) expect(tool[key], tool.name).toMatch(/\w/);
      ajv.compile(tool.inputSchema);
      ajv.compile(tool.outputSchema);
      expect(tool.inputSchema.type).toBe('object');
      expect(tool.outputSchema.type).toBe('object');
    }
    expect(of('add_server').inputSchema.required).toEqual(['name', 'command']);
    expect(Object.keys(of('add_server').inputSchema.properties)).toEqual([
      'name',
      'command',
      'args',
      'env',
      'cwd',
      'timeout_ms',
    ]);
    for (const name of ['remove_server', 'reload_server']) {
      expect(of(name).inputSchema).toMatchObject({
        required: ['name'],
        properties: { name: { type: 'string' } },
      });
    }
    expect(of('list_servers').inputSchema.properties).toEqual({});
    const hints = Object.fromEntries(tools.map(({ name, annotations }: Json) => [name, annotations]));
    expect(hints).toMatchObject({
      add_server: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
      remove_server: { readOnlyHint: false, destructiveHint: true, openWorldHint: false },
      reload_server: { readOnlyHint: false, destructiveHint: true },
      list_servers: { readOnlyHint: true },
    });
  });

  test('every answer is what the tool said it gives, as structure and as text; a refusal has no structure', async () => {
    const mux = await startMux();
    const ajv = new Ajv2020({ strict: true });
    const validators = new Map(
      (await mux.client.listTools()).map((tool: Json) => [tool.name, ajv.compile(tool.outputSchema)]),
    );
    const call = async (name: string, args: object = {}): Promise<Json> => {
      const { result } = await mux.client.call(name, args);
      if (result.isError === true) {
        expect(result).not.toHaveProperty('structuredContent');
        return undefined;
      }
      const validate = validators.get(name)!;
      expect(validate(result.structuredContent), JSON.stringify(validate.errors)).toBe(true);
      expect(JSON.parse(result.content.at(-1).text)).toEqual(result.structuredContent);
      return result.structuredContent;
    };
    expect(await call('list_servers')).toEqual({ servers: [] });
    await call('add_server', { name: 'frail', ...nodeServer('crash') });
    await call('add_server', { name: 'bare', ...SERVER_WITHOUT_TOOLS });
    const starting = call('add_server', { name: 'late', ...nodeServer('slow', '--initialize-ms=400') });
    await mux.serverOnce('late', 'starting');
    const { servers } = await call('list_servers');
    expect(servers.map(({ status }: ListedServer) => status)).toEqual(['running', 'running', 'starting']);
    await mux.client.call('frail__crash');
    await mux.serverOnce('frail', 'crashed');
    await call('list_servers');
    expect(await call('add_server', { name: 'frail', command: 'x' })).toBeUndefined();
    await starting;
    await call('reload_server', { name: 'frail' });
    expect(await call('remove_server', { name: 'frail' })).toEqual({ removed: 'frail' });
    expect(await call('remove_server', { name: 'frail' })).toBeUndefined();
  });
});

describe('add_server', () => {
  test('starts the program, greets it, lists its tools and tells the client once', async () => {
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

  test('is a success without any tools, and is told of too', async () => {
    const mux = await startMux();
    const changes = await changesBy(mux, async () => {
      expect(responseText(await mux.add('bare', SERVER_WITHOUT_TOOLS))).toContain('no tools');
    });
    expect(changes).toBe(1);
    expect(await mux.server('bare')).toMatchObject({ status: 'running', tools: [] });
    expect(await mux.tools()).toEqual(MANAGEMENT);
  });

  test('merges env into ours, runs where it is told, and takes every text as it stands', async () => {
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
    ['a name that ends in _', { name: 'a_' }, /"a_" ends in "_".*leave out/i],
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
    ['a NUL in an argument', { args: ['a\0b'] }, /NUL.*arguments.*leave it out/i],
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
      /'bad' exited with code 4\. It wrote: "close-early: missing API key, line 1.*by hand/s,
    ],
    [
      'a server that dies when it is greeted',
      nodeServer('crash', '--at-initialize', '--stderr-lines=2', '--code=3'),
      /'bad' exited with code 3\. It wrote: .*crash line 2.*by hand/s,
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
    expect(await mux.tools()).toEqual(MANAGEMENT);
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

  test('that takes its time holds up nobody; meanwhile it is starting, and calls of its tools wait for it', async () => {
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

describe('remove_server', () => {
  test('takes the server and its tools away at once, though its process takes five seconds to end', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const server = { ...nodeServer('stubborn'), env: { TEST_SERVER_JOURNAL: journal } };
    const { pid } = await mux.added('tough', server);
    await mux.added('other', nodeServer('echo', '--tools=echo'));
    await mux.changed(2);
    const begin = performance.now();
    const removing = mux.remove('tough');
    await mux.changed(3);
    expect(performance.now() - begin).toBeLessThan(1000);
    expect((await mux.servers()).map(({ name }) => name)).toEqual(['other']);
    expect(await ownTools(mux)).toEqual(['other__echo']);
    expect(responseText(await mux.client.call('tough__echo'))).toContain(`'tough' was removed`);
    expect(responseText(await mux.reload('tough'))).toContain('No server named "tough"');
    expect(alive(pid)).toBe(true);
    // Its name is free; the new one starts when the old one is gone.
    const again = mux.add('tough', { ...nodeServer('echo'), env: { TEST_SERVER_JOURNAL: journal } });
    expect(failed(await removing)).toBe(false);
    const took = performance.now() - begin;
    expect(alive(pid)).toBe(false);
    expect(took).toBeGreaterThan(4500);
    expect(took).toBeLessThan(7000);
    expect(failed(await again)).toBe(false);
    const events = readJournal(journal).map((entry) => `${entry.event} ${entry.signal ?? ''}`.trim());
    // First its stdin is closed, then it is asked, and only then killed.
    expect(events.filter((event) => event !== 'message')).toEqual([
      'start',
      'stdin-end',
      'ignored SIGTERM',
      'start',
    ]);
    // One change for the removal, one for the new one: it may be told before or after the answer to the addition.
    await mux.changed(4);
    expect(mux.changes()).toBe(4);
  });

  test('lets calls that run finish, and fails those that take too long, with the reason', async () => {
    const mux = await startMux();
    await mux.added('slow', nodeServer('slow'));
    const short = mux.client.call('slow__slow_echo', { text: 'short', ms: 300 });
    const long = mux.client.call('slow__hang');
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('2');
    const removing = mux.remove('slow');
    expect(textOf(await short)).toBe('short');
    expect(responseText(await long)).toMatch(
      /'hang' of server 'slow' was not answered: Server 'slow' was removed/,
    );
    expect(failed(await removing)).toBe(false);
    await until(() => processesWith(mux.client.marker).length === 1, { what: 'only the gateway to be left' });
  });

  test('ends one that has crashed, and one that was never used', async () => {
    const mux = await startMux();
    await mux.added('dead', nodeServer('crash'));
    await mux.added('idle', nodeServer('echo'));
    await mux.client.call('dead__crash');
    await mux.serverOnce('dead', 'crashed');
    for (const name of ['dead', 'idle'])
      expect(responseText(await mux.remove(name))).toContain(`Removed ${name}`);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });
});

test.each(['remove_server', 'reload_server'])('%s of an unknown name says which there are', async (tool) => {
  const mux = await startMux();
  const refused = async (args: object): Promise<string> => {
    const response = await mux.client.call(tool, args);
    expect(failed(response)).toBe(true);
    return responseText(response);
  };
  expect(await refused({ name: 'alpha' })).toMatch(/No server named "alpha"\. There are none/);
  await mux.added('alpha', SERVER_WITHOUT_TOOLS);
  await mux.added('omega', SERVER_WITHOUT_TOOLS);
  expect(await refused({ name: 'alhpa' })).toMatch(/No server named "alhpa"\. Did you mean "alpha"\?/);
  expect(await refused({ name: 'quite another' })).toContain('There are: alpha, omega.');
  expect(await refused({})).toMatch(/name is required/);
  expect((await mux.servers()).map(({ status }) => status)).toEqual(['running', 'running']);
});

describe('reload_server', () => {
  test('starts the same command in the same place with the same environment, after the old one is gone', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const folder = mux.project.write('folder/.keep', '').replace('/.keep', '');
    const env = { TEST_SERVER_JOURNAL: journal, OWN: 'kept' };
    const before = await mux.added('echo', { ...nodeServer('echo', '--extra=1'), env, cwd: folder });
    const response = await mux.reload('echo');
    const after: ListedServer = response.result.structuredContent.server;
    expect(after).toEqual({ ...before, pid: after.pid });
    expect(after.pid).not.toBe(before.pid);
    expect(JSON.parse(textOf(await mux.client.call('echo__whoami')))).toMatchObject({
      pid: after.pid,
      args: ['--extra=1'],
      cwd: folder,
    });
    expect(JSON.parse(textOf(await mux.client.call('echo__env', { name: 'OWN' }))).value).toBe('kept');
    const lives = readJournal(journal).filter(({ event }) => event === 'start' || event === 'exit');
    expect(lives.map(({ event, pid }) => [event, pid])).toEqual([
      ['start', before.pid],
      ['exit', before.pid],
      ['start', after.pid],
    ]);
  });

  test('is one change to the client', async () => {
    const mux = await startMux();
    await mux.added('echo', nodeServer('echo'));
    // Not in the moment after another change, with which it would be told.
    await waitForNotifications(mux);
    expect(await changesBy(mux, () => mux.reload('echo'))).toBe(1);
    expect(await changesBy(mux, () => mux.reload('echo'))).toBe(1);
  });

  test('finds tools and schemas anew; what is no longer there is explained', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo-v2');
    await mux.added('dev', server);
    expect(await mux.tools()).toContain('dev__reverse');
    become('crash');
    await mux.reload('dev');
    expect(await ownTools(mux)).toEqual([
      'dev__crash',
      'dev__crash_after',
      'dev__echo',
      'dev__pid',
      'dev__canary',
    ]);
    expect(responseText(await mux.client.call('dev__reverse', { text: 'abc' }))).toMatch(
      /"dev__reverse" is no longer available: its server 'dev' no longer has it\. Call tools\/list/,
    );
    become('progress');
    await mux.reload('dev');
    const direct = startClient(nodeServer('progress'));
    await direct.initialize();
    const listed = (await mux.client.listTools()).filter(({ name }) => name.startsWith('dev__'));
    expect(listed.map(({ inputSchema }) => inputSchema)).toEqual(
      (await direct.listTools()).map(({ inputSchema }) => inputSchema),
    );
  });

  test('that fails keeps the server, crashed, with the reason and its command; it can be tried again', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    const env = { OWN: 'kept' };
    await mux.added('dev', { ...server, env });
    become('close-early');
    for (let round = 1; round <= 2; round++) {
      const response = await mux.reload('dev');
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(
        /'dev' exited with code 0\. It wrote: "close-early: missing API key/,
      );
      expect(await mux.server('dev')).toEqual({
        name: 'dev',
        ...server,
        status: 'crashed',
        tools: [],
        pid: 0,
        uptime_seconds: 0,
        error: expect.stringContaining('missing API key'),
      });
      expect(responseText(await mux.client.call('dev__echo', { text: 'x' }))).toMatch(
        /'dev' has crashed.*missing API key.*reload_server \{"name":"dev"\}/,
      );
    }
    expect(responseText(await mux.add('dev', server))).toContain('"dev" already');
    become('echo');
    expect(failed(await mux.reload('dev'))).toBe(false);
    expect(JSON.parse(textOf(await mux.client.call('dev__env', { name: 'OWN' }))).value).toBe('kept');
  });

  test('of a server that starts and cannot be listed leaves it crashed, too, with nothing running', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    await mux.added('dev', server);
    become('bad-list');
    expect(responseText(await mux.reload('dev'))).toContain('the catalogue is on fire');
    expect(await mux.server('dev')).toMatchObject({
      status: 'crashed',
      tools: [],
      pid: 0,
      error: expect.stringContaining('the catalogue is on fire'),
    });
    await until(() => processesWith(mux.client.marker).length === 1, { what: 'only the gateway to be left' });
    become('echo');
    expect(failed(await mux.reload('dev'))).toBe(false);
  });

  test('that fails is told once: the tools are gone', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    await mux.added('dev', server);
    await waitForNotifications(mux);
    become('close-early');
    expect(await changesBy(mux, () => mux.reload('dev'))).toBe(1);
    expect(await mux.tools()).toEqual(MANAGEMENT);
  });

  test('lets calls that run finish; meanwhile the server is starting, and new calls wait for the new one', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('echo', nodeServer('echo'));
    const running = mux.client.call('echo__slow_echo', { text: 'finished', ms: 800 });
    await mux.client.call('echo__canary');
    const reloading = mux.reload('echo');
    await mux.serverOnce('echo', 'starting');
    const next = mux.client.call('echo__pid');
    expect(textOf(await running)).toBe('finished');
    const after: ListedServer = (await reloading).result.structuredContent.server;
    expect(after.pid).not.toBe(pid);
    expect(textOf(await next)).toBe(String(after.pid));
  });
});

describe('list_servers', () => {
  test('gives whole numbers and lists, and how long each has been running', async () => {
    const mux = await startMux();
    await mux.added('bare', { command: process.execPath, args: SERVER_WITHOUT_TOOLS.args });
    const listed = await until(
      async () => {
        const server = await mux.server('bare');
        return server.uptime_seconds > 0 ? server : undefined;
      },
      { what: 'a second to be over' },
    );
    expect(Object.keys(listed)).toEqual([
      'name',
      'command',
      'args',
      'status',
      'tools',
      'pid',
      'uptime_seconds',
    ]);
    expect(listed).toMatchObject({ args: SERVER_WITHOUT_TOOLS.args, tools: [], uptime_seconds: 1 });
    await mux.added('plain', { command: serverLauncher(mux.project) });
    expect(await mux.server('plain')).toMatchObject({ args: [], uptime_seconds: 0 });
    process.kill(listed.pid, 'SIGKILL');
    expect(await mux.serverOnce('bare', 'crashed')).toEqual({
      name: 'bare',
      ...SERVER_WITHOUT_TOOLS,
      status: 'crashed',
      tools: [],
      pid: 0,
      uptime_seconds: 0,
      error: expect.stringMatching(/'bare' was ended by SIGKILL/),
    });
  });

  /** A program that needs no arguments. */
  function serverLauncher(project: Project): string {
    project.write('launch', `#!/bin/sh\nexec '${process.execPath}' '${serverPath('echo')}'\n`);
    chmodSync(project.path('launch'), 0o755);
    return project.path('launch');
  }
});

describe('a crash', () => {
  test('by kill -9 is told within 100 ms, once, and takes only its own tools away', async () => {
    const mux = await startMux();
    await mux.added('spared', nodeServer('echo', '--tools=echo'));
    await mux.added('doomed', nodeServer('echo', '--tools=echo,pid'));
    await mux.changed(2);
    const took: number[] = [];
    // On a busy machine any one of them may be late for reasons of its own; the mechanism is as fast as the fastest.
    for (let round = 0; round < 3; round++) {
      const { pid } = await mux.server('doomed');
      const changes = await changesBy(mux, async () => {
        const before = mux.changes();
        process.kill(pid, 'SIGKILL');
        const killed = performance.now();
        await mux.changed(before + 1);
        took.push(performance.now() - killed);
        expect(await mux.server('doomed')).toMatchObject({ status: 'crashed', tools: [], pid: 0 });
        expect(await ownTools(mux)).toEqual(['spared__echo']);
      });
      expect(changes).toBe(1);
      const before = mux.changes();
      expect(failed(await mux.reload('doomed'))).toBe(false);
      await mux.changed(before + 1);
      expect(await ownTools(mux)).toEqual(['spared__echo', 'doomed__echo', 'doomed__pid']);
    }
    expect(Math.min(...took)).toBeLessThan(100);
    expect(textOf(await mux.client.call('spared__echo', { text: 'fine' }))).toBe('fine');
  });

  test('is not followed by a start, whatever is called', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    await mux.added('once', { ...nodeServer('crash'), env: { TEST_SERVER_JOURNAL: journal } });
    await mux.client.call('once__crash');
    await mux.serverOnce('once', 'crashed');
    for (let n = 0; n < 5; n++) expect(failed(await mux.client.call('once__echo', { text: 'x' }))).toBe(true);
    await mux.client.request('resources/list');
    await mux.client.request('prompts/list');
    mux.client.notify('notifications/roots/list_changed');
    // As long as it takes another one to come up.
    await mux.added('other', nodeServer('echo'));
    expect((await mux.server('once')).status).toBe('crashed');
    expect(readJournal(journal).filter(({ event }) => event === 'start')).toHaveLength(1);
  });

  test.each([
    ['an exit', nodeServer('crash', '--code=7'), 'crash', {}, /exited with code 7/],
    ['a signal', nodeServer('crash', '--signal=SIGSEGV'), 'crash', {}, /was ended by SIGSEGV/],
    ['a closed stdout', nodeServer('stdout-closer'), 'close', { stream: 'stdout' }, /closed its stdout/],
  ])(
    'during a call, by %s, is the answer to the call: who, why and what to do',
    async (_how, server, tool, args, why) => {
      const mux = await startMux();
      const { pid } = await mux.added('frail', server);
      const response = await mux.client.call(`frail__${tool}`, args);
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(new RegExp(`'${tool}' of server 'frail' was not answered: `));
      expect(responseText(response)).toMatch(why);
      expect(responseText(response)).toContain('reload_server {"name":"frail"} brings it back');
      expect(await mux.serverOnce('frail', 'crashed')).toMatchObject({ error: expect.stringMatching(why) });
      await until(() => !alive(pid), { what: 'its process to be gone' });
    },
  );

  test('all calls that run are answered by it', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('slow', nodeServer('slow'));
    const calls = Array.from({ length: 20 }, () => mux.client.call('slow__hang'));
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('20');
    process.kill(pid, 'SIGKILL');
    for (const response of await Promise.all(calls))
      expect(responseText(response)).toMatch(/'slow'.*SIGKILL/);
  });

  test('is also that nobody can write to a server any more', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('deaf', nodeServer('stdout-closer'));
    expect(textOf(await mux.client.call('deaf__close', { stream: 'pipe' }))).toBe('closed pipe');
    await until(() => !existsSync(`/proc/${pid}/fd/0`), { what: 'the pipe to be closed' });
    const response = await mux.client.call('deaf__echo', { text: 'x' });
    expect(failed(response)).toBe(true);
    expect(responseText(response)).toMatch(
      /server 'deaf' was not answered: Server 'deaf' closed its stdin.*reload_server/,
    );
    await mux.serverOnce('deaf', 'crashed');
    expect(await mux.tools()).toEqual(MANAGEMENT);
    await until(() => !alive(pid), { what: 'its process to be gone' });
  });

  test('and a removal are explained to a host that kept its list, each with what to do', async () => {
    const mux = await startMux();
    await mux.added('gone', nodeServer('echo'));
    await mux.added('dead', nodeServer('crash'));
    const kept = await ownTools(mux);
    await mux.remove('gone');
    await mux.client.call('dead__crash');
    await mux.serverOnce('dead', 'crashed');
    for (const name of kept) {
      const { error } = await mux.client.call(name, { text: 'x' });
      expect(error?.code).toBe(-32602);
      expect(error?.message).toContain(`"${name}" is no longer available`);
      expect(error?.message).toMatch(
        name.startsWith('gone')
          ? /server 'gone' was removed\. add_server can add it again\. Call tools\/list/
          : /server 'dead' has crashed\. .*exited with code 1\..*reload_server \{"name":"dead"\} brings it back/,
      );
    }
    // Added again, they are there as before.
    await mux.added('gone', nodeServer('echo'));
    expect(textOf(await mux.client.call('gone__echo', { text: 'back' }))).toBe('back');
    // And what never was there is only unknown.
    expect(responseText(await mux.client.call('gone__ecko'))).toMatch(
      /Unknown tool: "gone__ecko"\. Did you mean "gone__echo"/,
    );
    expect(responseText(await mux.client.call('list_server'))).toMatch(/Unknown tool.*"list_servers"/);
  });
});

describe('names', () => {
  test('of the four tools cannot be taken', async () => {
    const mux = await startMux();
    const before = await mux.client.listTools();
    await mux.added(
      'evil',
      nodeServer('offering', `--tools=${MANAGEMENT.join(',')}`, '--name=evil', '--quiet'),
    );
    await mux.added('add', nodeServer('offering', '--tools=server,_server', '--name=add', '--quiet'));
    expect((await mux.client.listTools()).slice(0, 4)).toEqual(before);
    expect(await ownTools(mux)).toEqual([
      ...MANAGEMENT.map((name) => `evil__${name}`),
      'add__server',
      'add___server',
    ]);
    for (const name of MANAGEMENT) {
      expect(textOf(await mux.client.call(`evil__${name}`))).toBe(`evil ran ${name} with {}`);
    }
    expect((await mux.servers()).map(({ name }) => name)).toEqual(['evil', 'add']);
  });

  test('that two servers share are told apart; removing one takes only its own', async () => {
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

describe('at the same time', () => {
  test('servers of different names are added, reloaded and removed side by side', async () => {
    const mux = await startMux();
    const names = Array.from({ length: 6 }, (_, n) => `s${n}`);
    const slowly = nodeServer('slow', '--initialize-ms=700');
    const begin = performance.now();
    const added = await Promise.all(names.map((name) => mux.added(name, slowly)));
    const took = performance.now() - begin;
    // One after the other they would take six times 700 ms.
    expect(took).toBeLessThan(6 * 700);
    expect(new Set(added.map(({ pid }) => pid)).size).toBe(6);
    expect((await mux.servers()).map(({ name }) => name)).toEqual(names);
    const [first, second, ...others] = names;
    const results = await Promise.all([
      mux.remove(first!),
      mux.reload(second!),
      ...others.map((name) => mux.client.call(`${name}__pid`)),
    ]);
    expect(results.filter(failed)).toEqual([]);
    expect((await mux.servers()).map(({ name, status }) => `${name} ${status}`)).toEqual(
      names.slice(1).map((name) => `${name} running`),
    );
  });

  test('two adds of one name start one server; the other is told that the name is taken', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const server = { ...nodeServer('echo'), env: { TEST_SERVER_JOURNAL: journal } };
    for (let round = 1; round <= 3; round++) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => mux.add('same', server)));
      expect(answers.filter((answer) => !failed(answer))).toHaveLength(1);
      for (const answer of answers.filter(failed)) expect(responseText(answer)).toContain('"same" already');
      expect(readJournal(journal).filter(({ event }) => event === 'start')).toHaveLength(round);
      expect(failed(await mux.remove('same'))).toBe(false);
    }
  });

  test('adds, reloads and removals of one name are done one after the other, and leave nothing behind', async () => {
    const mux = await startMux();
    const server = nodeServer('echo', '--tools=echo');
    for (let round = 0; round < 6; round++) {
      const answers = await Promise.all([
        mux.add('it', server),
        ...(round % 2 === 0 ? [mux.reload('it')] : []),
        mux.remove('it'),
        mux.add('it', server),
        ...(round % 3 === 0 ? [mux.remove('it')] : []),
      ]);
      for (const answer of answers.filter(failed))
        expect(responseText(answer)).toMatch(/"it" already|No server named "it"/);
      const servers = await mux.servers();
      const running = processesWith(mux.client.marker).filter(({ pid }) => pid !== mux.client.pid);
      expect(servers.map(({ pid }) => pid)).toEqual(running.map(({ pid }) => pid));
      for (const { status, tools } of servers)
        expect({ status, tools }).toEqual({ status: 'running', tools: ['it__echo'] });
      if (servers.length > 0) expect(failed(await mux.remove('it'))).toBe(false);
      expect(await mux.tools()).toEqual(MANAGEMENT);
    }
  });

  test('a removal waits for the add before it, and takes out what that added', async () => {
    const mux = await startMux();
    const adding = mux.add('late', nodeServer('slow', '--initialize-ms=500'));
    await mux.serverOnce('late', 'starting');
    const removing = mux.remove('late');
    expect(failed(await adding)).toBe(false);
    expect(failed(await removing)).toBe(false);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });

  test('a slow call that is cancelled is cancelled at its server, and never answered', async () => {
    const mux = await startMux();
    await mux.added('slow', nodeServer('slow'));
    void mux.client.call('slow__hang', {}, { id: 'unwanted' });
    const other = mux.client.call('slow__slow_echo', { text: 'other', ms: 300 });
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('2');
    mux.client.notify('notifications/cancelled', { requestId: 'unwanted', reason: 'changed my mind' });
    await until(async () => textOf(await mux.client.call('slow__cancelled_count')) === '1', {
      what: 'the server to hear of it',
    });
    expect(JSON.parse(textOf(await mux.client.call('slow__cancellations')))).toMatchObject([
      { reason: 'changed my mind', known: true },
    ]);
    expect(textOf(await other)).toBe('other');
    // It does not hold up a removal, either.
    expect(failed(await mux.remove('slow'))).toBe(false);
    expect(mux.client.ledger.unanswered().map(({ id }) => id)).toEqual(['unwanted']);
  });
});

describe('leaving', () => {
  test('ends every child: one that runs, one that ignores it, one that starts, one that is being removed', async () => {
    const mux = await startMux();
    await mux.added('echo', nodeServer('echo'));
    await mux.added('tough', nodeServer('stubborn'));
    await mux.added('removed', nodeServer('stubborn'));
    const removing = mux.remove('removed');
    const adding = mux.add('starting', nodeServer('slow', '--initialize-ms=60000'));
    await mux.serverOnce('starting', 'starting');
    const exit = await mux.client.close();
    expect(exit.code).toBe(0);
    expect(exit.ms).toBeLessThan(7000);
    expect(processesWith(mux.client.marker)).toEqual([]);
    // Whatever was asked was answered before the end.
    expect(failed(await adding)).toBe(true);
    await removing;
    expect(mux.client.ledger.unanswered()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('by %s ends every child, and exits with 0', async (signal) => {
    const mux = await startMux();
    const pids = [];
    for (const name of ['a', 'b', 'c']) pids.push((await mux.added(name, nodeServer('echo'))).pid);
    expect(pids.filter(alive)).toHaveLength(3);
    expect(await mux.client.kill(signal)).toMatchObject({ code: 0, signal: null });
    expect(processesWith(mux.client.marker)).toEqual([]);
  });

  test('by SIGKILL leaves no child behind', async () => {
    const mux = await startMux();
    for (const name of ['a', 'b']) await mux.added(name, nodeServer('stubborn'));
    await mux.client.kill('SIGKILL');
    await waitUntilGone(mux.client.marker, 2000);
  });
});

test('SIGHUP changes nothing: what was added stays, with its process', async () => {
  const mux = await startMux();
  const { pid } = await mux.added('echo', nodeServer('echo', '--tools=echo'));
  const running = mux.client.call('echo__echo', { text: 'through' });
  mux.client.signal('SIGHUP');
  await mux.client.waitForStderr(/the configuration was read again/);
  expect(textOf(await running)).toBe('through');
  expect(await mux.server('echo')).toMatchObject({ status: 'running', pid });
  expect(await ownTools(mux)).toEqual(['echo__echo']);
});

describe('stderr', () => {
  test('has what servers write, line by line behind their names, and one line for every event', async () => {
    const mux = await startMux({ args: ['--log-level', 'debug'] });
    const { pid } = await mux.added('loud', nodeServer('crash', '--stderr-lines=2', '--code=3'));
    await mux.client.call('loud__echo', { text: 'a secret' });
    await mux.client.call('loud__crash');
    await mux.add('never', { command: 'no-such-program-anywhere' });
    await mux.client.waitForStderr(/could not be started/);
    const { stderr } = mux.client;
    const lines = stderr.split('\n').filter((line) => line !== '');
    for (const line of lines) expect(line).toMatch(/^\S+Z (mcpmux (debug|info|warn|error) |\[loud\] )/);
    expect(stderr).toMatch(/ \[loud\] crash line 1\n/);
    expect(stderr).toMatch(/ \[loud\] crash line 2\n/);
    for (const event of [
      `info  spawned server=loud pid=${pid}`,
      `info  running server=loud pid=${pid}`,
      'info  added server=loud tools=5',
      'debug call tool=loud__echo server=loud',
      'debug finished tool=loud__echo server=loud subtool=echo ms=',
      `info  exited server=loud pid=${pid} code=3`,
      'warn  server failed server=loud',
      'warn  server failed server=never',
    ]) {
      expect(stderr).toContain(`mcpmux ${event}`);
    }
    expect(stderr).toMatch(/mcpmux \w+ +listed server=loud .*=5\n/);
    expect(stderr).not.toContain('a secret');
  });
});
