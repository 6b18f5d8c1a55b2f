/** What a person meets in the first minutes. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createHostHome, FILES } from '../helpers/host-home.ts';
import { startClient } from '../helpers/raw-client.ts';
import { programEnv, runProgram } from '../helpers/run-program.ts';
import { createProject, nodeServer, ROOT, serverPath } from '../helpers/temp-project.ts';

const CONFIG = 'switchboard.config.json';

test('a gateway that has just answered for the first time is found by add', async () => {
  const project = createProject({ [CONFIG]: { mcpServers: { one: nodeServer('echo') } } });
  const client = startClient({
    command: process.execPath,
    args: [join(ROOT, 'dist/index.js')],
    cwd: project.dir,
    env: programEnv(project),
  });
  await client.initialize();
  await client.listTools();
  const added = await runProgram(project, ['add', 'two', '--', process.execPath, serverPath('echo')]);
  expect(added.code).toBe(0);
  await client.waitFor(({ method }) => method === 'notifications/tools/list_changed');
  expect((await client.listTools()).map(({ name }) => name)).toContain('two_suite');
  await client.close();
});

test('install makes no file for a host that is not there, unless that is wanted', async () => {
  const at = createHostHome({ '.config/switchboard/switchboard.config.json': { mcpServers: {} } });
  const env = { PATH: '' };
  const before = at.files();
  const refused = await at.run(['install', 'cursor', 'vscode'], { env });
  expect(refused.code).toBe(1);
  expect(refused.stderr).toContain('VS Code was not found');
  expect(refused.stderr).toContain('--force');
  expect(at.files()).toEqual(before);
  const { json } = await at.run(['install', 'vscode', '--json'], { env });
  expect(json.error.code).toBe('HOST_NOT_FOUND');
  const insisted = await at.run(['install', 'vscode', '--force'], { env });
  expect(insisted.code).toBe(0);
  expect(at.read(FILES.vscode)).toContain('switchboard');
  // Its program is enough, although it has never been started.
  expect((await at.run(['install', 'cursor'])).code).toBe(0);
});
