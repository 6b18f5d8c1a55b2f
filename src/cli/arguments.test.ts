import { describe, expect, test } from 'vitest';
import { parseArguments, type Flag } from './arguments.ts';

const FLAGS: readonly Flag[] = [
  { name: 'config', value: 'PATH', summary: '' },
  { name: 'args', value: 'JSON', summary: '' },
  { name: 'json', summary: '' },
  { name: 'help', short: 'h', summary: '' },
];

const parse = (...argv: string[]) => {
  const { flags, words } = parseArguments(argv, FLAGS);
  return { flags: Object.fromEntries(flags), words };
};

describe('flags and words', () => {
  test('stand in any order', () => {
    expect(parse('a', '--json', 'b=c', '--config', 'x.json', 'd')).toEqual({
      flags: { json: '', config: 'x.json' },
      words: ['a', 'b=c', 'd'],
    });
  });

  test('a value stands behind the flag or behind its "="', () => {
    expect(parse('--config=a=b.json').flags).toEqual({ config: 'a=b.json' });
    expect(parse('--args', '-').flags).toEqual({ args: '-' });
    expect(parse('--args', '-5').flags).toEqual({ args: '-5' });
  });

  test('of a flag given twice the last counts', () => {
    expect(parse('--config', 'a', '--config', 'b').flags).toEqual({ config: 'b' });
  });

  test('a single dash and all behind "--" are words', () => {
    expect(parse('-', '--', '--json', '-x').words).toEqual(['-', '--json', '-x']);
  });

  test('short names work', () => {
    expect(parse('-h').flags).toEqual({ help: '' });
  });
});

describe('mistakes', () => {
  test.each([
    [['--jsn'], 'There is no flag "--jsn" here. Did you mean "--json"?'],
    [['-x'], 'There is no flag "-x" here.'],
    [['-'.repeat(3)], 'There is no flag "---" here.'],
    [['--config'], '--config needs a value. Write --config PATH.'],
    [['--config='], '--config needs a value.'],
    [['--config', '--json'], '--config needs a value.'],
    [['--json=yes'], '--json takes no value.'],
  ])('%j', (argv, message) => {
    let said = '';
    try {
      parseArguments(argv, FLAGS);
    } catch (error) {
      said = (error as { explained: string }).explained;
    }
    expect(said).toContain(message);
  });
});
