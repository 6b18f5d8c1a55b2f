import { expect, test } from 'vitest';
import { parseMarkdown } from './parse.ts';

test('the blocks that tools return are read', () => {
  const text = '# Title\n\nOne\ntwo\n\n- a\n- b\n  1. c\n\n> quoted\n\n```js\n# no heading\n```\n---\n';
  expect(parseMarkdown(text)).toEqual([
    { kind: 'heading', level: 1, text: ['Title'] },
    { kind: 'paragraph', text: ['One\ntwo'] },
    {
      kind: 'list',
      start: null,
      items: [
        [{ kind: 'paragraph', text: ['a'] }],
        [
          { kind: 'paragraph', text: ['b'] },
          { kind: 'list', start: 1, items: [[{ kind: 'paragraph', text: ['c'] }]] },
        ],
      ],
    },
    { kind: 'quote', blocks: [{ kind: 'paragraph', text: ['quoted'] }] },
    { kind: 'code', language: 'js', text: '# no heading' },
    { kind: 'rule' },
  ]);
});

test('tables have as many cells per row as columns', () => {
  expect(parseMarkdown('| a | b |\n|---|--:|\n| 1 | `x\\|y` | 3 |\n')).toEqual([
    { kind: 'table', head: [['a'], ['b']], rows: [[['1'], [{ kind: 'code', text: 'x|y' }]]] },
  ]);
});

const inline = (text: string): unknown => (parseMarkdown(text)[0] as { text: unknown }).text;

test('parts of a line are read, and names with underscores stay whole', () => {
  expect(inline('a **b *c*** `d` ~~e~~ read_text_file _f_')).toEqual([
    'a ',
    expect.objectContaining({ kind: 'strong' }),
    expect.anything(),
    { kind: 'code', text: 'd' },
    ' ',
    { kind: 'struck', text: ['e'] },
    ' read_text_file ',
    { kind: 'emphasis', text: ['f'] },
  ]);
});

test('only addresses of the web become links, and HTML stays text', () => {
  expect(inline('[a](https://example.com) [b](javascript:alert(1)) see https://example.org/x.')).toEqual([
    { kind: 'link', href: 'https://example.com', text: ['a'] },
    expect.stringMatching(/^ /),
    'b',
    expect.stringContaining(' see '),
    { kind: 'link', href: 'https://example.org/x', text: ['https://example.org/x'] },
    '.',
  ]);
  expect(inline('<img src=x onerror=alert(1)>')).toEqual(['<img src=x onerror=alert(1)>']);
});

// If the time grew faster than the text, these would exceed the time limit of the test.
test('text that is made to be slow is read', () => {
  for (const part of [
    '[',
    '![',
    '**',
    '*a',
    '`',
    '> ',
    '- ',
    '|a',
    '_',
    'https://',
    '\\',
    '['.repeat(10) + '](',
  ]) {
    expect(parseMarkdown(part.repeat(20_000))).not.toEqual([]);
    expect(parseMarkdown(`${part}\n`.repeat(5_000))).not.toEqual([]);
  }
});
