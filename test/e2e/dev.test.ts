/** `npm run dev:sse` right after `npm ci`. The build itself is left out: other tests are using what it would write. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { TOKEN } from '../helpers/http-gateway.ts';
import { killAll, marker, waitUntilGone } from '../helpers/processes.ts';
import { programEnv, runProgram } from '../helpers/run-program.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { freePort } from '../helpers/yard-home.ts';

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

test('dev:sse serves clients that connect, and ends with all it started', async () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const [program, script, ...args] = scripts['dev:sse']!.split(' ');
  expect(program).toBe('node');
  const project = createProject();
  const mark = marker();
  onTestFinished(() => killAll(mark));
  const port = await freePort();
  const env = { ...programEnv(project), ...mark.env, PORT: String(port), SWITCHBOARD_HTTP_TOKEN: TOKEN };
  const child = spawn(process.execPath, [join(ROOT, script!), ...args, '--no-build'], {
    cwd: project.dir,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exited = once(child, 'exit');
  const headers = { authorization: `Bearer ${TOKEN}` };
  const healthz = (): Promise<unknown> =>
    fetch(`http://127.0.0.1:${port}/status`, { headers }).then(
      (response) => response.json(),
      () => undefined,
    );
  const health = await until(healthz, { what: 'its health', seen: () => stderr });
  expect(health).toMatchObject({ status: 'ok', name: 'mcp-proxy-server', servers: 2 });
  child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await waitUntilGone(mark);
});
