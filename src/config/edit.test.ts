import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { JsoncError, locateJsonc, parseJsonc, type JsoncNode } from '../shared/jsonc.ts';
import { entryForConfig, withoutServer, withServer } from './edit.ts';
import { interpolate } from './interpolate.ts';

const npx = { command: 'npx', args: ['-y', 'thing'] };

describe('a server is added', () => {
  test.each([
    [
      'to a new configuration',
      '{}\n',
      '{\n  "mcpServers": {\n    "b": {\n      "command": "npx",\n      "args": ["-y", "thing"]\n    }\n  }\n}\n',
    ],
    [
      'behind the last, indented as it is, with the comment where it was',
      '{\n\t"mcpServers": {\n\t\t// first\n\t\t"a": { "command": "x" } // about a\n\t\t// at the end\n\t},\n\t"logLevel": "info"\n}',
      '{\n\t"mcpServers": {\n\t\t// first\n\t\t"a": { "command": "x" }, // about a\n\t\t"b": {\n\t\t\t"command": "npx",\n\t\t\t"args": ["-y", "thing"]\n\t\t}\n\t\t// at the end\n\t},\n\t"logLevel": "info"\n}',
    ],
    [
      'with four blanks, CRLF, a byte-order mark and a trailing comma',
      '\ufeff{\r\n    "mcpServers": {\r\n        "a": { "command": "x" },\r\n    },\r\n}\r\n',
      '\ufeff{\r\n    "mcpServers": {\r\n        "a": { "command": "x" },\r\n        "b": {\r\n            "command": "npx",\r\n            "args": ["-y", "thing"]\r\n        },\r\n    },\r\n}\r\n',
    ],
    [
      'on one line, where all is on one line',
      '{ "mcpServers": { "a": { "command": "x" } } }',
      '{ "mcpServers": { "a": { "command": "x" }, "b": { "command": "npx", "args": ["-y", "thing"] } } }',
    ],
    [
      'without blanks, where there are none',
      '{"mcpServers":{"a":{"command":"x"}}}',
      '{"mcpServers":{"a":{"command":"x"},"b":{"command":"npx","args":["-y","thing"]}}}',
    ],
    [
      'with mcpServers, where there is none',
      '{\n  // how much\n  "logLevel": "info" // enough\n}\n',
      '{\n  // how much\n  "logLevel": "info", // enough\n  "mcpServers": {\n    "b": {\n      "command": "npx",\n      "args": ["-y", "thing"]\n    }\n  }\n}\n',
    ],
    [
      'to an empty list of servers',
      '{\n  "mcpServers": {},\n  "logLevel": "info"\n}\n',
      '{\n  "mcpServers": {\n    "b": {\n      "command": "npx",\n      "args": ["-y", "thing"]\n    }\n  },\n  "logLevel": "info"\n}\n',
    ],
    [
      'behind a comment that would swallow it',
      '{ "mcpServers": { "a": { "command": "x" } // about a\n} }',
      '{ "mcpServers": { "a": { "command": "x" }, // about a\n  "b": {\n    "command": "npx",\n    "args": ["-y", "thing"]\n  }\n} }',
    ],
  ])('%s', (_, before, after) => {
    expect(withServer(before, 'b', npx)).toBe(after);
  });

  test('in the place of one of the same name, the comments around it staying', () => {
    const before =
      '{\n  "mcpServers": {\n    // above\n    "b": { "command": "old" }, // behind\n    "c": { "command": "x" },\n  },\n}';
    expect(withServer(before, 'b', { command: 'new' })).toBe(
      '{\n  "mcpServers": {\n    // above\n    "b": {\n      "command": "new"\n    }, // behind\n    "c": { "command": "x" },\n  },\n}',
    );
    expect(withServer(before, 'b', { command: 'old' })).toBe(before);
  });

  test('with long lists over several lines, and nothing that JSON cannot say', () => {
    const args = Array.from({ length: 30 }, (_, index) => `argument${index}`);
    const text = withServer('{}', 'b', { command: 'x', args, env: {}, cwd: undefined });
    expect(text).toContain('\n      "args": [\n        "argument0",\n        "argument1",');
    expect(parseJsonc(text)).toEqual({ mcpServers: { b: { command: 'x', args, env: {} } } });
  });
});

describe('a server is removed', () => {
  const remaining = (members: string): string => withoutServer(`{\n  "mcpServers": {${members}}\n}`, 'b');
  const expected = (members: string): string => `{\n  "mcpServers": {${members}}\n}`;
  test.each([
    ['the first', '\n    "b": {},\n    "c": {}\n  ', '\n    "c": {}\n  '],
    ['one in the middle', '\n    "a": {},\n    "b": {},\n    "c": {}\n  ', '\n    "a": {},\n    "c": {}\n  '],
    ['the last, with the comma before it', '\n    "a": {},\n    "b": {}\n  ', '\n    "a": {}\n  '],
    ['the last, with its own comma', '\n    "a": {},\n    "b": {},\n  ', '\n    "a": {},\n  '],
    ['the only one', '\n    "b": {}\n  ', ''],
    ['the only one, with a comma', '\n    "b": {},\n  ', ''],
    ['one on a line with others', ' "a": {}, "b": {}, "c": {} ', ' "a": {}, "c": {} '],
    [
      'the first of a line',
      '\n    "a": {}, // a\n    "b": {}, "c": {}\n  ',
      '\n    "a": {}, // a\n    "c": {}\n  ',
    ],
    ['the last of a line', ' "a": {}, "b": {} ', ' "a": {} '],
    [
      'with the comments above and behind it',
      '\n    "a": {}, // a\n    // b\n    /* b\n       b */\n    "b": {} /* b */, // b\n    // c\n    "c": {}\n  ',
      '\n    "a": {}, // a\n    // c\n    "c": {}\n  ',
    ],
    [
      'without comments above an empty line',
      '\n    // all\n\n    // b\n    "b": {},\n    "c": {}\n  ',
      '\n    // all\n\n    "c": {}\n  ',
    ],
    [
      'without the comment of the brace or of the one before',
      ' // all\n    "b": {}\n    // end\n  ',
      ' // all\n    // end\n  ',
    ],
    ['with the empty line above the last', '\n    "a": {},\n\n    "b": {}\n  ', '\n    "a": {}\n  '],
    [
      'with one of the empty lines around it',
      '\n    "a": {},\n\n    // b\n    "b": {},\n\n    "c": {}\n  ',
      '\n    "a": {},\n\n    "c": {}\n  ',
    ],
    ['with the brace kept out of a comment', '\n    "a": {}, // a\n    "b": {} ', '\n    "a": {} // a\n    '],
    ['without a comment that may be about the next', ' "b": {}, /* c? */ "c": {} ', ' /* c? */ "c": {} '],
    [
      'without a comment that goes over to the next line',
      ' // all\n    "b": {}, /* c\n c */ "c": {} ',
      ' // all\n    /* c\n c */ "c": {} ',
    ],
    ['without a comment before it on its line', ' "a": {}, /* b? */ "b": {} ', ' "a": {} /* b? */ '],
    [
      'where commas begin the lines',
      '\n    "a": {}\n    , "b": {}\n    , "c": {}\n  ',
      '\n    "a": {}\n    ,\n     "c": {}\n  ',
    ],
  ])('%s', (_, before, after) => {
    expect(remaining(before)).toBe(expected(after));
  });

  test('nothing changes where it is not there', () => {
    for (const text of ['{}', '{ "mcpServers": {} }', '{ "mcpServers": { "a": {} } } // b'])
      expect(withoutServer(text, 'b')).toBe(text);
  });
});

test('"__proto__" and other odd names are names like any other', () => {
  for (const name of ['__proto__', 'constructor', 'a "b" \\ c', 'ä💥', '', '//', '1']) {
    for (const text of ['{}', '{"mcpServers":{}}', '{"mcpServers":{"__proto__":{"command":"y"},"z":{}}}']) {
      const added = withServer(text, name, npx);
      const { mcpServers } = parseJsonc(added) as { mcpServers: Record<string, unknown> };
      expect(Object.getOwnPropertyDescriptor(mcpServers, name)?.value).toEqual(npx);
      expect(
        Object.keys((parseJsonc(withoutServer(added, name)) as { mcpServers: object }).mcpServers),
      ).not.toContain(name);
    }
  }
});

test('a duplicate key is changed where it takes effect and removed everywhere', () => {
  const text = '{"mcpServers":{"a":{}},"mcpServers":{"a":{"x":1},"b":{},"a":{"x":2}}}';
  expect(withServer(text, 'a', { x: 3 })).toBe(
    '{"mcpServers":{"a":{}},"mcpServers":{"a":{"x":1},"b":{},"a":{"x":3}}}',
  );
  expect(withoutServer(text, 'a')).toBe('{"mcpServers":{"a":{}},"mcpServers":{"b":{}}}');
});

test('an invalid configuration is refused with the same error as on loading', () => {
  for (const text of ['', '{', '{"a": 1 "b": 2}', '{"mcpServers": {"a": {}, /* twice */ "a": {}}}']) {
    let expected: unknown;
    try {
      parseJsonc(text);
    } catch (error) {
      expected = error;
    }
    expect(expected).toBeInstanceOf(JsoncError);
    for (const edit of [() => withServer(text, 'a', npx), () => withoutServer(text, 'a')])
      expect(edit).toThrow(expected);
  }
  for (const text of ['[]', 'null', '{"mcpServers": []}', '{"mcpServers": null}'])
    for (const edit of [() => withServer(text, 'a', npx), () => withoutServer(text, 'a')])
      expect(edit).toThrow(SwitchboardError);
});

test('an entry for a configuration says the same when it is loaded, whatever it holds', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .array(fc.constantFrom('$', '{', '}', '${', 'A', ':-', 'env:'), { maxLength: 8 })
      .map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(
      text,
      fc.array(text),
      fc.dictionary(fc.string({ minLength: 1 }), text),
      text,
      (command, args, env, cwd) => {
        const entry = entryForConfig({ command, args, env, cwd }) as {
          command: string;
          args?: string[];
          env?: Record<string, string>;
          cwd?: string;
        };
        const load = (written: string): unknown => {
          const result = interpolate(written, { A: 'filled in' });
          return result.kind === 'text' ? result.text : result;
        };
        expect(load(entry.command)).toBe(command);
        expect((entry.args ?? []).map(load)).toEqual(args);
        expect(Object.entries(entry.env ?? {}).map(([name, value]) => [name, load(value)])).toEqual(
          Object.entries(env),
        );
        expect(entry.cwd === undefined ? '' : load(entry.cwd)).toBe(cwd.trim() === '' ? '' : cwd);
      },
    ),
  );
  expect(entryForConfig({ command: 'x' })).toEqual({ command: 'x' });
});

describe('for any text', () => {
  type Config = Record<string, unknown> & { mcpServers?: Record<string, unknown> };

  /** White space and comments. Every comment is different, so that each can be searched for. */
  let comments = 0;
  const commentsIn = (text: string): string[] => text.match(/«\d+»/g) ?? [];
  const blank = fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r\n',
    '\n  ',
    '\n\n',
    '\t',
    ' \n\t',
    '\r',
    '\n    ',
    ' \r\n\r\n ',
  );
  const comment = fc.constantFrom('//#\n', '//#  \r\n', '/*#*/', '/* # \n # */', '// # "\u2028{\n', '/*#,*/');
  const gap = fc
    .array(fc.oneof({ weight: 3, arbitrary: blank }, comment), { maxLength: 4 })
    .map((parts) => parts.join('').replaceAll('#', () => `«${comments++}»`));
  const scalar = fc.constantFrom('1', '"x"', '"//"', 'true', '[]', '[1, 2]', '["{" , /*[*/ 3]');
  const name = fc.constantFrom('a', 'b', 'c', '__proto__', 'x y', '/*');

  const object = (value: fc.Arbitrary<string>, key: fc.Arbitrary<string>): fc.Arbitrary<string> => {
    const member = fc.record({ key, before: gap, colon: gap, value, after: gap });
    const members = fc.uniqueArray(member, { maxLength: 4, selector: (each) => each.key });
    return fc.tuple(members, gap, fc.boolean()).map(([list, end, trailing]) => {
      const written = list.map(
        (each) =>
          each.before + JSON.stringify(each.key) + each.colon + ':' + each.colon + each.value + each.after,
      );
      return `{${written.join(',')}${trailing && list.length > 0 ? ',' : ''}${end}}`;
    });
  };
  const servers = object(fc.oneof(scalar, object(scalar, name)), name);
  const others = (keys: string[]): fc.Arbitrary<[string, string][]> =>
    fc.uniqueArray(fc.tuple(fc.constantFrom(...keys), scalar), { maxLength: 2, selector: ([key]) => key });
  const document = fc
    .record({
      mark: fc.constantFrom('', '\ufeff'),
      before: others(['k', 'l', 'm']),
      servers: fc.option(servers, { freq: 10 }),
      after: others(['n', 'o']),
      gaps: fc.tuple(gap, gap, gap, gap),
      trailing: fc.boolean(),
    })
    .map(({ mark, before, servers: inside, after, gaps: [front, left, right, end], trailing }) => {
      const own: [string, string][] = inside === null ? [] : [['mcpServers', inside]];
      const members = [...before, ...own, ...after].map(
        ([key, value]) => `${left}${JSON.stringify(key)}:${right}${value}`,
      );
      return `${mark}${front}{${members.join(',')}${trailing && members.length > 0 ? ',' : ''}${end}}${end}`;
    });
  const entry = fc.record(
    { command: fc.string(), args: fc.array(fc.string()), env: fc.dictionary(fc.string(), fc.string()) },
    { requiredKeys: [] },
  );

  /** A value as an ordered list of keys and values, including `__proto__`. */
  const pairs = (value: unknown): unknown =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([key, member]) => [key, pairs(member)])
      : value;
  const withServers = (config: Config, entries: readonly (readonly [string, unknown])[]): unknown =>
    pairs({ ...config, mcpServers: Object.fromEntries(entries) });

  test('adding says what was meant and loses no comment, and removing gives the text before', () => {
    fc.assert(
      fc.property(document, name, entry, (text, key, value) => {
        const before = parseJsonc(text) as Config;
        const present = Object.entries(before.mcpServers ?? {});
        const added = withServer(text, key, value);
        if (present.some(([each]) => each === key)) {
          const expected = present.map(([each, old]) => [each, each === key ? value : old] as const);
          expect(pairs(parseJsonc(added))).toEqual(withServers(before, expected));
          return;
        }
        expect(pairs(parseJsonc(added))).toEqual(withServers(before, [...present, [key, value]]));
        expect(commentsIn(added)).toEqual(commentsIn(text));
        const removed = withoutServer(added, key);
        if (before.mcpServers !== undefined) expect(removed).toBe(text);
        else expect(pairs(parseJsonc(removed))).toEqual(withServers(before, []));
      }),
      { numRuns: 5000 },
    );
  });

  test('replacing changes nothing but the value', () => {
    fc.assert(
      fc.property(document, name, entry, (text, key, value) => {
        const { node } = place(text, key) ?? {};
        if (node === undefined) return;
        const replaced = withServer(text, key, value);
        expect(replaced.startsWith(text.slice(0, node.start))).toBe(true);
        expect(replaced.endsWith(text.slice(node.end))).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  test('removing takes the server, comments beside it at most, and nothing else', () => {
    fc.assert(
      fc.property(document, name, (text, key) => {
        const found = place(text, key);
        const removed = withoutServer(text, key);
        if (found === undefined) {
          expect(removed).toBe(text);
          return;
        }
        const before = parseJsonc(text) as Config;
        const rest = Object.entries(before.mcpServers!).filter(([each]) => each !== key);
        expect(pairs(parseJsonc(removed))).toEqual(withServers(before, rest));
        // Outside the range between its neighbours, only the comma directly before it may be removed.
        expect(removed.endsWith(text.slice(found.to))).toBe(true);
        expect(removed.startsWith(text.slice(0, found.from))).toBe(true);
        const beside = commentsIn(text.slice(found.from, found.to));
        const gone = commentsIn(text).filter((each) => !commentsIn(removed).includes(each));
        expect(beside).toEqual(expect.arrayContaining(gone));
      }),
      { numRuns: 5000 },
    );
  });

  /** The location of a server, and of the values before and after it (or the braces). */
  function place(text: string, key: string): { node: JsoncNode; from: number; to: number } | undefined {
    const mark = text.startsWith('\ufeff') ? 1 : 0;
    const { members = [] } = locateJsonc(text);
    const object = members.find((member) => member.key === 'mcpServers')?.node;
    const index = object?.members?.findIndex((member) => member.key === key) ?? -1;
    if (object === undefined || index === -1) return undefined;
    const { node } = object.members![index]!;
    const from = object.members![index - 1]?.node.end ?? object.start + 1;
    const to = object.members![index + 1]?.start ?? object.end - 1;
    return {
      node: { ...node, start: node.start + mark, end: node.end + mark },
      from: from + mark,
      to: to + mark,
    };
  }
});
