import { expect, test } from 'vitest';
import { hiddenCharacters, Lookalikes } from './characters.ts';

const found = (tool: object): Promise<string[]> => hiddenCharacters(JSON.stringify(tool));

test('a text that is what it looks like is fine, emoji, accents and other scripts included', async () => {
  const description = 'Liest Größen – “quoted”, 日本語, हिन्दी, 👩‍💻 and ❤️.\r\n\tIndented.';
  expect(await found({ name: 'read', description, inputSchema: { type: 'object' } })).toEqual([]);
});

test('tag characters, zero width, bidirectional and terminal controls are told, with the place', async () => {
  const tags = Array.from('delete')
    .map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0)))
    .join('');
  expect(await found({ name: 'read', description: `Reads.${tags}` })).toEqual([
    'its description contains invisible characters: U+E0064 U+E0065 U+E006C U+E0074',
  ]);
  expect(await found({ name: 're\u200bad' })).toEqual(['its name contains invisible characters: U+200B']);
  expect(await found({ title: 'a\u202eb' })).toHaveLength(1);
  expect(await found({ description: 'a\u001b[8mhidden' })).toHaveLength(1);
  const schema = { type: 'object', properties: { ['p\u2060ath']: { description: 'x\ufeffy' } } };
  expect(await found({ inputSchema: schema })).toEqual([
    'a name in its inputSchema contains invisible characters: U+2060',
    'its inputSchema contains invisible characters: U+FEFF',
  ]);
});

test('only so much is told of a definition that is full of them', async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`k${at}`, 'a\u200bb']));
  expect(await found({ inputSchema: many })).toHaveLength(3);
});

test('a name that looks like that of another tool imitates it, and never the other way round', () => {
  const imitatedName = (name: string, others: readonly string[]): string | undefined => {
    const known = new Lookalikes([name]);
    for (const other of others) known.add(other);
    return known.imitatedBy(name);
  };
  expect(imitatedName('re\u0430d_file', ['write_file', 'read_file'])).toBe('read_file');
  expect(imitatedName('read_fi1e', ['read_file'])).toBe('read_file');
  expect(imitatedName('ｒead_file', ['read_file'])).toBe('read_file');
  expect(imitatedName('read_file', ['re\u0430d_file', 'read_fi1e', 'read_file'])).toBeUndefined();
  expect(imitatedName('search_v1', ['search'])).toBeUndefined();
});

test('other names are wanted only where one can imitate them', () => {
  expect(new Lookalikes(['read_file', 'Größe', 'list-2']).any).toBe(false);
  expect(new Lookalikes(['read_file', 'read_fi1e']).any).toBe(true);
});
