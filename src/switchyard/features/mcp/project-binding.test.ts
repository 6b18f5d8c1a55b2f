import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { yardRepository, type YardRepository } from '../../../../test/helpers/yard-repository.ts';
import { openContext } from '../../records/project/context.ts';
import { homeOf } from '../../records/state/home.ts';
import { openRegistry } from '../../records/state/registry.ts';
import { createWorktree } from '../worktrees/create.ts';
import { openBoundProject, bindProject } from './project-binding.ts';

async function worktreeOf(yard: YardRepository, branch: string): Promise<string> {
  const context = openContext({ cwd: yard.root, env: yard.env });
  return (await createWorktree(context, { branch })).worktree;
}

async function register(yard: YardRepository, alias: string, root: string): Promise<void> {
  await openRegistry(homeOf(yard.env)).change((state) => {
    state.project_aliases[alias] = root;
  });
}

test('a server started anywhere in a project serves its root', () => {
  const yard = yardRepository();
  yard.write('packages/web/a.txt', '');
  const bound = bindProject({ directory: join(yard.root, 'packages/web') }, yard.env);
  expect(bound).toEqual({ root: yard.root, cwd: yard.root, found: true });
  expect(existsSync(yard.home)).toBe(false);
});

test('in a worktree it serves the project, and calls default to the worktree', async () => {
  const yard = yardRepository();
  const worktree = await worktreeOf(yard, 'feature/x');
  expect(bindProject({ directory: worktree }, yard.env)).toEqual({
    root: yard.root,
    cwd: worktree,
    found: true,
  });
});

test('a worktree made by another tool counts too', () => {
  const yard = yardRepository();
  const elsewhere = join(yard.folder, 'elsewhere');
  yard.git('worktree', 'add', '-q', '-b', 'other', elsewhere);
  const bound = bindProject({ directory: elsewhere }, yard.env);
  expect(bound).toEqual({ root: yard.root, cwd: elsewhere, found: true });
  expect(openBoundProject(bound, yard.env).cwd).toBe(elsewhere);
});

test('a directory that only claims to be a worktree is outside', () => {
  const yard = yardRepository();
  yard.git('worktree', 'add', '-q', '-b', 'other', join(yard.folder, 'elsewhere'));
  const claims = join(yard.folder, 'claims');
  mkdirSync(claims);
  writeFileSync(join(claims, '.git'), readFileSync(join(yard.folder, 'elsewhere/.git')));
  const bound = bindProject({ directory: yard.root }, yard.env);
  expect(() => openBoundProject(bound, yard.env, { cwd: claims })).toThrow(
    'cwd must stay under MCP server root',
  );
});

test('without a project calls fail, until there is one', () => {
  const yard = yardRepository();
  const empty = join(yard.folder, 'empty');
  mkdirSync(empty);
  const bound = bindProject({ directory: empty }, yard.env);
  expect(bound).toEqual({ root: empty, cwd: empty, found: false });
  expect(() => openBoundProject(bound, yard.env)).toThrow(`Could not find switchyard.toml from ${empty}`);
  writeFileSync(join(empty, 'switchyard.toml'), '[services.a]\ncommand = "a"\n');
  expect(bindProject({ directory: empty }, yard.env).found).toBe(true);
});

test('a worktree whose project is gone is not a project', async () => {
  const yard = yardRepository();
  const worktree = await worktreeOf(yard, 'x');
  rmSync(join(yard.root, 'switchyard.toml'));
  expect(() => bindProject({ directory: worktree }, yard.env)).toThrow('no longer has switchyard.toml');
});

test('a registered name selects its project from anywhere', async () => {
  const yard = yardRepository();
  const worktree = await worktreeOf(yard, 'x');
  await register(yard, 'shop', yard.root);
  const at = (directory: string) => bindProject({ directory, alias: 'shop' }, yard.env);
  expect(at(yard.folder)).toEqual({ root: yard.root, cwd: yard.root, found: true });
  expect(at(worktree)).toEqual({ root: yard.root, cwd: worktree, found: true });
});

test('a registered name must be valid, known, and point to a directory with the file', async () => {
  const yard = yardRepository();
  await register(yard, 'below', join(yard.root, 'below'));
  const at = (alias: string) => () => bindProject({ directory: yard.root, alias }, yard.env);
  expect(at('a/b')).toThrow('only letters, numbers, underscores and dashes');
  expect(at('nobody')).toThrow("Unknown MCP project 'nobody'; run `switchyard mcp install --name nobody`");
  expect(at('constructor')).toThrow("Unknown MCP project 'constructor'");
  expect(at('below')).toThrow('no longer has switchyard.toml; rerun');
});

test('a configured project is a path if it exists, otherwise a registered name', async () => {
  const yard = yardRepository();
  await register(yard, 'shop', yard.root);
  const named = (project: string) => bindProject({ directory: yard.folder, project }, yard.env);
  expect(named('shop').root).toBe(yard.root);
  rmSync(join(yard.root, 'switchyard.toml'));
  expect(named('shop').found).toBe(false);
  mkdirSync(join(yard.folder, 'other'));
  await register(yard, 'more', join(yard.folder, 'other'));
  expect(() => named('more')).toThrow('no longer has');
  expect(() => named('./nothing')).toThrow(`Directory not found: ${join(yard.folder, 'nothing')}`);
});

test('calls are confined to the project and its worktrees', async () => {
  const yard = yardRepository();
  const worktree = await worktreeOf(yard, 'feature/x');
  yard.write('web/a.txt', '');
  symlinkSync('/', join(yard.root, 'out'));
  const bound = bindProject({ directory: yard.root }, yard.env);
  const cwd = (given: string | undefined) => openBoundProject(bound, yard.env, { cwd: given }).cwd;
  expect(cwd(undefined)).toBe(yard.root);
  expect(cwd('web')).toBe(join(yard.root, 'web'));
  expect(cwd(worktree)).toBe(worktree);
  const outside = `cwd must stay under MCP server root or a registered worktree: ${yard.root}`;
  for (const given of ['..', '/', yard.folder, 'out/tmp', '~', `${yard.root}-other`])
    expect(() => cwd(given)).toThrow(outside);
  expect(() => cwd('nothing')).toThrow('The cwd is not a directory');
});

test('a file in a subdirectory never replaces that of the project', () => {
  const yard = yardRepository();
  yard.write('nested/switchyard.toml', '[project]\nname = "nested"\n[services.a]\ncommand = "a"\n');
  const bound = bindProject({ directory: yard.root }, yard.env);
  expect(openBoundProject(bound, yard.env, { cwd: 'nested' }).config.name).toBe('shop');
});
