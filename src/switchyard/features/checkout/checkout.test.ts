import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/helpers/until.ts';
import {
  daemonProgram,
  endProcess,
  freePort,
  testYard,
  type TestYard,
} from '../../../../test/helpers/yard-home.ts';
import type { YardContext } from '../../records/project/context.ts';
import { isDaemonAlive } from '../../runtime/daemon/daemon.ts';
import { callForwarder } from '../forwarder/control-client.ts';
import { checkout } from './checkout.ts';
import { observeCheckouts } from './observe.ts';
import { dropCheckouts, uncheckout } from './uncheckout.ts';
import { verify } from './verify.ts';

const program = daemonProgram();

/** Sends its branch to every client that connects. */
const SAYS_BRANCH =
  "require('net').createServer((s) => s.on('error', () => 0).end(process.env.SWITCHYARD_BRANCH)).listen(process.env.PORT, '127.0.0.1')";

interface Shop extends TestYard {
  readonly web: number;
  readonly api: number;
}

/** A project whose web and api have canonical ports. */
async function openShop(): Promise<Shop> {
  const [web, api] = [await freePort(), await freePort()];
  const yard = await testYard(
    `[services.web]\ncommand = "x"\nport = ${web}\n[services.api]\ncommand = "x"\nport = ${api}\n[services.job]\ncommand = "x"\n`,
  );
  onTestFinished(() => endForwarder(yard.context));
  return { ...yard, web, api };
}

async function endForwarder({ registry, home }: YardContext): Promise<void> {
  const record = registry.read().forwarder;
  const pid =
    (await callForwarder(home).ping())?.pid ??
    (record !== undefined && isDaemonAlive(record) ? record.pid : null);
  if (pid !== null) endProcess(pid);
}

const take = async (context: YardContext, branch: string, ...services: string[]) =>
  (await checkout(context, { branch, services, program })).messages;

async function answerOn(port: number, host = '127.0.0.1'): Promise<string> {
  return text(connect(port, host));
}

test('a checkout points the canonical port to the branch, reports it, and the forwarder exits with its last port', async () => {
  const { context, start, web } = await openShop();
  const { port } = await start('feature/x', 'web', SAYS_BRANCH, web);
  const done = await checkout(context, { branch: 'feature-x', services: [], program });
  expect(done).toEqual({
    ok: true,
    action: 'checkout',
    branch: 'feature-x',
    scope: 'branch',
    services: [],
    messages: [`checked out web: localhost:${web} -> :${port}`],
  });
  expect(await answerOn(web)).toBe('feature/x');
  expect(await answerOn(web, '::1')).toBe('feature/x');
  expect(observeCheckouts(context)).toMatchObject([
    { service: 'web', branch: 'feature/x', status: 'running' },
  ]);
  expect(await take(context, 'feature/x')).toEqual([`web checkout already running on canonical port ${web}`]);
  const log = join(context.home.logs, 'forward.log');
  expect(readFileSync(log, 'utf8')).toContain(
    `mapped localhost:${web} -> 127.0.0.1:${port} (web of feature/x)`,
  );
  expect(statSync(log).mode & 0o777).toBe(0o600);

  const forwarder = context.registry.read().forwarder!;
  expect(await uncheckout(context, { services: ['web'] })).toEqual({
    ok: true,
    action: 'uncheckout',
    branch: null,
    scope: 'all',
    services: ['web'],
    messages: [`unchecked web from canonical port ${web}`],
  });
  await expect(answerOn(web)).rejects.toThrow('ECONNREFUSED');
  await until(() => !isDaemonAlive(forwarder), { what: 'the forwarder to end' });
  expect(context.registry.read().forwarder).toBeUndefined();
  expect((await uncheckout(context, { services: [] })).messages).toEqual(['no matching checkouts']);
});

test('failures of a checkout are reported and make it not ok, and the rest is done', async () => {
  const { context, start, record, web, api } = await openShop();
  const outcome = async (...services: string[]): Promise<unknown[]> => {
    const { ok, messages } = await checkout(context, { branch: 'main', services, program });
    return [ok, ...messages];
  };
  expect(await outcome()).toEqual([false, 'no matching running services to checkout']);
  expect(existsSync(join(context.home.logs, 'forward.log'))).toBe(false);
  await start('main', 'job', SAYS_BRANCH);
  expect(await outcome()).toEqual([false, 'job has no canonical port configured']);
  await record({ branch: 'main', service: 'web', port: 9, desired_port: web });
  expect(await outcome()).toEqual([
    false,
    'web is not running for main',
    'job has no canonical port configured',
  ]);
  expect(await outcome('nothing')).toEqual([
    false,
    'nothing is not running for main',
    'Service "nothing" not found. Available: web, api, job.',
  ]);
  const own = await start('main', 'web', SAYS_BRANCH);
  await record({ ...own, desired_port: own.port });
  const { port } = await start('main', 'api', SAYS_BRANCH, api);
  expect(await outcome('web', 'api')).toEqual([
    true,
    `web already owns canonical port ${own.port}`,
    `checked out api: localhost:${api} -> :${port}`,
  ]);
  // Without a name, a service that has no port is skipped; with its name, it is an error.
  const already = `api checkout already running on canonical port ${api}`;
  expect(await outcome()).toEqual([
    true,
    `web already owns canonical port ${own.port}`,
    'job has no canonical port configured',
    already,
  ]);
  expect(await outcome('api', 'job')).toEqual([false, 'job has no canonical port configured', already]);
});

test('another process on the canonical port is named and left alone', async () => {
  const { context, start, web } = await openShop();
  const stranger = createServer((_, response) => response.end('mine'));
  stranger.listen(web, '127.0.0.1');
  onTestFinished(() => void stranger.close());
  await once(stranger, 'listening');
  await start('main', 'web', SAYS_BRANCH, web);
  const [message] = await take(context, 'main');
  expect(message).toContain(`web cannot bind canonical port ${web}; pid ${process.pid} (`);
  expect(message).toContain(`in ${process.cwd()}`);
  expect(observeCheckouts(context)).toEqual([]);
  expect(await verify(context, { branch: 'main', services: [] })).toMatchObject([
    { service: 'web', ok: false, held_by: 'stranger', branch: null, listeners: [{ pid: process.pid }] },
    { service: 'api', ok: false, held_by: 'nobody' },
  ]);
});

test('switching to another branch refuses no connection, and open connections end', async () => {
  const { context, start, web } = await openShop();
  const echo =
    "require('net').createServer((s) => s.on('error', () => 0).on('data', (d) => s.write(process.env.SWITCHYARD_BRANCH))).listen(process.env.PORT, '127.0.0.1')";
  const ports = new Map<string, number>();
  for (const branch of ['main', 'other']) ports.set(branch, (await start(branch, 'web', echo, web)).port);
  await take(context, 'main');
  const old = connect(web, '127.0.0.1');
  onTestFinished(() => void old.destroy());
  old.write('?');
  await once(old, 'data');
  const ended = once(old, 'end');

  let stop = false;
  let connections = 0;
  const clients = Array.from({ length: 4 }, async () => {
    while (!stop) {
      const socket = connect(web, '127.0.0.1');
      await once(socket, 'connect');
      socket.destroy();
      connections++;
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  for (let round = 0; round < 6; round++) {
    const [now, was] = round % 2 === 0 ? (['other', 'main'] as const) : (['main', 'other'] as const);
    const messages = await take(context, now);
    expect(messages[0]).toBe(`switched web: localhost:${web} -> :${ports.get(now)!} (was ${was})`);
    if (round === 0) {
      expect(messages.slice(1).join()).toMatch(/connections? to main on port/);
      await ended;
    }
    const before = connections;
    await until(() => connections > before);
  }
  stop = true;
  await Promise.all(clients);
  // A port has only one record, that of the branch it points to.
  expect(observeCheckouts(context)).toMatchObject([{ branch: 'main', status: 'running' }]);
});

test('verify fails while a connection leads to the previous branch', async () => {
  const { context, start, web } = await openShop();
  const silent =
    "require('net').createServer((s) => s.on('error', () => 0)).listen(process.env.PORT, '127.0.0.1')";
  for (const branch of ['main', 'other']) await start(branch, 'web', silent, web);
  await take(context, 'main');
  const asking = connect(web, '127.0.0.1');
  onTestFinished(() => void asking.destroy());
  asking.on('error', () => undefined);
  await new Promise((resolve) => asking.write('?', resolve));
  await until(async () => (await callForwarder(context.home).list())?.[0]?.connections === 1);
  expect(await take(context, 'other')).toEqual([
    expect.stringContaining('(was main)'),
    `1 connection to main on port ${web} ends after its response, within 5 s`,
  ]);
  const [proof] = await verify(context, { services: ['web'] });
  expect(proof).toMatchObject({ ok: false, branch: 'other', elsewhere: 1, http: null });
  expect(proof?.text).toMatch(/; 1 connection goes elsewhere$/);
  // A client that waits for its connection to end sees that it was closed.
  const closed = new Promise((resolve) => asking.on('close', resolve));
  const visits = ['127.0.0.1', '::1'].map((address) => ({ address, status: null }));
  expect(await verify(context, { services: ['web'], browse: true })).toMatchObject([
    { ok: true, branch: 'other', elsewhere: 0, http: visits },
  ]);
  await closed;
});

test('a killed forwarder is noticed, and the next checkout restores all its ports', async () => {
  const { context, start, web, api } = await openShop();
  const one = await start('main', 'web', SAYS_BRANCH, web);
  await start('main', 'api', SAYS_BRANCH, api);
  await take(context, 'main');
  const { pid } = context.registry.read().forwarder!;
  endProcess(pid!);
  await until(() => observeCheckouts(context).every(({ status }) => status === 'stale'));
  await start('other', 'api', SAYS_BRANCH, api);
  const messages = await take(context, 'other');
  expect(messages).toContain(`restored web of main: localhost:${web} -> :${one.port}`);
  expect(messages.at(-1)).toMatch(/^checked out api: /);
  expect(await answerOn(web)).toBe('main');
  expect(await answerOn(api)).toBe('other');
  // The record of a service that has ended stays, and nothing is opened for it.
  endProcess(context.registry.read().forwarder!.pid!);
  endProcess(one.pid!);
  await until(() => observeCheckouts(context).every(({ status }) => status === 'stale'));
  await take(context, 'other');
  expect(observeCheckouts(context)).toMatchObject([{ status: 'stale' }, { status: 'running' }]);
  expect((await uncheckout(context, { services: ['web'] })).messages).toEqual([
    `removed stale checkout for web; nothing of ours listens on port ${web}`,
  ]);
});

test('a forwarder that does not respond is replaced', async () => {
  const { context, start, web, api } = await openShop();
  await start('main', 'web', SAYS_BRANCH, web);
  await start('main', 'api', SAYS_BRANCH, api);
  await take(context, 'main');
  const { pid } = context.registry.read().forwarder!;
  endProcess(pid!, 'SIGSTOP');
  expect(await uncheckout(context, { services: ['web'], program })).toMatchObject({
    messages: [`unchecked web from canonical port ${web}`],
  });
  await expect(answerOn(web)).rejects.toThrow('ECONNREFUSED');
  expect(await answerOn(api)).toBe('main');
  expect(context.registry.read().forwarder!.pid).not.toBe(pid);
});

/** A forwarder from the time when connections stayed with the old branch: it does not report a protocol number. */
const OLD_FORWARDER = `
const net = require('net'), fs = require('fs'), path = require('path');
const run = path.join(process.env.SWITCHYARD_HOME, 'run');
const ports = new Map();
const answer = async ({ op, mapping }) => {
  if (op === 'ping') return { ok: true, pid: process.pid };
  if (op === 'list') return { ok: true, mappings: [...ports.values()].map((each) => ({ ...each, addresses: [], connections: 1 })) };
  ports.set(mapping.listen_port, mapping);
  await new Promise((resolve) => net.createServer().listen(mapping.listen_port, '127.0.0.1', resolve));
  return { ok: true, kind: 'mapped', staying: 0 };
};
fs.mkdirSync(run, { recursive: true });
net.createServer((socket) => socket.on('data', async (line) => socket.write(JSON.stringify(await answer(JSON.parse(line))) + '\\n')))
  .listen(path.join(run, 'forward.sock'));
process.on('SIGTERM', () => { fs.rmSync(path.join(run, 'forward.sock')); process.exit(); });
`;

test('a forwarder that is older than the command is replaced, with all its ports', async () => {
  const { context, start, web, api } = await openShop();
  await start('main', 'web', SAYS_BRANCH, web);
  await start('main', 'api', SAYS_BRANCH, api);
  await start('other', 'web', SAYS_BRANCH, web);
  const older = [process.execPath, '-e', OLD_FORWARDER, '--'];
  await checkout(context, { branch: 'main', services: [], program: older });
  const { pid } = context.registry.read().forwarder!;
  // It cannot report where its connections go.
  expect(await verify(context, { services: ['web'] })).toMatchObject([{ ok: false }]);
  const messages = await take(context, 'other', 'web');
  expect(messages).toEqual([
    expect.stringMatching(`restored api of main: localhost:${api} -> :`),
    expect.stringMatching(`checked out web: localhost:${web} -> :`),
  ]);
  expect(context.registry.read().forwarder!.pid).not.toBe(pid);
  expect([await answerOn(web), await answerOn(api)]).toEqual(['other', 'main']);
  expect(await verify(context, { services: [] })).toMatchObject([{ ok: true }, { ok: true }]);
});

test('running checkouts are recovered when the records are lost', async () => {
  const { context, reopen, start, web } = await openShop();
  const service = await start('main', 'web', SAYS_BRANCH, web);
  await take(context, 'main');
  const { pid } = context.registry.read().forwarder!;
  await context.registry.change((state) => {
    delete state.forwarder;
    state.projects[context.config.root]!.checkouts = {};
  });
  const fresh = reopen();
  expect(await verify(fresh, { services: ['web'] })).toMatchObject([
    { ok: true, branch: 'main', held_by: 'forwarder' },
  ]);
  expect(await take(fresh, 'main')).toEqual([`web checkout already running on canonical port ${web}`]);
  expect(fresh.registry.read().forwarder!.pid).toBe(pid);
  await fresh.registry.change((state) => {
    state.projects[context.config.root]!.checkouts = {};
  });
  expect((await uncheckout(fresh, { branch: 'main', services: [] })).messages).toEqual([
    `unchecked web from canonical port ${web}`,
  ]);
  expect(service.port).not.toBe(web);
});

test('many concurrent checkouts of two projects in one home end with one forwarder and all ports', async () => {
  const first = await openShop();
  const [web] = [await freePort()];
  const second = await testYard(`[services.web]\ncommand = "x"\nport = ${web}\n`, first.context.home.root);
  await first.start('main', 'web', SAYS_BRANCH, first.web);
  await first.start('main', 'api', SAYS_BRANCH, first.api);
  await second.start('theirs', 'web', SAYS_BRANCH, web);
  await Promise.all([
    ...[1, 2, 3].map(() => take(first.reopen(), 'main', 'web')),
    ...[1, 2, 3].map(() => take(first.reopen(), 'main', 'api')),
    ...[1, 2, 3].map(() => take(second.reopen(), 'theirs')),
  ]);
  expect(await Promise.all([first.web, first.api, web].map((port) => answerOn(port)))).toEqual([
    'main',
    'main',
    'theirs',
  ]);
  expect(
    readFileSync(join(first.context.home.logs, 'forward.log'), 'utf8').match(/forwarder ready/g),
  ).toHaveLength(1);
  // A command that holds the project's lock drops its own checkouts, and nobody else's.
  const dropped = await dropCheckouts(first.context, ['main::web', 'main::api', 'main::job']);
  expect(dropped.map(({ record, wasOpen }) => [record.service, wasOpen])).toEqual([
    ['web', true],
    ['api', true],
  ]);
  expect(await answerOn(web)).toBe('theirs');
});

test('a checkout killed at any moment leaves no unrecorded open port', async () => {
  const { context, start, web, api } = await openShop();
  await start('main', 'web', SAYS_BRANCH, web);
  await start('main', 'api', SAYS_BRANCH, api);
  for (let trial = 0; trial < 12; trial++) {
    const [command, ...args] = [...program, 'checkout', 'main'];
    const child = spawn(command, args, {
      cwd: context.config.root,
      env: { ...process.env, SWITCHYARD_HOME: context.home.root },
      stdio: 'ignore',
    });
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), trial * 25);
    await ended;
    clearTimeout(timer);
    const open = ((await callForwarder(context.home).list()) ?? []).map(({ service }) => service);
    const known = observeCheckouts(context).map(({ service }) => service);
    expect(known).toEqual(expect.arrayContaining(open));
    await uncheckout(context, { services: [], program });
    expect(observeCheckouts(context)).toEqual([]);
    await expect(answerOn(web)).rejects.toThrow('ECONNREFUSED');
  }
  await take(context, 'main');
  expect(await Promise.all([answerOn(web), answerOn(api)])).toEqual(['main', 'main']);
});

test('verify asks the kernel which process of which branch responds', async () => {
  const { context, start, web, api } = await openShop();
  const { port, pid } = await start('feature/x', 'web', SAYS_BRANCH, web);
  await take(context, 'feature/x');
  const forwarder = context.registry.read().forwarder!.pid!;
  const [proof] = await verify(context, { branch: 'feature/x', services: ['web'] });
  expect(proof).toMatchObject({
    service: 'web',
    port: web,
    ok: true,
    expected: 'feature/x',
    held_by: 'forwarder',
    branch: 'feature/x',
    listeners: [
      { address: '127.0.0.1', pid: forwarder },
      { address: '::1', pid: forwarder },
    ],
    target: { host: '127.0.0.1', port, listeners: [{ address: '127.0.0.1', pid, cwd: context.config.root }] },
  });
  expect(proof?.text).toContain(`localhost:${web} is web of feature/x: pid ${pid!} (`);
  expect(await verify(context, { branch: 'main', services: ['web'] })).toMatchObject([{ ok: false }]);
  // The service exits and a stranger takes its port: the name in our records does not count.
  endProcess(pid!);
  const stranger = createServer();
  onTestFinished(() => void stranger.close());
  await until(async () => {
    stranger.listen(port, '127.0.0.1');
    return once(stranger, 'listening').then(
      () => true,
      () => false,
    );
  });
  const [fooled] = await verify(context, { services: ['web'] });
  expect(fooled).toMatchObject({ ok: false, held_by: 'forwarder', branch: null, expected: 'feature/x' });
  expect(fooled?.text).toContain('where another process listens');
  // A service that ignores its assigned port and uses the canonical one.
  await start('stubborn', 'api', `require('net').createServer().listen(${api}); ${SAYS_BRANCH}`, api);
  const [direct] = await verify(context, { branch: 'stubborn', services: ['api'] });
  expect(direct).toMatchObject({ ok: true, held_by: 'service', branch: 'stubborn' });
  expect(await take(context, 'stubborn', 'api')).toMatchObject([
    expect.stringContaining('; started as api of stubborn) owns it'),
  ]);
});
