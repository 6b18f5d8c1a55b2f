import { expect, test } from 'vitest';
import { meantBy } from './meant-words.ts';

const known = {
  services: ['api', 'web'],
  hasBranch: (name: string) => Promise.resolve(['feature/x', 'feature-x', 'web'].includes(name)),
  branches: () => Promise.resolve(['feature/x', 'web']),
};

test('without words everything of the branch we stand in is meant', async () => {
  expect(await meantBy([], undefined, known)).toEqual({ branch: undefined, services: [] });
});

test('a first word that is a service is no branch', async () => {
  expect(await meantBy(['api'], undefined, known)).toEqual({ branch: undefined, services: ['api'] });
  expect(await meantBy(['API', 'web'], undefined, known)).toEqual({
    branch: undefined,
    services: ['API', 'web'],
  });
});

test('a first word that is a branch leaves the services to the others', async () => {
  expect(await meantBy(['feature/x', 'web'], undefined, known)).toEqual({
    branch: 'feature/x',
    services: ['web'],
  });
});

test('with --branch every word is a service', async () => {
  expect(await meantBy(['web'], 'feature/x', known)).toEqual({ branch: 'feature/x', services: ['web'] });
});

test('a word that is both is refused, and --branch is named', async () => {
  await expect(meantBy(['web', 'api'], undefined, known)).rejects.toMatchObject({
    code: 'USAGE',
    message: '"web" is a branch and a service.',
    hint: expect.stringContaining('up --branch BRANCH web api'),
  });
});

test('a slip of the finger is not taken for a branch', async () => {
  await expect(meantBy(['wbe'], undefined, known)).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('"web"'),
  });
});

test('a word that is like nothing is a branch, about which others say more', async () => {
  expect(await meantBy(['something-else'], undefined, known)).toEqual({
    branch: 'something-else',
    services: [],
  });
});

test('a branch whose worktree was deleted is that branch, not a slip of the finger', async () => {
  const gone = { ...known, hasBranch: () => Promise.resolve(false) };
  for (const [branch = ''] of [await known.branches()])
    expect(await meantBy([branch], undefined, gone)).toEqual({ branch, services: [] });
});
