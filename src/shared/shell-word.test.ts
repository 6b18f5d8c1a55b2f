import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { shellWord } from './shell-word.ts';

test.each(['main', 'feature/x', 'fix-1.2_b', 'größe', 'a+b', 'user@host:x'])('%j stays as it is', (name) => {
  expect(shellWord(name, 'linux')).toBe(name);
});

test
  .runIf(process.platform !== 'win32')
  .each([
    'a;echo no',
    'a b',
    "it's",
    '$HOME',
    '$(id)',
    '`id`',
    'a&b',
    'a|b',
    'a>b',
    '#1',
    '"x"',
    'a!b',
    '{a,b}',
    '(x)',
    '',
    '-n',
    '=ls',
    'größe',
  ])('a shell reads %j as one word and nothing else', (name) => {
  expect(execFileSync('sh', ['-c', `printf %s ${shellWord(name)}`]).toString()).toBe(name);
});

test.each([
  ['C:\\Users\\ada\\node.exe', 'C:\\Users\\ada\\node.exe'],
  ['C:\\Program Files\\nodejs\\npx.cmd', '"C:\\Program Files\\nodejs\\npx.cmd"'],
  ['a&calc', '"a&calc"'],
  ["it's", '"it\'s"'],
  ['@scope/name', '"@scope/name"'],
  ['%PATH%', "'%PATH%'"],
  ['$(calc)', "'$(calc)'"],
  ["'$x'", "'''$x'''"],
  ['C:\\a b\\', "'C:\\a b\\'"],
  ['', '""'],
])('on Windows %j becomes %s', (name, word) => {
  expect(shellWord(name, 'win32')).toBe(word);
});
