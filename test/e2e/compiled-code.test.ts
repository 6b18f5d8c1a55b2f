import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProject, ROOT } from '../helpers/temp-project.ts';

/** Node 22.8 and newer. */
const canCache = 'enableCompileCache' in nodeModule;

test('compiled code is cached in the state directory if Node can, and nothing is written beside the program', () => {
  const dist = join(ROOT, 'dist');
  const before = readdirSync(dist, { recursive: true });
  const project = createProject();
  const state = project.path('state');
  const run = () =>
    spawnSync(process.execPath, [join(dist, 'switchyard.js'), 'skill', 'show'], {
      cwd: project.dir,
      env: { ...process.env, SWITCHBOARD_STATE_DIR: state, SWITCHYARD_HOME: project.path('home') },
      encoding: 'utf8',
    });
  mkdirSync(state, { mode: 0o700 });
  const first = run();
  expect(first).toMatchObject({ status: 0, stderr: '' });
  expect(run().stdout).toBe(first.stdout);
  expect(readdirSync(dist, { recursive: true })).toEqual(before);
  expect(existsSync(join(state, 'compiled-code'))).toBe(canCache);
});

test('nothing is cached in a directory that others can write to', () => {
  const project = createProject();
  const state = project.path('state');
  mkdirSync(state);
  chmodSync(state, 0o777);
  const { status } = spawnSync(process.execPath, [join(ROOT, 'dist/switchyard.js'), 'skill', 'show'], {
    cwd: project.dir,
    env: { ...process.env, SWITCHBOARD_STATE_DIR: state, SWITCHYARD_HOME: project.path('home') },
  });
  expect(status).toBe(0);
  const cache = join(state, 'compiled-code');
  expect(existsSync(cache) ? readdirSync(cache) : []).toEqual([]);
});

test.skipIf(!canCache)('the cache has the compiled functions of the code that a program starts with', () => {
  const project = createProject();
  const state = project.path('state');
  mkdirSync(state, { mode: 0o700 });
  const program = spawnSync(process.execPath, [join(ROOT, 'dist/switchyard.js'), 'skill', 'show'], {
    cwd: project.dir,
    env: { ...process.env, SWITCHBOARD_STATE_DIR: state, SWITCHYARD_HOME: project.path('home') },
  });
  expect(program.status).toBe(0);
  const cache = join(state, 'compiled-code');
  const files = readdirSync(cache, { recursive: true, withFileTypes: true }).filter((each) => each.isFile());
  const sizes = files.map((each) => statSync(join(each.parentPath, each.name)).size);
  // Without its functions, the code of that file takes less space than its source.
  const source = readdirSync(join(ROOT, 'dist/chunks'))
    .map((name) => join(ROOT, 'dist/chunks', name))
    .find((path) => readFileSync(path, 'utf8').includes('function yardMain('));
  expect(Math.max(...sizes)).toBeGreaterThan(1.5 * statSync(source!).size);
});
