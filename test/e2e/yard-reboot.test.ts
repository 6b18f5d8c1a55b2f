/** The built `switchyard` after the machine has rebooted, or somebody has killed its daemons: what `up` brings back. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bootId } from '../../src/process/index.ts';
import { alive } from '../helpers/processes.ts';
import { listenersByProc } from '../helpers/port-listeners.ts';
import { until } from '../helpers/until.ts';
import { createShop, occupy, type Shop } from '../helpers/yard-shop.ts';
import { visit } from '../helpers/yard-traffic.ts';

async function kill(pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGKILL');
  await until(() => !pids.some(alive), { what: 'the processes to be gone' });
}

/** Nothing runs any more, and everything in the home was written in another boot. Its pids belong to others now. */
async function reboot(shop: Shop): Promise<void> {
  await kill([...shop.living(), ...shop.daemons()].map(({ pid }) => pid));
  const boot = bootId()!;
  for (const file of readdirSync(shop.home, { recursive: true, encoding: 'utf8' })) {
    const path = join(shop.home, file);
    if (!statSync(path).isFile()) continue;
    const text = readFileSync(path, 'utf8');
    if (text.includes(boot)) writeFileSync(path, text.replaceAll(boot, boot.replace(/\w/g, '0')));
  }
  const path = join(shop.home, 'state.json');
  const state = JSON.parse(readFileSync(path, 'utf8'));
  state.forwarder.pid = process.pid;
  for (const proxy of Object.values<{ pid: number }>(state.proxies)) proxy.pid = process.pid;
  writeFileSync(path, JSON.stringify(state));
}

const branchAt = async (shop: Shop, service: string): Promise<string> =>
  (await visit(shop.usual(service), '/who')).json.branch;

test('after a reboot, up restores the checkouts and the proxy', async () => {
  const shop = await createShop({
    services: { web: 'web', api: 'web' },
    ports: [25_700, 25_749],
    branches: ['next'],
  });
  await shop.ask('up', 'main', '--checkout');
  await shop.ask('up', 'next');
  const { web, api } = shop.canonical as { web: number; api: number };
  await reboot(shop);

  // Another branch comes first: what was checked out does not run, and that is said.
  const other = await shop.ask('up', 'next');
  expect(other.ok).toBe(true);
  for (const [service, port] of [
    ['web', web],
    ['api', api],
  ] as const) {
    expect(other.messages).toContain(
      `did not restore ${service} of main on localhost:${port}: it is not running; start it with \`switchyard up main ${service}\``,
    );
    expect(listenersByProc(port)).toEqual([]);
  }
  const { messages } = await shop.ask('up', 'main');
  expect(messages).toEqual(
    expect.arrayContaining([
      expect.stringMatching(`^restored web of main: localhost:${web} -> :`),
      expect.stringMatching(`^restored api of main: localhost:${api} -> :`),
    ]),
  );
  expect([await branchAt(shop, 'web'), await branchAt(shop, 'api')]).toEqual(['main', 'main']);
  expect((await visit(shop.named('web', 'next'), '/who')).json.branch).toBe('next');
  expect(await shop.ask('checkout', '--verify')).toMatchObject({ ok: true });
  // All is well now, and nobody is told of it.
  expect((await shop.ask('up', 'main')).messages.join('\n')).not.toContain('restore');
});

test('after a reboot, a port that another process has taken is not restored, which is reported', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [25_750, 25_799], branches: ['next'] });
  await shop.ask('up', 'main', '--checkout');
  const port = shop.canonical.web!;
  await reboot(shop);
  // The kernel closes the sockets of a killed process a moment after it is gone.
  await until(() => listenersByProc(port).length === 0, { what: 'the port to be free' });
  const { server } = await occupy(port);
  const { ok, messages } = await shop.ask('up', 'main');
  expect(ok).toBe(true);
  expect(messages.at(-1)).toMatch(
    new RegExp(
      `^could not restore web of main: localhost:${port} -> :\\d+; pid ${process.pid} \\(.* owns it$`,
    ),
  );
  await new Promise((resolve) => server.close(resolve));
  // It is not forgotten: as soon as the port is free, it is restored.
  expect((await shop.ask('up', 'main')).messages.at(-1)).toMatch(
    `restored web of main: localhost:${port} -> :`,
  );
  expect(await branchAt(shop, 'web')).toBe('main');
});

test('after a reboot, a branch that was checked out meanwhile keeps the port, which is reported', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [25_800, 25_849], branches: ['next'] });
  await shop.ask('up', 'main', '--checkout');
  await reboot(shop);
  const port = shop.canonical.web!;
  await shop.ask('up', 'next', '--checkout');
  const { messages } = await shop.ask('up', 'main');
  expect(messages.at(-1)).toBe(
    `localhost:${port} stays with next, which was checked out after main; switch with \`switchyard checkout main web\``,
  );
  expect(await branchAt(shop, 'web')).toBe('next');
});

test('a killed forwarder is started again by up, with all its ports', async () => {
  const shop = await createShop({
    services: { web: 'web', api: 'web' },
    ports: [25_850, 25_899],
    branches: ['next'],
  });
  await shop.ask('up', 'main', '--checkout');
  await shop.ask('up', 'next');
  await shop.ask('checkout', 'next', 'api');
  const { web, api } = shop.canonical as { web: number; api: number };
  for (const branch of ['main', 'next']) {
    await kill(listenersByProc(web));
    const { messages } = await shop.ask('up', branch);
    expect(messages).toEqual(
      expect.arrayContaining([
        expect.stringMatching(`^restored web of main: localhost:${web} -> :`),
        expect.stringMatching(`^restored api of next: localhost:${api} -> :`),
      ]),
    );
    expect([await branchAt(shop, 'web'), await branchAt(shop, 'api')]).toEqual(['main', 'next']);
  }
});
