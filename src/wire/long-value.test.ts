import fc from 'fast-check';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { forgetPiece, GIVE_UP, sawLineBreakInside, skipLongValue } from './long-value.ts';
import { MAX_DEPTH, sawLineBreak, scan, ScanOutcome } from './scan.ts';
import { defineShape } from './shape.ts';

// The same texts in every run.
fc.configureGlobal({ seed: 20 });

const PIECE = 64 * 1024;
/** The smallest possible pieces: one block, plus the bytes that must follow it. */
const SMALL_PIECES = [192, 321];

const shape = defineShape({});

/** The result of the JavaScript check for bytes that are one value and white space. */
function inJavaScript(bytes: Buffer) {
  const outcome = scan(bytes, 0, bytes.length, shape, shape.offsets(), Infinity);
  return outcome < ScanOutcome.Malformed ? { behind: true, lineBreak: sawLineBreak() } : outcome;
}

function inWebAssembly(bytes: Buffer, pieceBytes?: number) {
  forgetPiece();
  const reached = skipLongValue(bytes, 0, { end: bytes.length, depth: 0, pieceBytes });
  if (reached < 0) return -reached;
  const rest = bytes.toString('latin1', reached);
  if (!/^[ \t\r\n]*$/.test(rest)) return ScanOutcome.Trailing;
  return { behind: true, lineBreak: sawLineBreakInside() || /[\r\n]/.test(rest) };
}

/** Every kind of token, escape and character, intact and damaged. */
const TOKENS = [
  '{"a":1}',
  '{"a" : [ ] , "b":{}}',
  '["a","b"]',
  '[1,-2.5e+10,0,1E400]',
  '[true,false,null]',
  '[true,false,nul]',
  '[1,]',
  '[01]',
  '[1.]',
  '[-]',
  '[1e+]',
  '[1 2]',
  '[1"a"]',
  '["a"1]',
  '["a""b"]',
  '[1}',
  '{"a":1]',
  '{"a"}',
  '{"a":}',
  '{,}',
  '{1:1}',
  '[\\n]',
  '[\n1,\r\n\t2]',
  '[\u000b]',
  '"plain"',
  '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e4\\ud83d\\uDE00"',
  '"\\\\\\\\\\\\"',
  '"\\\\\\\\\\\\\\"',
  '"\\x"',
  '"\\u12g4"',
  '"\\u12"',
  '"\\U0041"',
  '"\u0000"',
  '"\u001f"',
  '"\n"',
  '"\u007f"',
  '"äöü€漢字😀"',
].map((text) => Buffer.from(text));

const UTF8 = [
  'c080', // overlong
  'c1bf',
  'e080af',
  'e09fbf',
  'f08fbfbf',
  'eda080', // a surrogate
  'edbfbf',
  'f4908080', // above U+10FFFF
  'f5808080',
  'ff',
  '80', // no lead byte
  'c3a4a4',
  'e6bca2a2',
  'f09f988080',
  'c3', // truncated
  'e6bc',
  'f09f98',
  'ed9fbf', // the last valid one before the surrogates, and the first one after them
  'ee8080',
  'f0908080',
  'f48fbfbf',
  'c280',
  'e0a080',
].flatMap((hex) => [
  Buffer.from(`22${hex}22`, 'hex'),
  // Followed by a block that contains nothing special.
  Buffer.from(`22${hex}${'78'.repeat(130)}22`, 'hex'),
]);

describe('at every boundary', () => {
  /**
   * Arrays with the token at this distance from the start, after text, numbers, spaces, escapes or other characters.
   */
  function* arrays(token: Buffer, distance: number) {
    const array = (filling: string, quote = '"') =>
      Buffer.concat([Buffer.from(`[${quote}${filling}${quote},`), token, Buffer.from(',"behind it"]')]);
    const missing = distance - 4;
    yield array('x'.repeat(missing));
    yield array('\\n'.repeat(missing >> 1).padEnd(missing, 'x'));
    yield array('漢'.repeat(missing / 3) + 'x'.repeat(missing % 3));
    yield array(`${'1, '.repeat(missing / 3)}1`, '');
  }

  test.each(SMALL_PIECES)('of a block and of a piece of %d bytes', (piece) => {
    for (const token of [...TOKENS, ...UTF8])
      for (let distance = 40; distance < piece + 20; distance++)
        for (const bytes of arrays(token, distance))
          expect(inWebAssembly(bytes, piece)).toEqual(inJavaScript(bytes));
  });

  test('of the real piece', () => {
    const boundary = PIECE - 128;
    for (const token of [...TOKENS, ...UTF8])
      for (let distance = boundary - 6; distance < boundary + 2; distance += 2)
        for (const bytes of arrays(token, distance))
          expect(inWebAssembly(bytes)).toEqual(inJavaScript(bytes));
  });

  test('wherever the bytes are cut off', () => {
    const whole = Buffer.from(
      JSON.stringify({
        text: 'a "quoted" word, 漢字 and 😀\n'.repeat(20),
        numbers: [1, -2.5, 1e100],
        t: true,
      }),
    );
    for (let length = 1; length < whole.length; length++)
      for (const piece of SMALL_PIECES)
        expect(inWebAssembly(whole.subarray(0, length), piece)).toBe(ScanOutcome.Malformed);
  });
});

test('on random values, whole and damaged, in pieces of any size', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    fc.string({ unit: 'binary', minLength: 40, maxLength: 300 }),
    fc.constantFrom('\\', '"', '\n', '漢字'.repeat(30), '\\"'.repeat(40)),
  );
  const { value } = fc.letrec((again) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constantFrom(true, false, null, 0),
      fc.array(again('value'), { maxLength: 6 }),
      fc.dictionary(text, again('value'), { maxKeys: 5 }),
    ),
  }));
  const damage = fc.constantFrom('none', 'none', 'replace', 'cut', 'insert', 'remove');
  fc.assert(
    fc.property(
      fc.oneof(fc.array(value), fc.dictionary(text, value), text),
      fc.constantFrom(undefined, 1, '\t'),
      damage,
      fc.nat(),
      fc.integer({ min: 0, max: 255 }),
      fc.integer({ min: 192, max: 1000 }),
      (tree, indent, how, position, byte, piece) => {
        let bytes = Buffer.from(JSON.stringify(tree, null, indent));
        const at = position % bytes.length;
        const [before, behind] = [bytes.subarray(0, at), bytes.subarray(at)];
        // The caller checks the first byte.
        if (how === 'replace' && at > 0) bytes[at] = byte;
        if (how === 'cut' && at > 0) bytes = before;
        if (how === 'insert' && at > 0) bytes = Buffer.concat([before, Buffer.of(byte), behind]);
        if (how === 'remove' && at > 0) bytes = Buffer.concat([before, behind.subarray(1)]);
        const expected = inJavaScript(bytes);
        for (const each of [piece, ...SMALL_PIECES, undefined])
          expect(inWebAssembly(bytes, each)).toEqual(expected);
      },
    ),
    { numRuns: 1_000 },
  );
});

describe('nesting', () => {
  const deep = (levels: number, inside: string) =>
    Buffer.from('['.repeat(levels) + inside + ']'.repeat(levels));

  test('is bounded, and what is wrong before the limit counts first', () => {
    for (const levels of [MAX_DEPTH - 1, MAX_DEPTH, MAX_DEPTH + 1, 1000])
      for (const inside of ['', '1', '"\u0001"', '{"a":[]}'])
        expect(inWebAssembly(deep(levels, inside), 192)).toEqual(inJavaScript(deep(levels, inside)));
    expect(inWebAssembly(deep(MAX_DEPTH, ''))).toEqual({ behind: true, lineBreak: false });
    expect(inWebAssembly(deep(MAX_DEPTH + 1, ''))).toBe(ScanOutcome.TooDeep);
    const spoilt = Buffer.from(`${'['.repeat(MAX_DEPTH)}"\u0001",[`);
    expect(inWebAssembly(spoilt)).toBe(ScanOutcome.Malformed);
  });

  test('counts the containers around the value', () => {
    forgetPiece();
    expect(skipLongValue(deep(6, ''), 0, { end: 12, depth: MAX_DEPTH - 6 })).toBe(12);
    expect(skipLongValue(deep(6, ''), 0, { end: 12, depth: MAX_DEPTH - 5 })).toBe(-ScanOutcome.TooDeep);
  });
});

test('several values in one piece, and nothing of what stands around them', () => {
  // The bytes before the first may be part of a truncated character, and those after it may be anything.
  const before = Buffer.from([0xf0, 0xe6, 0xc3]);
  const values = ['["ä"]', '"b"', '{"c":{"d":"\\n"}}', `"${'e'.repeat(100)}"`];
  const bytes = Buffer.concat([
    before,
    Buffer.from(values.join('\n')),
    Buffer.from([0x22, 0xff, 0x01, 0x0a, 0x5c, 0x22]),
  ]);
  forgetPiece();
  let at = before.length;
  for (const text of values) {
    const behind = skipLongValue(bytes, at, { end: bytes.length, depth: 0 });
    expect(behind).toBe(at + Buffer.byteLength(text));
    expect(sawLineBreakInside()).toBe(false);
    at = behind + 1;
  }
});

describe('what is left to JavaScript', () => {
  test('a number that does not end where the next piece is needed, and no other', () => {
    const number = (digits: number) => Buffer.from(`[${'1'.repeat(digits)}]`);
    expect(inWebAssembly(number(60), 192)).toEqual({ behind: true, lineBreak: false });
    expect(inWebAssembly(number(500), 192)).toBe(-GIVE_UP);
    expect(inWebAssembly(number(PIECE + 1))).toBe(-GIVE_UP);
    expect(inWebAssembly(number(PIECE - 2))).toEqual({ behind: true, lineBreak: false });
    const bytes = Buffer.from(`{"a":[${'1'.repeat(2 * PIECE)}],"b":[\n1,2]}`);
    expect(scan(bytes, 0, bytes.length, shape, shape.offsets())).toBe(ScanOutcome.Object);
    expect(sawLineBreak()).toBe(true);
  });

  afterEach(() => vi.unstubAllGlobals());

  test('everything, where there is no WebAssembly', async () => {
    vi.stubGlobal('WebAssembly', undefined);
    vi.resetModules();
    const fresh = await import('./scan.ts');
    const long = Buffer.from(JSON.stringify({ text: 'a "quoted" word\n'.repeat(10_000) }));
    const outcome = (bytes: Buffer) => fresh.scan(bytes, 0, bytes.length, shape, shape.offsets());
    expect(outcome(long)).toBe(ScanOutcome.Object);
    expect(outcome(long.subarray(0, -1))).toBe(ScanOutcome.Malformed);
    expect((await import('./long-value.ts')).skipLongValue(long, 0, { end: long.length, depth: 0 })).toBe(
      GIVE_UP,
    );
  });
});
