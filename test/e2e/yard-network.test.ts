/** Ports and named addresses of the built `switchyard`: real services, asked the way browsers and tools ask. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { listenersByProc } from '../helpers/port-listeners.ts';
import { until } from '../helpers/until.ts';
import { freePort } from '../helpers/yard-home.ts';
import { createShop, occupy } from '../helpers/yard-shop.ts';
import { exerciseEvents, exerciseWebSocket, serviceCommand, talk, visit } from '../helpers/yard-traffic.ts';

test('a named address reaches its service, however the name is given', async () => {
  const shop = await createShop({ services: { web: 'web', api: 'web' }, ports: [24_000, 24_099] });
  const { outcomes } = await shop.ask('up');
  for (const service of ['web', 'api']) {
    const { json } = await visit(shop.named(service), '/who');
    expect(json).toMatchObject({ service, branch: 'main', headers: { 'x-switchyard-branch': 'main' } });
    expect(json.headers['x-forwarded-host']).toBe(shop.named(service).host);
    const { port, url } = outcomes.find((outcome: { service: string }) => outcome.service === service);
    expect(listenersByProc(port)).toEqual([json.pid]);
    // The whole URL as the target, as clients send it that take us for a proxy; the name alone; and in capitals.
    expect((await visit(shop.named(service), `${url}/who`)).json.pid).toBe(json.pid);
    const bare = { port: shop.proxyPort, host: `${service}.main.shop.localhost` };
    expect((await visit(bare, '/who')).json.pid).toBe(json.pid);
    expect((await visit({ ...bare, host: bare.host.toUpperCase() }, '/who')).json.pid).toBe(json.pid);
    // A browser may take the other address for a name below localhost.
    expect((await visit({ ...bare, address: '::1' }, '/who')).json.pid).toBe(json.pid);
  }
});

test('bodies, streams, events and WebSockets pass through a named address unchanged', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [24_100, 24_199] });
  await shop.ask('up');
  const door = shop.named('web');
  const body = randomBytes(2_000_000);
  const echoed = await visit(door, '/echo', { method: 'POST', body, headers: { 'content-type': 'image/x' } });
  expect(echoed.body.equals(body)).toBe(true);
  expect(echoed.headers['content-type']).toBe('image/x');

  const { socket, takeThrough } = await talk(door.port);
  socket.write(`POST /echo HTTP/1.1\r\nHost: ${door.host}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  await takeThrough('\r\n\r\n');
  for (const word of ['first', 'second', 'third']) {
    socket.write(`${word.length.toString(16)}\r\n${word}\r\n`);
    await takeThrough(word);
  }
  socket.write('0\r\n\r\n');
  await takeThrough('\r\n0\r\n\r\n');
  socket.end();

  await exerciseEvents(door);
  expect(await exerciseWebSocket(door)).toMatch(/^HTTP\/1.1 101 [^]*s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
});

test('a name without a service gets a page that says what to do', async () => {
  const shop = await createShop({ services: { web: 'web', api: 'web' }, ports: [24_200, 24_299] });
  await shop.ask('up');

  const missing = await visit(shop.named('web'), '/nothing');
  expect(missing).toMatchObject({ status: 404, text: 'web of main has no /nothing' });

  const unknown = await visit({ port: shop.proxyPort, host: 'wbe.main.shop.localhost' }, '/');
  expect(unknown.status).toBe(502);
  expect(unknown.text).toMatch(/^\S+ has no service wbe\n/);
  expect(unknown.text).toMatch(/It has: .*\bweb\b/);
  expect(unknown.text).not.toContain('sy up');
  expect(unknown.text).toContain(`http://web.main.shop.localhost:${shop.proxyPort}`);
  const page = await visit({ port: shop.proxyPort, host: 'other.localhost' }, '/', {
    headers: { accept: 'text/html,*/*' },
  });
  expect(page).toMatchObject({ status: 502, headers: { 'content-type': 'text/html; charset=utf-8' } });
  expect(page.text).toContain(`<a href="http://web.main.shop.localhost:${shop.proxyPort}">`);
  const outside = await visit({ port: shop.proxyPort, host: 'shop.example.com' }, '/');
  expect(outside.status).toBe(502);
  expect(outside.text).not.toContain('localhost');

  await shop.ask('down', 'api');
  const stopped = await visit(shop.named('api'), '/');
  expect(stopped.status).toBe(502);
  expect(stopped.text).toMatch(/^api of main is not running/);
  expect(stopped.text).toContain('sy up main api');

  const { pid } = (await visit(shop.named('web'), '/who')).json;
  process.kill(pid, 'SIGKILL');
  await until(() => !alive(pid));
  // Its threads end one by one, and the last one takes the port along: until then connections are made, and reset.
  const killed = await until(async () => {
    const seen = await visit(shop.named('web'), '/');
    return seen.text.includes('(ECONNRESET)') ? undefined : seen;
  });
  expect(killed.status).toBe(502);
  expect(killed.text).toMatch(/^web of main does not respond on 127\.0\.0\.1:\d+ \(ECONNREFUSED\)/);
  expect(killed.text).toContain('sy logs web --branch main');
  expect(await exerciseWebSocket(shop.named('web'))).toMatch(/^HTTP\/1.1 502 /);
  // What it says helps.
  await shop.ask('up', 'main', 'web');
  expect((await visit(shop.named('web'), '/who')).json.service).toBe('web');
});

test('a service that listens only on ::1 is ready, and found by its name and on its canonical port', async () => {
  const shop = await createShop({
    services: { web: serviceCommand('web', '--host ::1') },
    ports: [24_300, 24_399],
  });
  const { outcomes } = await shop.ask('up', '--checkout');
  expect(outcomes[0]).toMatchObject({ result: 'ready' });
  const who = await visit(shop.named('web'), '/who');
  expect(listenersByProc(outcomes[0].port)).toEqual([who.json.pid]);
  expect(await exerciseWebSocket(shop.named('web'))).toMatch(/^HTTP\/1.1 101 /);
  expect((await visit(shop.usual('web'), '/who')).json.pid).toBe(who.json.pid);
  const where = await shop.ask('where', 'web');
  expect(where.listener).toMatchObject({ pid: who.json.pid, address: '::1', verified: true });
});

test('another process on the proxy port is named and left alone', async () => {
  const proxyPort = await freePort();
  const { visits } = await occupy(proxyPort);
  const shop = await createShop({ services: { web: 'web' }, ports: [24_400, 24_499], proxyPort });
  const ran = await shop.run(['up']);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toContain(`The proxy port ${proxyPort} is already in use by pid ${process.pid} (`);
  expect(ran.stderr).toContain(`in ${process.cwd()})`);
  expect(ran.stderr).toContain('[proxy].port');
  expect(visits()).toBeGreaterThan(0);
  const { socket, takeThrough } = await talk(proxyPort);
  await takeThrough("I am nobody's service\n");
  socket.destroy();
  // Nothing was started, and no port is kept for it.
  expect((await shop.ask('status')).services).toEqual([]);
  expect(shop.living()).toEqual([]);
  expect(readdirSync(join(shop.home, 'ports'))).toEqual([]);
});

test('the proxy of another home is neither used nor disturbed', async () => {
  const one = await createShop({ services: { web: 'web' }, ports: [24_500, 24_549] });
  await one.ask('up');
  const { proxyPort } = one;
  const other = await createShop({ services: { web: 'web' }, ports: [24_550, 24_599], proxyPort });
  const ran = await other.run(['up', '--json']);
  expect(ran.code).toBe(1);
  expect(ran.stderr).toBe('');
  expect(ran.json).toMatchObject({ ok: false, hint: expect.stringContaining('[proxy].port') });
  const [holder] = listenersByProc(proxyPort);
  expect(ran.json.error).toContain(`Port ${proxyPort} is occupied by a Switchyard proxy for a different`);
  expect(ran.json.error).toContain(`pid ${holder!} (`);
  await other.run(['proxy', 'stop']);
  await other.run(['down']);
  expect((await visit(one.named('web'), '/who')).json.service).toBe('web');
});

test('a killed proxy is restored by the next up, without touching services', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [24_600, 24_699] });
  const first = await shop.ask('up');
  expect(first.messages[0]).toContain('started proxy');
  const before = await visit(shop.named('web'), '/who');
  const [proxy] = listenersByProc(shop.proxyPort);
  process.kill(proxy!, 'SIGKILL');
  await until(() => listenersByProc(shop.proxyPort).length === 0);
  await expect(visit(shop.named('web'), '/who')).rejects.toThrow('ECONNREFUSED');
  const again = await shop.ask('up');
  expect(again.messages[0]).toContain('started proxy');
  expect(again.outcomes[0]).toMatchObject({ result: 'already-running', pid: first.outcomes[0].pid });
  expect((await visit(shop.named('web'), '/who')).json.pid).toBe(before.json.pid);
  expect(listenersByProc(shop.proxyPort)).not.toContain(proxy);
  expect((await shop.ask('proxy', 'stop')).messages).toEqual(['proxy stopped']);
  expect(listenersByProc(shop.proxyPort)).toEqual([]);
});

test('three branches of three services, started by three concurrent commands, do not share a port', async () => {
  const names = ['web', 'api', 'admin'];
  const branches = ['main', 'red', 'blue'];
  // So few that every choice is contested.
  const shop = await createShop({
    services: Object.fromEntries(names.map((name) => [name, 'web'])),
    ports: [24_700, 24_711],
    branches: ['red', 'blue'],
  });
  const ups = await Promise.all(branches.map((branch) => shop.ask('up', branch)));
  const all = ups.flatMap(({ branch, outcomes }) =>
    outcomes.map((outcome: object) => ({ branch, ...outcome })),
  );
  expect(all).toHaveLength(9);
  expect(new Set(all.map(({ port }) => port)).size).toBe(9);
  for (const { branch, service, port, result } of all) {
    expect(result).toBe('ready');
    const direct = await visit({ port, host: 'localhost' }, '/who');
    expect(direct.json).toMatchObject({ service, branch });
    expect(listenersByProc(port)).toEqual([direct.json.pid]);
    expect((await visit(shop.named(service, branch), '/who')).json).toMatchObject({ service, branch });
  }
});
