/** The limits of roles where several gateways act as one: they hold for all of them together. */
import { describe, expect, test } from 'vitest';
import { HttpSession } from '../helpers/http-client.ts';
import type { HttpGateway } from '../helpers/http-gateway.ts';
import { textOf } from '../helpers/raw-client.ts';
import { startReplicas } from '../helpers/replica-set.ts';
import { NO_REDIS, StoreServer } from '../helpers/store-server.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const SERVERS = { canary: nodeServer('canary') };

async function start(count: number, limits: object) {
  const store = await StoreServer.start();
  const roles = { all: { match: 'everyone', servers: ['*'], limits } };
  const gateways = await startReplicas(count, { store: store.url, servers: SERVERS, config: { roles } });
  const sessions = await Promise.all(gateways.map((gateway) => HttpSession.open(gateway)));
  return { store, gateways, sessions };
}

async function tell(session: HttpSession, ms = 0): Promise<string> {
  const args = { action: 'call', subtool: 'tell', args: { value: 'told', ms } };
  const answer = await session.call('canary_suite', args);
  return answer.error?.message ?? textOf(answer);
}

describe.skipIf(NO_REDIS !== undefined)(`limits of replicas${NO_REDIS ? ` (${NO_REDIS})` : ''}`, () => {
  test('bound the calls per minute of a principal on all of them together', async () => {
    const { sessions } = await start(3, { callsPerMinute: 8 });
    // Their servers run then.
    for (const session of sessions) expect(await tell(session)).toContain('told');
    const said = await Promise.all([0, 1, 2, 3].flatMap(() => sessions.map((session) => tell(session))));
    expect(said.filter((text) => text.includes('told'))).toHaveLength(5);
    expect(
      said.filter((text) => /8 calls per minute are allowed.*Try again in \d+ s/.test(text)),
    ).toHaveLength(7);
  });

  test('bound the calls at one time, and the calls of a killed one are forgotten', async () => {
    const { gateways, sessions } = await start(2, { concurrentCalls: 1 });
    const [owner] = gateways as [HttpGateway, HttpGateway];
    const [first, second] = sessions as [HttpSession, HttpSession];
    expect(await tell(first)).toContain('told');
    const lost = tell(first, 60_000).catch(() => 'lost');
    await until(async () => (await tell(second)).includes('1 calls are running already'));
    owner.signal('SIGKILL');
    expect(await lost).not.toContain('told');
    await until(async () => (await tell(second)).includes('told'), { deadline: 20_000 });
    await owner.exited;
  });

  test('hold for each gateway while the store is away, and for all again when it is back', async () => {
    const { store, gateways, sessions } = await start(3, { callsPerMinute: 3 });
    const [first, second, third] = sessions as [HttpSession, HttpSession, HttpSession];
    await store.stop();
    await until(() => gateways.every(({ stderr }) => stderr.includes('the store is away')));
    for (const session of [first, first, first, second]) expect(await tell(session)).toContain('told');
    expect(await tell(first)).toContain('3 calls per minute');
    await store.start();
    await until(() => gateways.every(({ stderr }) => stderr.includes('reachable again')));
    // What the first has seen still counts there.
    expect(await tell(first)).toContain('3 calls per minute');
    for (const session of [second, second, third]) expect(await tell(session)).toContain('told');
    expect(await tell(third)).toContain('3 calls per minute');
  });
});
