/** SIGHUP: the gateway reads its configuration again and changes only what differs. */
import { describe, expect, test } from 'vitest';
import { runEditCommand } from '../helpers/edit-commands.ts';
import { startGateway, type GatewayOptions } from '../helpers/gateway.ts';
import { readJournal } from '../helpers/journal.ts';
import {
  changesBy,
  CONFIG,
  failed,
  FLAT_PREFIXED,
  manage,
  MANAGEMENT_TOOLS,
  startManagedClient,
  waitForNotifications,
  reloadConfig,
  spawnedServers,
  untilNotifiable,
} from '../helpers/management.ts';
import { alive, processesWith } from '../helpers/processes.ts';
import { responseText, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('SIGHUP', () => {
  type Entries = Record<string, object>;

  /** A gateway over these servers, and a way to rewrite them. */
  async function open(servers: Entries, config: object = {}, options: GatewayOptions = {}) {
    const all = { ...FLAT_PREFIXED, management: { approval: 'auto' }, ...config };
    const gateway = await startGateway(servers as never, { ...options, config: all });
    const state = options.env?.['SWITCHBOARD_STATE_DIR'] ?? gateway.project.path('.state');
    await untilNotifiable(gateway.client, state);
    const write = (next: Entries, changed: object = {}): void => {
      gateway.project.write('switchboard.config.json', { mcpServers: next, ...all, ...changed });
    };
    return {
      ...gateway,
      ...manage(gateway.client),
      write,
      reconfigure: (next: Entries, changed?: object): Promise<string> => {
        write(next, changed);
        return reloadConfig(gateway.client);
      },
    };
  }
  type Open = Awaited<ReturnType<typeof open>>;

  const running = async (gateway: Open, ...names: string[]): Promise<Record<string, number>> => {
    const found = await Promise.all(names.map((name) => gateway.serverOnce(name, 'running')));
    await until(
      async () =>
        (await gateway.servers()).every(({ name, tools }) => tools.length > 0 || !names.includes(name)),
      { what: 'all their tools to be listed' },
    );
    // Only who has seen a tool is told that it is gone.
    await gateway.tools();
    return Object.fromEntries(found.map(({ name, pid }) => [name, pid]));
  };
  const ownTools = async (gateway: Open): Promise<string[]> =>
    (await gateway.tools()).filter((name) => !MANAGEMENT_TOOLS.includes(name));
  const echo = (...tools: string[]) => nodeServer('echo', `--tools=${tools.join(',')}`);

  test('without a change keeps every process and call and notifies no client', async () => {
    const servers = { a: nodeServer('echo'), b: nodeServer('echo') };
    const gateway = await open(servers);
    const { client } = gateway;
    const pids = await running(gateway, 'a', 'b');
    await waitForNotifications(gateway);
    const call = client.call('a__slow_echo', { text: 'through it all', ms: 1500 });
    await client.call('a__canary');
    const changes = await changesBy(gateway, async () => {
      expect(await reloadConfig(client)).toMatch(/configuration reloaded kept=2/);
      expect(await gateway.reconfigure(servers)).toMatch(/configuration reloaded kept=2/);
    });
    expect(changes).toBe(0);
    expect(client.ledger.unanswered()).toHaveLength(1);
    expect(textOf(await call)).toBe('through it all');
    expect(await running(gateway, 'a', 'b')).toEqual(pids);
  });

  test('a new server is started and its tools are announced', async () => {
    const gateway = await open({ a: echo('echo') });
    const pids = await running(gateway, 'a');
    const before = gateway.changes();
    expect(await gateway.reconfigure({ a: echo('echo'), b: echo('pid') })).toMatch(/added=b kept=1/);
    await gateway.changed(before + 1);
    await running(gateway, 'b');
    expect(await ownTools(gateway)).toEqual(['a__echo', 'b__pid']);
    expect(await running(gateway, 'a')).toEqual(pids);
  });

  test.each<[string, { args?: string[]; env?: object; cwd?: string }]>([
    ['its arguments', { args: [...nodeServer('echo').args, '--extra=1'] }],
    ['its variables', { env: { OWN: 'new' } }],
    ['its whereabouts', { cwd: 'folder' }],
  ])('a server of which %s have changed gets a new process; then the old one ends', async (_what, change) => {
    const gateway = await open({});
    const { client, project } = gateway;
    project.write('folder/.keep', '');
    const journal = project.path('journal');
    const entry = (more: { args?: string[]; env?: object; cwd?: string } = {}) => ({
      ...nodeServer('echo'),
      ...more,
      env: { TEST_SERVER_JOURNAL: journal, ...more.env },
    });
    await gateway.reconfigure({ it: entry(), other: nodeServer('echo') });
    const before = await running(gateway, 'it', 'other');
    // It still runs when the old process is told to go, which waits for it.
    const call = client.call('it__slow_echo', { text: 'finished', ms: 700 });
    await client.call('it__canary');
    expect(await gateway.reconfigure({ it: entry(change), other: nodeServer('echo') })).toMatch(
      /restarted=it kept=1/,
    );
    // Called at once, it is the new one that answers.
    const pid = Number(textOf(await client.call('it__pid')));
    expect(pid).not.toBe(before.it);
    expect(textOf(await call)).toBe('finished');
    expect(await running(gateway, 'it', 'other')).toEqual({ it: pid, other: before.other });
    await until(() => !alive(before.it!), { what: 'the old process to be gone' });
    const lives = readJournal(journal).filter(({ event }) => event === 'start' || event === 'exit');
    expect(lives.map(({ event, pid: whose }) => [event, whose])).toEqual([
      ['start', before.it],
      ['start', pid],
      ['exit', before.it],
    ]);
  });

  test('a call that a changed server does not finish in time fails cleanly', async () => {
    const gateway = await open({ it: nodeServer('slow') });
    const { client } = gateway;
    await running(gateway, 'it');
    const hanging = client.call('it__hang');
    await client.call('it__canary');
    await gateway.reconfigure({ it: nodeServer('slow', '--extra=1') });
    expect(responseText(await hanging)).toMatch(
      /'hang' of server 'it' was not answered: Server 'it' was changed in the configuration/,
    );
    expect(textOf(await client.call('it__echo', { text: 'on' }))).toBe('on');
  });

  test('a server that is there no more goes: a short call finishes, a long one fails cleanly', async () => {
    const gateway = await open({ a: nodeServer('echo'), b: nodeServer('slow') });
    const { client } = gateway;
    const pids = await running(gateway, 'a', 'b');
    const short = client.call('b__slow_echo', { text: 'short', ms: 300 });
    const long = client.call('b__hang');
    await client.call('b__canary');
    const before = gateway.changes();
    expect(await gateway.reconfigure({ a: nodeServer('echo') })).toMatch(/removed=b kept=1/);
    await gateway.changed(before + 1);
    expect((await ownTools(gateway)).filter((name) => name.startsWith('b__'))).toEqual([]);
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['a']);
    expect(responseText(await client.call('b__echo', { text: 'x' }))).toMatch(
      /"b__echo" is no longer available: its server 'b' was removed/,
    );
    expect(textOf(await short)).toBe('short');
    expect(responseText(await long)).toMatch(
      /'hang' of server 'b' was not answered: Server 'b' was removed from the configuration/,
    );
    await until(() => !alive(pids.b!), { what: 'its process to be gone' });
    expect(await running(gateway, 'a')).toEqual({ a: pids.a });
  });

  test('the order and the names are those of the configuration, and processes are kept', async () => {
    const [a, b, c] = [echo('echo'), echo('pid'), echo('cwd')];
    const gateway = await open({ a, b, c });
    const pids = await running(gateway, 'a', 'b', 'c');
    expect(await ownTools(gateway)).toEqual(['a__echo', 'b__pid', 'c__cwd']);
    expect(await gateway.reconfigure({ c, a, b })).toMatch(/kept=3/);
    expect(await ownTools(gateway)).toEqual(['c__cwd', 'a__echo', 'b__pid']);
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['c', 'a', 'b']);
    expect(await running(gateway, 'a', 'b', 'c')).toEqual(pids);
    // Another name is another server.
    expect(await gateway.reconfigure({ c, renamed: a, b })).toMatch(/added=renamed removed=a kept=2/);
    // Its tools are remembered from before, so it starts with a call.
    expect(textOf(await gateway.client.call('renamed__echo', { text: 'renamed' }))).toBe('renamed');
    const after = await running(gateway, 'renamed', 'b', 'c');
    expect(after).toMatchObject({ b: pids.b, c: pids.c });
    expect(await ownTools(gateway)).toEqual(['c__cwd', 'renamed__echo', 'b__pid']);
  });

  test('what was added by hand stays, behind those of the configuration', async () => {
    const gateway = await open({ a: echo('echo') });
    const { pid } = await gateway.added('own', echo('pid'));
    expect(await gateway.reconfigure({ a: echo('echo'), b: echo('cwd') })).toMatch(/added=b kept=1/);
    await running(gateway, 'b');
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['a', 'b', 'own']);
    expect(await gateway.server('own')).toMatchObject({ status: 'running', pid, tools: ['own__pid'] });
    expect(await gateway.reconfigure({})).toMatch(/removed="a,b" kept=0/);
    expect(await ownTools(gateway)).toEqual(['own__pid']);
  });

  test('other filters, names and descriptions of tools keep the process and the running calls', async () => {
    const server = nodeServer('echo');
    const gateway = await open({ a: server });
    const { client } = gateway;
    const pids = await running(gateway, 'a');
    const call = client.call('a__slow_echo', { text: 'through', ms: 800 });
    await client.call('a__canary');
    const look = {
      exposedTools: ['echo', { original: 'pid', exposed: 'number' }, 'cwd'],
      hiddenTools: ['cwd'],
      tools: { echo: { description: 'Another description.' } },
    };
    expect(await gateway.reconfigure({ a: { ...server, ...look } })).toMatch(/reshown=a/);
    expect(await ownTools(gateway)).toEqual(['a__echo', 'a__number']);
    const [first] = (await client.listTools()).filter(({ name }) => name === 'a__echo');
    expect(first.description).toBe('Another description.');
    expect(textOf(await client.call('a__number'))).toBe(String(pids.a));
    expect(responseText(await client.call('a__pid'))).toMatch(
      /"a__pid" is no longer available: its server 'a' no longer has it/,
    );
    expect(textOf(await call)).toBe('through');
    expect(await running(gateway, 'a')).toEqual(pids);
  });

  test('another exposure keeps the process', async () => {
    const gateway = await open({ a: echo('echo', 'pid') });
    const { client, call } = gateway;
    const pids = await running(gateway, 'a');
    const entry = (exposure: string) => ({ a: { ...echo('echo', 'pid'), exposure } });
    expect(await gateway.reconfigure(entry('suite'))).toMatch(/reshown=a/);
    expect(await ownTools(gateway)).toEqual(['a_suite']);
    expect(textOf(await call('a', 'pid'))).toBe(String(pids.a));
    await gateway.reconfigure(entry('hidden'));
    expect(await ownTools(gateway)).toEqual([]);
    await gateway.reconfigure(entry('flat'));
    await until(async () => (await ownTools(gateway)).length > 0, { what: 'its tools to be listed' });
    expect(await ownTools(gateway)).toEqual(['a__echo', 'a__pid']);
    expect(textOf(await client.call('a__pid'))).toBe(String(pids.a));
    expect(spawnedServers(client)).toEqual(['a']);
  });

  test('another exposure of all servers keeps the processes', async () => {
    const gateway = await open({ a: echo('pid'), b: echo('pid') });
    const pids = await running(gateway, 'a', 'b');
    await gateway.reconfigure({ a: echo('pid'), b: echo('pid') }, { exposure: 'suite' });
    expect(await ownTools(gateway)).toEqual(['a_suite', 'b_suite']);
    expect(textOf(await gateway.call('a', 'pid'))).toBe(String(pids.a));
    await gateway.reconfigure({ a: echo('pid'), b: echo('pid') }, { naming: 'plain' });
    await running(gateway, 'a', 'b');
    expect(await ownTools(gateway)).toEqual(['pid', 'b__pid']);
    expect(textOf(await gateway.client.call('pid'))).toBe(String(pids.a));
  });

  test('is announced to the client only if its list changed, and then once', async () => {
    const suite = { a: { ...echo('echo'), exposure: 'suite' }, b: { ...echo('pid'), exposure: 'suite' } };
    const gateway = await open(suite);
    const described = { ...suite, a: { ...suite.a, switchboardDescription: 'Says it again.' } };
    await waitForNotifications(gateway);
    const changes = (next: Entries) => changesBy(gateway, () => gateway.reconfigure(next));
    expect(await changes(suite)).toBe(0);
    expect(await changes(described)).toBe(1);
    expect(await changes(described)).toBe(0);
    expect(await changes({ a: described.a })).toBe(1);
    // What nobody sees in the list: it sleeps, and its arguments are other ones.
    expect(await changes({ a: { ...described.a, args: [...described.a.args, '--extra=1'] } })).toBe(0);
  });

  test('a configuration that is wrong changes nothing; stderr says where and why; a right one is taken again', async () => {
    const gateway = await open({ a: echo('echo', 'pid'), b: echo('pid') });
    const { client, project } = gateway;
    const pids = await running(gateway, 'a', 'b');
    const tools = await ownTools(gateway);
    await waitForNotifications(gateway);
    const file = project.path('switchboard.config.json');
    const wrong: [string | object, RegExp][] = [
      ['{ "mcpServers": { "a": ', /switchboard\.config\.json:1:\d+: /],
      [{ mcpServers: {}, timeouts: { rpcMs: 'soon' } }, /timeouts\.rpcMs.*must be a whole number/s],
      [{ mcpServers: [] }, /mcpServers/],
      ['[]', /switchboard\.config\.json/],
    ];
    const changes = await changesBy(gateway, async () => {
      for (const [text, why] of wrong) {
        const before = client.stderr.length;
        project.write('switchboard.config.json', text);
        expect(await reloadConfig(client)).toContain('not reloaded, nothing has changed');
        const told = client.stderr.slice(before);
        expect(told).toContain(file);
        expect(told).toMatch(why);
        expect(await ownTools(gateway)).toEqual(tools);
        expect(textOf(await client.call('a__pid'))).toBe(String(pids.a));
      }
    });
    expect(changes).toBe(0);
    expect(await running(gateway, 'a', 'b')).toEqual(pids);
    expect(await gateway.reconfigure({ a: echo('echo', 'pid') })).toMatch(/removed=b kept=1/);
    expect(await ownTools(gateway)).toEqual(['a__echo', 'a__pid']);
  });

  test('one server that is wrong is left out with a warning, the others are as configured', async () => {
    const gateway = await open({ a: echo('echo') });
    const pids = await running(gateway, 'a');
    await gateway.reconfigure({ a: echo('echo'), b: { command: 5 }, c: echo('pid') });
    await gateway.client.waitForStderr(/mcpServers\.b/);
    await running(gateway, 'c');
    expect(await ownTools(gateway)).toEqual(['a__echo', 'c__pid']);
    expect(await running(gateway, 'a')).toEqual(pids);
  });

  test.each<[string, (tough: object) => Entries[]]>([
    ['taken out and put back', (tough) => [{}, { it: tough }]],
    ['changed twice', (tough) => [{ it: { ...tough, args: nodeServer('slow').args } }, { it: tough }]],
  ])(
    'with stopFirst, a server that is %s in one go starts when its first process is gone',
    async (_what, steps) => {
      const gateway = await open({});
      const { project, call } = gateway;
      const journal = project.path('journal');
      const entry = (name: string) => ({
        ...nodeServer(name),
        exposure: 'suite',
        stopFirst: true,
        env: { TEST_SERVER_JOURNAL: journal },
      });
      await gateway.reconfigure({ it: entry('stubborn') });
      const old = Number(textOf(await call('it', 'pid')));
      for (const next of steps(entry('echo'))) await gateway.reconfigure(next);
      expect(alive(old)).toBe(true);
      const called = call('it', 'pid', {}, { deadline: 20_000 });
      await until(
        () => !alive(old) || readJournal(journal).filter(({ event }) => event === 'start').length > 1,
        {
          what: 'the old process to be gone, or a new one to start',
        },
      );
      expect(alive(old), 'the old process still runs beside the new one').toBe(false);
      expect(textOf(await called)).not.toBe(String(old));
    },
  );

  test('a server that crashed is left as it is, unless its entry has changed', async () => {
    const gateway = await open({ a: nodeServer('crash') });
    const { client } = gateway;
    await running(gateway, 'a');
    await client.call('a__crash');
    await gateway.serverOnce('a', 'crashed');
    await gateway.reconfigure({ a: nodeServer('crash') });
    expect(textOf(await client.call('a__echo', { text: 'back by a call' }))).toBe('back by a call');
    await client.call('a__crash');
    await gateway.serverOnce('a', 'crashed');
    await gateway.reconfigure({ a: nodeServer('crash', '--code=2') });
    await running(gateway, 'a');
  });

  test('turns the management tools off and on', async () => {
    const gateway = await open({ a: echo('echo') });
    const { client } = gateway;
    await running(gateway, 'a');
    const before = gateway.changes();
    await gateway.reconfigure({ a: echo('echo') }, { management: false });
    await gateway.changed(before + 1);
    expect(await gateway.tools()).toEqual(['a__echo']);
    expect((await client.call('list_servers')).error?.code).toBe(-32602);
    await gateway.reconfigure({ a: echo('echo') }, { management: true });
    await gateway.changed(before + 2);
    expect(await gateway.tools()).toEqual([...MANAGEMENT_TOOLS, 'a__echo']);
    // Now a person is asked, and this client cannot.
    expect(responseText(await gateway.add('x', nodeServer('echo')))).toContain(`needs user approval`);
  });

  test('several in a row, while servers are added, removed and called, end with the last content of the file', async () => {
    const gateway = await open({ a: nodeServer('echo'), b: nodeServer('echo') });
    const { client, write } = gateway;
    const { a } = await running(gateway, 'a', 'b');
    const calls = Array.from({ length: 20 }, (_, n) =>
      client.call('a__slow_echo', { text: `number ${n}`, ms: 50 * n }),
    );
    const work = [
      gateway.add('slow', nodeServer('slow', '--initialize-ms=500')),
      gateway.add('fast', nodeServer('echo')),
      gateway.reload('b'),
    ];
    for (let n = 0; n < 5; n++) {
      write({ a: nodeServer('echo'), [`c${n}`]: echo('pid') });
      await reloadConfig(client);
    }
    expect((await Promise.all(work)).filter(failed)).toEqual([]);
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map((_, n) => `number ${n}`));
    expect(failed(await gateway.remove('fast'))).toBe(false);
    const pids = await running(gateway, 'a', 'c4', 'slow');
    expect(pids.a).toBe(a);
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['a', 'c4', 'slow']);
    await until(() => processesWith(client.marker).length === 4, { what: 'all others to be gone' });
  });
});

describe('a new definition that does not start', () => {
  const missing = { command: '/no/such/program', args: [] };
  const broken: [string, object, RegExp][] = [
    ['a command that does not exist', missing, /no\/such\/program/],
    ['a program that ends at once', nodeServer('close-early'), /missing API key/],
    ['a server that cannot be listed', nodeServer('bad-list'), /the catalogue is on fire/],
  ];

  test.each(broken)(
    '(%s) costs nothing: the server goes on as it was, and everything says why',
    async (_what, entry, why) => {
      const servers = { it: nodeServer('echo'), other: nodeServer('echo') };
      const gateway = await startManagedClient(servers);
      const { client, project } = gateway;
      const { pid } = await gateway.serverOnce('it', 'running');
      await until(async () => (await gateway.tools()).includes('it__slow_echo'), { what: 'its tools' });
      const tools = await gateway.tools();
      const call = client.call('it__slow_echo', { text: 'through it all', ms: 1500 });
      await client.call('it__canary');
      const from = client.stderr.length;
      expect(await gateway.reconfigure({ ...servers, it: entry })).toMatch(/failed=it kept=1/);
      expect(client.stderr.slice(from)).toMatch(
        /keeping the old definition: the new one does not start server=it/,
      );
      expect(client.stderr.slice(from)).toMatch(why);
      expect(textOf(await client.call('it__pid'))).toBe(String(pid));
      expect(textOf(await call)).toBe('through it all');
      expect(await gateway.tools()).toEqual(tools);
      const listed = await gateway.server('it');
      expect(listed).toMatchObject({ status: 'running', pid });
      expect(listed.error).toMatch(why);
      expect(listed.error).toContain('keeps the old one');
      const shown = await until(
        async () =>
          (await runEditCommand(project, ['list', '--json'])).json.servers[0].state.problem as string,
        { what: 'the command line to say so' },
      );
      expect(shown).toContain("Server 'it' does not start with its new definition and keeps the old one");
      // Nothing of the attempt is left, and a definition that works is taken.
      await until(() => processesWith(client.marker).length === 3, {
        what: 'only the old processes to be left',
      });
      expect(await gateway.reconfigure({ ...servers, it: nodeServer('echo-v2') })).toMatch(
        /restarted=it kept=1/,
      );
      expect(await gateway.tools()).toContain('it__reverse');
      expect(await gateway.server('it')).not.toHaveProperty('error');
      await until(() => !alive(pid), { what: 'the old process to be gone' });
    },
  );

  test('is read again while it still starts', async () => {
    const gateway = await startManagedClient({ it: nodeServer('echo') });
    const { client } = gateway;
    const { pid } = await gateway.serverOnce('it', 'running');
    const hanging = gateway.reconfigure({ it: nodeServer('never-initialize') });
    await client.waitForStderr(/not answering/);
    expect(textOf(await client.call('it__pid'))).toBe(String(pid));
    const corrected = gateway.reconfigure({ it: nodeServer('echo-v2') });
    expect(await hanging).toMatch(/failed=it/);
    await corrected;
    await until(async () => (await gateway.tools()).includes('it__reverse'), {
      what: 'the corrected server',
    });
  });

  test('because the old process is in the way is taken with stopFirst', async () => {
    const gateway = await startManagedClient({});
    const { client, project } = gateway;
    const entry = (...args: string[]) => nodeServer('single', `--lock=${project.path('lock')}`, ...args);
    await gateway.reconfigure({ it: entry() });
    const { pid } = await gateway.serverOnce('it', 'running');
    expect(await gateway.reconfigure({ it: entry('--extra=1') })).toMatch(/failed=it/);
    expect((await gateway.server('it')).error).toMatch(/the lock is taken.*set "stopFirst": true/s);
    expect(await gateway.reconfigure({ it: { ...entry('--extra=1'), stopFirst: true } })).toMatch(
      /restarted=it/,
    );
    expect(textOf(await client.call('it__pid'))).not.toBe(String(pid));
  });
});

test('a name that was seen stays with its server while that is away, and is its own again when it is back', async () => {
  const offering = (name: string) =>
    nodeServer(
      'offering',
      `--name=${name}`,
      '--tools=look',
      '--resources=demo://same',
      '--templates=demo://item/{id}',
      '--prompts=ask',
    );
  const both = { A: offering('A'), B: offering('B') };
  const gateway = await startManagedClient(both, { config: { naming: 'plain' } });
  const { client } = gateway;
  const names = async (method: string): Promise<string[]> => {
    const [items] = Object.values((await client.request(method)).result).filter(Array.isArray);
    return items!.map((item: any) => item.uri ?? item.uriTemplate ?? item.name);
  };
  const listed = (method: string, ...wanted: string[]) =>
    until(
      async () => {
        const there = await names(method);
        return wanted.every((name) => there.includes(name));
      },
      { what: `${method} to have ${wanted.join(', ')}` },
    );
  const get = (name: string) => client.request('prompts/get', { name });
  const read = (uri: string) => client.request('resources/read', { uri });
  const ofB = async (): Promise<void> => {
    expect(textOf(await client.call('B__look'))).toBe('B ran look with {}');
    expect((await read('switchboard://B/demo://same')).result.contents[0].text).toBe('B has demo://same');
    expect((await read('switchboard://B/demo://item/7')).result.contents[0].text).toBe(
      'B made demo://item/7',
    );
    expect((await get('B__ask')).result.messages[0].content.text).toBe('B says ask with {}');
  };
  const ofA = async (): Promise<void> => {
    await listed('tools/list', 'look', 'B__look');
    await listed('resources/list', 'demo://same', 'switchboard://B/demo://same');
    await listed('resources/templates/list', 'demo://item/{id}', 'switchboard://B/demo://item/{id}');
    await listed('prompts/list', 'ask', 'B__ask');
    expect(textOf(await client.call('look'))).toBe('A ran look with {}');
    expect((await read('demo://same')).result.contents[0].text).toBe('A has demo://same');
    expect((await read('demo://item/7')).result.contents[0].text).toBe('A made demo://item/7');
    expect((await get('ask')).result.messages[0].content.text).toBe('A says ask with {}');
  };
  await ofA();
  await ofB();

  expect(await gateway.reconfigure({ B: both.B })).toMatch(/removed=A kept=1/);
  const refused = await client.call('look');
  expect(failed(refused)).toBe(true);
  expect(responseText(refused)).toMatch(/"look" is no longer available: its server 'A' was removed/);
  for (const answer of [await read('demo://same'), await read('demo://item/7'), await get('ask')]) {
    expect(answer.error?.code).toBeLessThan(0);
  }
  await ofB();
  // Nor does it get them when it lists itself anew.
  await gateway.reload('B');
  expect(await names('tools/list')).not.toContain('look');
  await ofB();

  // In front of it or behind it.
  expect(await gateway.reconfigure({ B: both.B, A: both.A })).toMatch(/added=A kept=1/);
  await ofA();
  await ofB();
});

test('a slip in the entry of a server that runs costs it nothing: it keeps its old definition, and stderr says so', async () => {
  const servers = { it: nodeServer('echo'), other: nodeServer('echo') };
  const gateway = await startManagedClient(servers);
  const { client, project } = gateway;
  const { pid } = await gateway.serverOnce('it', 'running');
  await until(async () => (await gateway.tools()).includes('it__slow_echo'), { what: 'its tools' });
  const call = client.call('it__slow_echo', { text: 'through it all', ms: 3000 });
  await client.call('it__canary');
  const from = client.stderr.length;
  const summary = await gateway.reconfigure({ ...servers, it: { ...servers.it, args: 'oops' } });
  expect(summary).not.toMatch(/removed=|restarted=/);
  const told = client.stderr.slice(from);
  expect(told).toContain(project.path(CONFIG));
  expect(told).toContain('mcpServers.it.args');
  expect(told).toMatch(/keeping the old definition.*server=it\n/);
  expect(client.ledger.unanswered()).toHaveLength(1);
  expect(await gateway.server('it')).toMatchObject({ status: 'running', pid });
  expect(textOf(await client.call('it__pid'))).toBe(String(pid));
  expect(textOf(await call)).toBe('through it all');
  // Put right again it is the same one still; taken out it goes.
  expect(await gateway.reconfigure(servers)).toMatch(/configuration reloaded kept=2/);
  expect(await gateway.server('it')).toMatchObject({ status: 'running', pid });
  expect(await gateway.reconfigure({ other: servers.other })).toMatch(/removed=it kept=1/);
  await until(() => !alive(pid), { what: 'its process to be gone' });
});
