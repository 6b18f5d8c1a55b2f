import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig, type LoadedConfig } from '../../../config/index.ts';
import { openControlChannel } from './control-channel.ts';
import { configPaths, notifyGateways, notifiedText } from './notify-gateways.ts';
import { makeRunDirectory, removeStateFile, writeStateFile } from './state-file.ts';

async function setUp(): Promise<{
  readonly state: string;
  readonly config: LoadedConfig;
  readonly notify: (reason?: string) => ReturnType<typeof notifyGateways>;
}> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: {} } });
  const config = await loadConfig({ cwd: project.dir, env: {} });
  const state = project.path('state');
  const env = { SWITCHBOARD_STATE_DIR: state };
  return { state, config, notify: (reason) => notifyGateways(configPaths(config), { env }, reason) };
}

const us = { pid: process.pid, program: 'switchboard' };

test('a gateway is asked through its control channel, unless there is a reason not to', async () => {
  const { state, config, notify } = await setUp();
  let reloads = 0;
  const control = await openControlChannel(await makeRunDirectory(state), {
    reload: () => reloads++,
  });
  await writeStateFile(state, { config, program: us.program, control: control.address, servers: [] });
  expect(await notify('--no-reload')).toEqual([{ ...us, told: false, reason: '--no-reload' }]);
  expect(reloads).toBe(0);
  expect(await notify()).toEqual([{ ...us, told: true }]);
  expect(reloads).toBe(1);
  control.close();
  await removeStateFile(state);
});

describe('a gateway that cannot be asked', () => {
  const nowhere = { path: '\\\\.\\pipe\\switchboard-nowhere', token: 'x' };

  test.runIf(process.platform !== 'win32').each([
    ['has no control channel', undefined],
    ['has lost it', nowhere],
  ])('because it %s gets SIGHUP', async (_why, control) => {
    const { state, config, notify } = await setUp();
    await writeStateFile(state, { config, program: us.program, control, servers: [] });
    const signalled = once(process, 'SIGHUP');
    expect(await notify()).toEqual([{ ...us, told: true }]);
    await signalled;
    await removeStateFile(state);
  });

  test.runIf(process.platform === 'win32')(
    'is left out on Windows where its pipe is gone: another program has its pid',
    async () => {
      const { state, config, notify } = await setUp();
      await writeStateFile(state, { config, program: us.program, control: nowhere, servers: [] });
      expect(await notify()).toEqual([]);
      await removeStateFile(state);
    },
  );
});

test('says which gateways were notified and which were not, and why', () => {
  expect(notifiedText([])).toMatch(/^No gateway is running with this configuration/);
  const told = { pid: 1, program: 'switchboard', told: true };
  expect(notifiedText([told, { ...told, pid: 2, told: false, reason: 'kill EPERM' }])).toBe(
    'Reload signal sent to switchboard, pid 1.\nNo reload signal sent to switchboard, pid 2 (kill EPERM).\n',
  );
});
