/** What npx has fetched for one run is not there for the agent that is to start it tomorrow. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from '../helpers/temp-project.ts';
import { createYard, type TestYard } from '../helpers/yard.ts';

const TOML = '[project]\nname = "shop"\n[services.web]\ncommand = "node web.js"\n';
const PASSING = /_npx|node_modules/;

const exec = promisify(execFile);

/** A registry that has this very package and nothing else. Returns its address. */
async function registry(yard: TestYard): Promise<string> {
  const { stdout } = await exec(
    'npm',
    ['pack', '--json', '--ignore-scripts', '--pack-destination', yard.home, ROOT],
    {
      env: { ...process.env, ...yard.env },
      cwd: ROOT,
    },
  );
  const [{ filename, name, version }] = JSON.parse(stdout) as [Record<string, string>];
  const tarball = readFileSync(join(yard.home, filename!));
  const { bin } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const server = createServer((request, response) => {
    if (request.url === '/package.tgz') response.end(tarball);
    else if (request.url === `/${name}`) {
      const dist = {
        tarball: `${address()}package.tgz`,
        integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
      };
      const versions = { [version!]: { name, version, bin, dist } };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions }));
    } else response.writeHead(404).end('{}');
  });
  const address = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => void server.close());
  return address();
}

/** Runs npx in the project of a yard, with a cache and settings of its own. */
function npxIn(yard: TestYard, more: Readonly<Record<string, string>> = {}) {
  const env = {
    ...yard.env,
    CODEX_HOME: join(yard.home, '../codex'),
    npm_config_cache: join(yard.home, '../npm'),
    npm_config_userconfig: '/dev/null',
    npm_config_update_notifier: 'false',
    ...more,
  };
  return async (...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> => {
    const ran = exec('npx', args, { cwd: yard.dir, env });
    return ran.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (failed: unknown) => failed as { code: number; stdout: string; stderr: string },
    );
  };
}

test('an entry written through npx starts npx, and names nothing in its cache', async () => {
  const yard = createYard({ toml: TOML });
  mkdirSync(yard.home, { recursive: true });
  const npx = npxIn(yard, { npm_config_registry: await registry(yard) });
  const fetched = ['-y', '-p', 'mcp-switchboard', 'switchyard'];

  const config = await npx(...fetched, 'mcp', 'config', '--json');
  expect(config.code, config.stderr).toBe(0);
  expect(config.stdout).not.toMatch(PASSING);
  const { command, args } = JSON.parse(config.stdout);
  expect(command).toMatch(/[\\/]npx$/);
  expect(args).toEqual([...fetched, 'mcp', '--project', 'switchyard']);

  for (const client of ['codex', 'cursor']) {
    const installed = await npx(...fetched, 'mcp', 'install', '--client', client, '--json');
    expect(installed.code, installed.stderr).toBe(0);
    expect(readFileSync(JSON.parse(installed.stdout).config_path, 'utf8')).not.toMatch(PASSING);
  }

  // The entry works as it was written, from elsewhere.
  const smoke = await npx(...fetched, 'mcp', 'smoke', '--json');
  expect(JSON.parse(smoke.stdout)).toMatchObject({ ok: true, project: yard.dir });
});

test('the smoke test ignores what only npx has put on the PATH', async () => {
  const yard = createYard({ toml: TOML });
  // As a dependency of the project itself, which no agent can start by its name.
  const home = yard.path('node_modules/mcp-switchboard');
  cpSync(join(ROOT, 'dist'), join(home, 'dist'), { recursive: true });
  yard.write('node_modules/mcp-switchboard/package.json', { name: 'mcp-switchboard', version: '0.0.0' });
  mkdirSync(yard.path('node_modules/.bin'));
  symlinkSync('../mcp-switchboard/dist/switchyard.js', yard.path('node_modules/.bin/switchyard'));
  const npx = npxIn(yard);
  const local = ['--no-install', 'switchyard'];
  expect((await npx(...local, '--version')).code).toBe(0);
  const smoke = await npx(...local, 'mcp', 'smoke', '--json');
  expect(smoke.code).toBe(1);
  const { ok, error } = JSON.parse(smoke.stdout);
  expect(ok).toBe(false);
  expect(error).toContain('A client cannot start the installed entry');
  expect(error).toContain('command not found: "switchyard"');
});
