import { encode } from 'gpt-tokenizer';
import { describe, expect, test } from 'vitest';
import { KeptResult, type KeptResultFacts } from './kept-result.ts';
import type { ResultSelection } from './notices.ts';
import { readResult } from './read-result.ts';
import { partInUri } from './selection.ts';

const MAX_TOKENS = 500;

function keep(text: string, facts: Partial<KeptResultFacts> = {}): KeptResult {
  const lines = text.split('\n').length;
  const all = { length: text.length, lines, items: [0], maxTokens: MAX_TOKENS, minify: false, ...facts };
  return new KeptResult('0123456789', all, 'utf16le', {
    kind: 'memory',
    bytes: Buffer.from(text, 'utf16le'),
  });
}

function read(text: string | KeptResult, selection: ResultSelection = {}): Promise<string> {
  return readResult(typeof text === 'string' ? keep(text) : text, selection, 'action');
}

/** The request that a reading names as the next one. */
function nextOf(text: string): { readonly before: string; readonly next: ResultSelection } | undefined {
  const found = /^([^]*?)\n?\[[^\n]*To go on: (\{.*\})\]$/.exec(text);
  if (found === null) return undefined;
  const { action, result, ...next } = JSON.parse(found[2]!) as ResultSelection & {
    action: string;
    result: string;
  };
  expect({ action, result }).toEqual({ action: 'read', result: '0123456789' });
  return { before: found[1]!, next };
}

const LINES = Array.from({ length: 5000 }, (_, at) => `line ${at + 1}`).join('\n');

describe('lines', () => {
  test.each([
    ['2-4', 'line 2\nline 3\nline 4'],
    ['7', 'line 7'],
    ['4999-', 'line 4999\nline 5000'],
    ['-2', 'line 4999\nline 5000'],
    ['4998-9999', 'line 4998\nline 4999\nline 5000'],
    [' 2 - 3 ', 'line 2\nline 3'],
    ['1-1', 'line 1'],
    ['2001', 'line 2001'],
  ])('%s', async (lines, text) => {
    expect(await read(LINES, { lines })).toBe(text);
  });

  test.each(['', 'x', '5-2', '6000-', '1,2', '1-2-3', '-', '9'.repeat(40)])('refuses %j', async (lines) => {
    await expect(read(LINES, { lines })).rejects.toMatchObject({ code: 'RESULT_SELECTION_INVALID' });
  });

  test('more than there is room for come in parts, which together are all', async () => {
    let selection: ResultSelection = { lines: '1-' };
    const lines: string[] = [];
    for (let part = 0; part < 100; part++) {
      const text = await read(LINES, selection);
      expect(encode(text).length).toBeLessThanOrEqual(MAX_TOKENS);
      const more = nextOf(text);
      lines.push(more?.before ?? text);
      if (more === undefined) break;
      selection = more.next;
    }
    expect(lines.join('\n')).toBe(LINES);
  });

  test('a line that is too long is read on by characters', async () => {
    const text = `first\n${'long '.repeat(20_000)}\nlast`;
    const more = nextOf(await read(text, { lines: '2' }));
    expect(more?.before.startsWith('long long')).toBe(true);
    expect(Object.keys(more?.next ?? {})).toEqual(['chars']);
    const from = Number(/^\d+/.exec(more?.next.chars ?? '')?.[0]);
    expect(text.slice(6, from - 1)).toBe(more?.before);
  });

  test('far into a long text', async () => {
    const text = Array.from({ length: 300_000 }, (_, at) => `${at + 1}`).join('\n');
    const kept = keep(text);
    for (const line of ['1', '999', '1000', '1001', '123456', '299999', '300000'])
      expect(await read(kept, { lines: line })).toBe(line);
  });
});

describe('characters', () => {
  test.each([
    ['1-6', 'line 1'],
    ['6-6', '1'],
    ['-4', '5000'],
  ])('%s', async (chars, text) => {
    expect(await read(LINES, { chars })).toBe(text);
  });

  test('are never cut inside one', async () => {
    const text = 'a😀b👩‍👩‍👧‍👦c';
    expect(await read(text, { chars: '2-2' })).toBe('😀');
    expect(await read(text, { chars: '3' })).toBe('😀');
    expect(await read(text, { chars: '5-6' })).toBe('👩‍👩‍👧‍👦');
  });

  test.each([
    'word '.repeat(30_000),
    '网关😀'.repeat(5000),
    '\ud800'.repeat(5000),
    ' '.repeat(60_000),
    'x\n'.repeat(9000),
  ])('more than there is room for come in parts, which together are all', async (whole) => {
    let selection: ResultSelection = { chars: '1-' };
    let from = 0;
    for (let part = 0; part < 1000; part++) {
      const text = await read(whole, selection);
      expect(encode(text).length).toBeLessThanOrEqual(MAX_TOKENS);
      const more = nextOf(text);
      if (more === undefined) {
        expect(text).toBe(whole.slice(from));
        return;
      }
      const next = Number(/^\d+/.exec(more.next.chars ?? '')?.[0]) - 1;
      expect(next).toBeGreaterThan(from);
      expect(text.startsWith(whole.slice(from, next))).toBe(true);
      from = next;
      selection = more.next;
    }
    throw new Error('It has no end');
  });
});

describe('a pattern', () => {
  test('gives the lines that match, with their numbers', async () => {
    expect(await read(LINES, { pattern: 'LINE'.toLowerCase() + ' 49\\d\\d$', lines: '4990-' })).toBe(
      Array.from({ length: 10 }, (_, at) => `${4990 + at}: line ${4990 + at}`).join('\n'),
    );
    expect(await read(LINES, { pattern: 'line 1234' })).toBe('1234: line 1234');
    expect(await read(LINES, { pattern: 'nothing' })).toBe('[No line matches "nothing".]');
  });

  test('with more matches than there is room for says how to go on', async () => {
    let selection: ResultSelection = { pattern: 'line \\d*5$' };
    const found: string[] = [];
    for (let part = 0; part < 100; part++) {
      const text = await read(LINES, selection);
      expect(encode(text).length).toBeLessThanOrEqual(MAX_TOKENS);
      const more = nextOf(text);
      found.push(...(more?.before ?? text).split('\n'));
      if (more === undefined) break;
      selection = more.next;
    }
    expect(found).toEqual(
      LINES.split('\n').flatMap((line, at) => (line.endsWith('5') ? [`${at + 1}: ${line}`] : [])),
    );
  });

  test('shows of a long line what is around the match, and where that is', async () => {
    const text = `x\n${'a'.repeat(300_000)}needle${'b'.repeat(300_000)}\ny`;
    const shown = await read(text, { pattern: 'need+le' });
    const [, from, to, excerpt] = /^2 \(characters (\d+)-(\d+)\): …(.*)…$/.exec(shown) ?? [];
    expect(excerpt).toContain('needle');
    expect(text.slice(Number(from) - 1, Number(to))).toBe(excerpt);
  });

  test('that would take forever is given up, while everything else goes on', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 5);
    try {
      await expect(read(`${'a'.repeat(60)}b`, { pattern: '^(a+)+$' })).rejects.toMatchObject({
        code: 'GREP_TIMEOUT',
      });
    } finally {
      clearInterval(timer);
    }
    expect(turns).toBeGreaterThan(20);
  });

  test('may find the last line, an empty one and one at the border of what is read at a time', async () => {
    expect(await read('a\n', { pattern: '^$' })).toBe('2: ');
    expect(await read('a\nb', { pattern: 'b' })).toBe('2: b');
    const text = `${'x'.repeat(256 * 1024 - 1)}\nneedle\n${'y'.repeat(256 * 1024)}`;
    expect(await read(text, { pattern: 'needle' })).toBe('2: needle');
  });
});

describe('a JSON path', () => {
  const items = Array.from({ length: 3000 }, (_, id) => ({ id, name: `item ${id}` }));
  const json = JSON.stringify({ items }, null, 2);

  test('gives the value, as it was written, or one value on each line', async () => {
    expect(await read(json, { path: '$.items[7].name' })).toBe('"item 7"');
    expect(await read(json, { path: '$.items[7]' })).toBe('{\n      "id": 7,\n      "name": "item 7"\n    }');
    expect(await read(keep(json, { minify: true }), { path: '$.items[7]' })).toBe('{"id":7,"name":"item 7"}');
    expect(await read(json, { path: '$.items[1:3]' })).toBe(
      '{"id":1,"name":"item 1"}\n{"id":2,"name":"item 2"}',
    );
    expect(await read(json, { path: '$.x' })).toBe('[Nothing is at "$.x".]');
  });

  test('to more than there is room for says how to go on', async () => {
    let selection: ResultSelection = { path: '$.items[*].name' };
    let names = '';
    for (let part = 0; part < 200; part++) {
      const text = await read(json, selection);
      expect(encode(text).length).toBeLessThanOrEqual(MAX_TOKENS);
      const more = nextOf(text);
      names += more === undefined ? text : `${more.before}\n`;
      if (more === undefined) break;
      selection = more.next;
    }
    expect(names.split('\n')).toEqual(items.map(({ name }) => JSON.stringify(name)));
  });

  test('of several texts, leads through a list of them', async () => {
    const texts = ['{"a":1}', 'plain\ntext', '[2]'];
    const starts = [0, 8, 19];
    const kept = keep(texts.join('\n'), { items: starts });
    expect(await read(kept, { path: '$[0].a' })).toBe('1');
    expect(await read(kept, { path: '$[1]' })).toBe('"plain\\ntext"');
    expect(await read(kept, { path: '$[2][0]' })).toBe('2');
  });

  test('needs JSON that is not nested too deep', async () => {
    for (const text of ['not json', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, '{"a":1', '{"a":1}}'])
      await expect(read(text, { path: '$[0]' })).rejects.toMatchObject({ code: 'RESULT_SELECTION_INVALID' });
  });
});

test('a selection that contradicts itself is refused', async () => {
  for (const selection of [
    { lines: '1', chars: '1' },
    { path: '$', lines: '1' },
    { path: '$', pattern: 'x' },
    { pattern: 'x', chars: '1' },
  ])
    await expect(read(LINES, selection)).rejects.toMatchObject({ code: 'RESULT_SELECTION_INVALID' });
});

test.each([
  ['switchboard-result://0123456789', {}],
  ['switchboard-result://0123456789/', {}],
  ['switchboard-result://0123456789?lines=1-2', { lines: '1-2' }],
  ['switchboard-result://0123456789?pattern=a+%2B=%5B', { pattern: 'a++=[' }],
  ['switchboard-result://0123456789?path=$.items[*].name', { path: '$.items[*].name' }],
  ['switchboard-result://0123456789?pattern=100%', { pattern: '100%' }],
  ['switchboard-result://0123456789?lines=&x=1&chars', {}],
])('%s', (uri, selection) => {
  expect(partInUri(uri)).toEqual({ id: '0123456789', selection });
});

test.each([
  '',
  'file:///x',
  'switchboard-result://',
  'switchboard-result://../1',
  'switchboard-result://0123456789/x',
  'switchboard-result://0123456789#x',
])('no result has the URI %j', (uri) => {
  expect(partInUri(uri)).toBeUndefined();
});

describe('others get their turns while megabytes are read', () => {
  const members = `{${Array.from({ length: 200_000 }, (_, n) => `"k${n}":${n}`).join()}}`;
  const items = `[${'0,'.repeat(400_000)}1]`;

  test.each([
    ['members', members, '$.*.x'],
    ['an item from the end', items, '$[-1]'],
    ['items from the end', items, '$[-3:-1]'],
  ])('%s', async (_, text, path) => {
    let turns = 0;
    const count = (): void => {
      turns++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    await read(text, { path });
    clearImmediate(next);
    expect(turns).toBeGreaterThan(3);
  });
});
