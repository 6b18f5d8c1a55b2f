import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { freePort, testYard } from '../../../../test/helpers/yard-home.ts';
import { makeHome, type Home } from '../../records/state/home.ts';
import { callForwarder } from './control-client.ts';
import { controlSocket, readLines } from './control-socket.ts';
import { serveForward } from './serve.ts';

async function openHome(home?: string): Promise<Home> {
  const yard = await testYard(undefined, home);
  makeHome(yard.context.home);
  return yard.context.home;
}

/** Serves in this process until the test ends. */
async function serve(home: Home): Promise<{ readonly ended: Promise<void>; readonly stop: () => void }> {
  const controller = new AbortController();
  const ended = serveForward({ home, signal: controller.signal, log: () => undefined });
  onTestFinished(async () => {
    controller.abort();
    await ended.catch(() => undefined);
  });
  await until(() => callForwarder(home).ping());
  return { ended, stop: () => controller.abort() };
}

const owner = {
  project: 'shop',
  project_root: '/shop',
  branch: 'main',
  service: 'web',
  target_host: '127.0.0.1',
};

test('it listens on a socket that only its owner can reach, and exits with its last port', async () => {
  const home = await openHome();
  const { ended } = await serve(home);
  expect(statSync(home.run).mode & 0o777).toBe(0o700);
  const line = callForwarder(home);
  expect(await line.ping()).toMatchObject({ pid: process.pid });
  const [one, two] = [await freePort(), await freePort()];
  await line.map({ ...owner, listen_port: one, target_port: 9 });
  await line.map({ ...owner, listen_port: two, target_port: 9 });
  expect(await line.list()).toHaveLength(2);
  await line.unmap(one);
  expect(await line.ping()).toMatchObject({ pid: process.pid });
  expect(await line.unmap(two)).toMatchObject({ ok: true, kind: 'unmapped' });
  await ended;
  expect(existsSync(controlSocket(home))).toBe(false);
  expect(await line.ping()).toBeUndefined();
});

test('the signal ends it, with its ports', async () => {
  const home = await openHome();
  const { ended, stop } = await serve(home);
  const port = await freePort();
  await callForwarder(home).map({ ...owner, listen_port: port, target_port: 9 });
  stop();
  await ended;
  const socket = connect(port, '127.0.0.1');
  await expect(once(socket, 'connect')).rejects.toThrow('ECONNREFUSED');
});

test('invalid requests get an error, and an endless one is disconnected', async () => {
  const home = await openHome();
  await serve(home);
  const socket = connect(controlSocket(home));
  const answers: any[] = [];
  readLines(socket, (line) => answers.push(JSON.parse(line)));
  const map = { op: 'map', mapping: { ...owner, listen_port: 70_000, target_port: 9 } };
  for (const line of ['{', 'null', '{}', '{"op":"unmap","port":"1"}', JSON.stringify(map), '{"op":"ping"}']) {
    socket.write(`${line}\n`);
  }
  await until(() => answers.length === 6);
  expect(answers.map(({ ok, code }) => [ok, code])).toEqual([
    ...Array.from({ length: 5 }, () => [false, 'BAD_REQUEST']),
    [true, undefined],
  ]);
  socket.on('error', () => undefined);
  socket.write('x'.repeat(100_000));
  await once(socket, 'close');
  expect(await callForwarder(home).ping()).toMatchObject({ pid: process.pid });
});

test('a home whose path is too long for a socket has its socket elsewhere', async () => {
  const outer = await openHome();
  const home = await openHome(join(outer.root, 'x'.repeat(120)));
  expect(controlSocket(home).length).toBeLessThan(100);
  await serve(home);
  expect(await callForwarder(home).ping()).toMatchObject({ pid: process.pid });
});
