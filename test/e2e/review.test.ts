/**
 * What a review found once, so that it does not come back: secrets in what we write, names that changed owners, entries
 * that were overwritten, and servers that outlived the wish for them.
 */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownState } from '../helpers/gateway.ts';
import { failed, manage, said, type Manager } from '../helpers/management.ts';
import { alive } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CONFIG = 'switchboard.config.json';
const SECRET = 'value-that-nobody-sees';
const DEBUG = { SWITCHBOARD_LOG_LEVEL: 'debug' };
const AUTO = { approval: 'auto' };
const PERSIST = { approval: 'auto', persist: true };

interface Opened extends Manager {
  readonly client: RawClient;
  readonly project: Project;
  /** Writes the configuration anew, and has it read again. Gives what the log says of it. */
  readonly reconfigure: (servers: object, more?: object) => Promise<string>;
}

interface OpenOptions {
  /** Keys of the configuration beside the servers. */
  readonly config?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities?: object;
  readonly files?: Readonly<Record<string, string | object>>;
}

async function open(servers: object, options: OpenOptions = {}): Promise<Opened> {
  const { config, env, capabilities, files } = options;
  const written = (mcpServers: object, more: object = {}): object => ({
    exposure: 'flat',
    naming: 'prefixed',
    management: AUTO,
    ...config,
    mcpServers,
    ...more,
  });
  const project = createProject({ [CONFIG]: written(servers), ...files });
  const client = startClient({ cwd: project.dir, env: { ...ownState(project), ...env } });
  await client.initialize('2025-06-18', capabilities);
  return {
    client,
    project,
    ...manage(client),
    reconfigure: (next, more) => {
      project.write(CONFIG, written(next, more));
      return readAgain(client);
    },
  };
}

/** Sends SIGHUP and waits until the configuration was read again. */
async function readAgain(client: RawClient): Promise<string> {
  const lines = (): RegExpMatchArray[] => [
    ...client.stderr.matchAll(/the configuration was (not )?read again.*\n/g),
  ];
  const before = lines().length;
  client.signal('SIGHUP');
  return client.waitUntil(() => lines()[before]?.[0], 'the configuration to be read again');
}

/** Everything the client was sent and everything that was written to stderr, when nothing more can come. */
async function everythingTold(client: RawClient): Promise<string> {
  await client.close();
  return client.lines.map(({ text }) => text).join('\n') + client.stderr;
}

/** The pid of the process that was started last for a server, once there is one. */
async function spawnedPid(client: RawClient, server: string): Promise<number> {
  const [, pid] = await client.waitForStderr(new RegExp(`spawned server=${server} pid=(\\d+)`));
  return Number(pid);
}

describe('secrets', () => {
  test('what add_server is given as environment is in no log, not even where arguments are logged', async () => {
    const { client, added, add } = await open({}, { config: { logArguments: true }, env: DEBUG });
    await added('one', { ...nodeServer('echo'), env: { TOKEN: SECRET } });
    // Refused and failed ones are calls as well.
    await add('one', { ...nodeServer('echo'), env: { TOKEN: SECRET } });
    await add('two', { ...nodeServer('echo'), env: { TOKEN: SECRET }, envv: { TOKEN: SECRET } });
    await add('three', { command: 'no-such-program-anywhere', env: { TOKEN: SECRET } });
    // The arguments of others are there, so this is the log that would have had it.
    await client.call('one__echo', { text: 'plain to see' });
    await client.waitForStderr(/plain to see/);
    expect(await everythingTold(client)).not.toContain(SECRET);
  });

  test('which arguments are logged, and whether any are, follows the configuration that was read last', async () => {
    const server = nodeServer('echo', '--tools=echo,pid');
    const gateway = await open({ a: server }, { config: { logArguments: true }, env: DEBUG });
    const { client } = gateway;
    await gateway.serverOnce('a', 'running');
    const echo = async (text: string): Promise<void> => {
      expect(textOf(await client.call('a__echo', { text }))).toBe(text);
    };
    await until(async () => (await gateway.tools()).includes('a__echo'), { what: 'its tools' });
    await echo('shown at first');
    await client.waitForStderr(/shown at first/);
    const discreet = { a: { ...server, tools: { echo: { redact: ['text'] } } } };
    await gateway.reconfigure(discreet);
    await echo('redacted later');
    await client.waitForStderr(/\[redacted\]/);
    await gateway.reconfigure({ a: server });
    await echo('shown again');
    await client.waitForStderr(/shown again/);
    await gateway.reconfigure({ a: server }, { logArguments: false });
    await echo('never logged');
    await client.close();
    expect(client.stderr).not.toContain('redacted later');
    expect(client.stderr).not.toContain('never logged');
  });

  const OWN = 'given-by-the-definition';
  const INHERITED = 'inherited-from-the-gateway';
  const leaky = (project: Project) => ({
    command: process.execPath,
    args: [project.path('leaky.mjs')],
    env: { PLAIN_NAME: OWN },
  });
  const LEAKY = `process.stderr.write(\`refused \${process.env.PLAIN_NAME} and \${process.env.X_TOKEN} here\\n\`);
process.exitCode = 3;
`;

  test('a server that dies saying its environment is quoted without the values', async () => {
    const gateway = await open({}, { env: { ...DEBUG, X_TOKEN: INHERITED }, files: { 'leaky.mjs': LEAKY } });
    const { client, project } = gateway;
    const answer = await gateway.add('added', leaky(project));
    expect(failed(answer)).toBe(true);
    expect(said(answer)).toContain('refused *** and *** here');
    await gateway.reconfigure({
      flat: leaky(project),
      boxed: { ...leaky(project), exposure: 'suite' },
    });
    const { error } = await gateway.serverOnce('flat', 'crashed');
    expect(error).toContain('refused *** and *** here');
    const called = await client.call('boxed_suite', { action: 'call', subtool: 'x', args: {} });
    expect(said(called)).toContain('refused *** and *** here');
    expect((await gateway.serverOnce('boxed', 'crashed')).error).toContain('***');
    expect(said(await gateway.reload('flat'))).toContain('refused *** and *** here');
    const told = await everythingTold(client);
    expect(client.stderr).toContain('refused *** and *** here');
    expect(told).not.toContain(OWN);
    expect(told).not.toContain(INHERITED);
  });
});

describe('persist', () => {
  test.each<[string, object]>([
    ['turned off', { ...nodeServer('echo'), disabled: true }],
    ['not usable', { command: 5 }],
    ['not usable for its arguments', { ...nodeServer('echo'), args: 'oops' }],
  ])('add_server does not write over an entry that is %s', async (_what, entry) => {
    const gateway = await open({ mine: entry }, { config: { management: PERSIST } });
    const { client, project } = gateway;
    const before = project.read(CONFIG);
    const listed = await gateway.servers();
    const answer = await gateway.add('mine', nodeServer('echo'));
    expect(failed(answer)).toBe(true);
    expect(said(answer)).toMatch(/"mine"/);
    expect(project.read(CONFIG)).toBe(before);
    expect(await gateway.servers()).toEqual(listed);
    await client.close();
    expect(client.stderr).not.toContain('spawned');
  });

  test('remove_server of one that another file defines says where, and that it is gone for now', async () => {
    const gateway = await open(
      {},
      {
        config: { management: PERSIST },
        files: { 'mcps/x/.mcp.json': { name: 'x', ...nodeServer('echo') } },
      },
    );
    const { project } = gateway;
    const before = [CONFIG, 'mcps/x/.mcp.json'].map((file) => project.read(file));
    const { pid } = await gateway.serverOnce('x', 'running');
    const answer = await gateway.remove('x');
    expect(said(answer)).toContain(project.path('mcps/x/.mcp.json'));
    expect(said(answer)).toContain('x was removed for now');
    expect(await gateway.servers()).toEqual([]);
    expect(alive(pid)).toBe(false);
    expect([CONFIG, 'mcps/x/.mcp.json'].map((file) => project.read(file))).toEqual(before);
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
  const gateway = await open(both, { config: { naming: 'plain' } });
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
  expect(said(refused)).toMatch(/"look" is gone, its server 'A' was removed/);
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

test('a slip in the entry of a server that runs costs it nothing: it goes on as it was, and stderr says so', async () => {
  const servers = { it: nodeServer('echo'), other: nodeServer('echo') };
  const gateway = await open(servers);
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
  expect(told).toMatch(/goes on as it was.*server=it\n/);
  expect(client.ledger.unanswered()).toHaveLength(1);
  expect(await gateway.server('it')).toMatchObject({ status: 'running', pid });
  expect(textOf(await client.call('it__pid'))).toBe(String(pid));
  expect(textOf(await call)).toBe('through it all');
  // Put right again it is the same one still; taken out it goes.
  expect(await gateway.reconfigure(servers)).toMatch(/was read again kept=2/);
  expect(await gateway.server('it')).toMatchObject({ status: 'running', pid });
  expect(await gateway.reconfigure({ other: servers.other })).toMatch(/removed=it kept=1/);
  await until(() => !alive(pid), { what: 'its process to be gone' });
});

test('a server that runs and cannot be listed is shown as running, with the reason', async () => {
  const gateway = await open({ bad: nodeServer('bad-list') });
  const { project } = gateway;
  const { pid } = await gateway.serverOnce('bad', 'running');
  const list = async (...flags: string[]): Promise<string> => {
    const program = [join(ROOT, 'dist/index.js'), 'list', ...flags];
    const env = { ...process.env, ...ownState(project) };
    return (await promisify(execFile)(process.execPath, program, { cwd: project.dir, env })).stdout;
  };
  const state = await until(
    async () => {
      const [server] = JSON.parse(await list('--json')).servers;
      return server.state?.problem === undefined ? undefined : server.state;
    },
    { what: 'the reason to be listed' },
  );
  expect(state).toMatchObject({ kind: 'running', pid });
  expect(state.problem).toContain('the catalogue is on fire');
  expect(await list()).toMatch(new RegExp(`^bad +.*running pid ${pid}, but: `, 'm'));
  const listed = await gateway.server('bad');
  expect(listed).toMatchObject({ status: 'running', pid });
  expect(listed.error).toContain('the catalogue is on fire');
});

test('reload_server keeps what clients have subscribed to', async () => {
  const UPDATED = 'notifications/resources/updated';
  const [uri, other] = ['demo://watched', 'demo://not-watched'];
  const gateway = await open({ it: nodeServer('offering', `--resources=${uri},${other}`) });
  const { client } = gateway;
  const state = async () => JSON.parse(textOf(await client.call('it__state')));
  await gateway.serverOnce('it', 'running');
  await until(async () => (await client.request('resources/list')).result.resources.length === 2, {
    what: 'its resources',
  });
  await gateway.tools();
  expect((await client.request('resources/subscribe', { uri })).result).toEqual({});
  const before = await state();
  expect(before.subscribed).toEqual([uri]);
  expect(failed(await gateway.reload('it'))).toBe(false);
  // The new process was told of it, and what it says arrives.
  const after = await until(
    async () => {
      const now = await state();
      return now.subscribed.length > 0 ? now : undefined;
    },
    { what: 'the new process to be subscribed to' },
  );
  expect(after).toMatchObject({ subscribed: [uri] });
  expect(after.pid).not.toBe(before.pid);
  const from = client.messages.length;
  await client.call('it__touch', { uri: other });
  await client.call('it__touch', { uri });
  const { params } = await client.waitFor(({ method }) => method === UPDATED, { from });
  expect(params.uri).toBe(uri);
  // And it can be given up.
  expect((await client.request('resources/unsubscribe', { uri })).result).toEqual({});
  expect((await state()).subscribed).toEqual([]);
});

test('a client that can only open pages is not sent a form, not even to approve a server', async () => {
  const gateway = await open(
    { asking: nodeServer('asking') },
    { config: { management: { approval: 'ask' } }, capabilities: { elicitation: { url: {} } } },
  );
  const { client } = gateway;
  client.handle('elicitation/create', () => ({ result: { action: 'accept', content: {} } }));
  await gateway.serverOnce('asking', 'running');
  await until(async () => (await gateway.tools()).includes('asking__ask_form'), { what: 'its tools' });
  const ask = async (tool: string) => JSON.parse(textOf(await client.call(tool, { tag: 't' })));
  expect((await ask('asking__ask_form')).error).toMatchObject({
    code: -32602,
    message: expect.stringContaining('"form"'),
  });
  const added = await gateway.add('tool', nodeServer('echo'));
  expect(failed(added)).toBe(true);
  expect(said(added)).toMatch(/"tool" needs a person's approval.*cannot ask/);
  expect(client.requests).toEqual([]);
  expect((await ask('asking__ask_url')).result).toMatchObject({ action: 'accept' });
  expect(client.requests.map(({ params }) => params.mode)).toEqual(['url']);
});

test('the log says that the process of a removed server has exited', async () => {
  const gateway = await open({});
  const { pid } = await gateway.added('gone', nodeServer('echo'));
  expect(failed(await gateway.remove('gone'))).toBe(false);
  const [line] = await gateway.client.waitForStderr(/ exited .*server=gone.*\n/);
  expect(line).toContain(`pid=${pid}`);
});

describe('an add_server that is cancelled', () => {
  // Far more than the test waits: only the cancellation can end it.
  const config = { management: PERSIST, timeouts: { childSpawnMs: 300_000 } };
  const cancel = (id: string): RpcMessage => ({
    jsonrpc: '2.0',
    method: 'notifications/cancelled',
    params: { requestId: id },
  });
  const call = (id: string, server: object): object => ({
    jsonrpc: '2.0',
    id,
    method: 'tools/call',
    params: { name: 'add_server', arguments: { name: 'mute', ...server } },
  });

  test('while the server does not say hello adds nothing and ends its process', async () => {
    const gateway = await open({}, { config });
    const { client, project } = gateway;
    const before = project.read(CONFIG);
    client.send(call('unwanted', nodeServer('never-initialize')));
    const pid = await spawnedPid(client, 'mute');
    await client.waitForStderr(/not answering/);
    client.send(cancel('unwanted'));
    await until(() => !alive(pid), { what: 'its process to be gone' });
    await until(async () => (await gateway.servers()).length === 0, { what: 'it to be listed no more' });
    expect(project.read(CONFIG)).toBe(before);
    expect(client.messages.filter(({ id }) => id === 'unwanted')).toEqual([]);
    // The name is free.
    expect(await gateway.added('mute', nodeServer('echo'))).toMatchObject({ status: 'running' });
  });

  test.each([AUTO, PERSIST])('in the same breath adds nothing either, with %j', async (management) => {
    const gateway = await open({}, { config: { ...config, management } });
    const { client, project } = gateway;
    const before = project.read(CONFIG);
    const both = [call('unwanted', nodeServer('echo')), cancel('unwanted')];
    client.sendRaw(both.map((message) => `${JSON.stringify(message)}\n`).join(''));
    // Added behind it: what the cancelled one still does is done, or under way and listed, by then.
    await gateway.added('next', nodeServer('echo'));
    await gateway.remove('next');
    expect((await gateway.servers()).map(({ name }) => name)).toEqual([]);
    expect(project.read(CONFIG)).toBe(before);
  });
});
