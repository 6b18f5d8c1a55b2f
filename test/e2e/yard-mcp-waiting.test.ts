import { expect, test } from 'vitest';
import type { Era } from '../helpers/eras.ts';
import { alive } from '../helpers/processes.ts';
import type { RawClient, RpcMessage } from '../helpers/raw-client.ts';
import { until } from '../helpers/until.ts';
import { agentYard, speaker } from '../helpers/yard-agent.ts';

/** A service that runs and never answers on its port. */
const SLOW = '[services.slow]\ncommand = "node -e setInterval(()=>0,1000)"\nready_timeout = 600\n';

const ERAS = ['legacy', 'modern'] as const;

/** Calls `switchyard_up` and resolves as soon as it waits for the slow service. */
async function waitingUp(client: RawClient, era: Era) {
  const { ask } = speaker(client, era);
  const up = ask(
    'tools/call',
    { name: 'switchyard_up', arguments: {}, _meta: { progressToken: 'p' } },
    { id: 77, deadline: 60_000 },
  );
  up.catch(() => undefined);
  const told = (text: string): Promise<RpcMessage> =>
    client.waitFor(
      ({ method, params }) => method === 'notifications/progress' && String(params.message).includes(text),
    );
  await told('starting slow');
  await told('started web');
  return { up, told };
}

test.each(ERAS)('all read-only requests get a response while services start (%s)', async (era) => {
  const yard = await agentYard(SLOW);
  const client = yard.agent();
  const { ask, call } = speaker(client, era);
  const { up } = await waitingUp(client, era);
  if (era === 'legacy') expect((await ask('ping')).result).toEqual({});
  expect((await ask('tools/list')).result.tools.length).toBeGreaterThan(10);
  expect((await ask('prompts/list')).result.prompts).toHaveLength(2);
  const { services } = (await call('status')).structuredContent;
  expect(services.map(({ service }: any) => service)).toEqual(['web', 'slow']);
  expect((await call('brief')).structuredContent.services).toHaveLength(2);
  expect((await call('where', { service: 'web' })).structuredContent).toMatchObject({ status: 'running' });
  const lines = await until(async () => {
    const [log] = (await call('logs', { service: 'web' })).structuredContent.logs;
    return log.lines.length > 0 && log.lines;
  });
  expect(lines).toEqual(['listening for main']);
  for (const name of ['list', 'doctor']) expect((await call(name)).isError).toBe(false);
  const { contents } = (await ask('resources/read', { uri: 'switchyard://project/brief' })).result;
  expect(contents[0].text).toContain('"slow"');
  expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([77]);

  // A hanging service can be stopped, and the call that waits for it reports that.
  expect((await call('down', { services: ['slow'] })).structuredContent.messages).toEqual(['stopped slow']);
  const { isError, structuredContent } = (await up).result;
  expect(isError).toBe(true);
  expect(structuredContent.outcomes).toMatchObject([
    { service: 'web', result: 'ready' },
    { service: 'slow', result: 'exited' },
  ]);
  await call('down');
});

test.each(ERAS)('a client that waits for services gets progress, and may stop waiting (%s)', async (era) => {
  const yard = await agentYard(SLOW);
  const client = yard.agent();
  const { call } = speaker(client, era);
  const { told } = await waitingUp(client, era);
  // Again and again, so that nobody takes it for dead.
  await told('waiting for slow');
  const heard = client.notifications.map(({ params }) => params);
  expect(new Set(heard.map(({ progressToken }) => progressToken))).toEqual(new Set(['p']));
  expect(heard.map(({ progress }) => progress)).toEqual(heard.map((_, at) => at + 1));
  client.notify('notifications/cancelled', { requestId: 77, reason: 'enough' });
  const { services } = (await call('status')).structuredContent;
  expect(services.map(({ service, status }: any) => [service, status])).toEqual([
    ['web', 'running'],
    ['slow', 'running'],
  ]);
  expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([77]);
  const { structuredContent, isError } = await call('down');
  expect([isError, [...structuredContent.messages].sort()]).toEqual([false, ['stopped slow', 'stopped web']]);
  const exit = await client.close();
  expect(exit.code).toBe(0);
});

test('SIGTERM leaves running calls three seconds, and services running', async () => {
  const yard = await agentYard(SLOW);
  const client = yard.agent();
  const { up } = await waitingUp(client, 'legacy');
  const exit = client.kill('SIGTERM');
  expect((await up).result.content[0].text).toContain('stopping');
  const { code, ms } = await exit;
  expect(code).toBe(0);
  expect(ms).toBeGreaterThan(2900);
  const { services } = await yard.ask('status');
  expect(services.map(({ status }: any) => status)).toEqual(['running', 'running']);
  await yard.ask('down');
});

test('two calls that change the same project run one after the other', async () => {
  const yard = await agentYard();
  const client = yard.agent();
  const { call } = speaker(client, 'legacy');
  const branches = ['a', 'b', 'c', 'd'];
  const made = await Promise.all(branches.map((branch) => call('create', { branch })));
  expect(made.map(({ structuredContent: { branch, created } }) => [branch, created])).toEqual(
    branches.map((branch) => [branch, true]),
  );
  const ups = await Promise.all(branches.map((branch) => call('up', { branch }, {}, { deadline: 60_000 })));
  const outcomes = ups.map(({ structuredContent }) => structuredContent.outcomes[0]);
  expect(outcomes.map(({ result }) => result)).toEqual(branches.map(() => 'ready'));
  expect(new Set(outcomes.map(({ port }) => port)).size).toBe(branches.length);
  await call('down');
  expect(outcomes.filter(({ pid }) => alive(pid))).toEqual([]);
});
