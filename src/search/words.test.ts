import { expect, test } from 'vitest';
import { stem } from './stem.ts';
import { termsOf, termsWanted, type Term } from './terms.ts';
import { bareName, wordsOf } from './words.ts';

test('names are split into words however they are written', () => {
  for (const name of [
    'createPullRequest',
    'create_pull_request',
    'create-pull-request',
    'Create.Pull/Request',
  ])
    expect(wordsOf(name)).toEqual(['create', 'pull', 'request']);
  expect(wordsOf('getHTTPResponse2')).toEqual(['get', 'http', 'response', '2']);
  expect(wordsOf("what's the café's Größe? 日本語")).toEqual(['what', 'the', 'cafe', 'große', '日本語']);
  expect(bareName('Create_Issue')).toBe(bareName('createIssue'));
});

test('forms of a word have one stem', () => {
  for (const forms of [
    'create creates creating created creation',
    'delete deletes deleting deleted deletion',
    'query queries querying queried',
    'run runs running ran',
    'search searches searching searched',
    'use uses using used',
    'navigate navigates navigating navigation',
    'issue issues',
    'box boxes',
    'call calls calling called',
  ])
    expect(new Set(forms.split(' ').map(stem)).size).toBe(1);
  for (const word of ['status', 'address', 'dns', 'bus', 'this', 'kubernetes'])
    expect(stem(word)).toBe(stem(stem(word)));
  expect(stem('')).toBe('');
});

test('what means the same has a meaning in common', () => {
  const meanings = (text: string) => new Set(termsOf(text).flatMap((term) => term.meanings));
  for (const [a, b] of [
    ['repository', 'repo'],
    ['pull request', 'pr'],
    ['delete', 'get rid of'],
    ['screenshot', 'picture'],
    ['person', 'user'],
  ] as const)
    expect([...meanings(a)].some((each) => meanings(b).has(each))).toBe(true);
  expect(termsWanted('mkdir', 10).map((term) => term.stem)).toEqual(['mkdir', 'creat', 'directory']);
});

test('what people say means tools, and no tool means what people say', () => {
  const inCommon = (a: readonly Term[], b: readonly Term[]): boolean => {
    const meanings = new Set(a.flatMap((term) => term.meanings));
    return b.some((term) => term.meanings.some((each) => meanings.has(each)));
  };
  for (const [said, tool] of [
    ['throw that game off', 'uninstall'],
    ['a bakery around the corner', 'search places'],
    ['which builds fail only sometimes', 'flaky tests'],
  ] as const)
    expect([said, inCommon(termsWanted(said, 24), termsOf(tool))]).toEqual([said, true]);
  expect(inCommon(termsOf('bakery'), termsWanted('museum', 24))).toBe(false);
});
