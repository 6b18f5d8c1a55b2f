import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { until } from '../../../../test/helpers/until.ts';
import { daemonProgram, freePort } from '../../../../test/helpers/yard-home.ts';
import {
  ask,
  freeRange,
  outcomeOf,
  runningYard,
  type RunningYard,
} from '../../../../test/helpers/yard-services.ts';
import { isAlive } from '../../../../test/servers/shapes/watch.ts';
import { ownIdentity } from '../../../process/index.ts';
import { makeHome } from '../../records/state/home.ts';
import { readLease, takeLease } from '../../runtime/ports/lease.ts';
import { restart } from './restart.ts';

const WEB = '[services.web]\ncommand = "node server.mjs"\n';

/** Listens as a process that has nothing to do with us. */
async function listen(port: number, host: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  atTestEnd(() => new Promise((resolve) => server.close(() => resolve())));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}

/** The output of the service called web. */
function logOf(yard: RunningYard): string {
  const record = yard.services()['current::web'];
  return record === undefined || !existsSync(record.log_file) ? '' : readFileSync(record.log_file, 'utf8');
}

describe('up', () => {
  test('starts a service on its own port and returns when it is ready', async () => {
    const yard = await runningYard(`${WEB}port = 3000\nenv = { COLOUR = "blue", PORT = "1" }\n`);
    const result = await yard.up();
    const web = outcomeOf(result, 'web');
    expect(result).toMatchObject({ ok: true, action: 'up', branch: 'current', profile: null, services: [] });
    expect(result.worktree).toBe(yard.root);
    expect(web).toMatchObject({ result: 'ready', details: [] });
    const { port: proxy } = yard.context.config.proxy;
    const url = `http://web.current.shop.localhost:${proxy}`;
    expect(result.messages).toEqual([
      `started proxy on 127.0.0.1:${proxy}`,
      `started web on :${web.port} -> ${url}`,
    ]);
    expect(web.port).toBeGreaterThanOrEqual(20_000);
    const { env, cwd } = await ask(web.port);
    expect(cwd).toBe(yard.root);
    expect(env).toMatchObject({
      PORT: String(web.port),
      HOST: '127.0.0.1',
      CANONICAL_PORT: '3000',
      COLOUR: 'blue',
      SWITCHYARD: '1',
      SWITCHYARD_PROJECT: 'shop',
      SWITCHYARD_PROJECT_SLUG: 'shop',
      SWITCHYARD_BRANCH: 'current',
      SWITCHYARD_BRANCH_SLUG: 'current',
      SWITCHYARD_SERVICE: 'web',
      SWITCHYARD_PORT: String(web.port),
      SWITCHYARD_URL: url,
      SWITCHYARD_WEB_PORT: String(web.port),
      SWITCHYARD_HOME: yard.home,
      SWITCHYARD_PROJECT_ROOT: yard.root,
      SWITCHYARD_WORKTREE: yard.root,
    });
    const record = yard.services()['current::web']!;
    expect(record).toMatchObject({
      pid: web.pid,
      pgid: web.pid,
      port: web.port,
      desired_port: 3000,
      argv: ['node', 'server.mjs'],
      command: 'node server.mjs',
      cookie: env['SWITCHYARD_COOKIE'],
      url,
      hostname: 'web.current.shop.localhost',
      backend_host: '127.0.0.1',
      worktree: yard.root,
    });
    await until(() => logOf(yard) === 'listening\n');
    expect(statSync(record.log_file).mode & 0o777).toBe(0o600);
    expect(yard.events.map(({ kind }) => kind)).toEqual(['proxy', 'starting', 'ready']);
  });

  test('leaves running services alone, and starts others on their previous port', async () => {
    // A separate range: another test may use a port of the default one while nobody listens there.
    const { start, end } = await freeRange(3);
    const range = `[ports]\nstart = ${start}\nend = ${end}\n`;
    const yard = await runningYard(`${range}${WEB}[services.api]\ncommand = "node server.mjs"\n`);
    const first = await yard.up();
    const { port } = outcomeOf(first, 'api');
    await yard.kill('api');
    const second = await yard.up();
    expect(second.ok).toBe(true);
    expect(outcomeOf(second, 'web')).toMatchObject({
      result: 'already-running',
      message: expect.stringMatching(/^web already running at http:/),
      pid: outcomeOf(first, 'web').pid,
    });
    expect(outcomeOf(second, 'api')).toMatchObject({ result: 'ready', port });
    expect(second.messages[0]).toBe('proxy already running');
  });

  test('gives services the addresses of their peers, including later and running ones', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs {db_main_url} {db-main_port} {api_port} {branch} {missing}"
depends_on = ["api"]
[services.db-main]
command = "node server.mjs {web_port}"
[services.api]
command = "node server.mjs"
`);
    const db = outcomeOf(await yard.up({ services: ['db-main'] }), 'db-main');
    expect((await ask(db.port)).argv).toEqual(['{web_port}']);
    expect(db.details).toEqual([
      '{web_port} in its command is not a known placeholder and was left unchanged',
    ]);
    const result = await yard.up({ services: ['web'] });
    const web = await ask(outcomeOf(result, 'web').port);
    const api = outcomeOf(result, 'api');
    expect(web.argv).toEqual([
      `http://127.0.0.1:${db.port}`,
      String(db.port),
      String(api.port),
      'current',
      '{missing}',
    ]);
    expect(web.env).toMatchObject({
      SWITCHYARD_DB_MAIN_URL: `http://127.0.0.1:${db.port}`,
      SWITCHYARD_DB_MAIN_PUBLIC_URL: db.url,
      SWITCHYARD_API_PORT: String(api.port),
    });
    const early = await ask(api.port);
    expect(early.env['SWITCHYARD_WEB_PORT']).toBe(String(outcomeOf(result, 'web').port));
  });

  test('applies a profile to environment and command, and starts its services', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs {postgres_port}"
env = { B = "service" }
[services.api]
command = "node server.mjs"
[profiles.test]
services = ["web"]
env = { POSTGRES_PORT = 5433, A = "profile", B = "profile" }
`);
    const result = await yard.up({ profile: 'Test' });
    expect(result).toMatchObject({ profile: 'test', services: ['web'] });
    expect(result.outcomes).toHaveLength(1);
    const { argv, env } = await ask(outcomeOf(result, 'web').port);
    expect(argv).toEqual(['5433']);
    expect(env).toMatchObject({ POSTGRES_PORT: '5433', A: 'profile', B: 'service' });
  });

  test('rejects invalid requests before anything is done', async () => {
    const yard = await runningYard(`${WEB}[services.bad]\ncommand = "node 'x"\n`);
    await expect(yard.up({ services: ['wep'] })).rejects.toThrow('Unknown service(s): wep.');
    await expect(yard.up({ profile: 'x' })).rejects.toThrow('Unknown profile: x.');
    await expect(yard.up({ services: ['web', 'bad'] })).rejects.toThrow(/The command of bad cannot be split/);
    await expect(yard.up({ branch: 'other', services: ['web'] })).rejects.toThrow(
      expect.objectContaining({ hint: 'Run `switchyard create other` first.' }),
    );
    expect(existsSync(yard.home)).toBe(false);
  });

  test('rejects a proxy port in use, and starts nothing', async () => {
    const yard = await runningYard(WEB);
    await listen(yard.context.config.proxy.port, '127.0.0.1');
    await expect(yard.up()).rejects.toThrow(`pid ${process.pid}`);
    expect(yard.services()).toEqual({});
    expect(readdirSync(join(yard.home, 'ports'))).toEqual([]);
  });

  test('starts by levels: a service waits until its dependencies are ready', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs"
depends_on = ["db"]
[services.db]
command = "node server.mjs --delay 400"
`);
    const result = await yard.up({ services: ['web'], wait: false });
    expect(result.ok).toBe(true);
    expect(outcomeOf(result, 'db').result).toBe('ready');
    expect(outcomeOf(result, 'web').result).toBe('started');
    expect(yard.events.filter(({ kind }) => kind !== 'proxy')).toMatchObject([
      { kind: 'starting', service: 'db' },
      { kind: 'ready', service: 'db' },
      { kind: 'starting', service: 'web' },
      { kind: 'running', service: 'web' },
    ]);
  });

  test('reports a service that exits immediately with its code and log; the others continue', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs --fail 3"
[services.api]
command = "node server.mjs"
[services.worker]
command = "node server.mjs"
depends_on = ["web"]
[services.tool]
command = "node server.mjs"
depends_on = ["worker", "api"]
`);
    const result = await yard.up();
    expect(result.ok).toBe(false);
    const web = outcomeOf(result, 'web');
    expect(web).toMatchObject({ result: 'exited', exit_code: 3 });
    expect(web.message).toBe(`web exited with code 3 before it was ready; see ${web.log_file}`);
    expect(web.details).toHaveLength(20);
    expect(web.details.at(-1)).toBe('trouble 30');
    expect(outcomeOf(result, 'api').result).toBe('ready');
    expect(outcomeOf(result, 'worker')).toMatchObject({
      result: 'not-started',
      message: 'worker was not started: it depends on web, which is not ready',
    });
    expect(outcomeOf(result, 'tool').message).toContain('it depends on worker, which');
    expect(result.messages).toContain('  trouble 30');
    // Its record stays, so that its log and exit can be found.
    expect(Object.keys(yard.services()).sort()).toEqual(['current::api', 'current::web']);
    const leases = readdirSync(join(yard.home, 'ports')).map(Number);
    expect(leases.sort()).toEqual([web.port, outcomeOf(result, 'api').port].sort());
  });

  test('names a command that does not exist, and starts the others', async () => {
    const yard = await runningYard(`${WEB}[services.api]\ncommand = "no-such-program-at-all --x"\n`);
    const result = await yard.up();
    expect(result.ok).toBe(false);
    expect(outcomeOf(result, 'web').result).toBe('ready');
    expect(outcomeOf(result, 'api')).toMatchObject({
      result: 'not-started',
      message: '"api" could not be started: command not found: "no-such-program-at-all" (ENOENT).',
      details: ['Install it, or correct services.api.command in switchyard.toml.'],
    });
    expect(Object.keys(yard.services())).toEqual(['current::web']);
    expect(readdirSync(join(yard.home, 'ports'))).toHaveLength(1);
  });

  test('does not mistake another process on the port for the service', async () => {
    const yard = await runningYard(`[services.web]\ncommand = "node late.mjs"\nready_timeout = 5\n`);
    // The port is free when it is chosen. The service passes it to a stranger and never listens itself.
    writeFileSync(
      join(yard.root, 'late.mjs'),
      `import { writeFileSync } from 'node:fs';
       writeFileSync('port', process.env.PORT);
       setInterval(() => {}, 1000);`,
    );
    const port = join(yard.root, 'port');
    const pending = yard.up();
    await until(() => existsSync(port) && readFileSync(port, 'utf8') !== '');
    await listen(Number(readFileSync(port, 'utf8')), '127.0.0.1');
    const result = await pending;
    const web = outcomeOf(result, 'web');
    expect(result.ok).toBe(false);
    expect(web.result).toBe('not-ready');
    expect(web.message).toMatch(
      new RegExp(`^web is not ready after 5 s: pid ${process.pid} \\(.+\\) listens on its port ${web.port};`),
    );
    expect(isAlive(web.pid!)).toBe(true);
  });

  test('names the process that holds the port of the service', async () => {
    const yard = await runningYard(`[services.web]\ncommand = "node wait.mjs"\n`);
    writeFileSync(
      join(yard.root, 'wait.mjs'),
      `import { existsSync, writeFileSync } from 'node:fs';
       writeFileSync('port', process.env.PORT);
       while (!existsSync('go')) await new Promise((resolve) => setTimeout(resolve, 10));
       await import('./server.mjs');`,
    );
    const pending = yard.up();
    const port = await until(() => {
      const file = join(yard.root, 'port');
      return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
    });
    await listen(port, '127.0.0.1');
    writeFileSync(join(yard.root, 'go'), '');
    const web = outcomeOf(await pending, 'web');
    expect(web).toMatchObject({ result: 'exited', exit_code: 1 });
    expect(web.message).toContain(`port ${port} is held by pid ${process.pid} (`);
    expect(web.details.join('\n')).toContain('EADDRINUSE');
  });

  // Only Linux has all of 127.0.0.0/8 without configuration.
  test.runIf(process.platform === 'linux')(
    'reports a service that listens on an unreachable address',
    async () => {
      const yard = await runningYard(`[services.web]\ncommand = "node elsewhere.mjs"\nready_timeout = 2\n`);
      writeFileSync(
        join(yard.root, 'elsewhere.mjs'),
        `import { createServer } from 'node:http';
         createServer().listen(Number(process.env.PORT), '127.0.0.2');`,
      );
      const web = outcomeOf(await yard.up(), 'web');
      expect(web.message).toContain(
        `it listens on port ${web.port} of 127.0.0.2; make it listen on 127.0.0.1`,
      );
    },
  );

  test('reports a service that listens on another port', async () => {
    const other = await freePort();
    const yard = await runningYard(
      `[services.web]\ncommand = "node server.mjs --port ${other}"\nready_timeout = 4\n`,
    );
    const web = outcomeOf(await yard.up(), 'web');
    expect(web.message).toContain(
      `it listens on ${other} instead of ${web.port}; pass {port} in its command`,
    );
  });

  test('does not wait for a service without a port, and starts its dependents', async () => {
    const yard = await runningYard(
      `[services.queue]\ncommand = "node -e 'setInterval(() => {}, 1000)'"\nready_timeout = 0\n` +
        `${WEB}depends_on = ["queue"]\n`,
    );
    const result = await yard.up();
    expect(outcomeOf(result, 'queue').result).toBe('started');
    expect(outcomeOf(result, 'web').result).toBe('ready');
    expect(result.ok).toBe(true);
  });

  test('waits no longer than the timeout of the service, and leaves it running', async () => {
    const yard = await runningYard(`${WEB.replace('.mjs', '.mjs --delay 60000')}ready_timeout = 0.5\n`);
    const result = await yard.up();
    const web = outcomeOf(result, 'web');
    expect(web.message).toBe(
      `web is not ready after 0.5 s: it does not listen on port ${web.port}; it is still running, see ${web.log_file}`,
    );
    expect(isAlive(web.pid!)).toBe(true);
    expect(yard.services()['current::web']?.pid).toBe(web.pid);
  });

  test.each([
    { what: 'that is told to listen on ::1', toml: 'command = "node server.mjs"\nhost = "::1"' },
    {
      what: 'that listens on ::1 although it was told 127.0.0.1',
      toml: 'command = "node server.mjs --host ::1"',
    },
    { what: 'that listens for both families', toml: 'command = "node server.mjs --host ::"' },
  ])('finds a dev server ready $what', async ({ toml }) => {
    const yard = await runningYard(`[services.web]\n${toml}\n`);
    const web = outcomeOf(await yard.up(), 'web');
    expect(web.result).toBe('ready');
    expect((await ask(web.port, '::1')).cwd).toBe(yard.root);
  });

  test('recognizes a service that continues in the background in another process', async () => {
    const yard = await runningYard(`[services.web]\ncommand = "node daemon.mjs"\n`);
    writeFileSync(
      join(yard.root, 'daemon.mjs'),
      `import { spawn } from 'node:child_process';
       spawn(process.execPath, ['server.mjs', '--delay', '300'], { detached: true, stdio: 'inherit' }).unref();`,
    );
    const result = await yard.up();
    expect(result.ok).toBe(true);
    const { pid } = await ask(outcomeOf(result, 'web').port);
    expect((await yard.up()).outcomes[0]!.result).toBe('already-running');
    expect((await yard.down()).messages).toEqual(['stopped web']);
    expect(isAlive(pid)).toBe(false);
  });

  test('waits until the health check of the service succeeds', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs --sick 600"
health = "/health"
[services.api]
command = "node server.mjs --status 500"
health = "/health"
ready_timeout = 4
`);
    const result = await yard.up();
    expect(outcomeOf(result, 'web').result).toBe('ready');
    expect(outcomeOf(result, 'api')).toMatchObject({
      result: 'not-ready',
      message: expect.stringContaining(
        'api is not ready after 4 s: GET /health returned 500; it is still running',
      ),
    });
  });

  test('stops waiting when aborted, and never stops the service', async () => {
    const yard = await runningYard(`
[services.web]
command = "node server.mjs --delay 60000"
[services.api]
command = "node server.mjs"
depends_on = ["web"]
`);
    const stop = new AbortController();
    const pending = yard.up({ signal: stop.signal });
    await until(() => yard.services()['current::web']?.pid);
    stop.abort();
    const result = await pending;
    expect(result.ok).toBe(false);
    const web = outcomeOf(result, 'web');
    expect(web.message).toMatch(/^stopped waiting for web; it continues to start at/);
    expect(outcomeOf(result, 'api').message).toBe('api was not started: the command was stopped');
    expect(isAlive(web.pid!)).toBe(true);
  });

  test('releases the project lock while it waits: another command can stop a hanging service', async () => {
    const yard = await runningYard(WEB.replace('.mjs', '.mjs --delay 60000'));
    const pending = yard.up();
    await until(() => logOf(yard) === 'waiting\n');
    expect((await yard.down()).messages).toEqual(['stopped web']);
    expect(outcomeOf(await pending, 'web')).toMatchObject({
      result: 'exited',
      message: expect.stringContaining('web was killed by SIGTERM before it was ready'),
    });
  });

  test('run twice at once starts each service once, and both return when it is ready', async () => {
    const yard = await runningYard(`${WEB}[services.api]\ncommand = "node server.mjs --delay 300"\n`);
    const results = await Promise.all([yard.up(), yard.up(), yard.up()]);
    expect(results.map(({ ok }) => ok)).toEqual([true, true, true]);
    for (const name of ['web', 'api']) {
      const outcomes = results.map((result) => outcomeOf(result, name));
      expect(new Set(outcomes.map(({ pid }) => pid)).size).toBe(1);
      expect(outcomes.map(({ result }) => result).sort()).toEqual([
        'already-running',
        'already-running',
        'ready',
      ]);
    }
    // For each of two services: a shell that records the exit, and the program.
    expect(yard.alive()).toHaveLength(4);
  });

  test('reserves ports across projects of the same home', async () => {
    const { start, end } = await freeRange(3);
    const range = `[ports]\nstart = ${start}\nend = ${end}\n`;
    const one = await runningYard(`${range}${WEB}`);
    const two = await runningYard(`${range}${WEB}`, one.home);
    const proxies = [one, two].map((yard) => yard.context.config.proxy.port);
    expect(new Set(proxies).size).toBe(2);
    const [first, second] = await Promise.all([one.up(), two.up()]);
    const ports = [outcomeOf(first, 'web').port, outcomeOf(second, 'web').port];
    expect(new Set(ports).size).toBe(2);
    expect(ports.map((port) => readLease(one.context.home, port!))).toMatchObject([
      { key: 'current::web', root: one.root },
      { key: 'current::web', root: two.root },
    ]);
  });

  test('takes over an abandoned lease, and respects one whose command still runs', async () => {
    const { start, end } = await freeRange(2);
    const yard = await runningYard(`[ports]\nstart = ${start}\nend = ${end}\n${WEB}`);
    const { home } = yard.context;
    makeHome(home);
    const gone = { ...ownIdentity(), startTime: 1 };
    const lease = { key: 'x::web', root: '/another', cookie: 'nobody carries this', at: Date.now() };
    takeLease(home, start, { ...lease, holder: ownIdentity() });
    takeLease(home, end, { ...lease, holder: gone });
    expect(outcomeOf(await yard.up(), 'web')).toMatchObject({ result: 'ready', port: end });
    await yard.down();
    rmSync(join(home.ports, String(start)));
    takeLease(home, start, { ...lease, holder: ownIdentity() });
    takeLease(home, end, { ...lease, holder: { ...ownIdentity(), place: 'another machine' } });
    await expect(yard.up()).rejects.toThrow(`No free TCP ports found in ${start}-${end}.`);
    rmSync(join(home.ports, String(end)));
    takeLease(home, end, {
      ...lease,
      at: 0,
      holder: { ...ownIdentity(), place: 'this machine before it booted' },
    });
    expect((await yard.up()).ok).toBe(true);
  });

  test('points the canonical port to a service if requested; restart keeps it, down releases it', async () => {
    const canonical = await freePort();
    const yard = await runningYard(`${WEB}port = ${canonical}\n`);
    const result = await yard.up({ checkout: true });
    const { port } = outcomeOf(result, 'web');
    expect(port).not.toBe(canonical);
    expect(result.messages.at(-1)).toBe(`checked out web: localhost:${canonical} -> :${port}`);
    expect((await ask(canonical)).env['PORT']).toBe(String(port));

    await restart(yard.context, { services: [], program: daemonProgram() });
    expect((await ask(canonical)).env['PORT']).toBe(String(port));

    // A stranger takes the port while the service is down: it restarts on another one, and the canonical port follows.
    await yard.kill('web');
    await listen(port!, '127.0.0.1');
    const moved = await yard.up();
    const now = outcomeOf(moved, 'web').port;
    expect(now).not.toBe(port);
    expect(moved.messages.at(-1)).toBe(`restored web of current: localhost:${canonical} -> :${now}`);
    expect((await ask(canonical)).env['PORT']).toBe(String(now));

    await yard.down();
    await expect(ask(canonical)).rejects.toThrow();
  });

  test('rejects two branches with the same slug, and starts nothing for the second', async () => {
    const yard = await runningYard(WEB);
    await yard.up();
    const { 'current::web': record } = yard.services();
    await yard.record({ ...record!, branch: 'Current' });
    await expect(yard.up()).rejects.toThrow('Branch names collide after slugging: Current and current.');
  });

  test('does not start a second process if one may already be the service', async () => {
    const yard = await runningYard(WEB);
    await yard.record({ port: 21_999, branch: 'current', pid: process.pid });
    const result = await yard.up();
    expect(result.ok).toBe(false);
    expect(outcomeOf(result, 'web').message).toBe(
      `web was not started: pid ${process.pid} may still be it, but nothing proves it`,
    );
    expect((await yard.down()).ok).toBe(false);
    expect((await yard.down({ force: true })).ok).toBe(true);
    expect((await yard.up()).ok).toBe(true);
  });
});
