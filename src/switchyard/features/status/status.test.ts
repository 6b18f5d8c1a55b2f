import { existsSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { freePort } from '../../../../test/helpers/yard-home.ts';
import { outcomeOf, runningYard } from '../../../../test/helpers/yard-services.ts';
import { status } from './status.ts';

describe('status', () => {
  test('reports what runs, its listener and health, and how exited services ended', async () => {
    const astray = await freePort();
    const yard = await runningYard(`
[services.web]
command = "node server.mjs"
health = "/health"
[services.sick]
command = "node server.mjs --status 500 --host ::1"
health = "/health"
ready_timeout = 4
[services.slow]
command = "node server.mjs --delay 60000"
ready_timeout = 0.2
[services.dead]
command = "node server.mjs --fail 4"
[services.plain]
command = "node server.mjs"
[services.stray]
command = "node server.mjs --port ${astray}"
ready_timeout = 4
[services.worker]
command = "node server.mjs --delay 60000"
ready_timeout = 0
[services.far]
command = "node server.mjs --host 127.0.0.2"
ready_timeout = 4
`);
    const started = await yard.up();
    const { services, proxy } = await status(yard.context, {});
    expect(proxy).toEqual({ status: 'running', host: '127.0.0.1', port: yard.context.config.proxy.port });
    expect(services.map(({ service, state, note }) => [service, state, note])).toEqual([
      ['web', 'healthy', undefined],
      ['sick', 'unhealthy', 'GET /health returned 500'],
      ['slow', 'not-listening', undefined],
      ['dead', 'exited', 'exited with code 4'],
      ['plain', 'ready', undefined],
      ['stray', 'wrong-port', `listens on :${astray}; pass {port} in its command`],
      ['worker', 'running', undefined],
      ['far', 'not-listening', 'listens on 127.0.0.2 only; make it listen on 127.0.0.1'],
    ]);
    const [web, sick, slow, dead] = services;
    expect(web).toMatchObject({
      status: 'running',
      ready: true,
      health: 'healthy',
      listener: { address: '127.0.0.1', own: true },
      recent_errors: [],
      port: outcomeOf(started, 'web').port,
    });
    expect(web!.listener!.pid).not.toBe(web!.pid);
    expect(yard.alive('web')).toContain(web!.listener!.pid);
    expect(sick).toMatchObject({ ready: true, health: 'unhealthy', listener: { address: '::1' } });
    expect(slow).toMatchObject({ status: 'running', ready: false });
    expect(slow).not.toHaveProperty('listener');
    expect(slow).not.toHaveProperty('health');
    expect(dead).toMatchObject({ status: 'stale', exit: { code: 4 } });
    expect(dead!.exit!.at).toBeGreaterThan(Date.now() / 1000 - 60);
    expect(dead).not.toHaveProperty('ready');
  });

  test('does not call a service ready if another process listens on its port', async () => {
    const yard = await runningYard(
      '[services.web]\ncommand = "node server.mjs --delay 60000"\nhealth = "/"\nready_timeout = 0.2\n',
    );
    const { port } = outcomeOf(await yard.up(), 'web');
    const server = createServer((socket) => socket.destroy());
    atTestEnd(() => new Promise((resolve) => server.close(() => resolve())));
    await new Promise<void>((resolve) => server.listen(port!, '127.0.0.1', resolve));
    const { services } = await status(yard.context, {});
    expect(services).toMatchObject([
      {
        state: 'not-listening',
        note: `pid ${process.pid} listens on its port`,
        ready: false,
        health: 'unknown',
        listener: { pid: process.pid, own: false },
      },
    ]);
  });

  test('of an unknown branch is empty, reads no log outside, and creates no home', async () => {
    const yard = await runningYard('[services.web]\ncommand = "node server.mjs"\n');
    expect(await status(yard.context, {})).toMatchObject({ services: [], checkouts: [] });
    expect(existsSync(yard.home)).toBe(false);
    await yard.record({ port: 21_996, log_file: '/etc/passwd' });
    expect((await status(yard.context, { branch: 'other' })).services).toEqual([]);
    const { services } = await status(yard.context, { branch: 'main' });
    expect(services).toMatchObject([{ status: 'stale', state: 'exited', recent_errors: [] }]);
    await yard.record({ port: 21_996, pid: process.pid });
    expect((await status(yard.context, {})).services).toMatchObject([
      { state: 'unverified', note: `nothing proves that pid ${process.pid} is this service` },
    ]);
  });
});
