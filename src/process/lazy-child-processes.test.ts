import { expect, onTestFinished, test } from 'vitest';
import { silentLogger } from '../shared/log.ts';
import { lazyChildProcesses, type LazyChildProcesses } from './lazy-child-processes.ts';
import type { SpawnOptions } from './spawnable.ts';

const WAITING: SpawnOptions = {
  name: 'server',
  command: process.execPath,
  args: ['-e', 'setInterval(() => undefined, 1000)'],
  cwd: process.cwd(),
  env: process.env as Record<string, string>,
};

function createLater(): LazyChildProcesses {
  const made = lazyChildProcesses({ log: silentLogger });
  onTestFinished(() => made.killAllNow());
  return made;
}

test('counts and stops what was started once it was loaded', async () => {
  const later = createLater();
  expect(later.size).toBe(0);
  const children = await later.load();
  expect(await later.load()).toBe(children);
  const child = children.spawn(WAITING);
  expect(later.size).toBe(1);
  // On Windows, a process that has just been started has to report whether anything is left.
  await later.stopAll({ term: 0, kill: process.platform === 'win32' ? 20_000 : 500 });
  expect(child.state.kind).toBe('exited');
  expect(later.size).toBe(0);
});

test.each(['stopAll', 'killAllNow'] as const)('after %s nothing is started', async (end) => {
  const later = createLater();
  await later[end]();
  const child = (await later.load()).spawn(WAITING);
  expect(child.state).toMatchObject({ kind: 'failed', error: { code: 'SHUTTING_DOWN' } });
});
