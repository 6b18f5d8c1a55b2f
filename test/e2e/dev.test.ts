/** `npm run dev:sse` right after `npm ci`. The build itself is left out: other tests are using what it would write. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { runProgram } from '../helpers/run-program.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';

/** The configuration that the scripts choose in a directory. */
function chosen(cwd: string, env: Readonly<Record<string, string>> = {}): string {
  const module = pathToFileURL(join(ROOT, 'scripts/lib/development-config.mjs')).href;
  const script = `import { developmentConfig } from '${module}'; process.stdout.write(developmentConfig())`;
  return execFileSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, MCP_PROXY_CONFIG_PATH: '', ...env },
  });
}

test('a checkout without a configuration of its own uses the example, which mcp-proxy-server can read', async () => {
  const project = createProject();
  const config = chosen(project.dir);
  expect(config).toBe(join(ROOT, 'config.example.json'));
  const { code, json } = await runProgram(project, ['list', '--json'], {
    program: 'mcp-proxy-server',
    env: { MCP_PROXY_CONFIG_PATH: config },
  });
  expect(code).toBe(0);
  expect(json.servers.map(({ name }: { name: string }) => name)).toEqual(['Everything', 'Memory']);
});

test('a configuration of its own comes first, and a named one before that', () => {
  const project = createProject({ 'config.json': {} });
  expect(chosen(project.dir)).toBe(project.path('config.json'));
  expect(chosen(project.dir, { MCP_PROXY_CONFIG_PATH: 'other.json' })).toBe(project.path('other.json'));
});
