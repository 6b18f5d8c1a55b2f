import fc from 'fast-check';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { parseJsonc } from '../shared/jsonc.ts';
import { TextFault, type Container } from './container.ts';
import { entriesOf, removeEntry, upsertEntry } from './edit.ts';
import type { Format } from './host.ts';

const json: Container = { format: 'jsonc', keyPath: ['mcpServers'] };
const toml: Container = { format: 'toml', keyPath: ['mcp_servers'] };
const entry = { command: '/usr/bin/node', args: ['/opt/switchboard/index.js'] };
const faultOf = (text: string, container: Container): unknown => {
  try {
    upsertEntry(text, container, 'sb', { entry });
  } catch (error) {
    if (error instanceof TextFault) return [error.line, error.column, error.reason];
    throw error;
  }
  return undefined;
};

test.each([
  ['JSON', json, `{"mcpServers":${'{"a":'.repeat(3000)}1${'}'.repeat(3000)}}`],
  ['TOML', toml, `${'a.'.repeat(3000)}a = 1`],
  ['TOML lists', toml, `a = ${'['.repeat(3000)}${']'.repeat(3000)}`],
])('%s that is nested too deep is a fault of the text', (_what, container, text) => {
  expect(() => entriesOf(text, container)).toThrow(/nested/);
});

test.each([
  [
    'JSON',
    json,
    '\ufeff{\r\n\t"mcpServers": {\r\n\t\t"a": {\r\n\t\t\t"command": "x"\r\n\t\t}\r\n\t}\r\n}\r\n',
  ],
  ['TOML', toml, '\ufeff# mine\r\n[mcp_servers.a]\r\ncommand = "x"\r\n'],
])('%s keeps the line ends of Windows and a byte order mark', (_what, container, before) => {
  const { text } = upsertEntry(before, container, 'sb', { entry });
  expect(text).toContain('sb');
  expect(text.slice(1)).not.toContain('\ufeff');
  expect(text.match(/(?<!\r)\n|\r(?!\n)/)).toBeNull();
  expect(removeEntry(text, container, 'sb', { earlier: [before] }).text).toBe(before);
  expect(removeEntry(text, container, 'sb').text.startsWith('\ufeff')).toBe(true);
});

describe('a JSON text', () => {
  test.each<[string, string, string]>([
    [
      'that is not there',
      '',
      '{\n  "mcpServers": {\n    "sb": {\n      "command": "/usr/bin/node",\n      "args": ["/opt/switchboard/index.js"]\n    }\n  }\n}\n',
    ],
    [
      'with comments only',
      '// mine',
      '// mine\n{\n  "mcpServers": {\n    "sb": {\n      "command": "/usr/bin/node",\n      "args": ["/opt/switchboard/index.js"]\n    }\n  }\n}\n',
    ],
    [
      'with a mark and line breaks of Windows only',
      '\ufeff\r\n',
      '\ufeff\r\n{\r\n  "mcpServers": {\r\n    "sb": {\r\n      "command": "/usr/bin/node",\r\n      "args": ["/opt/switchboard/index.js"]\r\n    }\r\n  }\r\n}\r\n',
    ],
  ])('%s becomes one with the entry', (_, before, after) => {
    expect(upsertEntry(before, json, 'sb', { entry })).toEqual({ text: after, action: 'added' });
    expect(removeEntry(after, json, 'sb', { earlier: [before] })).toEqual({
      text: before,
      action: 'removed',
    });
  });

  test('keeps what a person has set on our entry, and the comments in it', () => {
    const before =
      '{\n  "mcpServers": {\n    "sb": {\n      // start\n      "command": "old",\n      "url": "http://x",\n      // patience\n      "timeout": 600000\n    }\n  }\n}\n';
    expect(upsertEntry(before, json, 'sb', { entry })).toEqual({
      action: 'updated',
      text: '{\n  "mcpServers": {\n    "sb": {\n      // start\n      "command": "/usr/bin/node",\n      // patience\n      "timeout": 600000,\n      "args": ["/opt/switchboard/index.js"]\n    }\n  }\n}\n',
    });
    const replace = upsertEntry(before, json, 'sb', { entry, replace: true }).text;
    expect(parseJsonc(replace)).toEqual({ mcpServers: { sb: entry } });
    expect(upsertEntry(replace, json, 'sb', { entry }).action).toBe('unchanged');
  });

  test('loses the object around the entry only where that was made for it', () => {
    const made = upsertEntry('{"a": 1}', json, 'sb', { entry }).text;
    expect(removeEntry(made, json, 'sb').text).toBe('{"a": 1}');
    const other = '{"mcpServers": {"sb": {"command": "x"}}, "a": 1}';
    expect(removeEntry(other, json, 'sb').text).toBe('{"mcpServers": {}, "a": 1}');
    expect(removeEntry('{"a": 1}', json, 'sb')).toEqual({ text: '{"a": 1}', action: 'absent' });
    // With and without an empty object, the text becomes the same: only an earlier text distinguishes them.
    const empty = '{\n  "mcpServers": {}\n}\n';
    const added = upsertEntry(empty, json, 'sb', { entry }).text;
    expect(upsertEntry('{}\n', json, 'sb', { entry }).text).toBe(added);
    expect(removeEntry(added, json, 'sb').text).toBe('{}\n');
    expect(removeEntry(added, json, 'sb', { earlier: ['broken {', added, empty, '{}\n'] }).text).toBe(empty);
  });

  test('that the host could not read is refused, with the place', () => {
    const strict: Container = { ...json, format: 'json' };
    const gemini: Container = { ...json, format: 'jsonc-no-trailing-commas' };
    const [comma, comment] = ['{\n  "a": [1,],\n}', '{\n  // b\n  "a": "// no"\n}'];
    expect(faultOf(comma, strict)).toEqual([2, 10, 'trailing commas are not allowed in this file']);
    expect(faultOf(comma, gemini)).toEqual([2, 10, 'trailing commas are not allowed in this file']);
    expect(faultOf(comma, json)).toBeUndefined();
    expect(faultOf(comment, strict)).toEqual([2, 3, 'comments are not allowed in this file']);
    expect(faultOf(comment, gemini)).toBeUndefined();
    expect(faultOf('// only', strict)).toEqual([1, 1, 'comments are not allowed in this file']);
    expect(faultOf('{\n  "mcpServers": {', json)).toEqual([2, 17, 'this "{" is never closed']);
    expect(faultOf('{"mcpServers": [1]}', json)).toEqual([1, 16, '"mcpServers" must be an object']);
    expect(faultOf('\n[]', json)).toEqual([2, 1, 'the whole must be an object']);
    expect(faultOf('{ "a": 1 } x', json)).toEqual([1, 12, 'unexpected text after the end of the value']);
  });
});

describe('a TOML text', () => {
  const block = '[mcp_servers.sb]\ncommand = "/usr/bin/node"\nargs = ["/opt/switchboard/index.js"]';
  test.each<[string, string, string]>([
    ['that is not there', '', `${block}\n`],
    ['with a last line break', 'model = "o"\n', `model = "o"\n\n${block}\n`],
    ['without one', '[a]\nb = 1 # c', `[a]\nb = 1 # c\n\n${block}`],
    ['with a comment only', '# mine\n\n', `# mine\n\n\n${block}\n`],
    [
      'with Windows line breaks and a mark',
      '\ufeffa = 1\r\n',
      `\ufeffa = 1\r\n\r\n${block.replaceAll('\n', '\r\n')}\r\n`,
    ],
    [
      'with the servers in braces',
      'mcp_servers = { o = { command = "x" } } # all\n',
      'mcp_servers = { o = { command = "x" }, sb = { command = "/usr/bin/node", args = ["/opt/switchboard/index.js"] } } # all\n',
    ],
    [
      'with empty braces',
      'mcp_servers = {}',
      'mcp_servers = {sb = { command = "/usr/bin/node", args = ["/opt/switchboard/index.js"] }}',
    ],
  ])('%s gets the entry at its end, and loses it again', (_, before, after) => {
    expect(upsertEntry(before, toml, 'sb', { entry })).toEqual({ text: after, action: 'added' });
    expect(removeEntry(after, toml, 'sb')).toEqual({ text: before, action: 'removed' });
  });

  test.each<[string, string, string]>([
    [
      'under a header, with all that a person has added',
      '# ours\n[ mcp_servers . "sb" ] # gateway\n# how\ncommand = "old" # old\nurl = "x"\nenabled = false\n\n[mcp_servers.sb.tools.x]\napproval_mode = "approve"\n\n# next\n[mcp_servers.o]\ncommand = "o"\n',
      '# ours\n[ mcp_servers . "sb" ] # gateway\n# how\ncommand = "/usr/bin/node" # old\nenabled = false\nargs = ["/opt/switchboard/index.js"]\n\n[mcp_servers.sb.tools.x]\napproval_mode = "approve"\n\n# next\n[mcp_servers.o]\ncommand = "o"\n',
    ],
    [
      'with dots',
      "[mcp_servers]\nsb.command = 'old'\nsb.args = [\n  'a', # b\n]\no.command = 'o'\n",
      '[mcp_servers]\nsb.command = "/usr/bin/node"\nsb.args = ["/opt/switchboard/index.js"]\no.command = \'o\'\n',
    ],
    [
      'with dots, from another kind of entry',
      'a = 1\nmcp_servers.sb.url = "u" # u\nmcp_servers.sb.enabled = true\n',
      'a = 1\nmcp_servers.sb.command = "/usr/bin/node"\nmcp_servers.sb.args = ["/opt/switchboard/index.js"]\nmcp_servers.sb.enabled = true\n',
    ],
    [
      'in braces',
      '[mcp_servers]\nsb = { command = "old", enabled = true } # b\n',
      '[mcp_servers]\nsb = { enabled = true, command = "/usr/bin/node", args = ["/opt/switchboard/index.js"] } # b\n',
    ],
    [
      'in braces with dots',
      'mcp_servers = { sb.command = "old", o.command = "o", sb.args = [] }\n',
      'mcp_servers = { sb = { command = "/usr/bin/node", args = ["/opt/switchboard/index.js"] }, o.command = "o" }\n',
    ],
  ])('is updated %s', (_, before, after) => {
    expect(upsertEntry(before, toml, 'sb', { entry })).toEqual({ text: after, action: 'updated' });
    expect(upsertEntry(after, toml, 'sb', { entry })).toEqual({ text: after, action: 'unchanged' });
  });

  test('an entry goes before settings of its tools, where there is nothing else of it', () => {
    const before = '[a]\nb = 1\n\n[mcp_servers.sb.tools.x]\nc = 1\n';
    const { text, action } = upsertEntry(before, toml, 'sb', { entry });
    expect(action).toBe('added');
    expect(text).toBe(`[a]\nb = 1\n\n${block}\n\n[mcp_servers.sb.tools.x]\nc = 1\n`);
    expect(removeEntry(text, toml, 'sb').text).toBe('[a]\nb = 1\n');
  });

  test('variables go into a table of their own, which is rewritten when they change', () => {
    const first = upsertEntry('', toml, 'sb', { entry: { ...entry, env: { B: '1', 'A b': '2' } } }).text;
    expect(first).toBe(`${block}\n\n[mcp_servers.sb.env]\n"B" = "1"\n"A b" = "2"\n`);
    const second = upsertEntry(`${first}\n[z]\n`, toml, 'sb', { entry: { ...entry, env: { C: '3' } } }).text;
    expect(second).toBe(`${block}\n\n[mcp_servers.sb.env]\n"C" = "3"\n\n[z]\n`);
    expect(upsertEntry(second, toml, 'sb', { entry }).text).toBe(`${block}\n\n[z]\n`);
    expect(removeEntry(second, toml, 'sb').text).toBe('[z]\n');
  });

  test('notes are below the header and get replaced', () => {
    const notes = ['not found', 'install it'];
    const noted = upsertEntry('a = 1\n', toml, 'sb', { entry, notes }).text;
    expect(noted).toContain('[mcp_servers.sb]\n# not found\n# install it\ncommand = ');
    expect(upsertEntry(noted, toml, 'sb', { entry, notes }).action).toBe('unchanged');
    expect(upsertEntry(noted, toml, 'sb', { entry }).action).toBe('unchanged');
    expect(upsertEntry(noted, toml, 'sb', { entry, notes: [] }).text).toBe(`a = 1\n\n${block}\n`);
    expect(upsertEntry(noted, toml, 'sb', { entry: { url: 'u' }, notes: ['new'] }).text).toBe(
      'a = 1\n\n[mcp_servers.sb]\n# new\nurl = "u"\n',
    );
    expect(removeEntry(noted, toml, 'sb').text).toBe('a = 1\n');
  });

  test('is left alone where it is broken, or no table, with the place', () => {
    expect(faultOf('a = 1\nb = \n', toml)).toEqual([2, 5, expect.stringMatching(/value/)]);
    expect(faultOf('a = 1\n[a.b]\n', toml)).toEqual([2, 2, expect.any(String)]);
    expect(faultOf('mcp_servers = 3\n', toml)).toEqual([1, 15, 'a table was expected here']);
    expect(faultOf('[[mcp_servers]]\nname = "x"\n', toml)).toEqual([
      1,
      1,
      expect.stringMatching(/list of tables/),
    ]);
  });
});

describe('for any text', () => {
  const value = fc.record(
    {
      command: fc.string({ minLength: 1 }),
      args: fc.array(fc.string(), { maxLength: 3 }),
      env: fc.dictionary(fc.stringMatching(/^[A-Z_]{1,5}$/), fc.string(), {
        maxKeys: 2,
        noNullPrototype: true,
      }),
      url: fc.webUrl(),
    },
    { requiredKeys: ['command'], noNullPrototype: true },
  );
  const name = fc.constantFrom('a', 'b', 'switchboard');

  const rest = (text: string, container: Container, without: string): unknown =>
    [...entriesOf(text, container)].filter(([each]) => each !== without);

  /** Checks what applies to every text and entry. */
  function check(text: string, container: Container, key: string, entry: Record<string, unknown>): void {
    const before = entriesOf(text, container);
    const { text: added, action } = upsertEntry(text, container, key, { entry, replace: true });
    expect(entriesOf(added, container).get(key)).toEqual(entry);
    expect(rest(added, container, key)).toEqual(rest(text, container, key));
    expect(upsertEntry(added, container, key, { entry, replace: true })).toEqual({
      text: added,
      action: 'unchanged',
    });
    const removed = removeEntry(added, container, key, { earlier: [text] });
    expect(rest(removed.text, container, key)).toEqual(rest(text, container, key));
    if (before.has(key)) return;
    expect(action).toBe('added');
    expect(removed).toEqual({ text, action: 'removed' });
    const unaided = removeEntry(added, container, key);
    const isFull = before.size > 0 || container.format === 'toml';
    if (isFull || !/mcpServers/.test(text)) {
      if (!isEmptyJson(text, container)) expect(unaided.text).toBe(text);
    }
  }
  /** Such texts become an object, which stays. */
  const isEmptyJson = (text: string, { format }: Container): boolean =>
    format !== 'toml' && text.replace(/\/\/.*|\s|\ufeff/g, '') === '';

  const gap = fc.constantFrom(
    '',
    ' ',
    '\n',
    '\r\n',
    '\n  ',
    '\n\n',
    '\t',
    ' // c\n',
    '/* d */',
    '\n// e\n\t',
  );
  const scalar = fc.constantFrom('1', '"x"', '"//"', 'true', '[]', '[1, 2]', '{}', '{"q": 1}');
  const object = (content: fc.Arbitrary<string>, keys: readonly string[]): fc.Arbitrary<string> =>
    fc
      .tuple(
        fc.uniqueArray(fc.tuple(fc.constantFrom(...keys), gap, content, gap), {
          maxLength: 3,
          selector: ([key]) => key,
        }),
        gap,
        fc.boolean(),
      )
      .map(([members, end, trailing]) => {
        const written = members.map(
          ([key, front, inner, back]) => `${front}${JSON.stringify(key)}:${inner}${back}`,
        );
        return `{${written.join(',')}${trailing && members.length > 0 ? ',' : ''}${end}}`;
      });
  const servers = object(object(scalar, ['command', 'args', 'timeout']), ['a', 'b', '__proto__']);
  const jsonText = fc.oneof(
    fc.constantFrom('', '\n', '// c\n', '\ufeff'),
    fc
      .record({
        mark: fc.constantFrom('', '\ufeff'),
        front: fc.option(fc.tuple(gap, scalar)),
        servers: fc.option(fc.tuple(gap, servers), { freq: 8 }),
        back: fc.option(fc.tuple(gap, scalar)),
        gaps: fc.tuple(gap, gap),
      })
      .map(({ mark, front, servers, back, gaps: [start, end] }) => {
        const members = [
          ...(front === null ? [] : [`${front[0]}"front":${front[1]}`]),
          ...(servers === null ? [] : [`${servers[0]}"mcpServers":${servers[1]}`]),
          ...(back === null ? [] : [`${back[0]}"back":${back[1]}`]),
        ];
        return `${mark}${start}{${members.join(',')}${end}}${end}`;
      }),
  );

  test('of JSON, adding says what was meant and removing gives the bytes before', () => {
    fc.assert(
      fc.property(jsonText, name, value, (text, key, entry) => check(text, json, key, entry)),
      { numRuns: 1000 },
    );
  });

  const comments = fc.constantFrom('', '', '', ' # c', ' # [x]');
  const lines = fc.constantFrom('', '\n', '# c\n', '\n\n', '# "d\n\n', '  \n', '\t# e\n');
  const tomlScalar = fc.constantFrom(
    '1',
    '"x"',
    "'#'",
    '"""\n[a]\nb = 1\n"""',
    "'''x\n# y\n'''",
    '[1, 2]',
    '[\n  "]", # c\n  "x",\n]',
    '{ q = 1, "r.s" = [] }',
    '1979-05-27T07:32:00Z',
    'true',
    '1.5',
  );
  const pair = (key: string): fc.Arbitrary<string> =>
    fc
      .tuple(lines, fc.constantFrom('', '  '), fc.constantFrom(' = ', '='), tomlScalar, comments)
      .map(
        ([above, indent, equals, inner, comment]) => `${above}${indent}${key}${equals}${inner}${comment}\n`,
      );
  const pairs = (keys: readonly string[]): fc.Arbitrary<string> =>
    fc
      .uniqueArray(fc.constantFrom(...keys), { maxLength: 3 })
      .chain((chosen) => fc.tuple(...chosen.map(pair)))
      .map((parts) => parts.join(''));
  const block = (header: string, keys: readonly string[]): fc.Arbitrary<string> =>
    fc
      .tuple(lines, comments, pairs(keys))
      .map(([above, comment, inner]) => `${above}${header}${comment}\n${inner}`);
  const some = fc.constantFrom('command', 'args', '"enabled"', 'tool_timeout_sec');
  const spelled = (server: string): fc.Arbitrary<string> =>
    fc.oneof(
      block(`[mcp_servers.${server}]`, ['command', 'args', '"enabled"']),
      block(`[ mcp_servers . "${server}" ]`, ['command', 'cwd']),
      fc
        .tuple(
          block(`[mcp_servers.${server}]`, ['command', 'args']),
          block(`[mcp_servers.${server}.env]`, ['A', '"B c"']),
          block(`[mcp_servers.${server}.tools.t]`, ['approval_mode']),
        )
        .map((parts) => parts.join('')),
      block(`[mcp_servers.${server}.tools.t]`, ['approval_mode']),
    );
  const dotted = fc.oneof(
    fc.constant('mcp_servers = {}\n'),
    fc.constant('mcp_servers = { a = { command = "x" }, "b" = {command="y"} } # c\n'),
    fc.constant('mcp_servers = { a.command = "x", b.command = "y", a.args = [] }\n'),
    fc
      .tuple(some, tomlScalar)
      .map(([key, inner]) => `mcp_servers.a.${key} = ${inner}\nmcp_servers.b.x = 1\n`),
    fc
      .tuple(some, lines)
      .map(([key, above]) => `[mcp_servers]\n${above}a = { ${key} = 1 } # c\nb.command = "x"\n`),
  );
  const tables = fc
    .uniqueArray(fc.constantFrom('a', 'b'), { maxLength: 2 })
    .chain((chosen) => fc.tuple(...chosen.map(spelled), block('[z]', ['y']), block('[[l]]', ['y'])))
    .map((parts) => parts.join(''));
  const tomlText = fc
    .record({
      mark: fc.constantFrom('', '\ufeff'),
      top: pairs(['k', 'l.m', '"n o"']),
      body: fc.oneof({ weight: 2, arbitrary: tables }, dotted, fc.constant('')),
      end: lines,
      windows: fc.boolean(),
      cut: fc.boolean(),
    })
    .map(({ mark, top, body, end, windows, cut }) => {
      const text = `${mark}${top}${body}${end}`;
      const ended = cut ? text.replace(/\n$/, '') : text;
      return windows ? ended.replaceAll('\n', '\r\n') : ended;
    })
    .filter((text) => {
      try {
        parse(text);
        return true;
      } catch {
        return false;
      }
    });

  test('of TOML, too', () => {
    fc.assert(
      fc.property(tomlText, name, value, (text, key, entry) => check(text, toml, key, entry)),
      { numRuns: 1000 },
    );
  });

  test('no text makes it do anything but the edit or a refusal that names the place', () => {
    const formats: readonly Format[] = ['json', 'jsonc', 'jsonc-no-trailing-commas', 'toml'];
    const noise = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...Array.from('{}[],:"\'=.#/*\n ab\\')) }),
      jsonText,
      tomlText,
    );
    fc.assert(
      fc.property(noise, fc.constantFrom(...formats), name, value, (text, format, key, entry) => {
        const container: Container = { format, keyPath: [format === 'toml' ? 'mcp_servers' : 'mcpServers'] };
        try {
          const { text: after } = upsertEntry(text, container, key, { entry, replace: true });
          expect(entriesOf(after, container).get(key)).toEqual(entry);
        } catch (error) {
          expect(error).toBeInstanceOf(TextFault);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
