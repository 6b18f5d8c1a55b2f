import { expect, test } from 'vitest';
import { AmbiguousArguments, shownArguments } from './shown-arguments.ts';

const none = new Set<string>();

test('numbers and odd characters are shown as they will be sent', () => {
  expect(
    shownArguments('{"n":9007199254740993,"x":1.0,"s":"a\\u200bb\\u202e","list":[true,null]}', none),
  ).toBe('{"n": 9007199254740993, "x": 1.0, "s": "a\\u{200b}b\\u{202e}", "list": [true, null]}');
});

test('secrets are hidden by their names, at any depth, and where the configuration says so', () => {
  const shown = shownArguments(
    '{"a":{"api_key":"k1","b":[{"note":"k2"}]},"password":{"x":"k3"}}',
    new Set(['note']),
  );
  expect(shown).not.toMatch(/k[123]/);
  expect(shown).toContain('"note": (hidden)');
});

test('a long text does not push out of sight what follows it, and there is an end to it all', () => {
  const shown = shownArguments(JSON.stringify({ long: 'x'.repeat(100_000), path: '/etc' }), none);
  expect(shown).toContain('and 99700 more characters');
  expect(shown).toContain('"path": "/etc"');
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at]));
  expect(shownArguments(JSON.stringify(many), none).length).toBeLessThan(4100);
  const huge = JSON.stringify({ deep: { list: Array.from({ length: 200_000 }, () => 'abc') }, path: '/' });
  expect(shownArguments(huge, none)).toMatch(/"deep": … \d+ characters, "path": "\/"/);
});

test('a member that is given twice is refused, however it is written', () => {
  for (const args of ['{"a":1,"a":2}', '{"x":[{"a":1,"\\u0061":2}]}'])
    expect(() => shownArguments(args, none)).toThrow(AmbiguousArguments);
});
