import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { summarise } from './summarise.ts';
import { cheapestMs } from '../../../test/helpers/cheapest.ts';

describe('a text that fits', () => {
  test('stays as it is', () => {
    expect(summarise('Click a selector.', 160)).toBe('Click a selector.');
    expect(summarise('x'.repeat(160), 160)).toBe('x'.repeat(160));
    expect(summarise('', 160)).toBe('');
  });

  test('becomes one line without doubled or outer blanks', () => {
    expect(summarise('  Click\n\n  a\tselector. \r\n', 160)).toBe('Click a selector.');
    expect(summarise('Klick\u00a0 auf\u2028ein Element', 160)).toBe('Klick auf ein Element');
  });

  test('fits by its clean length, not its raw one', () => {
    expect(summarise(`a${' '.repeat(500)}b`, 3)).toBe('a b');
  });
});

describe('a text that is too long', () => {
  test('ends after the last sentence beyond half the limit', () => {
    const text =
      'Reads a file. Returns its text as UTF-8. Fails when the file is larger than the configured limit.';
    expect(summarise(text, 60)).toBe('Reads a file. Returns its text as UTF-8.…');
  });

  test('ends at a space when the last sentence would keep half or less', () => {
    const text = 'Reads. Returns the whole text of the file as one string with its encoding';
    expect(summarise(text, 40)).toBe('Reads. Returns the whole text of the…');
  });

  test('is cut hard if the last space is in the first 80 %', () => {
    expect(summarise(`see ${'x'.repeat(100)}`, 20)).toBe(`see ${'x'.repeat(15)}…`);
  });

  test('does not take the full stop of an abbreviation or a file name for the end of a sentence', () => {
    expect(
      summarise('Opens one of the known files, e.g. package.json or tsconfig.json, and shows it', 52),
    ).toBe('Opens one of the known files, e.g. package.json or…');
  });

  test('knows sentences that end in quotes and sentences without blanks', () => {
    expect(summarise('Answers with the word "done." Then it waits for the next command.', 40)).toBe(
      'Answers with the word "done."…',
    );
    expect(summarise('ファイルを読みます。次にその内容を文字列として返します。', 18)).toBe(
      'ファイルを読みます。…',
    );
  });

  test('may use the whole limit', () => {
    expect(summarise('abcdef', 5)).toBe('abcd…');
    expect(summarise('ab cd ef', 6)).toBe('ab cd…');
  });

  test('leaves the ellipsis alone when there is room for nothing else', () => {
    expect(summarise('ab', 1)).toBe('…');
    expect(summarise('a', 1)).toBe('a');
    expect(summarise('👩‍👩‍👧‍👦 family', 4)).toBe('…');
  });

  test('is nothing without a limit to write in', () => {
    for (const limit of [0, -1, Number.NaN]) expect(summarise('text', limit)).toBe('');
    expect(summarise('text', Number.POSITIVE_INFINITY)).toBe('text');
    expect(summarise('abcdef', 3.9)).toBe('ab…');
  });
});

describe('graphemes stay whole', () => {
  test.each([
    ['a family', 'ab👩‍👩‍👧‍👦cd', 5, 'ab…'],
    ['a surrogate pair', 'abc😀def', 5, 'abc…'],
    ['a combining accent', 'abcde\u0301f', 6, 'abcd…'],
    ['a flag', 'a🇩🇪🇫🇷', 6, 'a🇩🇪…'],
    ['a Devanagari syllable', 'abcक्षि', 6, 'abc…'],
  ])('%s', (_, text, limit, expected) => {
    expect(summarise(text, limit)).toBe(expected);
  });
});

describe('what cannot be seen is gone', () => {
  test.each([
    ['terminal colours', '\u001b[1;31mRed\u001b[0m alert', 'Red alert'],
    ['a terminal link', '\u001b]8;;https://x.test\u0007here\u001b]8;;\u0007', 'here'],
    ['an escape hidden in an escape', '\u001b\u001b[0m[31mx', '[31mx'],
    ['bidirectional overrides', 'safe\u202etxt.exe\u202c', 'safetxt.exe'],
    ['tag characters', 'Adds.\u{e0049}\u{e0067}\u{e006e}', 'Adds.'],
    ['bytes in variation selectors', 'Hi\u{e0101}\u{e0102}!', 'Hi!'],
    ['zero-width blanks and a byte order mark', '\ufeffig\u200bnore', 'ignore'],
    ['NUL, bell and C1', 'a\u0000b\u0007c\u0090d', 'abcd'],
    ['half a surrogate pair', 'a\ud800b', 'a\ufffdb'],
  ])('%s', (_, text, expected) => {
    expect(summarise(text, 160)).toBe(expected);
  });

  test('but joiners and emoji selectors stay', () => {
    expect(summarise('👩‍💻 ❤️ می‌خواهم', 160)).toBe('👩‍💻 ❤️ می‌خواهم');
  });
});

// An implementation that is not linear would exceed the time limit of a test.
test('sixteen megabytes are summarised like any text', () => {
  for (const hostile of [' ', 'x', '\u001b[', '. ', '👩‍', 'e\u0301', '\u001b]8', '."']) {
    const text = hostile.repeat(16 * 1024 * 1024);
    expect(summarise(text, 160).length).toBeLessThanOrEqual(160);
  }
});

describe('for any text and limit', () => {
  const piece = fc.oneof(
    fc.constantFrom(
      '. ',
      '! ',
      '。',
      ' ',
      '\n',
      '\t',
      'e.g. ',
      'word',
      '👩‍👩‍👧‍👦',
      '🇩🇪',
      'e\u0301\u0302',
      '\u202e',
    ),
    fc.constantFrom('\u001b[31m', '\ud800', '\udc00', '\u{e0041}', '\u0000', '\u0600', 'क्षि', '…', '"', ')'),
    fc.string({ unit: 'binary', maxLength: 8 }),
    fc.string({ unit: 'grapheme', maxLength: 8 }),
  );
  const text = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''));
  const limit = fc.integer({ min: 1, max: 120 });
  const clean = (raw: string): string => summarise(raw, 1_000_000);
  const check = (predicate: (raw: string, max: number) => void): void => {
    fc.assert(fc.property(text, limit, predicate), { numRuns: 2_000 });
  };

  test('the summary is never longer than the limit, and never empty when the text is not', () => {
    check((raw, max) => {
      const summary = summarise(raw, max);
      expect(summary.length).toBeLessThanOrEqual(max);
      if (clean(raw) !== '') expect(summary).not.toBe('');
    });
  });

  test('it has single blanks inside, none outside, and nothing unseen', () => {
    check((raw, max) => {
      const summary = summarise(raw, max);
      expect(summary).toBe(summary.trim());
      // eslint-disable-next-line no-control-regex
      expect(summary).not.toMatch(/\s\s|[\t\n\r\u0000-\u001f\u007f-\u009f\u202a-\u202e]|\p{Surrogate}/u);
    });
  });

  test('it is the clean text, or a beginning of it with an ellipsis', () => {
    check((raw, max) => {
      const whole = clean(raw);
      const summary = summarise(raw, max);
      if (whole.length <= max) expect(summary).toBe(whole);
      else {
        expect(summary.endsWith('…')).toBe(true);
        expect(whole.startsWith(summary.slice(0, -1))).toBe(true);
      }
    });
  });

  test('no grapheme is broken', () => {
    const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
    check((raw, max) => {
      const whole = clean(raw);
      const summary = summarise(raw, max);
      if (summary === whole) return;
      const starts = new Set([...segmenter.segment(whole)].map((segment) => segment.index));
      expect(starts.has(summary.length - 1)).toBe(true);
    });
  });

  test('a summary of the summary is the summary', () => {
    check((raw, max) => {
      const summary = summarise(raw, max);
      expect(summarise(summary, max)).toBe(summary);
    });
  });
});

test('very many full stops are read in time', () => {
  expect(
    cheapestMs(250, () => {
      for (let count = 0; count < 20; count++) summarise('?'.repeat(5000), 4000);
    }),
  ).toBeLessThan(250);
});
