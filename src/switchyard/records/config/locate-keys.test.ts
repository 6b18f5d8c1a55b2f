import fc from 'fast-check';
import { stringify } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { locateKeys } from './locate-keys.ts';

describe('the place of a key', () => {
  const text = [
    '# [not.this]', // 1
    'top = """', // 2
    'top2 = 1', // 3
    'a "quoted" word, and \\""" stays inside""""', // 4
    'after = 1', // 5
    '[services . "my web"] # [services.no]', // 6
    "command = 'run [x] # not a comment'", // 7
    'env.DEBUG = 1', // 8
    'env."A\\u0042" = 3.10 # comment', // 9
    'list = [ # first', // 10
    '  "a", # ]', // 11
    '  { deep = 1, b.c = [2] },', // 12
    ']', // 13
    'when = 1979-05-27 07:32:00', // 14
    '[[many]]', // 15
    'x = 1', // 16
  ].join('\r\n');
  const keys = locateKeys(text);

  it.each([
    [['top'], 2],
    [['after'], 5],
    [['services'], 6],
    [['services', 'my web'], 6],
    [['services', 'my web', 'command'], 7],
    [['services', 'my web', 'env'], 8],
    [['services', 'my web', 'env', 'DEBUG'], 8],
    [['services', 'my web', 'env', 'AB'], 9],
    [['services', 'my web', 'list'], 10],
    [['services', 'my web', 'list', '0'], 11],
    [['services', 'my web', 'list', '1', 'deep'], 12],
    [['services', 'my web', 'list', '1', 'b', 'c', '0'], 12],
    [['services', 'my web', 'when'], 14],
    [['many'], 15],
    [['many', 'x'], 16],
  ])('%j is in line %i', (path, line) => {
    expect(keys.lineOf(path)).toBe(line);
  });

  it('of a key that is missing is the place of the table it is missing from', () => {
    expect(keys.lineOf(['services', 'my web', 'port'])).toBe(6);
    expect(keys.lineOf(['top2'])).toBe(1);
    expect(keys.lineOf([])).toBe(1);
  });

  it('comes with the value as it is written, where that is not a string', () => {
    expect(keys.writtenAt(['services', 'my web', 'env', 'AB'])).toBe('3.10');
    expect(keys.writtenAt(['services', 'my web', 'when'])).toBe('1979-05-27 07:32:00');
    expect(keys.writtenAt(['services', 'my web', 'command'])).toBeUndefined();
  });
});

it('every key of any text that the library writes is found', () => {
  const value = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.array(fc.string(), { maxLength: 3 }),
      tie('table'),
    ),
    table: fc.dictionary(fc.string({ minLength: 1 }), tie('value'), { maxKeys: 4, noNullPrototype: true }),
  })).table;
  fc.assert(
    fc.property(value, (table) => {
      const text = stringify(table);
      const keys = locateKeys(text);
      const check = (path: string[], within: object): void => {
        for (const [key, inner] of Object.entries(within)) {
          const at = [...path, key];
          expect(keys.positionOf(at), `${JSON.stringify(at)} in ${text}`).toBeDefined();
          expect(keys.lineOf(at)).toBeLessThanOrEqual(text.split('\n').length);
          if (typeof inner === 'object' && inner !== null) check(at, inner);
        }
      };
      check([], table);
    }),
    { numRuns: 300 },
  );
});

it('a text that is not TOML ends the walk, without an error', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...Array.from('[]{}="\'\\#.,\n ab1')) }),
      (text) => void locateKeys(text),
    ),
    {
      numRuns: 2000,
    },
  );
});
