/** The commands of switchyard as programs and people meet them: JSON, texts, and what is said when something is wrong. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { until } from '../helpers/until.ts';
import { freePort } from '../helpers/yard-home.ts';
import { runJson, createYardWithProxy, minimalPath } from '../helpers/yard-with-proxy.ts';
import { occupy } from '../helpers/yard-shop.ts';
import { serviceCommand } from '../helpers/yard-traffic.ts';
import { createYard, SWITCHYARD } from '../helpers/yard.ts';

/** Its usual port is one that nobody has. */
async function service(name: string, program: string, more = ''): Promise<string> {
  return `[services.${name}]\ncommand = "${serviceCommand(program)}"\nport = ${await freePort()}\nready_timeout = 40\n${more}`;
}

/** Gives a program a terminal of its own. */
const TERMINAL = 'script';
const ACTION = ['action', 'messages', 'ok'];

describe('with --json', () => {
  test('every common command returns the expected JSON with sorted keys, and nothing on stderr', async () => {
    const profile = '[profiles.backend]\nservices = ["api"]\n';
    const yard = await createYardWithProxy(
      (await service('web', 'tiny', 'depends_on = ["api"]\n')) + (await service('api', 'tiny')) + profile,
    );
    const ask = (...args: string[]): Promise<any> => runJson(yard, args);
    const keys = (value: object): string[] => Object.keys(value).sort();

    const doctor = await ask('doctor');
    expect(doctor).toMatchObject({
      ok: true,
      services: ['api', 'web'],
      profiles: ['backend'],
      env_warnings: [],
      project: { name: 'shop', slug: 'shop', root: yard.dir, config: yard.path('switchyard.toml') },
      proxy: { host: '127.0.0.1', port: yard.proxyPort, tld: 'localhost' },
    });
    // Whether names below localhost resolve differs between machines.
    expect(doctor.findings.filter(({ level }: { level: string }) => level !== 'note')).toEqual([]);
    expect(doctor.node).toBe(process.versions.node);

    const create = await ask('create', 'feature/x');
    expect(create).toMatchObject({
      ok: true,
      action: 'create',
      branch: 'feature/x',
      created: true,
      env: [],
    });
    expect(await ask('create', 'feature/x')).toMatchObject({ created: false, worktree: create.worktree });
    const { worktrees } = await ask('list');
    expect(worktrees).toMatchObject([{ branch: 'feature/x', slug: 'feature-x', path: create.worktree }]);

    const up = await ask('up', 'feature/x', '--profile', 'backend');
    expect(keys(up)).toEqual([
      ...[...ACTION, 'branch', 'outcomes', 'profile', 'services', 'worktree'].sort(),
    ]);
    expect(up).toMatchObject({ ok: true, action: 'up', profile: 'backend', services: ['api'] });
    expect((await ask('up', '--branch', 'feature-x')).messages).toContain(
      `api already running at http://api.feature-x.shop.localhost:${yard.proxyPort}`,
    );

    const { services } = await ask('status');
    expect(services.map((each: any) => [each.service, each.status, each.recent_errors])).toEqual([
      ['web', 'running', []],
      ['api', 'running', []],
    ]);
    for (const key of [
      'backend_host',
      'branch_slug',
      'command',
      'desired_port',
      'hostname',
      'log_file',
      'pid',
    ])
      expect(services[0]).toHaveProperty(key);
    expect(await ask('where', 'web', 'feature/x')).toMatchObject({
      service: 'web',
      branch: 'feature/x',
      status: 'running',
      url: `http://web.feature-x.shop.localhost:${yard.proxyPort}`,
      listener: { verified: true },
    });
    expect(await ask('logs', 'api', '--branch', 'feature/x')).toEqual({
      lines: 80,
      logs: [
        {
          service: 'api',
          branch: 'feature/x',
          lines: [],
          log_file: expect.stringContaining(yard.home),
          truncated: false,
        },
      ],
    });
    expect(await ask('open', 'web', 'feature/x', '--print-only')).toMatchObject({
      url: `http://web.feature-x.shop.localhost:${yard.proxyPort}`,
    });

    const checkout = await ask('checkout', 'feature/x');
    expect(keys(checkout)).toEqual([...ACTION, 'branch', 'scope', 'services'].sort());
    expect(checkout.messages).toHaveLength(2);
    expect(await ask('checkout', 'feature/x', '--verify')).toMatchObject({
      ok: true,
      verified: [{ ok: true }, { ok: true }],
    });
    expect(keys(await ask('brief'))).toEqual([
      'branch',
      'changed_files',
      'checkouts',
      'configured_profiles',
      'configured_services',
      'env_warnings',
      'project',
      'project_root',
      'proxy',
      'recent_errors',
      'services',
    ]);
    expect(await ask('restart', 'api', '--branch', 'feature/x')).toMatchObject({
      action: 'restart',
      ok: true,
    });
    expect(await ask('uncheckout')).toMatchObject({ branch: null, scope: 'all', services: [] });
    expect(await ask('down', 'api', '--branch', 'feature/x')).toEqual({
      ok: true,
      action: 'down',
      branch: 'feature-x',
      scope: 'branch',
      services: ['api'],
      messages: ['stopped api'],
      outcomes: [{ service: 'api', branch: 'feature/x', result: 'stopped', took_ms: expect.any(Number) }],
    });
    expect(await ask('remove', 'feature/x', '--yes')).toMatchObject({
      action: 'remove',
      branch: 'feature/x',
    });
    expect(await ask('prune')).toMatchObject({ action: 'prune', messages: ['nothing to prune'] });
    expect(await ask('proxy', 'stop')).toMatchObject({ ok: true, messages: ['proxy stopped'] });
    expect(yard.living()).toEqual([]);
  });

  test.for([
    [2, 'wher web', 'Unknown command "wher".'],
    [2, 'create', 'create needs a branch.'],
    [2, 'up --profil x', 'Unknown flag "--profil".'],
    [2, 'logs --lines 0', '--lines must be at least 1'],
    [2, 'logs --follow', '--json cannot be used with --follow.'],
    [1, 'up --profile x', 'Unknown profile: x.'],
    [1, 'up --branch main wbe', 'Unknown service(s): wbe.'],
    [1, 'where wbe', 'Unknown service(s): wbe.'],
    [1, 'logs web', 'No matching logs.'],
    [1, 'remove nothing', 'No worktree found for branch "nothing".'],
    [1, 'create -- -x', '"-x"'],
    [1, 'init', 'already exists'],
  ] as const)('%i is the exit code of `%s`, and the error is the answer', async ([code, line, error]) => {
    const yard = await createYardWithProxy(await service('web', 'tiny'));
    // Behind `--` all are words.
    const [before, behind] = line.split(' -- ');
    const ran = await yard.run([...before!.split(' '), '--json', ...(behind ? ['--', behind] : [])]);
    expect(ran).toMatchObject({ code, stderr: '' });
    expect(ran.json).toMatchObject({ ok: false, error: expect.stringContaining(error) });
    expect(ran.stdout).toMatch(/^\{\n {2}"error"/);
  });
});

describe('for a person', () => {
  test('the output of a typical day is readable', async () => {
    const usual = await freePort();
    const yard = await createYardWithProxy(
      `[services.web]\ncommand = "${serviceCommand('tiny')}"\nport = ${usual}\nready_timeout = 40\n`,
    );
    const say = async (...args: string[]): Promise<string> => {
      const { code, stdout, stderr } = await yard.run(args);
      expect(code, stdout + stderr).toBe(0);
      return stdout;
    };
    const url = (branch: string): string => `http://web.${branch}.shop.localhost:${yard.proxyPort}`;

    expect(await say('list')).toBe('no Switchyard worktrees registered\n');
    expect(await say('status')).toBe('no services registered\n');
    const worktree = (await say('create', 'blue')).trim();
    expect(await say('create', 'blue')).toBe(`${worktree}\nworktree already registered\n`);
    const list = (await say('list')).split('\n');
    expect(list).toEqual([
      'branch  path',
      `------  ${'-'.repeat(worktree.length)}`,
      `blue    ${worktree}`,
      '',
    ]);

    const up = await yard.run(['up']);
    expect(up.stderr).toMatch(/^starting web on :26\d\d\d\nweb ready after .*\n$/);
    const [proxy, started] = up.stdout.split('\n');
    expect(proxy).toBe(`started proxy on 127.0.0.1:${yard.proxyPort}`);
    expect(started).toMatch(/^started web on :26\d\d\d -> /);
    expect(started).toContain(url('main'));
    expect((await yard.run(['up'])).stdout).toBe(
      `proxy already running\nweb already running at ${url('main')}\n`,
    );
    await say('up', 'blue');

    const status = (await say('status')).split('\n');
    expect(status[0]).toMatch(/^status {2}branch {2}service {2}port {3}url +pid$/);
    expect(status[1]).toMatch(/^------( {2}-+)+$/);
    expect(status.slice(2, 4).map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['ready', 'blue', 'web'],
      ['ready', 'main', 'web'],
    ]);
    expect(status.slice(4)).toEqual(['', `proxy: running on 127.0.0.1:${yard.proxyPort}`, '']);
    const where = (await say('where', 'web', 'blue')).split('\n');
    expect(where[0]).toBe(url('blue'));
    expect(where[1]).toMatch(/^port: 26\d\d\d$/);
    expect(where[2]).toMatch(/^log: .*web\.log$/);
    expect(where[3]).toMatch(/^localhost:26\d\d\d is web of blue: pid \d+ \(.*tiny\.mjs/);
    expect(where[4]).toBe(`nothing listens on localhost:${usual}`);
    expect(await say('checkout', 'blue')).toMatch(
      new RegExp(`^checked out web: localhost:${usual} -> :26\\d\\d\\d\\n$`),
    );
    const brief = await say('brief');
    expect(brief).toMatch(
      /^project: shop \(.*\)\nconfigured services:\n- web\nservices:\n- web \(blue\) \[ready\]/,
    );
    expect(brief).toContain(`checkouts:\n- web (blue) [running]: localhost:${usual} -> `);
    const doctor = await say('doctor');
    expect(doctor).toMatch(
      /^switchyard: .*\nnode: .*\nhome: .*\nproject: shop \(.*\)\nconfig: .*\nproxy: http/,
    );
    expect(doctor).toMatch(/\nservices: web\n/);

    // Each branch has a service of that name, so it says whose it was.
    expect((await say('down')).split('\n').sort()).toEqual([
      '',
      'stopped web of blue',
      'stopped web of main',
    ]);
    expect(await say('down')).toBe('no matching running services\n');
    expect(await say('remove', 'blue')).toBe(
      `removed ${worktree}\nbranch blue is kept; git branch -d blue deletes it\n`,
    );
    expect(await say('proxy', 'stop')).toBe('proxy stopped\n');
  });

  test('an unknown name is reported, with a suggestion', async () => {
    const yard = await createYardWithProxy(await service('web', 'tiny'));
    const text = async (line: string): Promise<string> => {
      const { stdout, stderr } = await yard.run(line.split(' '));
      return stdout + stderr;
    };
    const service_ = 'Service "wbe" not found. Did you mean "web"?';
    const branch = 'No worktree found for branch "mian". Did you mean "main"?';
    const neither =
      'error: No service or worktree is called "wbe".\n' +
      'hint: Did you mean "web"? Services: web. Branches: main.\n';
    for (const command of ['logs', 'down', 'restart', 'uncheckout'])
      expect(await text(`${command} wbe`)).toBe(neither);
    expect(await text('logs main wbe')).toBe(`error: No matching logs.\nhint: ${service_}\n`);
    expect(await text('down main wbe')).toBe(`no matching running services\n${service_}\n`);
    expect(await text('uncheckout main wbe')).toBe(`no matching checkouts\n${service_}\n`);
    expect(await text('checkout main wbe')).toBe(`wbe is not running for main\n${service_}\n`);
    expect(await text('checkout mian')).toBe(`no matching running services to checkout\n${branch}\n`);
    expect(await text('status --branch mian')).toBe(`no services registered\n${branch}\n`);
    expect(await text('where web mian')).toBe(`error: web is not running for mian\nhint: ${branch}\n`);
    expect(await text('restart --branch mian')).toContain(branch);
    expect(await text('logs --branch nothing')).toContain('`switchyard create nothing` creates one.');
    expect(await text('up wbe')).toContain('Did you mean "web"?');
    expect(await text('up nothing')).toContain('Run `switchyard create nothing` first.');
  });

  test('up reports that it waits for a running service that is not ready', async () => {
    const yard = await createYardWithProxy('[services.web]\ncommand = "sleep 86400"\nready_timeout = 1\n');
    await yard.ask('up', '--no-wait');
    const { code, stdout, stderr } = await yard.run(['up']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^waiting for web on :26\d\d\d\nweb failed after /);
    expect(stdout).toMatch(
      /web is not ready after 1 s: it does not listen on port 26\d\d\d; it is still running/,
    );
    expect((await yard.run(['status'])).stdout).toMatch(/^not-listening +main +web /m);
  });

  test('status --watch redraws until q, on a terminal', async (context) => {
    if (spawnSync(TERMINAL, ['-qec', 'true', '/dev/null']).status !== 0)
      return context.skip('script(1) is not installed, which gives it a terminal');
    const yard = await createYardWithProxy('[services.web]\ncommand = "sleep 86400"\n');
    await yard.ask('up', '--no-wait');
    const child = spawn(TERMINAL, ['-qec', `${process.execPath} ${SWITCHYARD} status --watch`, '/dev/null'], {
      cwd: yard.dir,
      env: { ...yard.env, TERM: 'xterm' },
    });
    let seen = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
    const exit = new Promise((resolve) => child.once('exit', resolve));
    const views = (): number => seen.split('q quits').length - 1;
    await until(() => views() >= 2, { deadline: 30_000, what: 'a second view', seen: () => seen });
    expect(seen).toContain('shop, all branches, ');
    expect(seen).toContain('not-listening');
    child.stdin.write('q');
    expect(await exit).toBe(0);
    // The cursor is there again.
    expect(seen.trimEnd().endsWith('\x1b[?25h')).toBe(true);
  });

  test('bash completes commands, branches and services', async () => {
    const yard = await createYardWithProxy(
      (await service('web', 'tiny')) + (await service('worker', 'tiny')),
    );
    yard.git('branch', 'feature-x');
    await yard.ask('create', 'feature-x');
    const path = `${minimalPath(yard)}:${yard.env.PATH ?? ''}`;
    const offered = (words: readonly string[]): string[] => {
      const line = ['sy', ...words].map((word) => `'${word}'`).join(' ');
      const script =
        `source <(sy completion bash); COMP_WORDS=(${line}); COMP_CWORD=${words.length}; ` +
        '_switchyard sy; printf "%s\\n" "${COMPREPLY[@]}"';
      const ran = spawnSync('bash', ['-c', script], {
        cwd: yard.dir,
        env: { ...yard.env, PATH: path },
        encoding: 'utf8',
      });
      expect(ran.stderr).toBe('');
      return ran.stdout.split('\n').filter((word) => word !== '');
    };
    expect(offered(['che'])).toEqual(['checkout']);
    expect(offered(['checkout', 'fea'])).toEqual(['feature-x']);
    expect(offered(['up', '--branch', 'feature-x', 'w'])).toEqual(['web', 'worker']);
    expect(offered(['remove', ''])).toContain('feature-x');
  });
});

/** One more line in the log of the service that talks. */
async function say(port: number, text: string): Promise<void> {
  await (await fetch(`http://127.0.0.1:${port}/say?${encodeURIComponent(text)}`)).text();
}

describe('logs', () => {
  test('are limited, searched and dated as requested', async () => {
    const yard = await createYardWithProxy(await service('web', 'talks'));
    const [{ port }] = (await yard.ask('up')).outcomes;
    const read = async (...args: string[]): Promise<string[]> =>
      (await yard.run(['logs', 'web', ...args])).stdout.split('\n').slice(0, -1);
    const words = (lines: readonly string[]): string[] => lines.map((line) => line.replace(/^\S+ /, ''));
    const old = [1, 2, 3, 4, 5].map((n) => `yesterday ${n}`);
    // Colours are for terminals.
    const red = 'Error: today it is red';
    expect(words(await read())).toEqual([...old, red]);
    expect(words(await read('-n', '2'))).toEqual(['yesterday 5', red]);
    expect(words(await read('--grep', 'DAY [23]', '--fixed'))).toEqual([]);
    expect(words(await read('--grep', 'day [23]'))).toEqual(['yesterday 2', 'yesterday 3']);
    const moment = Date.now() + 1;
    await until(() => Date.now() > moment);
    await say(port, 'later');
    const since = ['--since', new Date(moment).toISOString()];
    const recent = await until(async () => words(await read(...since)).join('\n'));
    expect(recent).toBe('later');
    expect(words(await read('--since', '1h'))).toHaveLength(7);
    const cut = await runJson(yard, ['logs', 'web', '--max-bytes', '120']);
    expect(cut.logs[0].truncated).toBe(true);
    expect(cut.logs[0].lines.join('\n').length).toBeLessThanOrEqual(120);
    expect((await yard.run(['logs', 'web', '--since', 'soon'])).stderr).toMatch(
      /^error: .*\nhint: Write for example 30s/,
    );
    expect((await runJson(yard, ['brief'])).recent_errors).toMatchObject([
      { service: 'web', line: expect.stringContaining(red) },
    ]);
  });

  test('continue with --follow until Ctrl-C', async () => {
    const yard = await createYardWithProxy(await service('web', 'talks'));
    const [{ port }] = (await yard.ask('up')).outcomes;
    const child = yard.start(['logs', 'web', '-f', '-n', '1', '--grep', 'hello|red']);
    let seen = '';
    child.stdout!.setEncoding('utf8').on('data', (text: string) => (seen += text));
    const exit = once(child, 'exit');
    await until(() => seen.includes('red'), { what: 'the last line' });
    for (const text of ['hello one', 'something else', 'hello two']) await say(port, text);
    await until(() => seen.includes('hello two'), { what: 'what it writes next', seen: () => seen });
    expect(seen.split('\n').map((line) => line.replace(/^\S+ /, ''))).toEqual([
      'Error: today it is red',
      'hello one',
      'hello two',
      '',
    ]);
    child.kill('SIGINT');
    // As usual: a shell calls that 130.
    expect(await exit).toEqual([null, 'SIGINT']);
  });
});

test('create stopped with Ctrl-C also stops git, and says how to continue', async () => {
  const yard = await createYardWithProxy(await service('web', 'talks'));
  const hook = yard.path('.git/hooks/post-checkout');
  const note = yard.path('.git/hook-pid');
  writeFileSync(hook, `#!/bin/sh\necho $$ > '${note}'\nexec sleep 600\n`);
  chmodSync(hook, 0o755);
  const child = yard.start(['create', 'odd;name']);
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (said += text));
  const exit = once(child, 'close');
  await until(() => existsSync(note) && readFileSync(note, 'utf8').endsWith('\n'), { what: 'the hook' });
  const pid = Number(readFileSync(note, 'utf8'));
  child.kill('SIGINT');
  expect(await exit).toEqual([130, null]);
  expect(said).toContain('Stopped. To continue, run the same command again.\n');
  await until(() => !alive(pid), { what: 'the hook to end' });
});

test('brief --json of ten services is small', async () => {
  const names = ['web', 'api', 'admin', 'worker', 'mailer', 'search', 'database', 'cache', 'queue', 'docs'];
  const tables = names.map((name) => `[services.${name}]\ncommand = "sleep 86400"\n`);
  const yard = await createYardWithProxy(tables.join(''));
  await yard.ask('up', '--no-wait');
  const { stdout, json } = await yard.run(['brief', '--json']);
  expect(json.services.map((each: any) => each.status)).toEqual(names.map(() => 'running'));
  expect(Buffer.byteLength(stdout)).toBeLessThan(4096);
});

test('skill shows instructions, and installs them where an agent looks', async () => {
  const yard = createYard({ git: false });
  const { stdout } = await yard.run(['skill', 'show']);
  expect(stdout).toMatch(/^---\nname: switchyard\ndescription: /);
  expect((await yard.run(['skill', 'install'])).stdout).toContain('installed ');
  const installed = join(yard.env.HOME!, '.codex/skills/switchyard/SKILL.md');
  expect(readFileSync(installed, 'utf8')).toBe(stdout);
  const again = await yard.run(['skill', 'install']);
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toMatch(/already exists\.\nhint: Pass --force/);
  expect((await yard.run(['skill', 'install', '--force'])).code).toBe(0);
});

describe('problems are reported with the next step:', () => {
  test('no project', async () => {
    const yard = createYard({ git: false });
    for (const command of ['up', 'status', 'brief', 'list', 'down']) {
      const { code, stdout, stderr } = await yard.run([command]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/^error: No switchyard\.toml was found in .*\nhint: Run `switchyard init`/);
    }
    const doctor = await runJson(yard, ['doctor'], 1);
    expect(Object.keys(doctor)).toEqual(
      expect.arrayContaining(['cwd', 'error', 'home', 'node', 'ok', 'switchyard']),
    );
  });

  test('a broken switchyard.toml, by its line and key, while services can still be stopped', async () => {
    const yard = await createYardWithProxy('[services.web]\ncommand = "sleep 86400"\n');
    await yard.ask('up', '--no-wait');
    yard.write('switchyard.toml', '[services.web]\ncommand = "sleep 1"\nport = "three"\n');
    const key = await yard.run(['up']);
    expect(key.stderr).toMatch(
      /^error: switchyard\.toml:3: services\.web\.port must be a whole number .*\nhint: For example: port = 3000\. The file is \//,
    );
    yard.write('switchyard.toml', '[services.web]\ncommand = "sleep 1\n');
    expect((await yard.run(['up'])).stderr).toMatch(/^error: switchyard\.toml:2: this is not valid TOML/);
    expect(await runJson(yard, ['up'], 1)).toMatchObject({
      ok: false,
      error: expect.stringMatching(/^switchyard\.toml:2: /),
    });
    expect((await yard.run(['status'])).stdout).toMatch(/\nrunning {2}main {4}web/);
    expect((await yard.run(['down'])).stdout).toBe('stopped web\n');
    expect(yard.living()).toEqual([]);
  });

  test('a key without effect, a missing env file, a command that is not installed', async () => {
    const yard = await createYardWithProxy(
      '[env]\nlink = [".env"]\n[services.web]\ncommand = "no-such-program {port}"\ncolour = "red"\n',
    );
    const { code, stdout } = await yard.run(['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('env: missing link source .env\n');
    expect(stdout).toContain(
      'error: The command of web, "no-such-program", was not found on its PATH.\n' +
        '  Install it, or correct services.web.command in switchyard.toml.\n',
    );
    expect(stdout).toMatch(
      /:12: services\.web\.colour is not a known key and is ignored\. .*\n {2}Correct it, or remove it\.\n/,
    );
    const up = await yard.run(['up']);
    expect(up.code).toBe(1);
    expect(up.stdout).toContain(
      '"web" could not be started: command not found: "no-such-program" (ENOENT).\n' +
        '  Install it, or correct services.web.command in switchyard.toml.\n',
    );
  });

  test('a canonical port held by another process', async () => {
    const usual = await freePort();
    const yard = await createYardWithProxy(
      `[services.web]\ncommand = "${serviceCommand('tiny')}"\nport = ${usual}\nready_timeout = 40\n`,
    );
    const { visits } = await occupy(usual);
    await yard.ask('up');
    const { code, stdout } = await yard.run(['checkout', 'main']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^web cannot bind canonical port ${usual}; pid ${process.pid} \\(.*, in .*\\) owns it\\n$`),
    );
    expect((await yard.run(['checkout', 'main', '--verify'])).code).toBe(1);
    expect(visits()).toBe(0);
  });

  test('git that is not installed', async () => {
    const yard = await createYardWithProxy(await service('web', 'tiny'));
    const env = { PATH: minimalPath(yard) };
    for (const line of ['create x', 'list']) {
      const { code, stderr } = await yard.run(line.split(' '), { env });
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: 'error: Git is required but was not found on PATH.\nhint: Install git, or add it to PATH.\n',
      });
    }
    expect((await yard.run(['doctor'], { env })).stdout).toContain('git was not found on the PATH');
    // The project itself does without.
    expect((await yard.run(['up'], { env })).code).toBe(0);
    expect((await yard.run(['brief'], { env })).code).toBe(0);
    expect((await yard.run(['down'], { env })).stdout).toBe('stopped web\n');
  });

  test('a worktree that was deleted while its service runs', async () => {
    const yard = await createYardWithProxy(await service('web', 'tiny'));
    const { worktree } = await yard.ask('create', 'gone');
    await yard.ask('up', 'gone');
    rmSync(worktree, { recursive: true });
    expect((await yard.run(['list'])).stdout).toContain(`${worktree} (missing)`);
    expect((await yard.run(['doctor'])).stdout).toContain(
      `warning: web of gone runs in a directory that was deleted: ${worktree}.\n` +
        '  Run `switchyard down --branch gone`.\n',
    );
    expect((await yard.run(['up', 'gone', 'web'])).stderr).toBe(
      `error: The worktree does not exist: ${worktree}.\nhint: Run \`switchyard create gone\` first.\n`,
    );
    expect((await yard.run(['prune'])).stdout).toBe(
      `forgot the worktree of gone; ${worktree} is gone\n` +
        'web of gone still runs; stop it with `switchyard down --branch gone`\n',
    );
    expect((await yard.run(['down', '--branch', 'gone'])).stdout).toBe('stopped web\n');
    expect(yard.living()).toEqual([]);
    expect((await yard.ask('create', 'gone')).created).toBe(true);
  });
});
