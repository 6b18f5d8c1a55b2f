import { expect, test } from 'vitest';
import { spellOutPackage } from './bare-package.ts';

const spellOut = (...words: string[]) => spellOutPackage({ flags: new Map(), lists: new Map(), words }).words;

test.each([
  ['@modelcontextprotocol/server-memory', 'memory'],
  ['@modelcontextprotocol/server-sequential-thinking', 'sequential-thinking'],
  ['@playwright/mcp', 'playwright'],
  ['@playwright/mcp@latest', 'playwright'],
  ['@upstash/context7-mcp@1.2.3', 'context7'],
  ['@notionhq/notion-mcp-server', 'notion'],
  ['firecrawl-mcp', 'firecrawl'],
])('the package %s alone is started with npx and called %s', (word, name) => {
  expect(spellOut(word)).toEqual([name, 'npx', '-y', word]);
});

test('a reference server in Python is started with uvx', () => {
  expect(spellOut('mcp-server-fetch')).toEqual(['fetch', 'uvx', 'mcp-server-fetch']);
  expect(spellOut('mcp-server-git@2025.1.1')).toEqual(['git', 'uvx', 'mcp-server-git@2025.1.1']);
});

test('a package may have a name of its own, and arguments', () => {
  expect(spellOut('notes', '@x/mcp-notes', '/tmp')).toEqual(['notes', 'npx', '-y', '@x/mcp-notes', '/tmp']);
  expect(spellOut('@x/server-files', '/tmp')).toEqual(['files', 'npx', '-y', '@x/server-files', '/tmp']);
});

test('an address alone is named after its host', () => {
  const given = { flags: new Map(), lists: new Map(), words: ['https://mcp.sentry.dev/mcp'] };
  expect(spellOutPackage(given)).toMatchObject({
    words: ['sentry'],
    flags: new Map([['url', given.words[0]]]),
  });
  expect(spellOut('http://127.0.0.1:3000/sse')).toEqual(['local']);
});

test('any other word alone is a name whose command is missing, and is not run', () => {
  for (const word of ['memory', './mcp.js', 'mcp.js', '@scope', 'a/b'])
    expect(spellOut(word)).toEqual([word]);
  expect(spellOut('mcp-x', 'node', 'a.js')).toEqual(['mcp-x', 'node', 'a.js']);
});
