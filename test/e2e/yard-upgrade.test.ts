/** Daemons of one version of `switchyard`, found by another. The other version is a copy of the built one that says so. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listenersByProc } from '../helpers/port-listeners.ts';
import { ROOT } from '../helpers/temp-project.ts';
import { createShop } from '../helpers/yard-shop.ts';
import { talk, visit } from '../helpers/yard-traffic.ts';
import { SWITCHYARD } from '../helpers/yard.ts';

const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };

function copyOf(change: (text: string) => string): string {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-other-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  cpSync(dirname(SWITCHYARD), folder, { recursive: true });
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const file = join(folder, name);
    if (name.endsWith('.js')) writeFileSync(file, change(readFileSync(file, 'utf8')));
  }
  return join(folder, 'switchyard.js');
}

const ofVersion = (other: string): string =>
  copyOf((text) => text.replaceAll(`"${version}"`, JSON.stringify(other)));

test('a newer version replaces the proxy and the forwarder of an older one, and no address is lost', async () => {
  const older = ofVersion('0.0.9');
  const shop = await createShop({ services: { web: 'web', api: 'web' }, ports: [26_200, 26_249] });
  const first = await shop.run(['up', '--checkout', '--json'], { program: older });
  expect(first.json.messages[0]).toBe(`started proxy on 127.0.0.1:${shop.proxyPort}`);
  const services = ['web', 'api'];
  const pids = async () =>
    Promise.all(services.map(async (name) => (await visit(shop.named(name), '/who')).json.pid));
  const before = await pids();
  const daemons = shop.daemons().map(({ pid }) => pid);
  expect(daemons).toHaveLength(2);
  const open = await talk(shop.proxyPort);
  open.socket.write(`GET /events HTTP/1.1\r\nHost: ${shop.named('web').host}\r\n\r\n`);
  await open.takeThrough('text/event-stream');

  const again = await shop.ask('up');
  expect(again.messages[0]).toBe(`replaced proxy of version 0.0.9 on 127.0.0.1:${shop.proxyPort}`);
  expect(await pids()).toEqual(before);
  // Connected clients notice that immediately.
  await open.takeRest();
  const [proxy] = listenersByProc(shop.proxyPort);
  expect(daemons).not.toContain(proxy);

  const { messages } = await shop.ask('checkout', 'main', 'web');
  expect(messages.join('\n')).toContain('restored api of main');
  for (const name of services) expect((await visit(shop.usual(name), '/who')).json.service).toBe(name);
  expect(shop.daemons().filter(({ pid }) => daemons.includes(pid))).toEqual([]);

  // An older version uses what it finds.
  const back = await shop.run(['up', '--json'], { program: older });
  expect(back.json.messages[0]).toBe('proxy already running');
  expect(listenersByProc(shop.proxyPort)).toEqual([proxy]);
  expect((await shop.ask('up')).messages[0]).toBe('proxy already running');
});

test('so does another build of the same version', async () => {
  const other = copyOf((text) => `${text}\n// other`);
  const shop = await createShop({ services: { web: 'web' }, ports: [26_250, 26_299] });
  await shop.run(['up'], { program: other });
  const again = await shop.ask('up');
  expect(again.messages[0]).toBe(`replaced proxy of another build on 127.0.0.1:${shop.proxyPort}`);
  expect((await visit(shop.named('web'), '/who')).json.service).toBe('web');
});
