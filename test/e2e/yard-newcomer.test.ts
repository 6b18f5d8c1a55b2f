/** Somebody who has just installed switchyard: init finds out how the project is started, and branches get worktrees. */
import { existsSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from '../helpers/temp-project.ts';
import { freePort } from '../helpers/yard-home.ts';
import { runJson, createYardWithProxy } from '../helpers/yard-with-proxy.ts';
import { visit } from '../helpers/yard-traffic.ts';
import { createYard, type TestYard } from '../helpers/yard.ts';

/** Puts the file that init wrote on ports that no other test uses. Everything else in it stays. */
async function onOwnPorts(yard: TestYard): Promise<void> {
  let text = yard.read('switchyard.toml');
  const changes = {
    'port = 7331': `port = ${await freePort()}`,
    'start = 20000': 'start = 27000',
    'end = 29999': 'end = 27999',
    'command =': 'ready_timeout = 60\ncommand =',
  };
  for (const [before, after] of Object.entries(changes)) {
    expect(text).toContain(before);
    text = text.replace(before, after);
  }
  yard.write('switchyard.toml', text);
}

/** What the address that `up` has printed answers. */
async function answerOf(printed: string): Promise<string> {
  const { hostname, port } = new URL(/http:\/\/\S+/.exec(printed)![0]);
  return (await visit({ port: Number(port), host: `${hostname}:${port}` }, '/')).text;
}

describe('init and then up', () => {
  test('print an address that works, in a plain Node project', async () => {
    const yard = createYard({
      files: {
        'package.json': { name: 'hello', scripts: { dev: 'node server.js' } },
        'server.js':
          "require('node:http').createServer((_, answer) => answer.end('hello')).listen(process.env.PORT);\n",
      },
    });
    const init = await yard.run(['init']);
    expect(init).toMatchObject({ code: 0, stderr: '' });
    expect(init.stdout.split('\n')).toEqual([
      `wrote ${yard.path('switchyard.toml')}`,
      'service web: npm run dev',
      '  package.json has a script "dev", which must listen on the port in the variable PORT.',
      'next: review it, then run `switchyard up`',
      '',
    ]);
    await onOwnPorts(yard);
    const up = await yard.run(['up']);
    expect(up.code, up.stdout + up.stderr).toBe(0);
    expect(await answerOf(up.stdout)).toBe('hello');
    expect((await yard.run(['down'])).stdout).toBe('stopped web\n');
    expect(yard.living()).toEqual([]);
  });

  test('also in a Vite project, and report missing packages in a new branch', async () => {
    const yard = createYard({
      files: {
        'package.json': {
          type: 'module',
          scripts: { dev: 'vite' },
          devDependencies: { vite: '*' },
          packageManager: 'npm@10.0.0',
        },
        'index.html': '<h1>hello from Vite</h1>\n',
        '.gitignore': 'node_modules\n',
      },
    });
    const install = (directory: string): void =>
      symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
    install(yard.dir);
    expect((await yard.run(['init'])).stdout).toContain(
      'service web: npm run dev -- --port {port} --strictPort --host {host}\n' +
        '  package.json has a script "dev" that runs Vite.\n',
    );
    await onOwnPorts(yard);
    const up = await yard.run(['up']);
    expect(up.code, up.stdout + up.stderr).toBe(0);
    expect(await answerOf(up.stdout)).toContain('<h1>hello from Vite</h1>');

    const { worktree } = await yard.ask('create', 'feature');
    const early = await yard.run(['up', 'feature']);
    expect(early.code).toBe(1);
    expect(early.stdout).toContain(
      `  ${worktree} has no node_modules; run \`npm install\` there, then run this command again.\n`,
    );
    install(worktree);
    writeFileSync(join(worktree, 'index.html'), '<h1>hello from feature</h1>\n');
    const late = await yard.run(['up', 'feature']);
    expect(late.code, late.stdout + late.stderr).toBe(0);
    expect(await answerOf(late.stdout)).toContain('hello from feature');
    expect(await answerOf(up.stdout)).toContain('hello from Vite');
    await yard.ask('down');
    expect(yard.living()).toEqual([]);
  });
});

describe('init', () => {
  const scripts = (dev: string): string => JSON.stringify({ scripts: { dev } });
  const flags = '--port {port} --strictPort --host {host}';
  test.for([
    ['npm', { 'package.json': JSON.stringify({ scripts: { start: 'node .' } }) }, 'npm run start'],
    ['pnpm', { 'package.json': scripts('vite'), 'pnpm-lock.yaml': '' }, `pnpm run dev ${flags}`],
    ['Yarn', { 'package.json': scripts('vite'), 'yarn.lock': '' }, `yarn run dev ${flags}`],
    ['Bun', { 'package.json': scripts('vite'), 'bun.lock': '' }, `bun run dev ${flags}`],
    ['Next', { 'package.json': scripts('next dev') }, /^npm run dev -- .*\{port\}/],
    ['Astro', { 'package.json': scripts('astro dev') }, /^npm run dev -- .*\{port\}/],
    ['Django', { 'manage.py': 'import django\n' }, /manage\.py runserver \{host\}:\{port\}$/],
    [
      'FastAPI',
      { 'main.py': 'from fastapi import FastAPI\napp = FastAPI()\n', 'requirements.txt': 'fastapi\n' },
      /uvicorn main:app .*--port \{port\}/,
    ],
    [
      'Rails',
      { 'bin/rails': '', 'config/application.rb': '', Gemfile: 'gem "rails"\n' },
      'bin/rails server -p {port} -b {host}',
    ],
    ['Go', { 'go.mod': 'module x\n', 'main.go': 'package main\n\nfunc main() {}\n' }, 'go run .'],
  ] as const)('knows how a project with %s is started', async ([, files, command]) => {
    const yard = createYard({ git: false, files });
    const { detected_service, dry_run, written, config_text } = await runJson(yard, ['init', '--dry-run']);
    if (typeof command === 'string') expect(detected_service.command).toBe(command);
    else expect(detected_service.command).toMatch(command);
    expect({ dry_run, written }).toEqual({ dry_run: true, written: false });
    // What it would write is a file that all commands can use.
    writeFileSync(yard.path('switchyard.toml'), config_text);
    expect((await yard.ask('brief')).configured_services).toEqual(['web']);
  });

  test('keeps an existing file, writes nothing on a dry run, and overwrites when forced', async () => {
    const yard = createYard({ files: { 'server.js': '' } });
    const dry = await yard.run(['init', '--dry-run']);
    expect(dry).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(yard.path('switchyard.toml'))).toBe(false);

    const first = await runJson(yard, ['init']);
    expect(first).toMatchObject({
      ok: true,
      action: 'init',
      created_config: true,
      overwrote_config: false,
      would_fail: false,
      failure_reason: null,
      root: yard.dir,
      detected_service: { name: 'web', command: 'node server.js', port: 3000 },
    });
    expect(dry.stdout).toBe(first.config_text);
    expect(yard.read('switchyard.toml')).toBe(first.config_text);
    expect(yard.read('.git/info/exclude')).toContain('.switchyard/');

    yard.write('switchyard.toml', '# mine\n');
    const second = await yard.run(['init']);
    expect(second.code).toBe(1);
    expect(second.stderr).toMatch(/^error: .*already exists; pass --force to overwrite/);
    const blocked = await runJson(yard, ['init', '--dry-run']);
    expect(blocked).toMatchObject({ would_fail: true, failure_reason: expect.stringContaining('--force') });
    expect(yard.read('switchyard.toml')).toBe('# mine\n');
    expect((await yard.run(['init', '--force'])).stdout).toMatch(/^overwrote /);
    expect(yard.read('switchyard.toml')).toBe(first.config_text);
  });
});

describe('worktrees', () => {
  test('get files outside git, keep existing ones, and can be removed again', async () => {
    const yard = await createYardWithProxy(
      '[env]\nlink = [".env"]\ncopy = ["certs", "none"]\n[services.web]\ncommand = "sleep 86400"\n',
      { files: { '.gitignore': '.env\ncerts\n*.secret\n', '.worktreeinclude': '*.secret\n' } },
    );
    for (const file of ['.env', 'certs/key', 'api.secret']) yard.write(file, `${file} of the project\n`);
    const { stdout } = await yard.run(['create', 'feature/x']);
    const [worktree = '', ...actions] = stdout.trimEnd().split('\n');
    expect(actions).toEqual([
      'env: linked .env',
      'env: copied certs',
      'env: missing copy source none',
      'env: copied api.secret',
    ]);
    expect(lstatSync(join(worktree, '.env')).isSymbolicLink()).toBe(true);
    expect(lstatSync(join(worktree, 'certs/key')).isFile()).toBe(true);
    expect((await yard.ask('brief')).env_warnings).toEqual(['missing copy source none']);

    writeFileSync(join(worktree, 'api.secret'), 'changed\n');
    expect((await yard.ask('create', 'feature/x')).created).toBe(false);
    expect(readFileSync(join(worktree, 'api.secret'), 'utf8')).toBe('changed\n');

    writeFileSync(join(worktree, 'work.txt'), 'not committed\n');
    const refused = await yard.run(['remove', 'feature/x']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /^error: .* has uncommitted changes: .*work\.txt.*\nhint: .*`switchyard remove feature\/x --force`/,
    );
    await yard.ask('up', 'feature/x', '--no-wait');
    expect((await yard.run(['remove', 'feature/x', '--force'])).stdout).toMatch(/^stopped web\nremoved /);
    expect(yard.living()).toEqual([]);
    expect(existsSync(worktree)).toBe(false);
    // What was linked is the project's own.
    expect(yard.read('.env')).toBe('.env of the project\n');
    expect(yard.git('branch', '--list', 'feature/x')).toContain('feature/x');
  });

  test('made by git itself count like others', async () => {
    const yard = await createYardWithProxy('[services.web]\ncommand = "sleep 86400"\n');
    const path = join(dirname(yard.home), 'by-hand');
    yard.git('worktree', 'add', '-q', '-b', 'by-hand', path);
    expect((await yard.ask('list')).worktrees).toMatchObject([{ branch: 'by-hand', path, adopted: true }]);
    await yard.run(['up', '--no-wait'], { cwd: path });
    const { services } = await yard.ask('status');
    expect(services).toMatchObject([{ branch: 'by-hand', worktree: path, status: 'running' }]);
    // In it, a command is about its branch.
    expect((await yard.run(['down'], { cwd: path })).stdout).toBe('stopped web\n');
    yard.git('worktree', 'remove', '--force', path);
    expect((await yard.ask('list')).worktrees.filter((each: any) => each.missing !== true)).toEqual([]);
    await yard.ask('prune');
    expect((await yard.run(['list'])).stdout).toBe('no Switchyard worktrees registered\n');
  });
});
