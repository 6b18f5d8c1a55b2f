import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import { daemonProgram, endProcess, testYard, type TestYard } from '../../../../test/helpers/yard-home.ts';
import { portHolders } from '../../../process/index.ts';
import type { YardContext } from '../../records/project/context.ts';
import { isDaemonAlive, isDaemonOf } from '../../runtime/daemon/daemon.ts';
import { ensureProxy, proxyLog } from './ensure.ts';
import { stopProxy } from './stop.ts';

const program = daemonProgram();

async function openYard(): Promise<TestYard> {
  const yard = await testYard();
  onTestFinished(() => endProxy(yard.context));
  return yard;
}

function endProxy({ config, home }: YardContext): void {
  for (const { pid } of portHolders([config.proxy.port])) {
    if (pid !== undefined && isDaemonOf(home, pid, undefined)) endProcess(pid);
  }
}

test('it is started once, serves names on both addresses, and can be stopped', async () => {
  const { context, start } = await openYard();
  const { port } = context.config.proxy;
  expect(await ensureProxy(context, { program })).toEqual({
    text: `started proxy on 127.0.0.1:${port}`,
    started: true,
  });
  expect(await ensureProxy(context, { program })).toEqual({ text: 'proxy already running', started: false });
  const record = context.registry.read().proxies[String(port)]!;
  expect(isDaemonAlive(record)).toBe(true);
  const log = proxyLog(context.home, port);
  expect(record.log_file).toBe(log);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  expect(readFileSync(log, 'utf8')).toContain('proxy ready on 127.0.0.1 and ::1');

  await start(
    'main',
    'web',
    "require('http').createServer((q, s) => s.end('named')).listen(process.env.PORT, '127.0.0.1')",
  );
  for (const host of ['127.0.0.1', '::1']) {
    const socket = connect(port, host);
    socket.write('GET / HTTP/1.1\r\nHost: web.main.shop.localhost\r\nConnection: close\r\n\r\n');
    expect(await text(socket)).toContain('named');
  }

  // It does not depend on the terminal in which it was started.
  endProcess(record.pid!, 'SIGHUP');
  expect(await ensureProxy(context, { program })).toMatchObject({ started: false });
  expect(await stopProxy(context)).toEqual({ text: 'proxy stopped' });
  expect(isDaemonAlive(record)).toBe(false);
  expect(readFileSync(log, 'utf8')).toContain('proxy ended: SIGTERM');
  expect(context.registry.read().proxies).toEqual({});
  expect(await stopProxy(context)).toEqual({ text: 'proxy is not running' });
});

test('ten concurrent commands start one proxy', async () => {
  const { context, reopen } = await openYard();
  const all = await Promise.all(Array.from({ length: 10 }, () => ensureProxy(reopen(), { program })));
  expect(all.filter(({ started }) => started)).toHaveLength(1);
  const ready = readFileSync(proxyLog(context.home, context.config.proxy.port), 'utf8').match(/proxy ready/g);
  expect(ready).toHaveLength(1);
});

test('a killed proxy is started again, and its record leads to no signal', async () => {
  const { context } = await openYard();
  const { port } = context.config.proxy;
  await ensureProxy(context, { program });
  const { pid } = context.registry.read().proxies[String(port)]!;
  endProcess(pid!);
  await until(() => portHolders([port]).length === 0);
  // The pid now belongs to another process, for example this one.
  await context.registry.change((state) => {
    state.proxies[String(port)]!.pid = process.pid;
  });
  expect(await stopProxy(context)).toEqual({ text: 'proxy is not running' });
  expect(await ensureProxy(context, { program })).toMatchObject({ started: true });
});

test('an unrecorded proxy is found and can be stopped', async () => {
  const { context } = await openYard();
  const { port } = context.config.proxy;
  await ensureProxy(context, { program });
  await context.registry.change((state) => {
    state.proxies = {};
  });
  expect(await ensureProxy(context, { program })).toEqual({ text: 'proxy already running', started: false });
  expect(await stopProxy(context)).toEqual({ text: 'proxy stopped' });
  expect(portHolders([port])).toEqual([]);
});

test('a proxy that does not respond is replaced', async () => {
  const { context } = await openYard();
  const { port } = context.config.proxy;
  await ensureProxy(context, { program });
  const { pid } = context.registry.read().proxies[String(port)]!;
  endProcess(pid!, 'SIGSTOP');
  expect(await ensureProxy(context, { program })).toMatchObject({ started: true });
  expect(context.registry.read().proxies[String(port)]!.pid).not.toBe(pid);
});

test('another process on the port is named, and so is the proxy of another home', async () => {
  const { context } = await openYard();
  const { port } = context.config.proxy;
  const stranger = createServer((_, response) => response.end('<html>'));
  stranger.listen(port, '127.0.0.1');
  await once(stranger, 'listening');
  await expect(ensureProxy(context, { program })).rejects.toMatchObject({
    code: 'PROXY_PORT',
    message: expect.stringContaining(
      `The proxy port ${port} is already in use by pid ${process.pid} (`,
    ) as string,
    hint: expect.stringContaining('[proxy].port') as string,
  });
  stranger.closeAllConnections();
  await new Promise((resolve) => stranger.close(resolve));

  await ensureProxy(context, { program });
  const other = await testYard();
  const there: YardContext = {
    ...other.context,
    config: { ...other.context.config, proxy: context.config.proxy },
  };
  await expect(ensureProxy(there, { program })).rejects.toMatchObject({
    message: expect.stringContaining(
      'occupied by a Switchyard proxy for a different or unknown registry',
    ) as string,
  });
});

test('a proxy that cannot be started is an error that names the log', async () => {
  const { context } = await openYard();
  const broken = [process.execPath, '-e', 'process.exit(3)'];
  await expect(ensureProxy(context, { program: broken })).rejects.toMatchObject({
    code: 'PROXY_START',
    hint: `See ${proxyLog(context.home, context.config.proxy.port)}.`,
  });
});
