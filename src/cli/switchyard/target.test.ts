import { expect, test } from 'vitest';
import { parseTarget } from './target.ts';

const known = {
  services: ['api', 'web'],
  hasBranch: (name: string) => Promise.resolve(['feature/x', 'feature-x', 'web'].includes(name)),
  branches: () => Promise.resolve(['feature/x', 'web']),
};

const up = (words: string[], branch?: string) => ({ command: 'up', words, branch });

test('without words, everything of the current branch is selected', async () => {
  expect(await parseTarget(up([]), known)).toEqual({ branch: undefined, services: [] });
});

test('a first word that is a service is not treated as a branch', async () => {
  expect(await parseTarget(up(['api']), known)).toEqual({ branch: undefined, services: ['api'] });
  expect(await parseTarget(up(['API', 'web']), known)).toEqual({
    branch: undefined,
    services: ['API', 'web'],
  });
});

test('after a branch, the other words are services', async () => {
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

test('a word that is both is rejected with a hint about --branch', async () => {
  await expect(parseTarget(up(['web', 'api']), known)).rejects.toMatchObject({
    code: 'USAGE',
    message: '"web" is both a branch and a service.',
    hint: expect.stringContaining('up --branch BRANCH web api'),
  });
});

test('a typo is not treated as a branch', async () => {
  await expect(parseTarget(up(['wbe']), known)).rejects.toMatchObject({
    code: 'USAGE',
    hint: expect.stringContaining('"web"'),
  });
});

test('a word that resembles nothing is a branch, which others report on', async () => {
  expect(await parseTarget(up(['something-else']), known)).toEqual({
    branch: 'something-else',
    services: [],
  });
});

test('a branch whose worktree was deleted is that branch, not a typo', async () => {
  const gone = { ...known, hasBranch: () => Promise.resolve(false) };
  for (const [branch = ''] of [await known.branches()])
    expect(await parseTarget(up([branch]), gone)).toEqual({ branch, services: [] });
});

test('commands other than up reject an unknown word and list the known names', async () => {
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
