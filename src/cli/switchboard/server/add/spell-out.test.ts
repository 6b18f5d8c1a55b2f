import { expect, test } from 'vitest';
import { parseArguments } from '../../../kit/arguments.ts';
import { addCommand } from './add.ts';
import { spellOutPasted, spellOutPackage } from './spell-out.ts';

const spellOut = (...argv: string[]) => spellOutPasted(argv, [{ name: 'user', summary: '' }]);

test('a program with variables and arguments', () => {
  const expected = ['x', '--env=A=1', '--env=B=2', '--', 'npx', '-y', 'pkg', '-e', 'z'];
  const tail = ['--', 'npx', '-y', 'pkg', '-e', 'z'];
  expect(spellOut('claude', 'mcp', 'add', 'x', '-e', 'A=1', '--env', 'B=2', ...tail)).toEqual(expected);
  expect(spellOut('claude', 'mcp', 'add', '--env', 'A=1', 'B=2', 'x', ...tail)).toEqual(expected);
  expect(spellOut('gemini', 'mcp', 'add', '--env=A=1', '-e', 'B=2', 'x', ...tail.slice(1))).toEqual(expected);
});

test('an address with a transport and headers, flags before and behind it', () => {
  expect(
    spellOut(
      ...['claude', 'mcp', 'add', '--transport', 'http', 'x', 'https://x.test/mcp'],
      ...['-H', 'A: 1', '--header', 'B: 2'],
    ),
  ).toEqual(['x', '--url=https://x.test/mcp', '--transport=http', '--header=A: 1', '--header=B: 2']);
  expect(
    spellOut('codex', 'mcp', 'add', 'x', '--url', 'https://x.test', '--bearer-token-env-var', 'T'),
  ).toEqual(['x', '--url=https://x.test', '--header=Authorization: Bearer ${T}']);
});

test('the scope becomes ours where there is the same one', () => {
  expect(spellOut('claude', 'mcp', 'add', '-s', 'user', 'x', '--', 'a')).toEqual(['x', '--user', '--', 'a']);
  expect(spellOut('claude', 'mcp', 'add', '--scope', 'local', 'x', '--', 'a')).toEqual(['x', '--', 'a']);
});

test('our own flags may precede it', () => {
  expect(spellOut('--dry-run', 'claude', 'mcp', 'add', 'x', '--', 'a')).toEqual([
    '--dry-run',
    'x',
    '--',
    'a',
  ]);
});

test('the line may be one word, quoted as for a shell', () => {
  expect(spellOut(`claude mcp add x -e 'A=b c' -e B="d \\"e\\"" -- node a\\ b.js`)).toEqual([
    ...['x', '--env=A=b c', '--env=B=d "e"', '--', 'node', 'a b.js'],
  ]);
});

test('what is no such line stays as it is', () => {
  const argv = ['claude', '--', 'claude', 'mcp', 'add'];
  expect(spellOut(...argv)).toEqual(argv);
  expect(spellOut('x', 'node', 'a.js')).toEqual(['x', 'node', 'a.js']);
});

test('a flag that add has nothing like is refused by name, without its value', () => {
  expect(() => spellOut('claude', 'mcp', 'add', '--client-secret=s3cret', 'x')).toThrow(
    'The pasted command has an unknown flag "--client-secret".',
  );
});

test('add understands what comes out', () => {
  const argv = addCommand.spellOut!(['claude', 'mcp', 'add', 'x', '-e', 'A=1', '--', 'npx', '-y', 'pkg']);
  const { words, lists } = parseArguments(argv, addCommand.flags, addCommand.commandAt);
  expect(words).toEqual(['x', 'npx', '-y', 'pkg']);
  expect(lists.get('env')).toEqual(['A=1']);
});

const named = (...words: string[]) => spellOutPackage({ flags: new Map(), lists: new Map(), words }).words;

test.each([
  ['@modelcontextprotocol/server-memory', 'memory'],
  ['@modelcontextprotocol/server-sequential-thinking', 'sequential-thinking'],
  ['@playwright/mcp', 'playwright'],
  ['@playwright/mcp@latest', 'playwright'],
  ['@upstash/context7-mcp@1.2.3', 'context7'],
  ['@notionhq/notion-mcp-server', 'notion'],
  ['firecrawl-mcp', 'firecrawl'],
])('the package %s alone is started with npx and called %s', (word, name) => {
  expect(named(word)).toEqual([name, 'npx', '-y', word]);
});

test('a reference server in Python is started with uvx', () => {
  expect(named('mcp-server-fetch')).toEqual(['fetch', 'uvx', 'mcp-server-fetch']);
  expect(named('mcp-server-git@2025.1.1')).toEqual(['git', 'uvx', 'mcp-server-git@2025.1.1']);
});

test('a package may have a name of its own, and arguments', () => {
  expect(named('notes', '@x/mcp-notes', '/tmp')).toEqual(['notes', 'npx', '-y', '@x/mcp-notes', '/tmp']);
  expect(named('@x/server-files', '/tmp')).toEqual(['files', 'npx', '-y', '@x/server-files', '/tmp']);
});

test('an address alone is named after its host', () => {
  const given = { flags: new Map(), lists: new Map(), words: ['https://mcp.sentry.dev/mcp'] };
  expect(spellOutPackage(given)).toMatchObject({
    words: ['sentry'],
    flags: new Map([['url', given.words[0]]]),
  });
  expect(named('http://127.0.0.1:3000/sse')).toEqual(['local']);
});

test('any other word alone is a name whose command is missing, and is not run', () => {
  for (const word of ['memory', './mcp.js', 'mcp.js', '@scope', 'a/b']) expect(named(word)).toEqual([word]);
  expect(named('mcp-x', 'node', 'a.js')).toEqual(['mcp-x', 'node', 'a.js']);
});
