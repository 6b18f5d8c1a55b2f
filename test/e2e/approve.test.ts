/** "approve": who is asked before a tool runs, and what becomes of every kind of answer. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ModernCaller } from '../helpers/eras.ts';
import { ownState, startGateway, type TestGateway } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { responseText, startClient, textOf, type RawClient, type RpcMessage } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const TOOLS = [
  { name: 'look', annotations: { readOnlyHint: true } },
  { name: 'wipe', annotations: { destructiveHint: true } },
  { name: 'vague' },
];
const BOX = nodeServer('from-file', '--file=tools.json', '--ran=ran');
const ELICITATION = { elicitation: { form: {} } };
const FILES = { 'tools.json': JSON.stringify(TOOLS), ran: '' };
const accept = (decision?: string) => ({
  result: { action: 'accept', content: decision === undefined ? {} : { decision } },
});

async function start(config: object, capabilities: object = ELICITATION): Promise<TestGateway> {
  const gateway = await startGateway({ box: BOX }, { raw: true, config });
  for (const [name, text] of Object.entries(FILES)) writeFileSync(gateway.project.path(name), text);
  await gateway.client.initialize('2025-06-18', capabilities);
  return gateway;
}

async function again(project: Project): Promise<RawClient> {
  const client = startClient({ cwd: project.dir, env: ownState(project) });
  await client.initialize('2025-06-18', ELICITATION);
  return client;
}

/** The tools that the server was told to run. */
function ran(project: Project): string[] {
  return readFileSync(project.path('ran'), 'utf8').split('\n').filter(Boolean);
}

const questions = (client: RawClient): RpcMessage[] =>
  client.requests.filter(({ method }) => method === 'elicitation/create');

test('before a tool runs that may destroy something, the user sees what it is and with which arguments', async () => {
  const { client, project, call } = await start({ approve: 'destructive' });
  client.handle('elicitation/create', () => accept('once'));
  expect(textOf(await call('box', 'look'))).toBe('ran look {}');
  expect(questions(client)).toEqual([]);
  const args = { path: 'a\u202etxt.exe', password: 'hunter2hunter2', n: 1, long: 'x'.repeat(5000) };
  expect(textOf(await call('box', 'wipe', args))).toMatch(/^ran wipe/);
  const [asked] = questions(client);
  const { message, requestedSchema } = asked?.params as { message: string; requestedSchema: any };
  expect(message).toMatch(
    /^Run the tool "wipe" of the server "box"\? It may change or delete something\.\nArguments: /,
  );
  expect(message).toContain('a\\u{202e}txt.exe');
  expect(message).toContain('"password": (hidden)');
  expect(message).toContain('"n": 1');
  expect(message).toContain('and 4700 more characters');
  expect(message).not.toContain('hunter2');
  expect(requestedSchema.properties.decision.enum).toEqual(['once', 'session', 'always']);
  // Nothing said is the worst, and once is once.
  await call('box', 'vague');
  await call('box', 'wipe');
  expect(questions(client)).toHaveLength(3);
  expect(ran(project)).toEqual(['look', 'wipe', 'vague', 'wipe']);
});

test('declined, dismissed, answered with nonsense or with an error: nothing runs', async () => {
  const { client, project, call } = await start({ approve: 'all' });
  const answers = [
    { result: { action: 'decline' } },
    { result: { action: 'cancel' } },
    accept('for ever'),
    { result: 'yes' },
    { result: {} },
    { error: { code: -32603, message: 'no dialog' } },
  ];
  for (const answer of answers) {
    client.handle('elicitation/create', () => answer);
    const refused = await call('box', 'look');
    expect(refused.result.isError).toBe(true);
    expect(textOf(refused)).toMatch(/was not run: /);
  }
  expect(ran(project)).toEqual([]);
});

test('a client that cannot ask is told how the user can allow the tool, which then runs until that is revoked', async () => {
  const { client, project, call } = await start({ approve: ['w*'] }, {});
  const refused = textOf(await call('box', 'wipe'));
  expect(refused).toContain('could not be asked (this client does not support elicitation)');
  expect(refused).toContain('switchboard trust box wipe --allow');
  expect(textOf(await call('box', 'look'))).toMatch(/^ran look/);
  const options = { env: ownState(project) };
  const allowed = await runCli(project, ['trust', 'box', 'wipe', '--allow'], options);
  expect(allowed).toMatchObject({ code: 0 });
  expect(textOf(await call('box', 'wipe'))).toMatch(/^ran wipe/);
  expect((await runCli(project, ['trust', 'box', 'wipe', '--revoke'], options)).code).toBe(0);
  expect(textOf(await call('box', 'wipe'))).toMatch(/was not run/);
  expect(ran(project)).toEqual(['look', 'wipe']);
  expect(client.requests).toEqual([]);
});

test('for this session and from now on mean what they say, for the tool as it was', async () => {
  const { client, project, call } = await start({ approve: 'all' });
  const answers = ['session', 'always'];
  client.handle('elicitation/create', () => accept(answers.shift()));
  for (const tool of ['look', 'look', 'wipe', 'wipe'])
    expect(textOf(await call('box', tool))).toMatch(/^ran/);
  expect(questions(client)).toHaveLength(2);
  await client.close();

  const next = await again(project);
  next.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
  const run = (subtool: string) => next.call('box_suite', { action: 'call', subtool });
  expect(textOf(await run('wipe'))).toMatch(/^ran/);
  expect(textOf(await run('look'))).toMatch(/declined/);
  // The same name is another tool once it says something else.
  const changed = TOOLS.map((tool) =>
    tool.name === 'wipe' ? { ...tool, description: 'Wipes more.' } : tool,
  );
  writeFileSync(project.path('tools.json'), JSON.stringify(changed));
  next.notifications.length = 0;
  await run('wipe');
  await until(async () => textOf(await run('wipe')).includes('declined'), {
    what: 'the changed tool to be asked about',
  });
});

test('flat tools, tools of a compound one and hidden ones are asked about as well, and a tool can be excepted', async () => {
  for (const [config, name, args] of [
    [{ exposure: 'flat' }, 'box__wipe', {}],
    [
      {
        exposure: 'hidden',
        tools: { both: { description: 'Both.', subtools: { box: { tools: [{ name: 'wipe' }] } } } },
      },
      'both',
      { server: 'box', tool: 'wipe' },
    ],
    [{ suite: { split: 'effect' } }, 'box_suite', { action: 'call', subtool: 'wipe' }],
  ] as const) {
    const { client, project } = await start({ approve: 'destructive', ...config });
    client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
    expect(responseText(await client.call(name, args))).toMatch(/the user declined/);
    expect(ran(project)).toEqual([]);
    await client.close();
  }
  const suites = { box: { approve: 'all', tools: { wipe: { approve: false } } } };
  const { client, call } = await start({ suites });
  client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
  expect(textOf(await call('box', 'wipe'))).toMatch(/^ran/);
  expect(textOf(await call('box', 'look'))).toMatch(/declined/);
});

test('one answer counts, a late one does not, and a question goes with its call', async () => {
  const { client, project, call } = await start({ approve: 'all' });
  let asked: RpcMessage | undefined;
  client.handle('elicitation/create', (_params, request) => void (asked = request));
  const next = async (): Promise<RpcMessage> => {
    const question = await until(() => asked, { what: 'a question' });
    asked = undefined;
    return question;
  };
  const first = call('box', 'wipe');
  const question = await next();
  client.reply(question, { result: { action: 'decline' } });
  client.reply(question, accept('always'));
  expect(textOf(await first)).toMatch(/declined/);
  // What was said after the first answer decides nothing.
  const second = call('box', 'wipe', {}, { id: 'second' });
  const other = await next();
  client.notify('notifications/cancelled', { requestId: 'second', reason: 'changed my mind' });
  await client.waitFor(({ method }) => method === 'notifications/cancelled');
  client.reply(other, accept('always'));
  second.catch(() => undefined);
  // One at a time: the second question waits for the first answer, which may be about both.
  const both = [call('box', 'look'), call('box', 'look')];
  client.reply(await next(), accept('session'));
  for (const each of both) expect(textOf(await each)).toMatch(/^ran look/);
  expect(asked).toBeUndefined();
  expect(ran(project)).toEqual(['look', 'look']);
});

test('arguments that say one thing twice are not asked about, and do not run', async () => {
  const { client, project } = await start({ approve: 'all', exposure: 'flat' });
  client.handle('elicitation/create', () => accept('once'));
  await client.listTools();
  const answer = client.answerTo(77);
  client.sendRaw(
    '{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"box__wipe","arguments":{"path":"shown","deep":{"a":1,"a":2}}}}\n',
  );
  expect(responseText(await answer)).toContain('an argument is given twice');
  expect(ran(project)).toEqual([]);
});

test.each(['stdio', 'http'] as const)('a modern client is asked by input_required, over %s', async (wire) => {
  const project = createProject(FILES);
  const config = { approve: 'destructive', mcpServers: { box: BOX } };
  let modern: ModernCaller;
  if (wire === 'stdio') {
    writeFileSync(project.path('switchboard.config.json'), JSON.stringify(config));
    modern = ModernCaller.over(startClient({ cwd: project.dir, env: ownState(project) }), ELICITATION);
  } else {
    const servers = { box: { ...BOX, cwd: project.dir } };
    const gateway = await startHttpGateway(servers, { config: { approve: 'destructive' } });
    modern = ModernCaller.overHttp(gateway, { capabilities: ELICITATION });
  }
  const args = { action: 'call', subtool: 'wipe', args: { path: 'x' } };
  const answerWith = (asked: RpcMessage, answer: object) => {
    const [key = ''] = Object.keys(asked.result.inputRequests as object);
    return modern.back('box_suite', args, asked, { [key]: answer });
  };
  const asked = await modern.call('box_suite', args);
  expect(asked.result.resultType).toBe('input_required');
  expect(JSON.stringify(asked.result.inputRequests)).toContain('Run the tool');
  expect(textOf(await answerWith(asked, { action: 'decline' }))).toMatch(/declined/);
  // The state of an answered question is used up.
  const twice = await answerWith(asked, { action: 'accept', content: { decision: 'always' } });
  expect(twice.result?.content).toBeUndefined();
  expect(ran(project)).toEqual([]);
  const fresh = await modern.call('box_suite', args);
  const done = await answerWith(fresh, { action: 'accept', content: { decision: 'session' } });
  expect(textOf(done)).toBe('ran wipe {"path":"x"}');
  expect(textOf(await modern.call('box_suite', args))).toBe('ran wipe {"path":"x"}');
});

test('what a language model calls is asked about once, on its way to the server', async () => {
  const { client, project } = await start(
    { approve: 'destructive', mcpServers: { box: { ...BOX, language: { model: 'host' } } } },
    { ...ELICITATION, sampling: { tools: {} } },
  );
  let turn = 0;
  client.handle('sampling/createMessage', () => ({
    result: {
      role: 'assistant',
      model: 'm',
      ...(turn++ === 0
        ? {
            stopReason: 'toolUse',
            content: [{ type: 'tool_use', id: 'a', name: 'wipe', input: { path: 'x' } }],
          }
        : { stopReason: 'endTurn', content: { type: 'text', text: 'Done.' } }),
    },
  }));
  client.handle('elicitation/create', () => ({ result: { action: 'decline' } }));
  const said = await client.call('box_suite', {
    action: 'call',
    subtool: 'natural_language',
    args: { query: 'wipe it' },
  });
  expect(JSON.stringify(said.result)).toContain('the user declined');
  expect(questions(client)).toHaveLength(1);
  expect(ran(project)).toEqual([]);
});

test('a command asks in the terminal, and without one says what to do', async () => {
  const { client, project } = await start({ approve: 'all' });
  await client.close();
  const options = { env: ownState(project) };
  const refused = await runCli(project, ['call', 'box', 'look'], options);
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.stderr).toContain('switchboard trust box look --allow');
  expect((await runCli(project, ['call', 'box', 'look', '--yes'], options)).stdout).toContain('ran look');
});
