import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SwitchboardError } from '../../shared/errors.ts';
import { Client, CLIENT_SHAPE, Meta, MODERN_VERSION } from '../../protocol/index.ts';
import { addEdit, editedText, jsonMembers, Message, memberText } from '../../wire/index.ts';
import { metaEdits, withoutEnvelope, type RequestMeta } from './request-meta.ts';

const STAMP: RequestMeta = {
  capabilities: { sampling: {} },
  clientInfo: '{"name":"switch","version":"9"}',
  logLevel: undefined,
  keeps: false,
};

const read = (text: string): Message => Message.fromText(text, CLIENT_SHAPE);

/** The request as it is sent; throws if it is refused. */
function stamped(text: string, stamp: Partial<RequestMeta> = {}): string {
  const request = read(text);
  const edits = metaEdits(request, [], { ...STAMP, ...stamp });
  if (edits instanceof SwitchboardError) throw edits;
  return editedText(request, edits);
}

const META = `"${Meta.protocolVersion}":"${MODERN_VERSION}","${Meta.clientInfo}":${STAMP.clientInfo},"${Meta.clientCapabilities}":{"sampling":{}}`;

describe('the envelope goes', () => {
  test.each([
    [
      'where there are no params',
      '{"id":1,"method":"m"}',
      `{"id":1,"method":"m","params":{"_meta":{${META}}}}`,
    ],
    [
      'into empty params',
      '{"method":"m","params":{ },"id":1}',
      `{"method":"m","params":{"_meta":{${META}} },"id":1}`,
    ],
    ['in front of other params', '{"params":{"a":1.0}}', `{"params":{"_meta":{${META}},"a":1.0}}`],
    ['into an empty _meta', '{"params":{"_meta":{}}}', `{"params":{"_meta":{${META}}}}`],
    [
      'in front of what _meta has',
      '{"params":{"_meta" : { "x":1}}}',
      `{"params":{"_meta" : {${META}, "x":1}}}`,
    ],
    [
      'into the place of a _meta that is none',
      '{"params":{"_meta":null,"a":1}}',
      `{"params":{"_meta":{${META}},"a":1}}`,
    ],
    ['into the place of params that are null', '{"params":null}', `{"params":{"_meta":{${META}}}}`],
  ])('%s', (_, before, after) => {
    const method = before.includes('method') ? '' : '"method":"m",';
    expect(stamped(`{${method}${before.slice(1)}`)).toBe(`{${method}${after.slice(1)}`);
  });

  test('not on params that are no object', () => {
    expect(() => stamped('{"method":"m","params":[1]}')).toThrow(/params must be an object/);
  });
});

describe('what a client says of itself already', () => {
  const own = (key: string, value: string): string => `{"method":"m","params":{"_meta":{"${key}":${value}}}}`;

  test('is replaced where the client is of the older era', () => {
    const out = JSON.parse(stamped(own(Meta.protocolVersion, '"2025-11-25"'))) as Shown;
    expect(out.params._meta[Meta.protocolVersion]).toBe(MODERN_VERSION);
  });

  test('stays where it is modern, but for its name', () => {
    const text = `{"method":"m","params":{"_meta":{"${Meta.protocolVersion}":"${MODERN_VERSION}","${Meta.clientCapabilities}":{"roots":{ }},"${Meta.logLevel}":"debug","${Meta.clientInfo}":{"name":"host"}}}}`;
    expect(stamped(text, { keeps: true, logLevel: 'error' })).toBe(
      text.replace('{"name":"host"}', STAMP.clientInfo),
    );
    const nameless = text.replace(`,"${Meta.clientInfo}":{"name":"host"}`, '');
    expect(JSON.parse(stamped(nameless, { keeps: true }))).toEqual(
      JSON.parse(stamped(text, { keeps: true })),
    );
  });

  test('is found however its key is written', () => {
    const key = Meta.clientInfo.replace('i', '\\u0069');
    const out = stamped(own(key, '{"name":"host"}'));
    expect(out).not.toContain('host');
    expect(
      jsonMembers(memberText(memberText(out, 'params')!, '_meta')!)
        .map((member) => member.key)
        .sort(),
    ).toEqual([Meta.protocolVersion, Meta.clientInfo, Meta.clientCapabilities].sort());
  });

  test('is refused if it is there twice, however it is escaped', () => {
    const twice = `{"method":"m","params":{"_meta":{"${Meta.clientInfo}":{},"${Meta.clientInfo.replace('i', '\\u0069')}":{}}}}`;
    expect(() => stamped(twice)).toThrow(/duplicate protocol member/);
    const state = '{"method":"m","params":{"requestState":"a","requestState":"b"}}';
    expect(() => stamped(state)).toThrow(/duplicate protocol member/);
  });

  test('log level: what the client set for its session is said with each call', () => {
    const out = JSON.parse(stamped('{"method":"m"}', { logLevel: 'info' })) as Shown;
    expect(out.params._meta[Meta.logLevel]).toBe('info');
  });
});

test('what a retry carries is put in, or in the place of what is there', () => {
  const more = new Map([
    ['inputResponses', '{"a":{}}'],
    ['requestState', '"s"'],
  ] as const);
  expect(JSON.parse(stamped('{"method":"m","params":{"name":"t"}}', { more }))).toMatchObject({
    params: { name: 't', inputResponses: { a: {} }, requestState: 's' },
  });
  const out = stamped('{"method":"m","params":{"requestState":"old","name":"t"}}', { more });
  expect(out).not.toContain('old');
  expect(JSON.parse(out)).toMatchObject({ params: { name: 't', requestState: 's' } });
});

test('edits that are there already stay, in order', () => {
  const request = read('{"method":"tools/call","params":{"name":"a","arguments":{}}}');
  const edit = { start: request.start(Client.name), end: request.end(Client.name), with: '"b"' };
  const edits = metaEdits(request, [edit], STAMP);
  expect(JSON.parse(editedText(request, edits as never))).toMatchObject({
    params: { name: 'b', arguments: {} },
  });
});

describe('for any request', () => {
  const space = fc.constantFrom('', ' ', '\t', '  ');
  const key = fc.oneof(
    fc.constantFrom(
      'x',
      'progressToken',
      '_meta2',
      'é',
      'io.modelcontextprotocol/other',
      ...Object.values(Meta),
    ),
    fc.string({ maxLength: 6 }),
  );
  /** The text of an object with distinct keys, written with spaces and escapes. */
  const objectOf = (value: fc.Arbitrary<string>, keys = key): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(keys, value, space, fc.boolean()), {
          maxLength: 5,
          selector: ([name]) => name,
        }),
        space,
      )
      .map(
        ([members, around]) =>
          `{${around}${members
            .map(
              ([name, text, gap, escaped]) =>
                `${gap}${escaped ? escapedText(name) : JSON.stringify(name)}${gap}:${text}${gap}`,
            )
            .join(',')}${around}}`,
      );
  const scalar = fc.oneof(
    fc.constantFrom('1.0', '1e3', 'null', '"\\u00e9"', '[]', '{}'),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  const meta = fc.oneof(objectOf(scalar), fc.constantFrom('null', '"text"', '{}', '{ }'));
  const params = fc
    .tuple(
      objectOf(scalar, fc.constantFrom('name', 'uri', 'a', 'requestState', 'arguments')),
      fc.option(meta, { nil: undefined }),
      space,
    )
    .map(([object, inner, gap]) => {
      if (inner === undefined) return object;
      const rest = object.slice(1).trimStart();
      return `{${gap}"_meta"${gap}:${inner}${rest.startsWith('}') ? '' : ','}${object.slice(1)}`;
    });

  test('one of each member goes out, and everything else to the letter', () => {
    fc.assert(
      fc.property(
        fc.option(fc.oneof(params, fc.constant('null')), { nil: undefined }),
        fc.boolean(),
        (given, keeps) => {
          const before = `{"jsonrpc":"2.0","id":1,"method":"m"${given === undefined ? '' : `,"params":${given}`}}`;
          const after = stamped(before, { keeps });
          JSON.parse(after);
          const sent = jsonMembers(memberText(after, 'params')!);
          const sentMeta = jsonMembers(sent.find((member) => member.key === '_meta')!.valueText);
          const had = given?.startsWith('{') ? jsonMembers(given) : [];
          const metaText = had.find((member) => member.key === '_meta')?.valueText;
          const hadMeta = metaText?.startsWith('{') ? jsonMembers(metaText) : [];
          for (const name of OURS) expect(sentMeta.filter((member) => member.key === name)).toHaveLength(1);
          expect(sentMeta.find((member) => member.key === Meta.clientInfo)!.valueText).toBe(STAMP.clientInfo);
          const others = ({ key: name }: { key: string }): boolean => !OURS.includes(name);
          expect(sentMeta.filter(others)).toEqual(hadMeta.filter(others));
          const rest = ({ key: name }: { key: string }): boolean => name !== '_meta';
          expect(sent.filter(rest)).toEqual(had.filter(rest));
          if (keeps)
            for (const name of [Meta.protocolVersion, Meta.clientCapabilities])
              for (const member of hadMeta.filter((each) => each.key === name))
                expect(sentMeta).toContainEqual(member);
        },
      ),
      { numRuns: 500 },
    );
  });
});

const OURS: string[] = [Meta.protocolVersion, Meta.clientInfo, Meta.clientCapabilities];

interface Shown {
  readonly params: { readonly _meta: Readonly<Record<string, unknown>> };
}

function escapedText(name: string): string {
  const letters = [...Array(name.length).keys()].map((at) =>
    name.charCodeAt(at).toString(16).padStart(4, '0'),
  );
  return `"${letters.map((code) => `\\u${code}`).join('')}"`;
}

describe('for a server with a handshake', () => {
  const plain = (meta: string): string => {
    const request = read(`{"id":1,"method":"m","params":{"_meta":${meta},"name":"a"}}`);
    const name = { start: request.start(Client.name), end: request.end(Client.name), with: '"b"' };
    const edits = withoutEnvelope(request, [name]);
    // As in the code that sends the request.
    if (request.has(Client.progressToken))
      addEdit(edits, {
        start: request.start(Client.progressToken),
        end: request.end(Client.progressToken),
        with: '7',
      });
    return memberText(editedText(request, edits), 'params')!;
  };

  test.each([
    ['what it says is left out', `{${META}}`, '{}'],
    ['the rest stays', `{ "x" : [1.0] ,${META},"y":null}`, '{"x":[1.0],"y":null}'],
    ['so does the token', `{"progressToken":"mine",${META}}`, '{"progressToken":7}'],
    [
      'wherever it is',
      `{"x":1,${META},"progressToken":1,"${Meta.logLevel}":"info","y":2}`,
      '{"progressToken":7,"x":1,"y":2}',
    ],
    ['without an envelope nothing changes', '{ "x" : 1 }', '{ "x" : 1 }'],
  ])('%s', (_, before, after) => {
    expect(plain(before)).toBe(`{"_meta":${after},"name":"b"}`);
  });
});
