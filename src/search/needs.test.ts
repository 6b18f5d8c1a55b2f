import { expect, test } from 'vitest';
import { needsIn } from './needs.ts';

test('semicolons, lines and "then" separate needs', () => {
  expect(needsIn('create a branch; push files then open a pull request\nmerge')).toEqual([
    'create a branch',
    'push files',
    'open a pull request',
    'merge',
  ]);
  expect(needsIn(' ; ')).toEqual([';']);
  expect(needsIn('a;'.repeat(100))).toHaveLength(4);
});

test('commas and "and" separate what could be asked for by itself', () => {
  for (const [query, needs] of [
    ['create a branch and push the files', ['create a branch', 'push the files']],
    [
      'create a branch, push the files, and open a pull request',
      ['create a branch', 'push the files', 'open a pull request'],
    ],
    [
      'please close the ticket and also tell the team in Slack',
      ['please close the ticket', 'tell the team in Slack'],
    ],
    [
      'who changed this file lately and what did they say in the review',
      ['who changed this file lately', 'what did they say in the review'],
    ],
    ['list open issues and post a message', ['list open issues', 'post a message']],
    [
      'search and replace text in a file and run the tests',
      ['search and replace text in a file', 'run the tests'],
    ],
  ] as const)
    expect(needsIn(query)).toEqual(needs);
});

test('what belongs together stays together', () => {
  for (const query of [
    'search and replace',
    'search and replace text in a file',
    'read and write files',
    'drag and drop a file on the page',
    'click, type and scroll',
    'take a screenshot and save it',
    'create an issue and assign it to Tom',
    'list issues and pull requests',
    'get comments and review threads',
    'files and folders with their sizes, newest first',
    'cpu and memory of the pods',
    'what and where',
    'salt and pepper',
    'send "hello and delete the branch; then go" to the channel',
  ])
    expect(needsIn(query)).toEqual([query]);
});

test('a name is not split', () => {
  const names = new Set(['fill the form and submit the form']);
  const isName = (text: string): boolean => names.has(text);
  expect(needsIn('fill the form and submit the form', isName)).toHaveLength(1);
  expect(needsIn('fill the form and submit the form')).toHaveLength(2);
});
