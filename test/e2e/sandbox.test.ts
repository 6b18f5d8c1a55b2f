/** Servers in a sandbox: what they can no longer do, and that nothing of them is left behind. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { onTestFinished, describe, expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

/** Why no sandbox can be made here; undefined where one can. */
const tried = spawnSync('bwrap', ['--ro-bind', '/', '/', '--unshare-pid', '--unshare-net', 'true'], {
  encoding: 'utf8',
});
const MISSING =
  process.platform !== 'linux'
    ? 'sandboxes are for Linux'
    : tried.error
      ? 'bwrap is not installed'
      : tried.status === 0
        ? undefined
        : tried.stderr.trim();

/** The servers of these tests, which a sandbox would not show if the checkout is in /tmp. */
const READABLE = { read: [ROOT] };

/** The pids of processes with this in their command line. */
const carrying = (mark: string): string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark);
    } catch {
      return false;
    }
  });

describe.skipIf(MISSING !== undefined)(`in bwrap${MISSING ? ` (${MISSING})` : ''}`, () => {
  test('a server changes only what it may, has no network, and sees no process but its own', async () => {
    const listener = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void listener.close());
    await once(listener, 'listening');
    const { port } = listener.address() as AddressInfo;
    const explorer = { ...nodeServer('explorer'), exposure: 'flat' };
    const { client, project } = await startGateway(
      {
        closed: { ...explorer, sandbox: READABLE },
        open: {
          ...explorer,
          sandbox: { ...READABLE, write: ['data'], hide: ['private.txt'], network: true },
        },
        free: explorer,
      },
      { raw: true },
    );
    for (const name of ['data/.keep', 'private.txt', 'public.txt']) project.write(name, 'content');
    project.write('.state/http-token', 'a token');
    await client.initialize();
    const said = async (tool: string, args: object = {}): Promise<string> =>
      (await client.call(tool, args)).result.content[0].text;
    const inside = project.path('data/new.txt');
    const outside = project.path('new.txt');
    expect(await said('closed__write', { path: inside })).toBe('failed: EROFS');
    expect(await said('closed__read', { path: project.path('public.txt') })).toBe('content');
    expect(await said('closed__connect', { port })).toMatch(/^failed/);
    expect(Number(await said('closed__processes'))).toBeLessThan(6);
    expect(await said('open__write', { path: inside })).toBe('written');
    expect(readFileSync(inside, 'utf8')).toBe('written');
    expect(await said('open__write', { path: outside })).toBe('failed: EROFS');
    expect(await said('open__read', { path: project.path('private.txt') })).toMatch(/^(?:failed: EACCES)?$/);
    expect(await said('open__connect', { port })).toBe('connected');
    // What is in /tmp there stays there.
    expect(await said('closed__write', { path: '/tmp/switchboard-sandbox-test' })).toBe('written');
    expect(existsSync('/tmp/switchboard-sandbox-test')).toBe(false);
    // The tokens of the gateway are nobody's business.
    expect(await said('closed__read', { path: project.path('.state/http-token') })).toBe('failed: ENOENT');
    expect(await said('free__read', { path: project.path('.state/http-token') })).toBe('a token');
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)('%s of the gateway leaves nothing of it', async (signal) => {
    const { client } = await startGateway({
      one: { ...nodeServer('explorer'), exposure: 'flat', sandbox: READABLE },
    });
    const mark = `sandbox-mark-${process.pid}-${Math.random()}`;
    expect((await client.call('one__leave', { mark })).result.content[0].text).toBe('left');
    await until(() => carrying(mark).length > 0, { what: 'the process that is left behind' });
    process.kill(client.pid!, signal);
    await until(() => carrying(mark).length === 0, { what: 'its end', deadline: 20_000 });
  });

  test('doctor tells of it, and of one that cannot be made, which never starts without', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: {
          fine: { ...nodeServer('echo'), sandbox: { ...READABLE, write: ['.'] } },
          broken: { ...nodeServer('echo'), sandbox: { write: ['no/such/folder'] } },
        },
      },
    });
    const { code, stdout } = await runCli(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain(`can change only ${project.dir}; no network`);
    expect(stdout).toContain('its sandbox cannot be created');
    const call = await runCli(project, ['call', 'broken', 'echo', 'text=x']);
    expect([call.code, call.stdout]).toEqual([expect.any(Number), '']);
    expect(call.code).not.toBe(0);
    expect(call.stderr).toContain('no/such/folder');
    expect((await runCli(project, ['call', 'fine', 'echo', 'text=x'])).stdout.trim()).toBe('x');
  });
});
