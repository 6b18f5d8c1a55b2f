import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Meta, Server, SERVER_SHAPE } from '../../protocol/index.ts';
import { editedText, jsonMembers, memberText, Message, type Edit } from '../../wire/index.ts';
import { modernListText, modernResult, modernResultText, withModernMeta } from './modern-meta.ts';

const INFO = { name: 'switch', title: 'Switch', version: '9' };
const OURS = JSON.stringify(INFO);
const KEPT = ['ttlMs', 'cacheScope'];
const METHODS = ['tools/call', 'tools/list', 'resources/read', 'prompts/get', 'server/discover'];
const isKept = (method: string): boolean => !['tools/call', 'prompts/get'].includes(method);

const answerOf = (result: string): Message =>
  Message.fromText(`{"jsonrpc":"2.0","id":7,"result":${result}}`, SERVER_SHAPE);

/** The result as it is sent. */
function stampedAnswer(result: string, method = 'tools/call', edits: readonly Edit[] = []): string {
  const done = withModernMeta(answerOf(result), edits, method, OURS);
  const text = editedText(done.answer, done.edits);
  const head = '{"jsonrpc":"2.0","id":7,"result":';
  expect(text.startsWith(head) && text.endsWith('}')).toBe(true);
  return text.slice(head.length, -1);
}

/** A key in quotes, with some letters escaped. */
const keyText = (key: string): fc.Arbitrary<string> =>
  fc.array(fc.boolean(), { minLength: key.length, maxLength: key.length }).map((escaped) => {
    const letters = Array.from(JSON.stringify(key).slice(1, -1));
    // Leave keys that already contain escapes.
    if (letters.includes('\\')) return JSON.stringify(key);
    return `"${letters.map((c, at) => (escaped[at] === true ? `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}` : c)).join('')}"`;
  });

const space = fc.constantFrom('', '', '', ' ', '  ', '\t');
const plainKey = fc.constantFrom('content', 'contents', 'tools', 'a', 'ümlaut', 'x y', '', 'isError', 'task');
const value = fc.oneof(
  fc.constantFrom(
    '1.0',
    '1e5',
    '-0',
    '"\\u0041"',
    'null',
    'true',
    '[]',
    '{}',
    '[ 1,2 ]',
    '{"_meta":{"a":1}}',
  ),
  fc.json({ maxDepth: 2 }),
);

/** An object as text, with some of these keys, each at most once. */
const object = (
  keys: fc.Arbitrary<string>,
  valueOf: (key: string) => fc.Arbitrary<string>,
  escapes: boolean,
): fc.Arbitrary<string> =>
  fc
    .uniqueArray(keys, { maxLength: 6 })
    .chain((chosen) =>
      fc.tuple(
        space,
        ...chosen.map((key) =>
          fc
            .tuple(
              escapes ? keyText(key) : fc.constant(JSON.stringify(key)),
              space,
              space,
              valueOf(key),
              space,
            )
            .map(([name, before, after, text, end]) => `${name}${before}:${after}${text}${end}`),
        ),
      ),
    )
    .map(([blank, ...members]) => `{${members.length === 0 ? blank : members.join(',')}}`);

const meta = (escapes: boolean): fc.Arbitrary<string> =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: object(fc.constantFrom(Meta.serverInfo, 'a', 'example.org/b', 'c'), () => value, escapes),
    },
    fc.constantFrom('null', '7', '"x"', '[]'),
  );

const result = (escapes = false): fc.Arbitrary<string> =>
  object(
    fc.oneof(plainKey, fc.constantFrom('resultType', '_meta', 'ttlMs', 'cacheScope')),
    (key) =>
      key === '_meta'
        ? meta(escapes)
        : key === 'resultType'
          ? fc.constantFrom('"complete"', '"task"', '"vendor"')
          : value,
    escapes,
  );

/** Expects that the first text was changed into the second and that nothing else changed. */
function expectStamped(before: string, after: string, method: string): void {
  JSON.parse(after);
  const was = jsonMembers(before);
  const is = jsonMembers(after);
  const keys = is.map(({ key }) => key);
  expect(new Set(keys).size, after).toBe(keys.length);
  const wanted = ['resultType', '_meta', ...(isKept(method) ? KEPT : [])];
  for (const key of wanted) expect(keys, after).toContain(key);
  // All original members must be there, in the same order, exactly as written.
  const had = new Set(was.map(({ key }) => key));
  const rest = is.filter(({ key }) => had.has(key));
  expect(rest.map(({ keyText: text }) => text)).toEqual(was.map(({ keyText: text }) => text));
  for (const [at, { key, valueText }] of was.entries())
    if (key !== '_meta') expect(rest[at]!.valueText).toBe(valueText);
  expect(is.filter(({ key }) => !had.has(key) && !wanted.includes(key))).toEqual([]);
  const metaBefore = memberText(before, '_meta') ?? '{}';
  const metaAfter = memberText(after, '_meta')!;
  if (!metaBefore.startsWith('{')) return;
  const inside = jsonMembers(metaAfter);
  expect(inside.filter(({ key }) => key === Meta.serverInfo)).toHaveLength(1);
  const others = (members: typeof inside): string[] =>
    members
      .filter(({ key }) => key !== Meta.serverInfo)
      .map(({ keyText: k, valueText }) => `${k}:${valueText}`);
  expect(others(inside)).toEqual(others(jsonMembers(metaBefore)));
}

describe('the answer of a source', () => {
  test('gets what it lacks, and keeps all else to the letter', () => {
    fc.assert(
      fc.property(result(), fc.constantFrom(...METHODS), (before, method) => {
        expectStamped(before, stampedAnswer(before, method), method);
      }),
      { numRuns: 2000 },
    );
  });

  test('also where its keys are written with escapes', () => {
    fc.assert(
      fc.property(result(true), fc.constantFrom(...METHODS), (before, method) => {
        expectStamped(before, stampedAnswer(before, method), method);
      }),
      { numRuns: 2000 },
    );
  });

  test('that is changed in another place already is changed in both', () => {
    fc.assert(
      fc.property(result(), value, (before, text) => {
        const added = `"added":${text}`;
        const start = answerOf(before).start(Server.result) + 1;
        const empty = jsonMembers(before).length === 0;
        const edit = { start, end: start, with: empty ? added : `${added},` };
        const expected = `{${edit.with}${before.slice(1)}`;
        expectStamped(expected, stampedAnswer(before, 'tools/call', [edit]), 'tools/call');
      }),
      { numRuns: 500 },
    );
  });

  test('says itself what kind it is, how long it holds and who gave it, where it does', () => {
    const own = `{"resultType":"task","ttlMs":5,"cacheScope":"public","_meta":{"${Meta.serverInfo}":{"name":"child"}}}`;
    expect(stampedAnswer(own, 'tools/list')).toBe(own);
  });

  test('that is an error stays one; a resource that is not found has the code of the era', () => {
    const error = (text: string): string => {
      const answer = Message.fromText(`{"jsonrpc":"2.0","id":7,"error":${text}}`, SERVER_SHAPE);
      const done = withModernMeta(answer, [], 'resources/read', OURS);
      return memberText(editedText(done.answer, done.edits), 'error')!;
    };
    for (const text of [
      '{"code":-32601,"message":"no"}',
      '{"code":-32000,"message":"about \\"code\\":-32002","data":{"code":-32002}}',
    ])
      expect(error(text)).toBe(text);
    expect(JSON.parse(error('{"code": -32002,"message":"Resource not found","data":{"uri":"a:b"}}'))).toEqual(
      {
        code: -32602,
        message: 'Resource not found',
        data: { uri: 'a:b' },
      },
    );
  });
});

describe('a result of our own', () => {
  test('gets what it lacks, and keeps all else to the letter', () => {
    fc.assert(
      fc.property(result(), fc.constantFrom(...METHODS), (before, method) => {
        const after = modernResultText(before, method, OURS);
        expect(memberText(memberText(after, '_meta')!, Meta.serverInfo)).toBe(OURS);
        if (memberText(before, '_meta')?.startsWith('{') !== false) expectStamped(before, after, method);
      }),
      { numRuns: 2000 },
    );
  });

  test('is complete, and from us, as a list too', () => {
    expect(JSON.parse(modernResult({ tools: [] }, 'tools/list', OURS))).toEqual({
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      tools: [],
      _meta: { [Meta.serverInfo]: INFO },
    });
    expect(JSON.parse(modernListText('{"tools":[]}', 'tools/list', OURS, 5))).toEqual({
      resultType: 'complete',
      ttlMs: 5,
      cacheScope: 'private',
      tools: [],
      _meta: { [Meta.serverInfo]: INFO },
    });
  });
});
