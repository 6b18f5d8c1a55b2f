import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../config/index.ts';
import type { ConsoleEvent } from '../../../console/index.ts';
import { writeStateFile } from '../gateway/state-file.ts';
import { GatewayLinks } from './gateway-links.ts';

test('a gateway that starts while the others are looked for is not missed', async () => {
  const project = createProject({ 'switchboard.config.json': { mcpServers: {} } });
  const config = await loadConfig({ cwd: project.dir, env: {} });
  const stateDirectory = project.path('state');
  await writeStateFile(stateDirectory, { config, program: 'switchboard', servers: [] });
  const file = project.path('state/run', `${process.pid}.json`);
  const content = readFileSync(file);
  rmSync(file);

  const heard: ConsoleEvent[] = [];
  const links = new GatewayLinks({ stateDirectory, events: (events) => void heard.push(...events) });
  onTestFinished(() => links.close());
  const opening = links.open();
  writeFileSync(file, content, { mode: 0o600 });
  await opening;
  expect(heard).toMatchObject([{ type: 'gateway', gateway: { pid: process.pid } }]);
});
