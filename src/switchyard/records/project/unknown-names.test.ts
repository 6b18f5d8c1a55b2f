import { expect, test } from 'vitest';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import { yardRepository } from '../../../../test/helpers/yard-repository.ts';
import { openContext } from './context.ts';
import { unknownNames } from './unknown-names.ts';

test('an unknown service is reported, with a suggestion or all names', async () => {
  const { context, record } = await testYard();
  await record({ service: 'database', port: 9 });
  expect(await unknownNames(context, { services: ['WEB', 'database'] })).toEqual([]);
  expect(await unknownNames(context, { services: ['wbe', 'web', 'xxxxxx'] })).toEqual([
    'Service "wbe" not found. Did you mean "web"?',
    'Service "xxxxxx" not found. Available: web, database.',
  ]);
});

test('a branch is known by its worktree, its services, and as that of the project', async () => {
  const { root, env, folder, git } = yardRepository();
  git('worktree', 'add', '-q', '-b', 'by/hand', `${folder}/hand`);
  const context = openContext({ cwd: root, env });
  const own = git('branch', '--show-current');
  for (const branch of [own, 'by/hand', 'by-hand'])
    expect(await unknownNames(context, { branch }), branch).toEqual([]);
  expect(await unknownNames(context, { branch: 'by/hnad', services: ['wbe'] })).toEqual([
    'No worktree found for branch "by/hnad". Did you mean "by/hand"?',
    'Service "wbe" not found. Did you mean "web"?',
  ]);
  expect(await unknownNames(context, { branch: 'something' })).toEqual([
    'No worktree found for branch "something". `switchyard create something` creates one.',
  ]);
  // Without git, branches cannot be checked, and nothing is reported.
  expect(await unknownNames({ ...context, env: { ...env, PATH: folder } }, { branch: 'something' })).toEqual(
    [],
  );
});

test('without a repository any branch is accepted', async () => {
  const { context } = await testYard();
  expect(await unknownNames(context, { branch: 'whatever' })).toEqual([]);
});
