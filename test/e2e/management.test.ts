/**
 * Managing servers in the program switchboard, where it has to be turned on: who may add one, what is written to the
 * configuration, and what SIGHUP makes of a configuration that has changed.
 */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ownState, startGateway, type GatewayOptions, type TestGateway } from '../helpers/gateway.ts';
import { readJournal } from '../helpers/journal.ts';
import { changesBy, failed, manage, quiet, said, type Manager } from '../helpers/management.ts';
import { alive, processesWith } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { sdkClients } from '../helpers/sdk-client.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const MANAGEMENT = ['add_server', 'remove_server', 'reload_server', 'list_servers'];
const FORMS = { elicitation: {} };
const FLAT = { exposure: 'flat', naming: 'prefixed' };

interface Managed extends TestGateway, Manager {}

async function start(management: unknown, options: GatewayOptions = {}, servers = {}): Promise<Managed> {
  const gateway = await startGateway(servers, {
    ...options,
    config: { ...FLAT, management, ...options.config },
  });
  return { ...gateway, ...manage(gateway.client) };
}

/** Which servers were spawned, as the log tells. */
const spawned = (client: RawClient): string[] =>
  [...client.stderr.matchAll(/spawned server=(\S+)/g)].map(([, name]) => name!);

describe('by default', () => {
  test.each([undefined, false, { enabled: false }, { enabled: false, approval: 'auto', persist: true }])(
    'with management %j there is no tool to manage servers',
    async (management) => {
      const { client } = await start(management, {}, { echo: nodeServer('echo', '--tools=echo') });
      await client.waitForStderr(/running server=echo/);
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo__echo']);
      for (const name of MANAGEMENT) {
        const { error } = await client.call(name, { name: 'x', ...nodeServer('echo') });
        expect(error?.code).toBe(-32602);
      }
      expect(spawned(client)).toEqual(['echo']);
    },
  );
});

test('turned on, the four tools stand first in the list; configured servers are listed, also those that sleep', async () => {
  const { client, tools, servers, call } = await start(
    true,
    { config: { exposure: 'suite' } },
    {
      echo: nodeServer('echo'),
    },
  );
  expect(await tools()).toEqual([...MANAGEMENT, 'echo_suite']);
  expect(await servers()).toEqual([
    {
      name: 'echo',
      ...nodeServer('echo'),
      status: 'idle',
      tools: ['echo_suite'],
      pid: 0,
      uptime_seconds: 0,
    },
  ]);
  expect(spawned(client)).toEqual([]);
  const pid = Number(textOf(await call('echo', 'pid')));
  expect(await servers()).toMatchObject([{ status: 'running', pid }]);
});

test('their names cannot be taken by a tool that is shown under its own name', async () => {
  const { client, tools } = await start(
    true,
    { config: { naming: 'plain' } },
    { evil: nodeServer('offering', `--tools=${MANAGEMENT.join(',')}`, '--name=evil', '--quiet') },
  );
  await client.waitForStderr(/running server=evil/);
  expect(await tools()).toEqual([...MANAGEMENT, ...MANAGEMENT.map((name) => `evil__${name}`)]);
  expect((await client.call('list_servers')).result.structuredContent.servers).toHaveLength(1);
  expect(textOf(await client.call('evil__list_servers'))).toBe('evil ran list_servers with {}');
});

describe('approval "ask"', () => {
  const SECRET = 'value-that-nobody-sees';
  const proposal = (project: Project) => ({
    ...nodeServer('echo', '--tools=echo,pid', 'an argument with spaces'),
    cwd: project.dir,
    env: { API_TOKEN: SECRET, SECOND: `${SECRET}-2`, TEST_SERVER_JOURNAL: project.path('journal') },
  });
  const asked = (client: RawClient): Promise<RpcMessage> =>
    client.waitFor(({ method }) => method === 'elicitation/create');

  test('is what holds where nothing else is said', async () => {
    for (const management of [true, {}, { persist: false }]) {
      const { client, add } = await start(management, { capabilities: FORMS });
      client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
      expect(said(await add('echo', nodeServer('echo')))).toContain('not approved');
      expect(client.requests).toHaveLength(1);
    }
  });

  test('the person sees what will run, where, and the names of variables, never their values; then it runs', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client, project, add } = gateway;
    client.handle('elicitation/create', () => undefined);
    const adding = add('tool', proposal(project));
    const question = await asked(client);
    const { message, requestedSchema } = question.params;
    for (const part of [
      'tool',
      JSON.stringify(process.execPath),
      JSON.stringify(proposal(project).args),
      project.dir,
      'API_TOKEN',
      'SECOND',
    ]) {
      expect(message).toContain(part);
    }
    expect(message).not.toContain(SECRET);
    expect(requestedSchema).toMatchObject({ type: 'object', properties: {} });
    // Nothing runs, and nothing is listed, before the answer.
    expect(await gateway.servers()).toEqual([]);
    expect(spawned(client)).toEqual([]);
    client.reply(question, { result: { action: 'accept', content: {} } });
    expect(said(await adding)).toContain('Added tool');
    expect(await gateway.server('tool')).toMatchObject({
      status: 'running',
      tools: ['tool__echo', 'tool__pid'],
    });
    expect(client.stderr).not.toContain(SECRET);
  });

  test('what is not given is said to be so, and a relative directory is shown whole', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client, project } = gateway;
    project.write('deeper/.keep', '');
    client.handle('elicitation/create', () => ({ result: { action: 'cancel' } }));
    await gateway.add('bare', { command: 'node', cwd: 'deeper' });
    const { message } = client.requests[0]!.params;
    expect(message).toContain(project.path('deeper'));
    expect(message).toMatch(/Arguments: \[\]/);
    expect(message).toMatch(/Environment.*nothing/);
  });

  test('what is shown cannot be dressed up: no line of the question is made by the arguments', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client } = gateway;
    client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
    const evil = 'x\nCommand: "harmless"\r\u001b[2K\u001b[1A\u202eevil\u0000'.replace('\u0000', '');
    await gateway.add('trick', { command: evil, args: [evil], env: { [`E${evil}`]: '1' }, cwd: '.' });
    const { message } = client.requests[0]!.params;
    const lines: string[] = message.split('\n');
    expect(lines.filter((line) => line.startsWith('Command:'))).toHaveLength(1);
    expect(lines).toHaveLength(5);
    expect(message.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  });

  test.each([
    ['declines', { result: { action: 'decline' } }],
    ['closes the question', { result: { action: 'cancel' } }],
    ['answers something else', { result: { action: 'ACCEPT' } }],
    ['answers nothing', { result: {} }],
    ['has a client that fails', { error: { code: -32603, message: 'no window' } }],
  ])('a person who %s: nothing is started, and the model is told', async (_what, reply) => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => reply);
    const response = await gateway.add('tool', proposal(project));
    expect(failed(response)).toBe(true);
    expect(said(response)).toMatch(/Adding "tool" was not approved\. Ask the person/);
    expect(await gateway.servers()).toEqual([]);
    expect(await gateway.tools()).toEqual(MANAGEMENT);
    expect(spawned(client)).toEqual([]);
    expect(existsSync(project.path('journal'))).toBe(false);
    expect(gateway.changes()).toBe(0);
    // The next one is asked about again.
    client.handle('elicitation/create', () => ({ result: { action: 'accept' } }));
    expect(failed(await gateway.add('tool', proposal(project)))).toBe(false);
  });

  test('a client that cannot ask is told which setting allows it, and nothing is started', async () => {
    for (const capabilities of [{}, { sampling: {}, roots: {} }]) {
      const gateway = await start(true, { capabilities });
      const response = await gateway.add('tool', proposal(gateway.project));
      expect(failed(response)).toBe(true);
      expect(said(response)).toMatch(/"tool" needs a person's approval.*cannot ask/);
      expect(said(response)).toContain('"management": {"approval": "auto"}');
      expect(gateway.client.requests).toEqual([]);
      expect(spawned(gateway.client)).toEqual([]);
    }
  });

  test('what is wrong anyway is refused before anybody is asked', async () => {
    const gateway = await start(true, { capabilities: FORMS }, { taken: nodeServer('echo') });
    for (const wrong of [{ name: 'a__b' }, { name: 'taken' }, { command: '' }, { args: [1] }]) {
      const response = await gateway.client.call('add_server', {
        name: 'tool',
        ...nodeServer('echo'),
        ...wrong,
      });
      expect(failed(response)).toBe(true);
    }
    expect(gateway.client.requests).toEqual([]);
  });

  test('a client that leaves while it is asked: nothing is started', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => undefined);
    const adding = gateway.add('tool', proposal(project));
    await asked(client);
    expect((await client.close()).code).toBe(0);
    expect(failed(await adding)).toBe(true);
    expect(processesWith(client.marker)).toEqual([]);
    expect(spawned(client)).toEqual([]);
    expect(existsSync(project.path('journal'))).toBe(false);
  });

  test('a call that is cancelled takes its question back, and an answer that comes too late starts nothing', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => undefined);
    void client.call('add_server', { name: 'tool', ...proposal(project) }, { id: 'unwanted' });
    const question = await asked(client);
    client.notify('notifications/cancelled', { requestId: 'unwanted' });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(params.requestId).toBe(question.id);
    client.reply(question, { result: { action: 'accept' } });
    expect(await gateway.servers()).toEqual([]);
    expect(spawned(client)).toEqual([]);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual(['unwanted']);
  });

  test('two questions at once are each answered for themselves', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client } = gateway;
    client.handle('elicitation/create', () => undefined);
    const calls = ['yes', 'no'].map((name) => gateway.add(name, nodeServer('echo')));
    await client.waitUntil(() => (client.requests.length === 2 ? true : undefined), 'both questions');
    for (const question of client.requests.toReversed()) {
      const action = question.params.message.includes('"yes"') ? 'accept' : 'decline';
      client.reply(question, { result: { action } });
    }
    const [yes, no] = await Promise.all(calls);
    expect([failed(yes!), failed(no!)]).toEqual([false, true]);
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['yes']);
  });

  test('a name that was taken while the person was asked is refused after all', async () => {
    const gateway = await start(true, { capabilities: FORMS });
    const { client } = gateway;
    client.handle('elicitation/create', () => undefined);
    const calls = [1, 2].map(() => gateway.add('same', nodeServer('echo')));
    await client.waitUntil(() => (client.requests.length === 2 ? true : undefined), 'both questions');
    for (const question of client.requests) client.reply(question, { result: { action: 'accept' } });
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => !failed(answer))).toHaveLength(1);
    expect(said(answers.find(failed)!)).toContain('"same" already');
    expect(spawned(client)).toEqual(['same']);
  });

  test('only for what no configuration names: reloading, listing and removing asks nobody', async () => {
    const gateway = await start(true, { capabilities: FORMS }, { echo: nodeServer('echo') });
    await gateway.serverOnce('echo', 'running');
    expect(failed(await gateway.reload('echo'))).toBe(false);
    expect(failed(await gateway.remove('echo'))).toBe(false);
    expect(gateway.client.requests).toEqual([]);
  });

  test.each(Object.entries(sdkClients))(
    '%s asks its person, and gives the answer',
    async (_name, connect) => {
      const project = createProject({ 'switchboard.config.json': { ...FLAT, management: true } });
      const actions = ['decline', 'accept'];
      const questions: string[] = [];
      const client = await connect({
        cwd: project.dir,
        answer: ({ params }) => {
          questions.push(params.message);
          const action = actions.shift();
          return action === 'accept' ? { action, content: {} } : { action };
        },
      });
      const call = () => client.result('add_server', { name: 'tool', ...proposal(project) });
      expect((await call()).isError).toBe(true);
      expect((await call()).structuredContent.server.status).toBe('running');
      expect(questions).toHaveLength(2);
      expect(await client.call('tool__echo', { text: 'through' })).toBe('through');
      await client.close();
    },
  );
});

test('approval "auto": nobody is asked', async () => {
  const gateway = await start({ approval: 'auto' }, { capabilities: FORMS });
  expect(failed(await gateway.add('echo', nodeServer('echo')))).toBe(false);
  expect(textOf(await gateway.client.call('echo__echo', { text: 'there' }))).toBe('there');
  expect(gateway.client.requests).toEqual([]);
});

test('a server that was added is shown as the configuration wants, and comes back after a crash like any other', async () => {
  const gateway = await start(
    { approval: 'auto' },
    { config: { exposure: 'suite', suites: { boxed: { suiteName: 'box', hiddenTools: ['pid'] } } } },
  );
  await gateway.added('boxed', nodeServer('crash'));
  expect(await gateway.tools()).toEqual([...MANAGEMENT, 'box']);
  const call = (subtool: string, args = {}) => gateway.client.call('box', { action: 'call', subtool, args });
  expect(textOf(await call('echo', { text: 'in a box' }))).toBe('in a box');
  expect(failed(await call('pid'))).toBe(true);
  expect(failed(await call('crash'))).toBe(true);
  expect(textOf(await call('echo', { text: 'again' }))).toBe('again');
});

describe('persist', () => {
  const TEXT = `// What this project uses.
{
  "exposure": "flat", // one by one
  "management": { "approval": "auto", "persist": true },

  /* The servers. */
  "mcpServers": {
    // The first.
    "first": ${JSON.stringify(nodeServer('echo', '--tools=echo'))},
    "second": ${JSON.stringify(nodeServer('echo', '--tools=pid'))} // the second
  },
  "timeouts": {"rpcMs":  30000}, // longer
}
`;

  async function open(project: Project, options: GatewayOptions = {}): Promise<Managed> {
    const client = startClient({ cwd: project.dir, ...options, env: ownState(project) });
    await client.initialize();
    return { client, project, ...manage(client) } as unknown as Managed;
  }
  const withText = (text = TEXT): Project => createProject({ 'switchboard.config.json': text });

  test('an added server stands in the configuration, with everything else as it was; a restart has it', async () => {
    const project = withText();
    project.write('folder/.keep', '');
    const gateway = await open(project);
    const args = ['--tools=whoami,env', '${HOME}', '$${X}', 'plain'];
    const entry = {
      command: process.execPath,
      args: [...nodeServer('echo').args, ...args],
      env: { OWN: 'a ${HOME} value' },
      cwd: 'folder',
    };
    const added = await gateway.added('third', entry);
    expect(added.args).toEqual(entry.args);
    const text = project.read('switchboard.config.json');
    // Line by line what was there before, in the same order.
    const kept = text.split('\n').filter((line) => TEXT.split('\n').includes(line));
    const [beforeThird, afterThird] = text.split('"third"');
    expect(beforeThird).toContain('"second"');
    expect(afterThird).toContain('"timeouts": {"rpcMs":  30000}, // longer');
    expect(kept.length).toBeGreaterThanOrEqual(TEXT.split('\n').length - 1);
    for (const comment of [
      '// What this project uses.',
      '/* The servers. */',
      '// The first.',
      '// the second',
    ]) {
      expect(text).toContain(comment);
    }
    await gateway.client.close();

    const again = await open(project);
    expect((await again.servers()).map(({ name }) => name)).toEqual(['first', 'second', 'third']);
    const who = JSON.parse(textOf(await again.client.call('third__whoami')));
    expect(who).toMatchObject({ args, cwd: project.path('folder') });
    const { value } = JSON.parse(textOf(await again.client.call('third__env', { name: 'OWN' })));
    expect(value).toBe('a ${HOME} value');
    await again.client.close();
  });

  test('a removed server is taken out of it, one that was added and one that stood there; the rest stays to the letter', async () => {
    const project = withText();
    const gateway = await open(project);
    await gateway.added('third', nodeServer('echo'));
    expect(project.read('switchboard.config.json')).not.toBe(TEXT);
    expect(failed(await gateway.remove('third'))).toBe(false);
    expect(project.read('switchboard.config.json')).toBe(TEXT);
    expect(failed(await gateway.remove('first'))).toBe(false);
    const text = project.read('switchboard.config.json');
    expect(text).not.toContain('first');
    expect(text).toContain('"second"');
    for (const comment of [
      '// What this project uses.',
      '// one by one',
      '/* The servers. */',
      '// the second',
    ]) {
      expect(text).toContain(comment);
    }
    await gateway.client.close();
    const again = await open(project);
    expect((await again.servers()).map(({ name }) => name)).toEqual(['second']);
  });

  test('what fails to start, what is refused and a reload write nothing', async () => {
    const project = withText();
    const gateway = await open(project);
    expect(failed(await gateway.add('bad', { command: 'no-such-program-anywhere' }))).toBe(true);
    expect(failed(await gateway.add('first', nodeServer('echo')))).toBe(true);
    expect(failed(await gateway.add('a__b', nodeServer('echo')))).toBe(true);
    expect(failed(await gateway.remove('nobody'))).toBe(true);
    expect(failed(await gateway.reload('first'))).toBe(false);
    expect(project.read('switchboard.config.json')).toBe(TEXT);
  });

  test('off, which is the default, the configuration is left alone', async () => {
    const text = TEXT.replace(', "persist": true', '');
    const project = withText(text);
    const gateway = await open(project);
    await gateway.added('third', nodeServer('echo'));
    await gateway.remove('first');
    expect(project.read('switchboard.config.json')).toBe(text);
  });

  test('several at once are all written', async () => {
    const project = withText();
    const gateway = await open(project);
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => gateway.added(name, nodeServer('echo'))));
    await gateway.client.close();
    const again = await open(project);
    const listed = (await again.servers()).map(({ name }) => name);
    expect(listed.slice(0, 2)).toEqual(['first', 'second']);
    expect(listed.slice(2).sort()).toEqual(names);
  });

  test('where the configuration cannot be written, the client is told so, and that the server runs for now', async () => {
    const project = createProject({
      'switchboard.config.mjs': `export default ${JSON.stringify({
        ...FLAT,
        management: { approval: 'auto', persist: true },
      })};\n`,
    });
    const gateway = await open(project);
    const response = await gateway.add('echo', nodeServer('echo'));
    expect(JSON.stringify(response)).toContain('switchboard.config.mjs');
    const servers = await gateway.servers();
    // Either it is there and the answer says so, or it is not there at all.
    if (servers.length > 0) expect(JSON.stringify(response)).toMatch(/added|runs|running/i);
  });

  test('a server that was written is the same one when the configuration is read again', async () => {
    const project = withText();
    const gateway = await open(project);
    const { pid } = await gateway.added('third', { ...nodeServer('echo'), env: { A: '1' }, cwd: '.' });
    await readAgain(gateway.client);
    expect(await gateway.server('third')).toMatchObject({ status: 'running', pid });
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['first', 'second', 'third']);
  });

  test('a server that was written is one of the configuration, and goes with its entry', async () => {
    const project = withText();
    const gateway = await open(project);
    const { pid } = await gateway.added('third', nodeServer('echo'));
    project.write('switchboard.config.json', TEXT);
    await readAgain(gateway.client);
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['first', 'second']);
    await until(() => !alive(pid), { what: 'its process to be gone' });
  });
});

/** Sends SIGHUP and waits until the configuration was read again, or could not be. */
async function readAgain(client: RawClient): Promise<string> {
  const lines = (): RegExpMatchArray[] => [
    ...client.stderr.matchAll(/the configuration was (not )?read again.*\n/g),
  ];
  const before = lines().length;
  client.signal('SIGHUP');
  return client.waitUntil(() => lines()[before]?.[0], 'the configuration to be read again');
}

describe('SIGHUP', () => {
  type Entries = Record<string, object>;

  /** A gateway over these servers, and a way to write them anew. */
  async function open(servers: Entries, config: object = {}, options: GatewayOptions = {}) {
    const all = { ...FLAT, management: { approval: 'auto' }, ...config };
    const gateway = await startGateway(servers as never, { ...options, config: all });
    const write = (next: Entries, changed: object = {}): void => {
      gateway.project.write('switchboard.config.json', { mcpServers: next, ...all, ...changed });
    };
    return {
      ...gateway,
      ...manage(gateway.client),
      write,
      reconfigure: (next: Entries, changed?: object): Promise<string> => {
        write(next, changed);
        return readAgain(gateway.client);
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
    (await gateway.tools()).filter((name) => !MANAGEMENT.includes(name));
  const echo = (...tools: string[]) => nodeServer('echo', `--tools=${tools.join(',')}`);

  test('without a change keeps every process and every call, and tells nobody anything', async () => {
    const servers = { a: nodeServer('echo'), b: nodeServer('echo') };
    const gateway = await open(servers);
    const { client } = gateway;
    const pids = await running(gateway, 'a', 'b');
    await quiet(gateway);
    const call = client.call('a__slow_echo', { text: 'through it all', ms: 1500 });
    await client.call('a__canary');
    const changes = await changesBy(gateway, async () => {
      expect(await readAgain(client)).toMatch(/was read again kept=2/);
      expect(await gateway.reconfigure(servers)).toMatch(/was read again kept=2/);
    });
    expect(changes).toBe(0);
    expect(client.ledger.unanswered()).toHaveLength(1);
    expect(textOf(await call)).toBe('through it all');
    expect(await running(gateway, 'a', 'b')).toEqual(pids);
  });

  test('a server that is there now is started, and its tools are told of', async () => {
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
  ])(
    'a server of which %s have changed gets a new process, after the old one is gone',
    async (_what, change) => {
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
      const lives = readJournal(journal).filter(({ event }) => event === 'start' || event === 'exit');
      expect(lives.map(({ event, pid: whose }) => [event, whose])).toEqual([
        ['start', before.it],
        ['exit', before.it],
        ['start', pid],
      ]);
    },
  );

  test('a call that a changed server does not finish in time fails cleanly', async () => {
    const gateway = await open({ it: nodeServer('slow') });
    const { client } = gateway;
    await running(gateway, 'it');
    const hanging = client.call('it__hang');
    await client.call('it__canary');
    await gateway.reconfigure({ it: nodeServer('slow', '--extra=1') });
    expect(said(await hanging)).toMatch(
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
    expect(said(await client.call('b__echo', { text: 'x' }))).toMatch(
      /"b__echo" is gone, its server 'b' was removed/,
    );
    expect(textOf(await short)).toBe('short');
    expect(said(await long)).toMatch(
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
    expect(said(await client.call('a__pid'))).toMatch(/"a__pid" is gone, its server 'a' has it no more/);
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
    expect(spawned(client)).toEqual(['a']);
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

  test('is told to the client only where its list is another one now, and then once', async () => {
    const suite = { a: { ...echo('echo'), exposure: 'suite' }, b: { ...echo('pid'), exposure: 'suite' } };
    const gateway = await open(suite);
    const described = { ...suite, a: { ...suite.a, switchboardDescription: 'Says it again.' } };
    await quiet(gateway);
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
    await quiet(gateway);
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
        expect(await readAgain(client)).toContain('was not read again, nothing has changed');
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
  ])('a server that is %s in one go starts when its first process is gone', async (_what, steps) => {
    const gateway = await open({});
    const { project, call } = gateway;
    const journal = project.path('journal');
    const entry = (name: string) => ({
      ...nodeServer(name),
      exposure: 'suite',
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
  });

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
    expect(await gateway.tools()).toEqual([...MANAGEMENT, 'a__echo']);
    // Now a person is asked, and this client cannot.
    expect(said(await gateway.add('x', nodeServer('echo')))).toContain(`needs a person's approval`);
  });

  test('several in a row, and while servers are added, removed and called, come to what stands in the file last', async () => {
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
      await readAgain(client);
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
