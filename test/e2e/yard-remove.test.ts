/** `remove` stops running services only with consent. */
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { hasTerminals, inTerminal } from '../helpers/yard-terminal.ts';
import { createYardWithProxy } from '../helpers/yard-with-proxy.ts';

const SERVICE = '[services.web]\ncommand = "sleep 86400"\n';

test('without a terminal, remove needs --yes to stop a running service', async () => {
  const yard = await createYardWithProxy(SERVICE);
  const { worktree } = await yard.ask('create', 'x');
  await yard.ask('up', 'x', '--no-wait');
  for (const args of [
    ['remove', 'x'],
    ['remove', 'x', '--json'],
  ]) {
    const refused = await yard.run(args);
    expect(refused.code).toBe(1);
    expect(refused.stdout + refused.stderr).toContain('Nothing was removed: web of x is running.');
    expect(refused.stdout + refused.stderr).toContain('switchyard remove x --yes');
  }
  expect(existsSync(worktree)).toBe(true);
  expect((await yard.ask('status')).services).toMatchObject([{ status: 'running' }]);
  expect((await yard.run(['remove', 'x', '--yes'])).stdout).toMatch(/^stopped web\nremoved /);
  expect(existsSync(worktree)).toBe(false);
  expect(yard.living()).toEqual([]);
  // Nothing runs, nothing to ask.
  await yard.ask('create', 'x');
  expect((await yard.run(['remove', 'x'])).code).toBe(0);
});

test('on a terminal, remove asks first', async (context) => {
  if (!hasTerminals()) return context.skip('script(1) is not installed, which gives it a terminal');
  const yard = await createYardWithProxy(SERVICE);
  const { worktree } = await yard.ask('create', 'x');
  await yard.ask('up', 'x', '--no-wait');
  const question = 'web of x is running. Stop and remove the worktree? [y/N]';
  expect(await inTerminal(yard, ['remove', 'x'], { question, answer: 'n' })).toContain('Nothing was removed');
  expect((await yard.ask('status')).services).toMatchObject([{ status: 'running' }]);
  expect(await inTerminal(yard, ['remove', 'x'], { question, answer: 'y' })).toContain('stopped web');
  expect(existsSync(worktree)).toBe(false);
  expect(yard.living()).toEqual([]);
});
