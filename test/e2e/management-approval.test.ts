/** add_server in switchboard: who approves a new server, and what that person is shown. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  failed,
  FLAT_PREFIXED,
  ELICITATION,
  MANAGEMENT_TOOLS,
  startManagedClient,
  spawnedServers,
  startManaged,
} from '../helpers/management.ts';
import { processesWith } from '../helpers/processes.ts';
import { responseText, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { sdkClients } from '../helpers/sdk-client.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

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
      const { client, add } = await startManaged(management, { capabilities: ELICITATION });
      client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
      expect(responseText(await add('echo', nodeServer('echo')))).toContain('not approved');
      expect(client.requests).toHaveLength(1);
    }
  });

  test('the person sees what will run, where, and the names of variables, never their values; then it runs', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION });
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
    expect(spawnedServers(client)).toEqual([]);
    client.reply(question, { result: { action: 'accept', content: {} } });
    expect(responseText(await adding)).toContain('Added tool');
    expect(await gateway.server('tool')).toMatchObject({
      status: 'running',
      tools: ['tool__echo', 'tool__pid'],
    });
    expect(client.stderr).not.toContain(SECRET);
  });

  test('what is not given is said to be so, and a relative directory is shown whole', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION });
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
    const gateway = await startManaged(true, { capabilities: ELICITATION });
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
    const gateway = await startManaged(true, { capabilities: ELICITATION });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => reply);
    const response = await gateway.add('tool', proposal(project));
    expect(failed(response)).toBe(true);
    expect(responseText(response)).toMatch(/Adding "tool" was not approved\. Ask the user/);
    expect(await gateway.servers()).toEqual([]);
    expect(await gateway.tools()).toEqual(MANAGEMENT_TOOLS);
    expect(spawnedServers(client)).toEqual([]);
    expect(existsSync(project.path('journal'))).toBe(false);
    expect(gateway.changes()).toBe(0);
    // The next one is asked about again.
    client.handle('elicitation/create', () => ({ result: { action: 'accept' } }));
    expect(failed(await gateway.add('tool', proposal(project)))).toBe(false);
  });

  test('a client without elicitation gets the setting that allows it, and nothing is started', async () => {
    for (const capabilities of [{}, { sampling: {}, roots: {} }]) {
      const gateway = await startManaged(true, { capabilities });
      const response = await gateway.add('tool', proposal(gateway.project));
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(/"tool" needs user approval.*cannot ask/);
      expect(responseText(response)).toContain('"management": {"approval": "auto"}');
      expect(gateway.client.requests).toEqual([]);
      expect(spawnedServers(gateway.client)).toEqual([]);
    }
  });

  test('invalid arguments are refused before the user is asked', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION }, { taken: nodeServer('echo') });
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
    const gateway = await startManaged(true, { capabilities: ELICITATION });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => undefined);
    const adding = gateway.add('tool', proposal(project));
    await asked(client);
    expect((await client.close()).code).toBe(0);
    expect(failed(await adding)).toBe(true);
    expect(processesWith(client.marker)).toEqual([]);
    expect(spawnedServers(client)).toEqual([]);
    expect(existsSync(project.path('journal'))).toBe(false);
  });

  test('a call that is cancelled takes its question back, and an answer that comes too late starts nothing', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION });
    const { client, project } = gateway;
    client.handle('elicitation/create', () => undefined);
    void client.call('add_server', { name: 'tool', ...proposal(project) }, { id: 'unwanted' });
    const question = await asked(client);
    client.notify('notifications/cancelled', { requestId: 'unwanted' });
    const { params } = await client.waitFor(({ method }) => method === 'notifications/cancelled');
    expect(params.requestId).toBe(question.id);
    client.reply(question, { result: { action: 'accept' } });
    expect(await gateway.servers()).toEqual([]);
    expect(spawnedServers(client)).toEqual([]);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual(['unwanted']);
  });

  test('two questions at once are each answered for themselves', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION });
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
    const gateway = await startManaged(true, { capabilities: ELICITATION });
    const { client } = gateway;
    client.handle('elicitation/create', () => undefined);
    const calls = [1, 2].map(() => gateway.add('same', nodeServer('echo')));
    await client.waitUntil(() => (client.requests.length === 2 ? true : undefined), 'both questions');
    for (const question of client.requests) client.reply(question, { result: { action: 'accept' } });
    const answers = await Promise.all(calls);
    expect(answers.filter((answer) => !failed(answer))).toHaveLength(1);
    expect(responseText(answers.find(failed)!)).toContain('"same" already');
    expect(spawnedServers(client)).toEqual(['same']);
  });

  test('only for servers not in the configuration: reloading, listing and removing does not ask', async () => {
    const gateway = await startManaged(true, { capabilities: ELICITATION }, { echo: nodeServer('echo') });
    await gateway.serverOnce('echo', 'running');
    expect(failed(await gateway.reload('echo'))).toBe(false);
    expect(failed(await gateway.remove('echo'))).toBe(false);
    expect(gateway.client.requests).toEqual([]);
  });

  test.each(Object.entries(sdkClients))(
    '%s asks its person, and gives the answer',
    async (_name, connect) => {
      const project = createProject({ 'switchboard.config.json': { ...FLAT_PREFIXED, management: true } });
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

test('a client that can only open pages is not sent a form, not even to approve a server', async () => {
  const gateway = await startManagedClient(
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
  expect(responseText(added)).toMatch(/"tool" needs user approval.*cannot ask/);
  expect(client.requests).toEqual([]);
  expect((await ask('asking__ask_url')).result).toMatchObject({ action: 'accept' });
  expect(client.requests.map(({ params }) => params.mode)).toEqual(['url']);
});
