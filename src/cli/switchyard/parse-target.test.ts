import { expect, test } from 'vitest';
import { parseTarget } from './parse-target.ts';

const known = {
  services: ['api', 'web'],
  hasBranch: (name: string) => Promise.resolve(['feature/x', 'feature-x', 'web'].includes(name)),
  branches: () => Promise.resolve(['feature/x', 'web']),
};

const up = (words: string[], branch?: string) => ({ command: 'up', words, branch });

test('without words everything of the branch we stand in is meant', async () => {
  expect(await parseTarget(up([]), known)).toEqual({ branch: undefined, services: [] });
});

test('a first word that is a service is no branch', async () => {
  expect(await parseTarget(up(['api']), known)).toEqual({ branch: undefined, services: ['api'] });
  expect(await parseTarget(up(['API', 'web']), known)).toEqual({
    branch: undefined,
    services: ['API', 'web'],
  });
});

test('a first word that is a branch leaves the services to the others', async () => {
  expect(await parseTarget(up(['feature/x', 'web']), known)).toEqual({
    branch: 'feature/x',
    services: ['web'],
  });
});

test('with --branch every word is a service', async () => {
  expect(await parseTarget(up(['web'], 'feature/x'), known)).toEqual({
    branch: 'feature/x',
    services: ['web'],
  });
});

test('a word that is both is refused, and --branch is named', async () => {
  await expect(parseTarget(up(['web', 'api']), known)).rejects.toMatchObject({
    code: 'USAGE',
    message: '"web" is both a branch and a service.',
    hint: expect.stringContaining('up --branch BRANCH web api'),
  });
});

test('a slip of the finger is not taken for a branch', async () => {
  await expect(parseTarget(up(['wbe']), known)).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('"web"'),
  });
});

test('a word that is like nothing is a branch, about which others say more', async () => {
  expect(await parseTarget(up(['something-else']), known)).toEqual({
    branch: 'something-else',
    services: [],
  });
});

test('a branch whose worktree was deleted is that branch, not a slip of the finger', async () => {
  const gone = { ...known, hasBranch: () => Promise.resolve(false) };
  for (const [branch = ''] of [await known.branches()])
    expect(await parseTarget(up([branch]), gone)).toEqual({ branch, services: [] });
});

test('commands other than up refuse a word that nobody knows, and list the names there are', async () => {
  for (const [word, guess] of [
    ['wbe', 'Did you mean "web"? '],
    ['something-else', ''],
  ] as const)
    await expect(parseTarget({ ...up([word]), command: 'down' }, known)).rejects.toMatchObject({
      code: 'USAGE',
      message: `No service or worktree is called "${word}".`,
      hint: `${guess}Services: api, web. Branches: feature/x, web.`,
    });
});
