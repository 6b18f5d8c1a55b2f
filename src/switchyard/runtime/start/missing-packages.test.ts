import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { missingPackages } from './missing-packages.ts';

let worktree: string;

beforeEach(() => {
  worktree = mkdtempSync(join(tmpdir(), 'packages-'));
});
afterEach(() => rmSync(worktree, { recursive: true, force: true }));

function write(name: string, content: unknown): void {
  writeFileSync(join(worktree, name), JSON.stringify(content));
}

test('missing packages are reported, with the install command', () => {
  write('package.json', { devDependencies: { vite: '*' } });
  expect(missingPackages(worktree)).toEqual([
    `${worktree} has no node_modules; run \`npm install\` there, then run this command again.`,
  ]);
  write('pnpm-lock.yaml', '');
  expect(missingPackages(worktree)[0]).toContain('`pnpm install`');
  write('package.json', { dependencies: { vite: '*' }, packageManager: 'yarn@4.0.0' });
  expect(missingPackages(worktree)[0]).toContain('`yarn install`');
});

test('nothing is reported if they are installed, in a parent, stored differently, or not needed', () => {
  expect(missingPackages(worktree)).toEqual([]);
  write('package.json', { dependencies: {} });
  expect(missingPackages(worktree)).toEqual([]);
  write('package.json', { dependencies: { vite: '*' } });
  write('.pnp.cjs', '');
  expect(missingPackages(worktree)).toEqual([]);
  rmSync(join(worktree, '.pnp.cjs'));
  mkdirSync(join(worktree, 'packages/web'), { recursive: true });
  write('packages/web/package.json', { dependencies: { vite: '*' } });
  expect(missingPackages(join(worktree, 'packages/web'))).toHaveLength(1);
  mkdirSync(join(worktree, 'node_modules'));
  expect(missingPackages(worktree)).toEqual([]);
  expect(missingPackages(join(worktree, 'packages/web'))).toEqual([]);
});
