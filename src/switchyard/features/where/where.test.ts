import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { until } from '../../../../test/helpers/until.ts';
import { endProcess, freePort, testYard } from '../../../../test/helpers/yard-home.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { where } from './where.ts';

const SERVER =
  "require('node:http').createServer((_, answer) => answer.end('hello')).listen(process.env.PORT, '127.0.0.1')";
const SERVICES = (port: number) => `
[services.web]
command = "node web.js"
port = ${port}
[services.api]
command = "node api.js"
`;

/** Listens on this port as a process that has nothing to do with us. */
async function stranger(port: number): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atTestEnd(() => new Promise((resolve) => server.close(() => resolve())));
}

describe('where', () => {
  test('returns the record of a service, and the process on its port according to the kernel', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    const record = await yard.start('main', 'api', SERVER);
    writeFileSync(record.log_file, 'fine\nError: one\n');
    const place = await where(yard.context, { service: 'API', branch: 'main' });
    expect(place).toMatchObject({
      ...record,
      status: 'running',
      state: 'ready',
      // There is no proxy in these tests.
      address: `http://127.0.0.1:${record.port}`,
      proxy: { status: 'not-running' },
      warnings: [expect.stringContaining(`${record.url} does not respond. The proxy is not running`)],
      recent_errors: ['Error: one'],
      listener: { pid: record.pid, address: '127.0.0.1', service: 'api', branch: 'main', verified: true },
      canonical: null,
    });
    expect(place.listener?.command).toContain('hello');
    expect(place.proof).toEqual([
      expect.stringContaining(`localhost:${record.port} is api of main: pid ${record.pid}`),
    ]);
  });

  test('reports what responds on the canonical port, also another process', async () => {
    const canonical = await freePort();
    const yard = await testYard(SERVICES(canonical));
    await yard.start('main', 'web', SERVER, canonical);
    const before = await where(yard.context, { service: 'web', branch: 'main' });
    expect(before.canonical).toMatchObject({ port: canonical, held_by: 'nobody', ok: false });
    await stranger(canonical);
    const place = await where(yard.context, { service: 'web', branch: 'main' });
    expect(place.canonical).toMatchObject({ held_by: 'stranger', ok: false, branch: null });
    expect(place.proof[1]).toContain(`localhost:${canonical} is not ours: pid ${process.pid}`);
  });

  test('does not trust its own file if another process listens on the port', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    const web = await yard.start('main', 'web', SERVER);
    const api = await yard.start('feature', 'api', SERVER);
    // The records say that web is where api actually is.
    await yard.record({ ...web, port: api.port });
    const place = await where(yard.context, { service: 'web', branch: 'main' });
    expect(place.listener).toMatchObject({
      pid: api.pid,
      service: 'api',
      branch: 'feature',
      verified: false,
    });
    expect(place.proof[0]).toContain('is not web of main');

    const taken = await freePort();
    await stranger(taken);
    await yard.record({ ...web, port: taken });
    const other = await where(yard.context, { service: 'web', branch: 'main' });
    expect(other.listener).toMatchObject({ pid: process.pid, service: null, branch: null, verified: false });
  });

  test('says so when nothing listens yet', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    const web = await yard.start('main', 'web', SERVER);
    await yard.record({ ...web, port: await freePort() });
    const place = await where(yard.context, { service: 'web', branch: 'main' });
    expect(place).toMatchObject({ listener: null, address: null });
    expect(place.warnings).toEqual([
      expect.stringMatching(/web of main (?:runs, but does not listen|listens on :)/),
    ]);
    expect(place.proof[0]).toContain('nothing listens on');
  });

  test('does not treat a process as the service without proof', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    const port = await freePort();
    await stranger(port);
    await yard.record({ service: 'api', branch: 'main', port, pid: process.pid });
    const place = await where(yard.context, { service: 'api', branch: 'main' });
    expect(place).toMatchObject({
      status: 'unverified',
      state: 'unverified',
      address: null,
      warnings: [expect.stringContaining('nothing proves')],
      listener: { pid: process.pid, verified: false },
    });
  });

  test('of a service that does not run is an error with the next step', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    await expect(where(yard.context, { service: 'web', branch: 'main' })).rejects.toMatchObject({
      code: 'NOT_RUNNING',
      message: 'web is not running for main',
      hint: 'Start it with `switchyard up main web`.',
    });
    const web = await yard.start('main', 'web', SERVER);
    endProcess(web.pid!);
    await until(() => observeServices([web])[0]!.status === 'stale', { what: 'web to end' });
    await expect(where(yard.context, { service: 'web', branch: 'main' })).rejects.toMatchObject({
      code: 'NOT_RUNNING',
      hint: expect.stringContaining('switchyard logs web --branch main'),
    });
  });

  test('of an unknown service names the configured ones', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    await expect(where(yard.context, { service: 'wbe', branch: 'main' })).rejects.toMatchObject({
      code: 'UNKNOWN_SERVICE',
      message: 'Unknown service(s): wbe.',
      hint: expect.stringMatching(/Did you mean "web".*web, api/),
    });
  });

  test('reads no log outside the log directory', async () => {
    const yard = await testYard(SERVICES(await freePort()));
    const web = await yard.start('main', 'web', SERVER);
    const outside = `${yard.context.config.root}/outside.log`;
    writeFileSync(outside, 'Error: secret\n');
    await yard.record({ ...web, log_file: outside });
    expect((await where(yard.context, { service: 'web', branch: 'main' })).recent_errors).toEqual([]);
  });
});
