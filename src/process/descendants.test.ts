import { spawn } from 'node:child_process';
import { expect, onTestFinished, test } from 'vitest';
import { readyShape, shapeArgs } from '../../test/servers/shapes/watch.ts';
import { withDescendants } from './descendants.ts';

test.runIf(process.platform === 'linux')(
  'the descendants of a process come before it, nearest first',
  async () => {
    const leaf = "console.error('ready leaf ' + process.pid); setInterval(() => undefined, 1000);";
    const child = spawn(process.execPath, shapeArgs('npm-like', process.execPath, '-e', leaf), {
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    onTestFinished(() => void process.kill(-child.pid!, 'SIGKILL'));
    const ready = await readyShape(child.stderr);
    const tree = [...withDescendants(child.pid!)];
    expect(tree.at(-1)).toBe(child.pid);
    expect(tree.at(-2)).toBe(ready.find(({ role }) => role === 'leaf')!.pid);
    expect([...tree].sort()).toEqual(ready.map(({ pid }) => pid).sort());
  },
);

test('a process that is gone yields only itself', () => {
  expect([...withDescendants(2 ** 22 + 1)]).toEqual([2 ** 22 + 1]);
});
