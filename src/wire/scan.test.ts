import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { defineShape, MAX_DEPTH, sawLineBreak, scan, ScanOutcome } from './scan.ts';

const shape = defineShape({
  id: true,
  method: true,
  params: { name: true, _meta: { progressToken: true } },
  result: true,
});

function scanText(input: string | Buffer) {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const places = shape.places();
  const outcome = scan(bytes, 0, bytes.length, shape, places);
  const found = (path: string) => {
    const place = shape.slot(path) * 2;
    return places[place] === -1 ? undefined : bytes.toString('utf8', places[place], places[place + 1]);
  };
  return { outcome, found };
}

function parses(bytes: Buffer): boolean {
  try {
    // The fatal decoder refuses what Buffer.toString would silently replace; ignoreBOM keeps a BOM for JSON.parse to refuse.
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return true;
  } catch {
    return false;
  }
}

const accepted = (outcome: number) => outcome === ScanOutcome.Object || outcome === ScanOutcome.OtherValue;
const plainShape = defineShape({});

describe('finding members', () => {
  test('members are found in any order, with spaces, at every asked level', () => {
    const { outcome, found } = scanText(
      ' { "result" : [1, {"id": 9}] ,"params":{"x":{"name":"no"},"_meta":{"progressToken":"t"},"name":"yes"}, "id":7 } ',
    );
    expect(outcome).toBe(ScanOutcome.Object);
    expect(found('id')).toBe('7');
    expect(found('params.name')).toBe('"yes"');
    expect(found('params._meta.progressToken')).toBe('"t"');
    expect(found('result')).toBe('[1, {"id": 9}]');
    expect(found('method')).toBeUndefined();
  });

  test('a key spelled with escapes is the key a parser would see', () => {
    expect(scanText('{"\\u0069d":5}').found('id')).toBe('5');
    expect(scanText('{"id":1,"\\u0069d":5}').outcome).toBe(ScanOutcome.Duplicate);
  });

  test('a second copy of an asked-for key is refused, of any other key it is not', () => {
    expect(scanText('{"id":1,"id":1}').outcome).toBe(ScanOutcome.Duplicate);
    expect(scanText('{"params":{"name":"a","name":"b"}}').outcome).toBe(ScanOutcome.Duplicate);
    expect(scanText('{"result":{"a":1,"a":2},"x":1,"x":2}').outcome).toBe(ScanOutcome.Object);
  });

  test('a value that is not an object is told apart', () => {
    for (const text of ['[]', 'true', '"x"', '12', 'null']) {
      expect(scanText(text).outcome).toBe(ScanOutcome.OtherValue);
    }
  });

  test('raw line breaks between tokens are reported, escaped ones are not', () => {
    scanText('{"id":\n1}');
    expect(sawLineBreak()).toBe(true);
    scanText('{"id":"a\\nb"}');
    expect(sawLineBreak()).toBe(false);
  });
});

describe('agreeing with JSON.parse', () => {
  test.each([
    '',
    ' ',
    '{',
    '}',
    '{}',
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    '[1,]',
    '[,1]',
    '{a:1}',
    "{'a':1}",
    '01',
    '-',
    '-0',
    '1.',
    '.5',
    '1e',
    '1e+',
    '1E400',
    '1.5e-7',
    'tru',
    'truex',
    'nul',
    '"\\x"',
    '"\\u12"',
    '"\\ud800"',
    '"\t"',
    '"\u007f"',
    '[1 2]',
    '{"a":1 "b":2}',
    '[[[]]]',
    '{"a":[{"b":[]}]}',
    '1 2',
    '[1}',
    '{"a":1]',
    '\ufeff{}',
    '\u00a0{}',
    '"\u2028"',
    '{"":0}',
  ])('%j', (text) => {
    const bytes = Buffer.from(text);
    expect(accepted(scan(bytes, 0, bytes.length, plainShape, plainShape.places()))).toBe(parses(bytes));
  });

  test('on random JSON texts, whole and damaged', () => {
    fc.assert(
      fc.property(
        fc.json({ stringUnit: 'binary' }),
        fc.nat(),
        fc.integer({ min: 0, max: 255 }),
        fc.constantFrom('keep', 'replace', 'cut', 'insert'),
        (json, position, byte, damage) => {
          let bytes = Buffer.from(json);
          const at = bytes.length === 0 ? 0 : position % bytes.length;
          if (damage === 'replace' && bytes.length > 0) bytes[at] = byte;
          if (damage === 'cut') bytes = bytes.subarray(0, at);
          if (damage === 'insert')
            bytes = Buffer.concat([bytes.subarray(0, at), Buffer.of(byte), bytes.subarray(at)]);
          expect(accepted(scan(bytes, 0, bytes.length, plainShape, plainShape.places()))).toBe(parses(bytes));
        },
      ),
      { numRuns: 20_000 },
    );
  });

  test('on random bytes inside a string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (inner) => {
        const bytes = Buffer.concat([Buffer.from('"'), inner, Buffer.from('"')]);
        expect(accepted(scan(bytes, 0, bytes.length, plainShape, plainShape.places()))).toBe(parses(bytes));
      }),
      { numRuns: 20_000 },
    );
  });

  test('on long strings, wherever in them something special stands and however they are aligned', () => {
    const special = fc.constantFrom(
      '"',
      '\\',
      '\\n',
      '\\u00e4',
      '\n',
      '\u0000',
      '\u001f',
      '\u007f',
      'ä',
      '€',
      '😀',
      '\ud800',
    );
    fc.assert(
      fc.property(
        fc.nat({ max: 300 }),
        fc.nat({ max: 300 }),
        fc.nat({ max: 7 }),
        fc.array(special, { maxLength: 3 }),
        (before, after, shift, middle) => {
          const text = `["${'x'.repeat(before)}${middle.join('yz')}${' ~!'.repeat(after)}"]`;
          const whole = Buffer.concat([Buffer.alloc(shift, ' '), Buffer.from(text)]);
          const bytes = whole.subarray(shift);
          expect(accepted(scan(bytes, 0, bytes.length, plainShape, plainShape.places()))).toBe(parses(bytes));
          expect(accepted(scan(whole, shift, whole.length, plainShape, plainShape.places()))).toBe(
            parses(bytes),
          );
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('about where members stand and what they are', () => {
    const message = fc.record(
      {
        id: fc.jsonValue(),
        method: fc.jsonValue(),
        result: fc.jsonValue(),
        params: fc.jsonValue(),
        extra: fc.jsonValue(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(message, fc.constantFrom(undefined, 1), (value, indent) => {
        const { outcome, found } = scanText(JSON.stringify(value, null, indent));
        expect(outcome).toBe(ScanOutcome.Object);
        for (const key of ['id', 'method', 'result', 'params'] as const) {
          const text = found(key);
          expect(text === undefined ? undefined : JSON.parse(text)).toEqual(
            key in value ? JSON.parse(JSON.stringify(value[key])) : undefined,
          );
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

test('nesting is bounded, inside and outside the asked-for members', () => {
  const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  expect(scanText(`{"x":${deep(MAX_DEPTH - 1)}}`).outcome).toBe(ScanOutcome.Object);
  expect(scanText(`{"x":${deep(MAX_DEPTH)}}`).outcome).toBe(ScanOutcome.TooDeep);
  expect(scanText(deep(1_000_000)).outcome).toBe(ScanOutcome.TooDeep);
  expect(scanText('{"result":'.repeat(1_000_000)).outcome).toBe(ScanOutcome.TooDeep);
});
