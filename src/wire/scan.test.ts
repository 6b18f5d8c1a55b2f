import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_DEPTH, MAX_MEMBERS, sawLineBreak, scan, ScanOutcome } from './scan.ts';
import { defineShape, type Shape } from './shape.ts';

const shape = defineShape({
  id: true,
  method: true,
  params: { name: true, _meta: { progressToken: true } },
  result: true,
});

// The same texts in every run.
fc.configureGlobal({ seed: 20 });

/**
 * The result of a scan, which must be the same whether values are checked in JavaScript, in WebAssembly, or each where
 * it is faster.
 */
function scanBothWays(bytes: Buffer, what: Shape, start = 0, end = bytes.length) {
  const [inJavaScript, inWebAssembly, asUsual] = [Infinity, 0, undefined].map((longFrom) => {
    const places = what.offsets();
    const outcome = scan(bytes, start, end, what, places, longFrom);
    return { outcome, places, lineBreak: accepted(outcome) && sawLineBreak() };
  });
  expect(inWebAssembly).toEqual(inJavaScript);
  expect(asUsual).toEqual(inJavaScript);
  return inJavaScript!;
}

function scanText(input: string | Buffer) {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const { outcome, places, lineBreak } = scanBothWays(bytes, shape);
  const found = (path: string) => {
    const place = shape.slot(path) * 2;
    return places[place] === -1 ? undefined : bytes.toString('utf8', places[place], places[place + 1]);
  };
  return { outcome, found, lineBreak };
}

function parses(bytes: Buffer): boolean {
  try {
    // The fatal decoder refuses what Buffer.toString would silently replace; ignoreBOM keeps a BOM so that JSON.parse
    // refuses it.
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

  test('members are found in whatever order the messages before had them, and in none', () => {
    const members = ['"id":7', '"method":"m"', '"result":[]', '"params":{"name":"n"}', '"x":1', '"ide":2'];
    for (let first = 0; first < members.length; first++)
      for (let second = 0; second < members.length; second++) {
        const [one, other] = [members[first]!, members[second]!];
        const rest = members.filter((member) => member !== one && member !== other);
        const { outcome, found } = scanText(
          `{${[one, ...rest, ...(one === other ? [] : [other])].join(',')}}`,
        );
        expect(outcome).toBe(ScanOutcome.Object);
        expect(['id', 'method', 'result', 'params.name'].map(found)).toEqual(['7', '"m"', '[]', '"n"']);
      }
    expect(scanText('{"id').outcome).toBe(ScanOutcome.Malformed);
    expect(scanText('{"id"').outcome).toBe(ScanOutcome.Malformed);
    expect(scanText('{"id":').outcome).toBe(ScanOutcome.Malformed);
    expect(scanText('{"idx":1}').found('id')).toBeUndefined();
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
    expect(scanText('{"id":\n1}').lineBreak).toBe(true);
    expect(scanText('{"x":{"y":\n1}}').lineBreak).toBe(true);
    expect(scanText('{"x":[1\r]}').lineBreak).toBe(true);
    expect(scanText('{"id":"a\\nb"}').lineBreak).toBe(false);
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
    expect(accepted(scanBothWays(bytes, plainShape).outcome)).toBe(parses(bytes));
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
          expect(accepted(scanBothWays(bytes, plainShape).outcome)).toBe(parses(bytes));
        },
      ),
      { numRuns: 5_000 },
    );
  });

  test('on random bytes inside a string', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 12 }), (inner) => {
        const bytes = Buffer.concat([Buffer.from('"'), inner, Buffer.from('"')]);
        expect(accepted(scanBothWays(bytes, plainShape).outcome)).toBe(parses(bytes));
      }),
      { numRuns: 5_000 },
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
          expect(accepted(scanBothWays(bytes, plainShape).outcome)).toBe(parses(bytes));
          expect(accepted(scanBothWays(whole, plainShape, shift).outcome)).toBe(parses(bytes));
        },
      ),
      { numRuns: 2_000 },
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

describe('objects that repeat', () => {
  const common = { id: true, params: { name: true, _meta: { progressToken: true } } } as const;
  const rare = { params: { _meta: { version: true, info: { name: true } }, uri: true } } as const;
  /** Two shapes with the same members; only the first has a repeating path. Created fresh, so that nothing is cached. */
  const both = () =>
    [defineShape(common, rare, ['params._meta']).whole, defineShape(common, rare).whole] as const;

  /** The result of scanning a message at some position in a buffer. */
  const look = (what: Shape, text: string | Buffer, shift: number) => {
    const message = Buffer.from(text);
    const whole = Buffer.concat([Buffer.alloc(shift, '"'), message, Buffer.from('"}}}')]);
    const places = what.offsets();
    const outcome = scan(whole, shift, shift + message.length, what, places);
    return { outcome, lineBreak: sawLineBreak(), places: places.map((at) => (at < 0 ? at : at - shift)) };
  };
  const META = '{"version":"2026-07-28","info":{"name":"ä client","x":[1,{}]},"other":{}}';
  const within = (meta: string, name = 'x') => `{"id":1,"params":{"name":"${name}","_meta":${meta}},"y":0}`;

  test.each([
    ['the same again', META],
    ['another last byte', `${META.slice(0, -1)}]`],
    ['another byte before the last', `${META.slice(0, -2)}]}`],
    ['another byte in the middle', META.replace('client', 'cliend')],
    ['another first member', META.replace('version', 'Version')],
    ['garbage behind it', `${META}x`],
    ['a second one behind it', `${META}${META}`],
    ['more members', `${META.slice(0, -1)},"progressToken":1}`],
    ['fewer members', '{"version":"2026-07-28"}'],
    ['a member twice', META.replace('"other"', '"version"')],
    ['a line break in it', META.replace('},', '},\n')],
    ['nothing in it', '{}'],
  ])('%s is found to be what it is', (_what, meta) => {
    const [repeating, plain] = both();
    for (let shift = 0; shift < 8; shift++) {
      for (const name of ['a', 'bb', 'ccc', 'dddd'])
        expect(look(repeating, within(META, name), shift)).toEqual(look(plain, within(META, name), shift));
      expect(look(repeating, within(meta), shift)).toEqual(look(plain, within(meta), shift));
    }
  });

  test('one that is the beginning of another, and one that is cut off anywhere', () => {
    const [repeating, plain] = both();
    const text = within(META);
    look(repeating, text, 0);
    for (let end = 0; end <= text.length; end++)
      expect(look(repeating, text.slice(0, end), end % 4)).toEqual(look(plain, text.slice(0, end), end % 4));
    const twice = '{"id":1,"params":{"_meta":{"version":"2026-07-28"},"_meta":{"version":"2026-07-28"}}}';
    for (const each of [twice, twice]) expect(look(repeating, each, 0).outcome).toBe(ScanOutcome.Duplicate);
  });

  test('one with a line break tells of it every time', () => {
    const [repeating] = both();
    const text = within(META.replace('},', '},\n'));
    for (let time = 0; time < 3; time++) expect(look(repeating, text, 0).lineBreak).toBe(true);
    expect(look(repeating, within(META), 0).lineBreak).toBe(false);
  });

  test('whatever comes, in whatever order, is read as if nothing had come before', () => {
    const member = fc.tuple(
      fc.constantFrom('version', 'info', 'progressToken', 'other', 'inf\\u006f'),
      fc.oneof(
        fc.constantFrom('"2026-07-28"', '1', '12', '{"name":"a","name":"b"}', '{"name":"ä"}', '[ ]', 'nul'),
        fc.json({ maxDepth: 2 }),
      ),
      fc.constantFrom('', '', '', ' ', '\n'),
    );
    const meta = fc
      .array(member, { maxLength: 5 })
      .map((members) => `{${members.map(([key, text, space]) => `"${key}":${space}${text}`).join(',')}}`);
    const damage = fc.option(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { freq: 3 });
    fc.assert(
      fc.property(
        fc.array(meta, { minLength: 1, maxLength: 12 }),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 7 }), damage), { minLength: 1, maxLength: 40 }),
        (metas, messages) => {
          const [repeating, plain] = both();
          for (const [which, shift, hurt] of messages) {
            const bytes = Buffer.from(within(metas[which % metas.length]!, 'n'.repeat(which % 5)));
            if (hurt) bytes[hurt[0] % bytes.length] = hurt[1];
            const found = look(repeating, bytes, shift);
            expect(found).toEqual(look(plain, bytes, shift));
            if (found.outcome !== ScanOutcome.Duplicate) expect(accepted(found.outcome)).toBe(parses(bytes));
          }
        },
      ),
      { numRuns: 1_000 },
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

test('an object whose members are compared with the shape may not have endless ones', () => {
  const members = (count: number): string => Array.from({ length: count }, (_, n) => `"k${n}":0`).join(',');
  expect(scanText(`{${members(MAX_MEMBERS)}}`).outcome).toBe(ScanOutcome.Object);
  expect(scanText(`{${members(MAX_MEMBERS + 1)}}`).outcome).toBe(ScanOutcome.TooMany);
  expect(scanText(`{"params":{${members(MAX_MEMBERS + 1)}}}`).outcome).toBe(ScanOutcome.TooMany);
  expect(scanText(`{"result":{${members(MAX_MEMBERS + 1)}}}`).outcome).toBe(ScanOutcome.Object);
});
