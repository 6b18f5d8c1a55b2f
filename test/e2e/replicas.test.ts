/** Several gateways with one store behind a load balancer without affinity: here, clients that reach them in turn. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { callCanary } from '../helpers/canary-client.ts';
import { envelope, modernHeaders } from '../helpers/eras.ts';
import { HttpSession, type Target } from '../helpers/http-client.ts';
import { HttpGateway, TOKEN } from '../helpers/http-gateway.ts';
import { textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { runCli } from '../helpers/run-cli.ts';
import { inTurn, startReplica, startReplicas } from '../helpers/replica-set.ts';
import { NO_REDIS, StoreServer } from '../helpers/store-server.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const SERVERS = {
  canary: nodeServer('canary'),
  asks: { ...nodeServer('asks'), exposure: 'flat' },
};

const call = (subtool: string, args: object = {}): object => ({ action: 'call', subtool, args });
const valueIn = (answer: RpcMessage): unknown => (JSON.parse(textOf(answer)) as { value: unknown }).value;

async function start(
  count: number,
): Promise<{ store: StoreServer; gateways: HttpGateway[]; balanced: Target }> {
  const store = await StoreServer.start();
  const gateways = await startReplicas(count, { store: store.url, servers: SERVERS });
  return { store, gateways, balanced: inTurn(gateways) };
}

/** One POST of a client without a session. */
async function postModern({ url, token }: Target, name: string, params: object): Promise<RpcMessage> {
  const response = await fetch(url, {
    method: 'POST',
    headers: modernHeaders(token, 'tools/call', name),
    body: JSON.stringify({
      ...{ jsonrpc: '2.0', id: 7, method: 'tools/call' },
      params: { name, ...params, _meta: envelope() },
    }),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? text : /^data: (\{[^\n]*)$/m.exec(text)![1]!;
  return JSON.parse(json) as RpcMessage;
}

describe.skipIf(NO_REDIS !== undefined)(`replicas${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('a session works through each of them, and its servers run on the one that owns it', async () => {
    const { gateways, balanced } = await start(3);
    const session = await HttpSession.open(balanced);
    expect(valueIn(await session.call('canary_suite', call('remember', { value: 'mine' })))).toBe('mine');
    const other = await HttpSession.open(balanced);
    await other.call('canary_suite', call('remember', { value: 'theirs' }));
    for (let turn = 0; turn < gateways.length; turn++)
      expect(valueIn(await session.call('canary_suite', call('recall')))).toBe('mine');
    const owners = gateways.filter((gateway) => gateway.children().length > 0);
    expect(owners.length).toBeLessThanOrEqual(2);
    expect(await session.end()).toBe(204);
    const again = await session.post(JSON.stringify({ jsonrpc: '2.0', id: 9, method: 'ping' }));
    expect(again.status).toBe(404);
  });

  test('questions of a server and their answers pass through other replicas, and a stream is resumed through a third', async () => {
    const { gateways } = await start(3);
    const [owner, second, third] = gateways as [HttpGateway, HttpGateway, HttpGateway];
    const session = await HttpSession.open(owner, { capabilities: { elicitation: {} } });
    const stream = await session.through(second).stream('tools/call', {
      name: 'asks__ask_elicitation',
      arguments: {},
    });
    const question = await stream.waitFor(({ method }) => method === 'elicitation/create');
    const seen = stream.events.findLast(({ id }) => id !== undefined)?.id;
    stream.cut();
    await session.through(third).say({
      id: question.id,
      result: { action: 'accept', content: { name: 'Ada' } },
    });
    const resumed = await session.through(third).listen(seen);
    const answer = await resumed.waitFor(({ result }) => result !== undefined);
    expect(textOf(answer)).toContain('Ada');
  });

  test('a request of 2026-07-28 that needs input is continued through any replica, once', async () => {
    const { gateways } = await start(2);
    const [first, second] = gateways as [HttpGateway, HttpGateway];
    const params = { arguments: {} };
    const { result } = await postModern(first, 'asks__ask_elicitation', params);
    expect(result.resultType).toBe('input_required');
    const retry = {
      ...params,
      requestState: result.requestState,
      inputResponses: Object.fromEntries(
        Object.keys(result.inputRequests).map((key) => [key, { action: 'accept', content: { name: 'Ada' } }]),
      ),
    };
    expect(textOf(await postModern(second, 'asks__ask_elicitation', retry))).toContain('Ada');
    expect((await postModern(second, 'asks__ask_elicitation', retry)).error).toMatchObject({ code: -32602 });
  });

  test('when the owner is killed, its running call fails with an error and the client starts again elsewhere', async () => {
    const { gateways } = await start(3);
    const [owner, second, third] = gateways as [HttpGateway, HttpGateway, HttpGateway];
    const session = await HttpSession.open(owner);
    await session.call('canary_suite', call('tell', { value: 'quick' }));
    const body = { name: 'canary_suite', arguments: call('tell', { value: 'slow', ms: 60_000 }) };
    const running = session
      .through(second)
      .post(JSON.stringify({ jsonrpc: '2.0', id: 'slow', method: 'tools/call', params: body }));
    const listening = await session.through(third).listen();
    // Headers come when the owner begins a stream, which it does for a call that takes long.
    const lost = await running;
    owner.signal('SIGKILL');
    const said = await lost.text();
    expect(said).toContain('"id":"slow"');
    expect(said).toContain('was lost');
    await until(() => listening.ended);
    await owner.exited;
    for (const gateway of [second, third]) {
      const ping = await session
        .through(gateway)
        .post(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'ping' }));
      expect(ping.status).toBe(404);
    }
    const fresh = await HttpSession.open(second);
    const answer = await fresh.through(third).call('canary_suite', call('tell', { value: 'works' }));
    expect(valueIn(answer)).toBe('works');
  });

  test('a session of another token is not found, through any replica', async () => {
    const store = await StoreServer.start();
    const gateways = await startReplicas(2, { store: store.url, servers: SERVERS });
    const [owner, other] = gateways as [HttpGateway, HttpGateway];
    const session = await HttpSession.open(owner);
    const stranger = await fetch(other.url, {
      method: 'DELETE',
      headers: { authorization: 'Bearer wrong', 'mcp-session-id': session.id },
    });
    expect(stranger.status).toBe(401);
    expect(await session.through(other).end()).toBe(204);
  });

  test('a named token is valid on every replica, and revoked on all of them, also after the store forgot everything', async () => {
    const { store, gateways } = await start(2);
    const [first, second] = gateways as [HttpGateway, HttpGateway];
    const tokenCommand = async (...args: string[]): Promise<string> => {
      const { stdout, stderr, code } = await runCli(first.project, ['token', ...args, '--json']);
      expect([stderr, code]).toEqual(['', 0]);
      return stdout;
    };
    const { token } = JSON.parse(await tokenCommand('create', 'laptop')) as { token: string };
    const isAdmitted = async ({ url }: HttpGateway): Promise<boolean> => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(url, { method: 'DELETE', headers })).status !== 401;
    };
    for (const gateway of gateways) await until(() => isAdmitted(gateway));
    const session = await HttpSession.open({ url: second.url, token });
    await store.stop();
    await until(() => first.stderr.includes('the store is away'));
    for (const gateway of gateways) expect(await isAdmitted(gateway)).toBe(true);
    await store.start();
    await until(async () => (await tokenCommand('list')).includes('laptop'));
    const answer = await session
      .through({ url: first.url, token })
      .call('canary_suite', call('tell', { value: 'x' }));
    expect(valueIn(answer)).toBe('x');
    await tokenCommand('revoke', 'laptop');
    for (const gateway of gateways) await until(async () => !(await isAdmitted(gateway)));
    await until(async () => (await second.health()).sessions === 0);
  });

  test('a new replica knows at once what servers list, and audit lines have numbers of their own', async () => {
    const store = await StoreServer.start();
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { canary: { ...nodeServer('canary'), exposure: 'flat' } },
        http: { token: TOKEN },
        ...{ store: store.url, audit: true },
      },
    });
    const startAs = (name: string): Promise<HttpGateway> =>
      new HttpGateway(project, {
        args: ['--http', '0', '--json'],
        env: { SWITCHBOARD_STATE_DIR: project.path(name) },
      }).ready();
    const first = await startAs('first');
    const numbersOf = (name: string): unknown[] =>
      readFileSync(project.path(`${name}/audit/calls.jsonl`), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as { seq: unknown }).seq);
    const session = await HttpSession.open(first);
    const listed = await session.requestText('tools/list');
    await session.call('canary__tell', { value: 'one' });
    await session.call('canary__tell', { value: 'two' });
    await first.stop();
    const second = await startAs('second');
    const other = await HttpSession.open(second);
    expect(readdirSync(project.path('second/servers'))).toEqual(readdirSync(project.path('first/servers')));
    expect((JSON.parse(await other.requestText('tools/list')) as RpcMessage).result).toEqual(
      (JSON.parse(listed) as RpcMessage).result,
    );
    await other.call('canary__tell', { value: 'three' });
    await second.stop();
    const numbers = [...numbersOf('first'), ...numbersOf('second')];
    expect(numbers.every((each) => Number.isSafeInteger(each))).toBe(true);
    expect(new Set(numbers).size).toBe(3);
  });

  test('what claims to come from a replica is refused: made up, too old, or for another request', async () => {
    const { gateways } = await start(2);
    const [owner] = gateways as [HttpGateway];
    const session = await HttpSession.open(owner);
    const [replica] = session.id.split('.');
    const forged = ['1', 'AAAAAAAAAAAA', replica, String(Date.now()), 'nonce', 'cHJpbmNpcGFs'];
    const signature = createHmac('sha256', 'guess').update(forged.join('.')).digest('base64url');
    for (const proof of ['', 'x', [...forged, signature].join('.'), 'a.'.repeat(4000)]) {
      const response = await fetch(owner.url, {
        method: 'DELETE',
        headers: { 'switchboard-replica': proof, 'mcp-session-id': session.id },
      });
      expect(response.status).toBe(403);
      // Nor does a valid token help.
      const both = await fetch(owner.url, {
        method: 'DELETE',
        headers: session.headers({ 'switchboard-replica': proof }),
      });
      expect(both.status).toBe(403);
    }
    expect(await session.end()).toBe(204);
  });

  test('without the store, sessions and requests go on, and it is used again when it is back', async () => {
    const { store, gateways } = await start(2);
    const [first, second] = gateways as [HttpGateway, HttpGateway];
    const session = await HttpSession.open(first);
    const met = await session.through(second).call('canary_suite', call('tell', { value: 'before' }));
    expect(valueIn(met)).toBe('before');
    const unmet = await HttpSession.open(second);
    await store.stop();
    await until(() => gateways.every(({ stderr }) => stderr.includes('the store is away')));
    expect(valueIn(await session.through(second).call('canary_suite', call('tell', { value: 'own' })))).toBe(
      'own',
    );
    expect((await callCanary(first, 'tell', { value: 'modern' })).value).toBe('modern');
    // The first has not met the second yet.
    const unknown = await unmet
      .through(first)
      .post(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
    expect(unknown.status).toBe(503);
    expect(unknown.headers.get('retry-after')).toBe('1');
    const during = await HttpSession.open(first);
    await store.start();
    await until(() => gateways.every(({ stderr }) => stderr.includes('reachable again')));
    expect(valueIn(await unmet.through(first).call('canary_suite', call('tell', { value: 'met' })))).toBe(
      'met',
    );
    const told = await during.through(second).call('canary_suite', call('tell', { value: 'after' }));
    expect(valueIn(told)).toBe('after');
  });

  test('a gateway that starts without the store serves, and joins the others later', async () => {
    const store = await StoreServer.start();
    await store.stop();
    const options = { store: store.url, servers: SERVERS };
    const [first, second] = await Promise.all([startReplica(options), startReplica(options)]);
    const session = await HttpSession.open(first);
    await store.start();
    await until(() => [first, second].every(({ stderr }) => stderr.includes('reachable again')));
    const answer = await session.through(second).call('canary_suite', call('tell', { value: 'joined' }));
    expect(valueIn(answer)).toBe('joined');
    for (const gateway of [first, second]) expect((await gateway.stop()).code).toBe(0);
  });
});
