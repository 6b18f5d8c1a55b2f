/** The usual ports of the built `switchyard`: what passes, how they switch, and the proof of who answers. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { listenersByProc } from '../helpers/port-listeners.ts';
import { until } from '../helpers/until.ts';
import { createShop, occupy } from '../helpers/yard-shop.ts';
import { exerciseEvents, exerciseWebSocket, talk, visit } from '../helpers/yard-traffic.ts';

/** What Postgres sends: a type, the length with itself, the bytes. The greeting has no type. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

test('HTTP, events, WebSockets and a database with half-closed connections pass through a canonical port', async () => {
  const shop = await createShop({ services: { web: 'web', db: 'database' }, ports: [25_000, 25_099] });
  const { messages } = await shop.ask('up', '--checkout');
  expect(messages.join('\n')).toContain(`checked out web: localhost:${shop.canonical.web!} -> :`);
  for (const address of ['127.0.0.1', '::1']) {
    const door = shop.usual('web', address);
    const { json } = await visit(door, '/who');
    // Raw TCP: nobody has touched the request.
    expect(json).toMatchObject({ service: 'web', branch: 'main', headers: { host: door.host } });
    expect(json.headers).not.toHaveProperty('x-forwarded-host');
    const body = randomBytes(1_000_000);
    expect((await visit(door, '/echo', { method: 'POST', body })).body.equals(body)).toBe(true);
    await exerciseEvents(door);
    expect(await exerciseWebSocket(door)).toMatch(/^HTTP\/1.1 101 /);

    const { socket, take, takeRest } = await talk(shop.canonical.db!, address);
    socket.write(message('', Buffer.from([4, 210, 22, 47])));
    expect((await take(1)).toString()).toBe('N');
    socket.write(message('', Buffer.from('\0\x03\0\0user\0test\0\0')));
    const greeting = Buffer.concat([
      message('R', Buffer.alloc(4)),
      message('S', Buffer.from('branch\0main\0')),
      message('Z', Buffer.from('I')),
    ]);
    expect(await take(greeting.length)).toEqual(greeting);
    const rows = [randomBytes(10), randomBytes(100_000), Buffer.alloc(0), randomBytes(1_000_000)];
    for (const row of rows) socket.write(message('Q', row));
    // Nothing comes before this end; everything after it.
    socket.end();
    const rest = await takeRest();
    const expected = [...rows.map((row) => message('D', row)), message('C', Buffer.from('SELECT 4'))];
    expect(rest.equals(Buffer.concat(expected))).toBe(true);
  }
  await shop.ask('down');
  expect(listenersByProc(shop.canonical.web!)).toEqual([]);
  expect(listenersByProc(shop.canonical.db!)).toEqual([]);
});

interface Loop {
  /** Who answered, in order. */
  readonly branches: string[];
  readonly failures: string[];
  stop(): Promise<void>;
}

/** A client that connects again as soon as it has been answered, on a new connection each time. */
function connectInALoop(port: number): Loop {
  const branches: string[] = [];
  const failures: string[] = [];
  let stopped = false;
  const once = (): Promise<void> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      let text = '';
      socket.on('connect', () => socket.write('GET /who HTTP/1.0\r\nHost: localhost\r\n\r\n'));
      socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
      socket.on('error', (error) => failures.push(error.message));
      socket.on('close', () => {
        const [, branch] = /"branch":"(\w+)"/.exec(text) ?? [];
        if (branch === undefined) failures.push(`no answer: ${JSON.stringify(text)}`);
        else branches.push(branch);
        resolve();
      });
    });
  const ended = (async () => {
    while (!stopped) await once();
  })();
  return {
    branches,
    failures,
    async stop() {
      stopped = true;
      await ended;
    },
  };
}

test('switching to another branch refuses no connection, and from then on only that branch responds', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [25_100, 25_199], branches: ['next'] });
  await Promise.all([shop.ask('up', 'main', '--checkout'), shop.ask('up', 'next')]);
  const port = shop.canonical.web!;
  const loops = [connectInALoop(port), connectInALoop(port)];
  await until(() => loops.every(({ branches }) => branches.length > 5));
  for (const [branch, before] of [
    ['next', 'main'],
    ['main', 'next'],
    ['next', 'main'],
  ] as const) {
    const from = loops.map(({ branches }) => branches.length);
    const { messages } = await shop.ask('checkout', branch);
    expect(messages[0]).toMatch(`switched web: localhost:${port} -> :`);
    expect(messages[0]).toContain(`(was ${before})`);
    // The one that was under way when the command ended may still be answered by the other branch.
    const done = loops.map(({ branches }) => branches.length + 1);
    await until(() => loops.every(({ branches }, at) => branches.length > done[at]! + 5));
    loops.forEach(({ branches }, at) => {
      expect(new Set(branches.slice(done[at]))).toEqual(new Set([branch]));
      const both = branches.slice(from[at], done[at]).join(' ');
      expect(both).toMatch(new RegExp(`^(${before} ?)*(${branch} ?)*$`));
    });
  }
  await Promise.all(loops.map((loop) => loop.stop()));
  expect(loops.flatMap(({ failures }) => failures)).toEqual([]);
});

test('on a switch idle connections end, and those with a pending request after its response', async () => {
  const shop = await createShop({
    services: { web: 'web', db: 'database' },
    ports: [25_200, 25_299],
    branches: ['next'],
  });
  await shop.ask('up', 'main', '--checkout');
  await shop.ask('up', 'next');
  const { web, db } = shop.canonical as { web: number; db: number };
  const session = await talk(db);
  session.socket.write(message('', Buffer.from('\0\x03\0\0user\0test\0\0')));
  await session.take(9 + 17 + 6);
  const idle = await talk(web);
  idle.socket.write('GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await idle.takeThrough('has no /nothing');
  const upload = 'POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n';
  const [busy, stuck] = [await talk(web), await talk(web)];
  for (const { socket, takeThrough } of [busy, stuck]) {
    socket.write(upload);
    await takeThrough('one\r\n');
  }

  const { messages } = await shop.ask('checkout', 'next');
  expect(messages).toEqual(
    expect.arrayContaining([
      `ended 1 connection to main on port ${web}`,
      `2 connections to main on port ${web} end after their responses, within 5 s`,
    ]),
  );
  expect((await idle.takeRest()).toString()).not.toContain('HTTP/1.1');
  expect((await session.takeRest()).length).toBe(0);
  busy.socket.write('3\r\ntwo\r\n0\r\n\r\n');
  expect((await busy.takeRest()).toString()).toBe('3\r\ntwo\r\n0\r\n\r\n');

  // The other one never gets its answer; the proof waits until it was cut off, and asks as a browser does.
  const { ok, verified } = await shop.ask('checkout', '--verify');
  await stuck.takeRest();
  expect(ok).toBe(true);
  const both = (status: number | null) => ['127.0.0.1', '::1'].map((address) => ({ address, status }));
  expect(verified).toMatchObject([
    { service: 'web', ok: true, branch: 'next', elsewhere: 0, http: both(404) },
    { service: 'db', ok: true, branch: 'next', elsewhere: 0, http: both(null) },
  ]);
  expect(verified[0].text).toMatch(/; HTTP 404 at 127.0.0.1, HTTP 404 at ::1$/);
  await shop.ask('uncheckout');
  expect(listenersByProc(db)).toEqual([]);
});

test('a canonical port held by another process is left alone, and the process is named', async () => {
  const shop = await createShop({ services: { web: 'web', api: 'web' }, ports: [25_300, 25_399] });
  const port = shop.canonical.web!;
  // The other address of the two is enough to be in the way.
  const { visits } = await occupy(port, '::1');
  const { outcomes } = await shop.ask('up');
  expect(outcomes.map(({ result }: { result: string }) => result)).toEqual(['ready', 'ready']);
  const ran = await shop.run(['checkout', 'main', '--verify']);
  expect(ran.code).toBe(1);
  expect(ran.stdout).toContain(`web cannot bind canonical port ${port}; pid ${process.pid} (`);
  expect(ran.stdout).toContain(`in ${process.cwd()})`);
  expect(ran.stdout).toContain(`web: not ok, localhost:${port} is not ours: pid ${process.pid} (`);
  expect(ran.stdout).toMatch(/^api: ok, /m);
  expect((await visit(shop.usual('api'), '/who')).json.service).toBe('api');
  expect(listenersByProc(port)).toEqual([process.pid]);
  expect(visits()).toBe(0);
  // It is not the branch's fault: the service has its own port and its name.
  expect((await visit(shop.named('web'), '/who')).json.service).toBe('web');
  await shop.ask('down');
  expect(listenersByProc(port)).toEqual([process.pid]);
});

test('where and checkout --verify name the actual listeners, also if the forwarder was killed', async () => {
  const shop = await createShop({
    services: { web: 'web', db: 'database' },
    ports: [25_400, 25_499],
    branches: ['next'],
  });
  await Promise.all([shop.ask('up', 'main', '--checkout'), shop.ask('up', 'next')]);
  const port = shop.canonical.web!;
  const [forwarder, ...more] = listenersByProc(port);
  expect(more).toEqual([]);
  const prove = async (branch: string): Promise<void> => {
    const { verified } = await shop.ask('checkout', '--verify');
    expect(verified.map(({ service }: { service: string }) => service)).toEqual(['web', 'db']);
    for (const { service, listeners, target, ...proof } of verified) {
      expect(proof).toMatchObject({ ok: true, branch, held_by: 'forwarder' });
      const pids = [...new Set(listeners.map(({ pid }: { pid: number }) => pid))];
      expect(pids).toEqual(listenersByProc(shop.canonical[service]!));
      expect(target.listeners.map(({ pid }: { pid: number }) => pid)).toEqual(listenersByProc(target.port));
    }
    const who = await visit(shop.usual('web'), '/who');
    expect(who.json.branch).toBe(branch);
    const where = await shop.ask('where', 'web', branch);
    expect(where.listener).toMatchObject({ pid: who.json.pid, branch, service: 'web', verified: true });
    expect(listenersByProc(where.port)).toEqual([who.json.pid]);
    expect(where.canonical).toMatchObject({ ok: true, branch });
    const other = await shop.ask('where', 'web', branch === 'main' ? 'next' : 'main');
    expect(other.canonical).toMatchObject({ ok: false, branch });
    expect(other.listener.pid).not.toBe(who.json.pid);
  };
  await prove('main');
  await shop.ask('checkout', 'next');
  await prove('next');
  expect(listenersByProc(port)).toEqual([forwarder]);

  process.kill(forwarder!, 'SIGKILL');
  await until(() => !alive(forwarder!));
  const gone = await shop.run(['checkout', '--verify', '--json']);
  expect(gone.code).toBe(1);
  expect(gone.json.verified[0]).toMatchObject({
    ok: false,
    held_by: 'nobody',
    expected: 'next',
    listeners: [],
  });
  const { checkouts } = await shop.ask('brief');
  expect(checkouts.map(({ status }: { status: string }) => status)).toEqual(['stale', 'stale']);
  expect((await shop.ask('where', 'web', 'next')).canonical).toMatchObject({ held_by: 'nobody', ok: false });

  // One service is asked for; the other port comes back as it was.
  const { messages } = await shop.ask('checkout', 'main', 'web');
  expect(messages).toEqual([
    expect.stringContaining(`restored db of next: localhost:${shop.canonical.db!} -> :`),
    expect.stringContaining(`checked out web: localhost:${port} -> :`),
  ]);
  await shop.ask('checkout', 'main', 'db');
  await prove('main');
});

test('another process behind the canonical port after a forwarder was killed is not mistaken for the branch', async () => {
  const shop = await createShop({ services: { web: 'web' }, ports: [25_500, 25_599] });
  await shop.ask('up', '--checkout');
  const port = shop.canonical.web!;
  const [forwarder] = listenersByProc(port);
  process.kill(forwarder!, 'SIGKILL');
  // The kernel frees the port a moment after the process is gone.
  await until(() => occupy(port).catch(() => false));
  const ran = await shop.run(['checkout', 'main', '--verify', '--json']);
  expect(ran.code).toBe(1);
  expect(ran.json.messages[0]).toContain(`pid ${process.pid} (`);
  expect(ran.json.verified[0]).toMatchObject({ ok: false, held_by: 'stranger', branch: null });
  expect(ran.json.verified[0].listeners[0]).toMatchObject({ pid: process.pid, cwd: process.cwd() });
  expect(await shop.ask('uncheckout')).toMatchObject({ ok: true });
  expect(listenersByProc(port)).toEqual([process.pid]);
});
