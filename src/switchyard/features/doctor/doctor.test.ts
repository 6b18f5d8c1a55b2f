import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { lookup } from 'node:dns/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { until } from '../../../../test/helpers/until.ts';
import { endProcess, freePort, testYard } from '../../../../test/helpers/yard-home.ts';
import { yardRepository, type YardRepository } from '../../../../test/helpers/yard-repository.ts';
import { SERVICE_COOKIE, startDetached } from '../../../process/index.ts';
import { openContext } from '../../records/project/context.ts';
import { homeOf, makeHome } from '../../records/state/home.ts';
import { newCookie } from '../../runtime/processes/cookie.ts';
import { observeServices } from '../../runtime/processes/observe.ts';
import { createWorktree } from '../worktrees/create.ts';
import { doctor, examine, type Diagnosis } from './doctor.ts';

const SERVER = "require('node:net').createServer().listen(process.env.PORT, '127.0.0.1')";

async function yard(services: string, more = ''): Promise<YardRepository & { readonly proxy: number }> {
  const proxy = await freePort();
  const config = `[project]\nname = "shop"\n[proxy]\nport = ${proxy}\n${more}\n${services}`;
  return { ...yardRepository({ config }), proxy };
}

const PLAIN = '[services.web]\ncommand = "node server.js"\n';

async function ask({ root, env }: YardRepository, more: NodeJS.ProcessEnv = {}): Promise<Diagnosis> {
  const found = await doctor({ cwd: root, env: { ...env, ...more } });
  if (!('project' in found)) throw new Error(found.error);
  return found;
}

/** The findings, except those caused by the machine that runs the test. */
function told({ findings }: Diagnosis): string[] {
  return findings
    .filter(({ what }) => !/IPv6|localhost does not resolve/.test(what))
    .map(({ level, what }) => `${level}: ${what}`);
}

async function listenOn(port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  atTestEnd(() => new Promise((resolve) => server.close(() => resolve())));
}

describe('doctor', () => {
  test('reports whether names resolve for other programs on this machine', async () => {
    const shop = await yard(PLAIN);
    const resolves = await lookup('web.main.shop.localhost').then(
      () => true,
      () => false,
    );
    const { ok, findings } = await ask(shop);
    const found = findings.filter(({ what }) => what.startsWith('web.main.shop.localhost does not resolve'));
    expect(ok).toBe(true);
    expect(found).toEqual(
      resolves ? [] : [{ level: 'note', what: expect.any(String), next: expect.stringContaining('where') }],
    );
  });

  test('warns about names that do not even work in a browser', async () => {
    // RFC 6761: nothing below .invalid ever resolves.
    const shop = await yard(PLAIN, 'tld = "yard.invalid"');
    expect(told(await ask(shop))).toEqual([
      expect.stringMatching(/^warning: web\.main\.shop\.yard\.invalid does not resolve .* browser\.$/),
    ]);
  });

  test('reports a sound project, and creates nothing', async () => {
    const shop = await yard(
      `${PLAIN}[services.api]\ncommand = "node api.js"\n[profiles.small]\nservices = ["web"]\n`,
    );
    const found = await ask(shop);
    expect(found).toMatchObject({
      ok: true,
      node: process.versions.node,
      home: shop.home,
      project: { name: 'shop', slug: 'shop', root: shop.root, config: join(shop.root, 'switchyard.toml') },
      proxy: { host: '127.0.0.1', port: shop.proxy, tld: 'localhost', url: `http://127.0.0.1:${shop.proxy}` },
      services: ['api', 'web'],
      profiles: ['small'],
      env_warnings: [],
    });
    expect(typeof found.switchyard).toBe('string');
    expect(told(found)).toEqual([]);
    expect(existsSync(shop.home)).toBe(false);
  });

  test('reports a missing project, and what to do', async () => {
    const { env, folder } = yardRepository();
    expect(await doctor({ cwd: folder, env })).toMatchObject({
      ok: false,
      cwd: folder,
      home: join(folder, 'home'),
      error: expect.stringContaining('switchyard.toml'),
      hint: expect.stringContaining('switchyard init'),
      findings: [{ level: 'error', next: expect.stringContaining('switchyard init') }],
    });
  });

  test('reports what is wrong with an unreadable configuration', async () => {
    const { env, root } = yardRepository({ config: '[services.web]\ncommand = "node x"\nport = "high"\n' });
    expect(await doctor({ cwd: root, env })).toMatchObject({
      ok: false,
      error: expect.stringMatching(/switchyard\.toml:3: .*services\.web\.port/),
    });
  });

  test('warns about keys without effect and missing env files', async () => {
    const shop = await yard(`${PLAIN}comand = "x"\n`, '[env]\nlink = [".env"]\ncopy = ["certs"]\n');
    const found = await ask(shop);
    expect(found.ok).toBe(true);
    expect(found.env_warnings).toEqual(['missing link source .env', 'missing copy source certs']);
    expect(told(found)).toEqual([
      expect.stringMatching(/^warning: .*switchyard\.toml:\d+: .*comand/),
      expect.stringContaining('missing link source .env'),
      expect.stringContaining('missing copy source certs'),
    ]);
  });

  test('finds missing commands, looked up as for the service itself', async () => {
    const shop = await yard(`
[services.missing]
command = "no-such-program --port {port}"
[services.local]
command = "./bin/serve"
[services.absent]
command = "./bin/absent"
[services.other]
command = "only-there"
env = { PATH = "/opt/shop" }
[services.quoted]
command = "node 'never closed"
`);
    shop.write('bin/serve', '#!/bin/sh\n');
    chmodSync(join(shop.root, 'bin/serve'), 0o755);
    const found = await ask(shop);
    expect(found.ok).toBe(false);
    expect(told(found)).toEqual([
      'error: The command of missing, "no-such-program", was not found on its PATH.',
      `error: The command of absent, "./bin/absent", was not found in ${shop.root}.`,
      'error: The command of other, "only-there", was not found on its PATH.',
      expect.stringContaining('error: The command of quoted cannot be split'),
    ]);
    for (const { next } of found.findings) expect(next).not.toBe('');
  });

  test('reports once that git is missing, and continues', async () => {
    const shop = await yard(PLAIN);
    const bin = join(shop.folder, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const found = await ask(shop, { PATH: bin });
    expect(found.ok).toBe(false);
    expect(told(found)).toEqual([expect.stringContaining('error: git was not found')]);
  });

  test('warns about a project outside git, a readable home and a dangerous port range', async () => {
    const { context, reopen } = await testYard(`${PLAIN}[ports]\nstart = 20000\nend = 60999\n`);
    makeHome(context.home);
    chmodSync(context.home.root, 0o755);
    const found = told(await examine(reopen()));
    expect(found).toContainEqual(expect.stringContaining('is not in a git repository'));
    expect(found).toContainEqual(expect.stringContaining('can read the state home'));
    if (process.platform === 'linux')
      expect(found).toContainEqual(expect.stringContaining('outgoing connections'));
  });

  test('reports an unreadable state, and one written by a newer version', async () => {
    const shop = await yard(PLAIN);
    const home = homeOf(shop.env);
    makeHome(home);
    writeFileSync(home.stateFile, '{ broken');
    expect(told(await ask(shop))).toEqual([expect.stringMatching(/^warning: .*state\.json cannot be read/)]);
    writeFileSync(home.stateFile, '{"version": 99}');
    const newer = await ask(shop);
    expect(newer.ok).toBe(false);
    expect(told(newer)).toEqual([expect.stringMatching(/^error: .*newer/)]);
  });

  test('finds worktrees that were deleted', async () => {
    const shop = await yard(PLAIN);
    const { worktree } = await createWorktree(openContext({ cwd: shop.root, env: shop.env }), {
      branch: 'gone',
    });
    rmSync(worktree, { recursive: true });
    const found = await ask(shop);
    expect(told(found)).toEqual([`warning: The worktree of gone is gone: ${worktree}.`]);
    expect(found.findings.find(({ what }) => what.includes('gone'))?.next).toContain('switchyard prune');
  });

  test('distinguishes exited services from running ones, and reports addresses that do not work', async () => {
    const test = await testYard(
      '[services.web]\ncommand = "node web.js"\n[services.api]\ncommand = "node api.js"\n',
    );
    const web = await test.start('main', 'web', SERVER);
    const api = await test.start('main', 'api', SERVER);
    endProcess(api.pid!);
    await until(() => observeServices([api])[0]!.status === 'stale', { what: 'api to end' });
    await test.record({ ...web, worktree: join(test.context.config.root, 'deleted') });
    const found = told(await examine(test.reopen()));
    expect(found).toContainEqual(
      expect.stringContaining('api of main was started, but is no longer running'),
    );
    expect(found).toContainEqual(expect.stringContaining('web of main runs in a directory that was deleted'));
    expect(found).toContainEqual(expect.stringContaining('the proxy on port'));
    expect(found.filter((line) => line.includes('web of main was started'))).toEqual([]);
  });

  test('does not treat a process as a service without proof', async () => {
    const { record, reopen } = await testYard(PLAIN);
    await record({ port: 20_001, pid: process.pid });
    const found = await examine(reopen());
    expect(told(found)).toContainEqual(
      expect.stringContaining(`Pid ${process.pid} may be web of main, but nothing proves it`),
    );
  });

  test('finds unrecorded processes and unused leases', async () => {
    const { context, reopen } = await testYard(PLAIN);
    makeHome(context.home);
    const { pid } = await startDetached({
      name: 'stray',
      command: process.execPath,
      args: ['-e', 'setTimeout(() => {}, 300_000)'],
      cwd: context.config.root,
      env: { [SERVICE_COOKIE]: newCookie(context.home) },
      logFile: join(context.home.logs, 'stray.log'),
    });
    atTestEnd(() => {
      endProcess(pid);
      return Promise.resolve();
    });
    writeFileSync(join(context.home.ports, '20123'), 'broken');
    const found = await until(
      async () => {
        const lines = told(await examine(reopen()));
        return lines.some((line) => line.includes('is not in the records')) && lines;
      },
      { what: 'the stray to be seen' },
    );
    expect(found).toContainEqual(expect.stringContaining(`warning: Pid ${pid} (`));
    expect(found).toContainEqual('note: Unused leased ports: 20123.');
  });

  test('reports what holds the proxy port and the canonical ports', async () => {
    const canonical = await freePort();
    const shop = await yard(`[services.web]\ncommand = "node server.js"\nport = ${canonical}\n`);
    await listenOn(shop.proxy);
    await listenOn(canonical);
    const found = await ask(shop);
    expect(found.ok).toBe(false);
    expect(told(found)).toEqual([
      expect.stringMatching(
        new RegExp(`^error: The proxy port ${shop.proxy} is already in use by pid ${process.pid} `),
      ),
      expect.stringMatching(
        new RegExp(`^warning: Port ${canonical}, the canonical port of web, .*pid ${process.pid} `),
      ),
    ]);
  });
});
