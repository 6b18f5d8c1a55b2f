import { describe, expect, test } from 'vitest';
import { parseArguments, type Flag } from './arguments.ts';

const FLAGS: readonly Flag[] = [
  { name: 'config', value: 'PATH', summary: '' },
  { name: 'args', value: 'JSON', summary: '' },
  { name: 'env', value: 'NAME=VALUE', many: true, summary: '' },
  { name: 'json', summary: '' },
  { name: 'help', short: 'h', summary: '' },
];

const parse = (...argv: string[]) => {
  const { flags, words } = parseArguments(argv, FLAGS);
  return { flags: Object.fromEntries(flags), words };
};

describe('flags and words', () => {
  test('may be in any order', () => {
    expect(parse('a', '--json', 'b=c', '--config', 'x.json', 'd')).toEqual({
      flags: { json: '', config: 'x.json' },
      words: ['a', 'b=c', 'd'],
    });
  });

  test('a value follows the flag or its "="', () => {
    expect(parse('--config=a=b.json').flags).toEqual({ config: 'a=b.json' });
    expect(parse('--args', '-').flags).toEqual({ args: '-' });
    expect(parse('--args', '-5').flags).toEqual({ args: '-5' });
  });

  test('a single dash and all behind "--" are words', () => {
    expect(parse('-', '--', '--json', '-x').words).toEqual(['-', '--json', '-x']);
  });

  test('short names work', () => {
    expect(parse('-h').flags).toEqual({ help: '' });
  });
});

test('of a flag that may be given several times all values are kept', () => {
  const { lists, flags } = parseArguments(['--env', 'A=1', '--env=B=--x', '--config', 'c'], FLAGS);
  expect(Object.fromEntries(lists)).toEqual({ env: ['A=1', 'B=--x'] });
  expect(flags.get('env')).toBe('B=--x');
});

describe('where the last words are the command of another program', () => {
  const words = (...argv: string[]) => parseArguments(argv, FLAGS, 1).words;

  test('all behind "--" belongs to it, and without dashes "--" may be left out', () => {
    const argv = ['--json', 'name', '--env', 'A=1', '--', 'npx', '-y', '--json', '--', 'x'];
    expect(words(...argv)).toEqual(['name', 'npx', '-y', '--json', '--', 'x']);
    expect(words('name', 'node', 'x.js', '-', 'a=b')).toEqual(['name', 'node', 'x.js', '-', 'a=b']);
    expect(words('name', '--json', 'node', 'x.js')).toEqual(['name', 'node', 'x.js']);
    expect(words('name', '--')).toEqual(['name']);
  });

  test.each([
    [['name', 'npx', '-y', 'x'], /flag "-y" is ambiguous.*name -- npx …$/],
    [['name', 'npx', '--json'], /flag "--json" is ambiguous/],
    [['name', 'npx', '--token=secret'], /flag "--token" is ambiguous/],
    [['name', 'npx', '--', '-y'], /Put -- directly before the command/],
    [['--', 'npx'], /Put -- directly before the command/],
  ])('%j is refused', (argv, message) => {
    expect(() => words(...argv)).toThrow(
      expect.objectContaining({ explained: expect.stringMatching(message) }),
    );
    expect(() => words(...argv)).not.toThrow('secret');
  });
});

describe('mistakes', () => {
  test.each([
    [['--jsn'], 'Unknown flag "--jsn". Did you mean "--json"?'],
    [['-x'], 'Unknown flag "-x".'],
    [['-'.repeat(3)], 'Unknown flag "---".'],
    [['--config'], '--config needs a value. Write --config PATH.'],
    [['--config='], '--config needs a value.'],
    [['--config', '--json'], '--config needs a value.'],
    [['--json=yes'], '--json takes no value.'],
    [['--config', 'a', '--config=b'], '--config is given twice. Remove one of them.'],
    [['--json', 'x', '--json'], '--json is given twice.'],
    [['-h', '--help'], '--help is given twice.'],
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
