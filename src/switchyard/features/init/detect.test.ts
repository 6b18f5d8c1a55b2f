import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { detectService, type DetectedService } from './detect.ts';

let root: string;
let path: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'yard-detect-'));
  // A separate PATH, so that it does not matter what is installed on this machine.
  path = join(root, '.bin');
  put('.bin/python3', '#!/bin/sh\n');
  chmodSync(join(path, 'python3'), 0o755);
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

function put(name: string, text = ''): void {
  const file = join(root, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function detect(files: Readonly<Record<string, string>>): DetectedService {
  for (const [name, text] of Object.entries(files)) put(name, text);
  return detectService({ root, path });
}

const scripts = (all: Readonly<Record<string, string>>, more: object = {}): string =>
  JSON.stringify({ scripts: all, ...more });

describe('a package manager', () => {
  it.each([
    [{}, 'npm run dev -- --port {port} --strictPort --host {host}'],
    [{ 'pnpm-lock.yaml': '' }, 'pnpm run dev --port {port} --strictPort --host {host}'],
    [{ 'yarn.lock': '' }, 'yarn run dev --port {port} --strictPort --host {host}'],
    [{ 'bun.lock': '' }, 'bun run dev --port {port} --strictPort --host {host}'],
    [{ 'bun.lockb': '' }, 'bun run dev --port {port} --strictPort --host {host}'],
  ])('is known by its lockfile %j', (lockfile, command) => {
    expect(detect({ 'package.json': scripts({ dev: 'vite' }), ...lockfile }).command).toBe(command);
  });

  it('is the one requested in package.json, whatever lockfiles exist', () => {
    const manifest = scripts({ dev: 'node server.js' }, { packageManager: 'pnpm@10.1.0+sha512.abc' });
    expect(detect({ 'package.json': manifest, 'yarn.lock': '' }).command).toBe('pnpm run dev');
  });
});

const WEBPACK_FLAGS = '--port {port} --host {host} --client-web-socket-url auto://0.0.0.0:0/ws';

describe('a script', () => {
  it.each([
    ['vite', '--port {port} --strictPort --host {host}', 5173],
    ['vite dev --open', '--port {port} --strictPort --host {host}', 5173],
    ['tsc -b && cross-env A=1 vite ./app', '--port {port} --strictPort --host {host}', 5173],
    ['bunx --bun vite', '--port {port} --strictPort --host {host}', 5173],
    ['node_modules/.bin/vite --port=4000', '--port {port} --strictPort --host {host}', 4000],
    ['react-router dev', '--port {port} --strictPort --host {host}', 5173],
    ['next dev --turbo', '-p {port} -H {host}', 3000],
    ['NODE_OPTIONS=--inspect next dev -p 3100', '-p {port} -H {host}', 3100],
    ['astro dev', '--port {port} --host {host}', 4321],
    ['nuxt dev', '--port {port} --host {host}', 3000],
    ['ng serve', '--port {port} --host {host}', 4200],
    ['webpack serve', WEBPACK_FLAGS, 8080],
    ['cross-env NODE_ENV=development webpack s --port 9000', WEBPACK_FLAGS, 9000],
    ['webpack-dev-server --config dev.js', WEBPACK_FLAGS, 8080],
  ])('%j gets the flags of its tool', (script, flags, port) => {
    expect(detect({ 'package.json': scripts({ dev: script }) })).toMatchObject({
      name: 'web',
      command: `npm run dev -- ${flags}`,
      port,
    });
  });

  it.each([
    'node server.js',
    'nodemon --port 9229 server.js',
    'vite build --watch',
    'webpack --watch',
    'vite & node server.js',
    'vite && echo done',
    'concurrently "vite" "node api.js"',
    'invite',
  ])('%j gets no flag it may not know: PORT has to do', (script) => {
    expect(detect({ 'package.json': scripts({ dev: script }) })).toMatchObject({
      command: 'npm run dev',
      port: 3000,
      reason: expect.stringContaining('PORT') as string,
    });
  });

  it('that sets PORT itself gets a note', () => {
    expect(detect({ 'package.json': scripts({ dev: 'PORT=4000 node server.js' }) })).toMatchObject({
      command: 'npm run dev',
      port: 4000,
      reason: expect.stringContaining('sets PORT itself') as string,
    });
  });

  it('of Astro that has a port is skipped: Astro ignores both if it gets two', () => {
    const files = {
      'package.json': scripts({ dev: 'astro dev --port 4000 --host --open' }),
      'pnpm-lock.yaml': '',
    };
    expect(detect(files)).toMatchObject({
      command: 'pnpm exec astro dev --open --port {port} --host {host}',
      port: 4000,
    });
  });

  it.each([
    ['^3.11.3', undefined, true],
    ['3', undefined, true],
    ['~4.15.0', undefined, false],
    ['^4.0.0', undefined, false],
    ['^5.2.7', undefined, false],
    ['latest', undefined, false],
    [undefined, undefined, false],
    ['^4.0.0', '4.10.1', true],
    ['^4.0.0', '4.11.0', false],
    ['latest', '5.0.0', false],
  ])(
    'of webpack-dev-server %s, installed as %s, gets a rewritten Host: %s',
    (asked, version, refusesNames) => {
      const more = { devDependencies: { 'webpack-dev-server': asked } };
      const files = { 'package.json': scripts({ start: 'webpack serve' }, more) };
      const installed = { 'node_modules/webpack-dev-server/package.json': JSON.stringify({ version }) };
      const { command, ...detected } = detect(version === undefined ? files : { ...files, ...installed });
      expect(detected).toMatchObject({ refusesNames });
      expect(command).toContain(asked?.includes('3') === true ? '--public {url}' : WEBPACK_FLAGS);
    },
  );

  it('called dev takes precedence over start and serve', () => {
    const all = { serve: 'c', start: 'b', dev: 'a' };
    expect(detect({ 'package.json': scripts(all) }).command).toBe('npm run dev');
    expect(detect({ 'package.json': scripts({ serve: 'c', start: 'b' }) }).command).toBe('npm run start');
    expect(detect({ 'package.json': scripts({ serve: 'c' }) }).command).toBe('npm run serve');
  });

  it('called start does not hide a framework', () => {
    const files = { 'package.json': scripts({ start: 'webpack' }), 'manage.py': 'import django' };
    expect(detect(files).command).toBe('python3 manage.py runserver {host}:{port}');
  });
});

describe('a plain Node project', () => {
  it('is started with its main file', () => {
    const files = { 'package.json': '{"main":"./lib/server.js"}', 'lib/server.js': '', 'index.js': '' };
    expect(detect(files)).toMatchObject({ command: 'node lib/server.js', port: 3000 });
  });

  it('is started with a usual file if main is missing', () => {
    expect(detect({ 'package.json': '{"main":"gone.js"}', 'index.js': '' }).command).toBe('node index.js');
  });

  it('needs no package.json when it has a server.js', () => {
    expect(detect({ 'server.js': '' }).command).toBe('node server.js');
  });

  it.each(['not json', '[]', 'null', '{"scripts":[],"main":5}', '{"scripts":{"dev":5}}'])(
    'with a package.json like %j is served as files',
    (text) => {
      expect(detect({ 'package.json': text }).command).toBe('python3 -m http.server {port} --bind {host}');
    },
  );

  it('is not started with a file whose name would break the command', () => {
    const files = { 'package.json': '{"main":"my server.js"}', 'my server.js': '' };
    expect(detect(files).command).toContain('http.server');
  });
});

describe('Python', () => {
  const django = { 'manage.py': 'from django.core.management import execute_from_command_line' };
  const fastapi = { 'requirements.txt': 'fastapi[standard]==0.115\n' };

  it('runs Django with unbuffered output', () => {
    expect(detect(django)).toMatchObject({
      command: 'python3 manage.py runserver {host}:{port}',
      port: 8000,
      env: { PYTHONUNBUFFERED: '1' },
    });
  });

  it.each([
    [{ 'uv.lock': '' }, 'uv run python'],
    [{ 'poetry.lock': '' }, 'poetry run python'],
    [{ Pipfile: '' }, 'pipenv run python'],
  ])('is called by the tool of %j', (files, python) => {
    expect(detect({ ...django, ...files }).command).toBe(`${python} manage.py runserver {host}:{port}`);
  });

  it('uses the virtual environment, which worktrees then need too', () => {
    expect(detect({ ...django, '.venv/bin/python': '' })).toMatchObject({
      command: '.venv/bin/python manage.py runserver {host}:{port}',
      link: ['.venv'],
    });
  });

  it.each([
    [{ 'main.py': 'import fastapi\n\napp = fastapi.FastAPI()\n' }, 'main:app'],
    [{ 'app/main.py': 'api: FastAPI = FastAPI(title="x")\n', 'app/__init__.py': '' }, 'app.main:api'],
    [{ 'src/main.py': 'app = FastAPI(\n  title="x")\n' }, 'main:app --app-dir src'],
  ])('runs FastAPI from %j', (files, app) => {
    expect(detect({ ...fastapi, ...files })).toMatchObject({
      command: `python3 -m uvicorn ${app} --reload --host {host} --port {port}`,
      port: 8000,
    });
  });

  it('does not treat a test or a mention as an application', () => {
    const files = { 'tests/main.py': 'app = FastAPI()', 'main.py': '# app = FastAPI()\nx = NotFastAPI()\n' };
    expect(detect({ ...fastapi, ...files }).command).toContain('http.server');
  });

  it('runs Flask', () => {
    const files = {
      'pyproject.toml': 'dependencies = ["flask>=3"]',
      'web/app.py': 'app = Flask(__name__)\n',
    };
    expect(detect(files)).toMatchObject({
      command: 'python3 -m flask --app web/app:app run --debug --host {host} --port {port}',
      port: 5000,
    });
  });
});

it('Rails is served by its own server', () => {
  const files = {
    'bin/rails': '',
    'config/application.rb': '',
    'package.json': scripts({ build: 'esbuild' }),
  };
  expect(detect(files)).toMatchObject({ command: 'bin/rails server -p {port} -b {host}', port: 3000 });
});

describe('Go', () => {
  const main = 'package main\n\nfunc main() {}\n';

  it('runs the main package of the root', () => {
    expect(detect({ 'go.mod': 'module x', 'serve.go': main })).toMatchObject({
      command: 'go run .',
      port: 8080,
    });
  });

  it('runs the program below cmd, or the one named like a server', () => {
    expect(detect({ 'go.mod': 'module x', 'lib.go': 'package x', 'cmd/shop/main.go': main }).command).toBe(
      'go run ./cmd/shop',
    );
    expect(detect({ 'cmd/server/main.go': main }).command).toBe('go run ./cmd/server');
  });

  it('does not guess among several programs, nor for a library', () => {
    const files = {
      'go.mod': 'module x',
      'cmd/one/main.go': main,
      'cmd/two/main.go': main,
      'x_test.go': main,
    };
    expect(detect(files).command).toContain('http.server');
  });
});

describe('a directory of files', () => {
  it('is served by Python', () => {
    expect(detect({ 'index.html': '' })).toMatchObject({
      command: 'python3 -m http.server {port} --bind {host}',
      port: 8000,
    });
  });

  it('is served from the directory of its index', () => {
    expect(detect({ 'public/index.html': '' }).command).toBe(
      'python3 -m http.server {port} --bind {host} --directory public',
    );
  });

  it('says so if Python is missing', () => {
    rmSync(path, { recursive: true });
    expect(detect({})).toMatchObject({
      command: 'python3 -m http.server {port} --bind {host}',
      reason: expect.stringContaining('Python was not found') as string,
    });
  });
});

it('unusual files do not cause a failure', () => {
  put('bin', 'a file');
  put('cmd', 'a file');
  mkdirSync(join(root, 'package.json'));
  mkdirSync(join(root, 'manage.py'));
  put('go.mod');
  expect(detect({}).command).toContain('http.server');
});
