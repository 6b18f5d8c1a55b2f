/** What a person meets in the first minutes. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
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
