import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { signature } from './signature.ts';

describe('real servers', () => {
  test('everything', async () => {
    expect(
      await signaturesOf(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js')),
    ).toMatchObject({
      echo: '{message:string}',
      'get-annotated-message': '{messageType:"error"|"success"|"debug", includeImage?:boolean=false}',
      'get-env': '{}',
      'get-resource-links': '{count?:number(1..10)=3}',
      'get-resource-reference': '{resourceType?:"Text"|"Blob"="Text", resourceId?:number=1}',
      'get-structured-content': '{location:"New York"|"Chicago"|"Los Angeles"}',
      'get-sum': '{a:number, b:number}',
      'gzip-file-as-resource':
        '{name?:string="README.md.gz", data?:string(uri)="https://raw.githubusercontent.com/modelc"…, outputType?:"resourceLink"|"resource"="resourceLink"}',
      'trigger-long-running-operation': '{duration?:number=10, steps?:number=5}',
    });
  });

  test('filesystem', async () => {
    expect(
      await signaturesOf(
        import.meta.resolve('@modelcontextprotocol/server-filesystem/dist/index.js'),
        process.cwd(),
      ),
    ).toMatchObject({
      read_text_file: '{path:string, tail?:number, head?:number}',
      read_multiple_files: '{paths:string[](1..)}',
      edit_file: '{path:string, edits:{oldText:string, newText:string}[], dryRun?:boolean=false}',
      list_directory_with_sizes: '{path:string, sortBy?:"name"|"size"="name"}',
      search_files: '{path:string, pattern:string, excludePatterns?:string[]=[]}',
      list_allowed_directories: '{}',
    });
  });

  test('memory', async () => {
    expect(
      await signaturesOf(import.meta.resolve('@modelcontextprotocol/server-memory/dist/index.js')),
    ).toMatchObject({
      create_entities: '{entities:{name:string, entityType:string, observations:string[]}[]}',
      delete_relations: '{relations:{from:string, to:string, relationType:string}[]}',
      read_graph: '{}',
      open_nodes: '{names:string[]}',
    });
  });

  async function signaturesOf(entry: string, ...args: string[]): Promise<Record<string, string>> {
    const directory = await mkdtemp(join(tmpdir(), 'signature-'));
    const client = new Client({ name: 'signature-test', version: '0' });
    try {
      const env = { PATH: process.env['PATH'] ?? '', MEMORY_FILE_PATH: join(directory, 'memory.jsonl') };
      await client.connect(
        new StdioClientTransport({
          command: process.execPath,
          args: [fileURLToPath(entry), ...args],
          env,
          stderr: 'ignore',
        }),
      );
      const { tools } = await client.listTools();
      return Object.fromEntries(tools.map((tool) => [tool.name, signature(tool.inputSchema)]));
    } finally {
      await client.close();
      await rm(directory, { recursive: true, force: true });
    }
  }
});

const property = (schema: unknown): string =>
  /^\{p:(.*)\}$/s.exec(signature({ properties: { p: schema }, required: ['p'] }))![1]!;

test.each<[string, unknown, string]>([
  ['a string', { type: 'string' }, 'string'],
  ['several types', { type: ['string', 'null'] }, 'string|null'],
  ['nullable, as OpenAPI says it', { type: 'string', nullable: true }, 'string|null'],
  ['anything', {}, 'any'],
  ['true', true, 'any'],
  ['false', false, 'never'],
  ['an unknown type', { type: 'file' }, 'any'],
  ['no schema at all', 7, 'any'],
  ['an enumeration of mixed values', { enum: ['a', 1, null, true] }, '"a"|1|null|true'],
  ['a constant', { const: 'on' }, '"on"'],
  ['a constant object', { const: { a: [1, 'x'] } }, '{a:[1,"x"]}'],
  ['integers', { type: 'integer', minimum: 1, maximum: 100 }, 'integer(1..100)'],
  ['one bound', { type: 'number', minimum: 0 }, 'number(0..)'],
  ['exclusive bounds', { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 }, 'number(>0,<1)'],
  ['mixed bounds', { type: 'number', exclusiveMinimum: 0, maximum: 1 }, 'number(>0,..1)'],
  ['draft 4 bounds', { type: 'number', minimum: 0, exclusiveMinimum: true }, 'number(>0)'],
  ['multiples', { type: 'integer', multipleOf: 5 }, 'integer(%5)'],
  [
    'the bounds of every integer',
    { type: 'integer', minimum: -9007199254740991, maximum: 9007199254740991 },
    'integer',
  ],
  ['a length', { type: 'string', minLength: 1, maxLength: 80 }, 'string(1..80)'],
  ['a fixed length', { type: 'string', minLength: 2, maxLength: 2 }, 'string(2)'],
  ['a format', { type: 'string', format: 'date-time', pattern: '^long$' }, 'string(date-time)'],
  ['a pattern', { type: 'string', pattern: '^[a-z]+$' }, 'string(/^[a-z]+$/)'],
  ['an encoding', { type: 'string', contentEncoding: 'base64' }, 'string(base64)'],
  ['an array', { type: 'array', items: { type: 'string' } }, 'string[]'],
  ['an array of anything', { type: 'array' }, 'any[]'],
  [
    'an array with a size',
    { type: 'array', items: { type: 'string' }, maxItems: 3, uniqueItems: true },
    'string[](..3,unique)',
  ],
  ['an array of a union', { type: 'array', items: { type: ['string', 'number'] } }, '(string|number)[]'],
  [
    'an array of limited strings',
    { type: 'array', items: { type: 'string', minLength: 1 } },
    'string(1..)[]',
  ],
  [
    'a tuple',
    { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], items: false },
    '[string, number]',
  ],
  [
    'a tuple that goes on',
    { prefixItems: [{ type: 'string' }], items: { type: 'number' } },
    '[string, ...number[]]',
  ],
  [
    'an old tuple',
    { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'null' } },
    '[string, ...null[]]',
  ],
  ['an object of anything', { type: 'object' }, 'object'],
  ['an empty object', { type: 'object', properties: {}, additionalProperties: false }, '{}'],
  ['a map', { type: 'object', additionalProperties: { type: 'number' } }, '{[k]:number}'],
  [
    'a map by name',
    { additionalProperties: true, propertyNames: { enum: ['a', 'b'] }, required: ['a'] },
    '{a:any, [k:"a"|"b"]:any}',
  ],
  ['a map by pattern', { patternProperties: { '^x-': { type: 'string' } } }, '{[/^x-/]:string}'],
  ['further properties', { properties: { a: true }, additionalProperties: {} }, '{a?:any, [k]:any}'],
  [
    'a union',
    { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] },
    'string|string[]',
  ],
  ['a union with duplicates', { oneOf: [{ const: 'a' }, { const: 'b' }, { const: 'a' }] }, '"a"|"b"'],
  [
    'titled values',
    {
      type: 'string',
      oneOf: [
        { const: 'a', title: 'A' },
        { const: 'b', title: 'B' },
      ],
    },
    '"a"|"b"',
  ],
  [
    'an intersection',
    { allOf: [{ properties: { a: true } }, { anyOf: [{ const: 1 }, { const: 2 }] }] },
    '{a?:any}&(1|2)',
  ],
  [
    'one of two must be there',
    {
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'string' } },
      anyOf: [{ required: ['a'] }, { required: ['b'] }],
    },
    '{a?:string, b?:string}&({a:any}|{b:any})',
  ],
  ['not', { type: 'string', not: { enum: ['x', 'y'] } }, 'string&!("x"|"y")'],
  [
    'rules a type cannot say',
    { properties: { a: true }, if: { required: ['a'] }, then: false },
    '{a?:any}&…',
  ],
  ['a remote reference', { $ref: 'https://example.test/schema.json' }, 'any'],
  ['a reference to nothing', { $ref: '#/$defs/none' }, 'any'],
])('%s', (_, schema, expected) => {
  expect(property(schema)).toBe(expected);
});

test('names are quoted only where they must be', () => {
  const schema = { properties: { ok_1: {}, $x: {}, 'a-b': {}, '1st': {}, 'sa"y': {}, über: {} } };
  expect(signature(schema)).toBe('{ok_1?:any, $x?:any, "a-b"?:any, "1st"?:any, "sa\\"y"?:any, "über"?:any}');
});

test('names of the language are plain names', () => {
  const schema: unknown = JSON.parse(
    '{"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}},"required":["__proto__","toString"]}',
  );
  expect(signature(schema)).toBe('{__proto__:string, constructor?:number, toString:any}');
});

test('defaults of all kinds', () => {
  const schema = {
    properties: {
      a: { default: null },
      b: { default: { x: 1 } },
      c: { type: 'string', default: 'y'.repeat(50) },
      d: { default: [1, [2]] },
    },
  };
  expect(signature(schema)).toBe(
    `{a?:any=null, b?:any={x:1}, c?:string="${'y'.repeat(40)}"…, d?:any=[1,[2]]}`,
  );
});

test('a schema without properties takes no arguments; one without anything takes what it takes', () => {
  expect(signature({ type: 'object' })).toBe('{}');
  expect(signature({ type: 'object', $schema: 'x', title: 'T' })).toBe('{}');
  for (const nothing of [undefined, null, 'x', 7, [], {}, true]) expect(signature(nothing)).toBe('any');
  expect(signature(false)).toBe('never');
});

test('hidden characters in names and values are shown as escapes', () => {
  const schema = {
    properties: { 'a\u202eb': { enum: ['x\u{e0041}', 'y\n\u2028z', '\u001b[31m', '\ud800'] } },
  };
  expect(signature(schema)).toBe('{"a\\u{202e}b"?:"x\\u{e0041}"|"y\\n\\u{2028}z"|"\\u001b[31m"|"\\ud800"}');
  expect(property({ type: 'string', pattern: 'a\nb\u0000' })).toBe('string(/a\\u{a}b\\u{0}/)');
  expect(property({ type: 'string', format: 'x)\n, y' })).toBe('string(x_\\u{a}__y)');
});

describe('definitions', () => {
  test('are written where they are used', () => {
    const $defs = {
      Point: { properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x', 'y'] },
    };
    expect(signature({ $defs, properties: { at: { $ref: '#/$defs/Point' } } })).toBe(
      '{at?:{x:number, y:number}}',
    );
  });

  test('are named when they are used twice, unless they are shorter than a name', () => {
    const $defs = {
      Point: { properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x', 'y'] },
      Id: { type: 'string' },
    };
    const properties = {
      from: { $ref: '#/$defs/Point' },
      to: { $ref: '#/$defs/Point' },
      a: { $ref: '#/$defs/Id' },
      b: { $ref: '#/$defs/Id' },
    };
    expect(signature({ $defs, properties })).toBe(
      '{from?:#Point{x:number, y:number}, to?:#Point, a?:string, b?:string}',
    );
  });

  test('may contain themselves', () => {
    const $defs = {
      Node: { properties: { value: { type: 'string' }, children: { items: { $ref: '#/$defs/Node' } } } },
    };
    expect(signature({ $defs, properties: { tree: { $ref: '#/$defs/Node' } } })).toBe(
      '{tree?:#Node{value?:string, children?:#Node[]}}',
    );
    expect(signature({ properties: { self: { $ref: '#' } } })).toBe('{self?:#root{self?:#root}}');
    expect(
      signature({ $defs: { L: { type: 'array', items: { $ref: '#/$defs/L' } } }, $ref: '#/$defs/L' }),
    ).toBe('#L(#L[])');
    expect(signature({ $defs: { A: { $ref: '#/$defs/A' } }, $ref: '#/$defs/A' })).toBe('#A(#A)');
  });

  test('are found through escaped pointers and never through the prototype', () => {
    expect(
      signature({
        $defs: { 'a/b~c d': { type: 'string' } },
        properties: { p: { $ref: '#/$defs/a~1b~0c%20d' } },
      }),
    ).toBe('{p?:string}');
    expect(property({ $ref: '#/constructor' })).toBe('any');
    expect(property({ $ref: '#/%' })).toBe('any');
  });

  test('what a generator writes for a recursive type is readable', () => {
    const schema: unknown = JSON.parse(
      '{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"comment":{"$ref":"#/$defs/__schema0"},"count":{"default":5,"type":"integer","minimum":-9007199254740991,"maximum":9007199254740991}},"required":["comment"],"$defs":{"__schema0":{"type":"object","properties":{"text":{"type":"string","minLength":1},"replies":{"type":"array","items":{"$ref":"#/$defs/__schema0"}}},"required":["text"]}}}',
    );
    expect(signature(schema)).toBe(
      '{comment:#__schema0{text:string(1..), replies?:#__schema0[]}, count?:integer=5}',
    );
  });
});

describe('a schema that is too long', () => {
  const field = (index: number): [string, unknown] => [
    `field_${index}`,
    { type: 'string', minLength: 1, format: 'date-time', default: 'a default value' },
  ];

  test('loses limits and defaults before names and types', () => {
    const schema = {
      properties: Object.fromEntries(Array.from({ length: 20 }, (_, index) => field(index))),
      required: ['field_3'],
    };
    const text = signature(schema);
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).toContain('{field_0?:string, field_1?:string, field_2?:string, field_3:string, ');
    expect(text).toContain('field_19?:string}');
  });

  test('then most values of an enumeration and the inside of nested objects', () => {
    const deep = {
      properties: {
        a: { properties: { b: { enum: Array.from({ length: 90 }, (_, index) => `value ${index}`) } } },
      },
    };
    expect(signature(deep)).toMatch(/^\{a\?:\{b\?:"value 0"\|.*"value 15"\|…\}\}$/);
    expect(signature(deep, 40)).toBe('{a?:{b?:…}}');
  });

  test('then types and optional names; the required names stay', () => {
    const schema = {
      properties: Object.fromEntries(Array.from({ length: 300 }, (_, index) => field(index))),
      required: ['field_299'],
    };
    const text = signature(schema);
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).toMatch(/^\{field_299, field_0\?, field_1\?, .*, …\}$/);
  });

  test('is nothing but an ellipsis in the end', () => {
    const schema = { properties: { ['n'.repeat(1000)]: {} } };
    for (let limit = 0; limit < 40; limit++)
      expect(signature(schema, limit).length).toBeLessThanOrEqual(limit);
    expect(signature(schema, 3)).toBe('{…}');
  });
});

describe('a hostile schema costs little', () => {
  const doubling = Object.fromEntries(
    Array.from({ length: 64 }, (_, index) => [
      `D${index}`,
      { properties: { l: { $ref: `#/$defs/D${index + 1}` }, r: { $ref: `#/$defs/D${index + 1}` } } },
    ]),
  );
  const nest = (depth: number, wrap: (inner: unknown) => unknown): unknown => {
    let schema: unknown = { type: 'string' };
    for (let level = 0; level < depth; level++) schema = wrap(schema);
    return schema;
  };
  test.each<[string, unknown]>([
    ['references that double', { $defs: doubling, $ref: '#/$defs/D0' }],
    [
      'references in a ring',
      {
        $defs: { A: { $ref: '#/$defs/B' }, B: { allOf: [{ $ref: '#/$defs/A' }, { $ref: '#/$defs/A' }] } },
        $ref: '#/$defs/A',
      },
    ],
    [
      'a million values',
      { properties: { e: { enum: Array.from({ length: 1_000_000 }, (_, index) => index) } } },
    ],
    ['a million equal values', { enum: Array.from({ length: 1_000_000 }, () => 1) }],
    [
      'half a million properties',
      { properties: Object.fromEntries(Array.from({ length: 500_000 }, (_, index) => [`p${index}`, true])) },
    ],
    ['a million required names', { required: Array.from({ length: 1_000_000 }, (_, index) => `p${index}`) }],
    ['a million choices', { anyOf: Array.from({ length: 1_000_000 }, () => ({ type: 'string' })) }],
    ['a million parts', { allOf: Array.from({ length: 1_000_000 }, () => ({})) }],
    ['a million items', { prefixItems: Array.from({ length: 1_000_000 }, () => ({})) }],
    ['a million types', { type: Array.from({ length: 1_000_000 }, () => 'string') }],
    ['a deep union', nest(10_000, (inner) => ({ anyOf: [inner, inner] }))],
    ['a deep not', nest(10_000, (inner) => ({ not: inner }))],
    ['a deep default', { properties: { p: { default: nest(10_000, (inner) => [inner]) } } }],
    ['a huge default', { properties: { p: { default: 'x'.repeat(10_000_000) } } }],
    ['a huge pattern', { properties: { p: { type: 'string', pattern: '(a+)+$'.repeat(1_000_000) } } }],
    ['a huge name', { properties: { ['x'.repeat(10_000_000)]: {} }, required: ['y'] }],
    ['a huge reference', { $ref: `#${'/a'.repeat(5_000_000)}` }],
    [
      'wrong kinds everywhere',
      {
        type: [{}, 7, null],
        properties: [],
        required: { a: 1 },
        enum: {},
        items: 7,
        anyOf: 'x',
        $ref: 9,
        minimum: 'a',
      },
    ],
  ])('%s', (_, schema) => {
    // A slow implementation would exceed the time limit of a test.
    const text = signature(schema);
    expect(text.length).toBeLessThanOrEqual(600);
    expect(text).not.toBe('');
  });
});

describe('for any schema', () => {
  const name = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom('a', 'b', 'path', 'url', 'a-b', 'x y', '__proto__', 'constructor'),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  );
  const { schema } = fc.letrec<{ schema: unknown; object: unknown }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom<unknown>(true, false, {}, null, 3, 'x'),
      fc.record({
        type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object', 'odd'),
      }),
      fc.record(
        { type: fc.constant('number'), minimum: fc.double(), maximum: fc.integer(), default: fc.jsonValue() },
        { requiredKeys: ['type'] },
      ),
      fc.record({ enum: fc.array(fc.jsonValue(), { maxLength: 4 }) }),
      fc.record({ const: fc.jsonValue() }),
      fc.record({ $ref: fc.constantFrom('#', '#/$defs/A', '#/$defs/B', '#/nowhere', 'other.json') }),
      tie('object'),
      fc.record({ items: tie('schema'), minItems: fc.nat(3) }, { requiredKeys: ['items'] }),
      fc.record({ prefixItems: fc.array(tie('schema'), { maxLength: 3 }), items: tie('schema') }),
      fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 3 }), nullable: fc.boolean() }),
      fc.record(
        { allOf: fc.array(tie('schema'), { maxLength: 3 }), not: tie('schema') },
        { requiredKeys: ['allOf'] },
      ),
    ),
    object: fc.record(
      {
        type: fc.constant('object'),
        properties: fc.dictionary(name, tie('schema'), { maxKeys: 4 }),
        required: fc.uniqueArray(name, { maxLength: 3 }),
        additionalProperties: tie('schema'),
      },
      { requiredKeys: ['properties', 'required'] },
    ),
  }));
  const tool = fc.record({
    type: fc.constant('object'),
    properties: fc.dictionary(name, schema, { maxKeys: 5 }),
    required: fc.uniqueArray(name, { maxLength: 5 }),
    $defs: fc.record({ A: schema, B: schema }),
  });

  test('the signature is one printable line within the limit, and the same each time', () => {
    fc.assert(
      fc.property(fc.oneof(tool, schema, fc.jsonValue()), fc.constantFrom(10, 80, 600), (any, limit) => {
        const text = signature(any, limit);
        expect(text.length).toBeLessThanOrEqual(limit);
        expect(text.length).toBeGreaterThan(0);
        expect(text).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}\u202a-\u202e]/u);
        expect(signature(structuredClone(any), limit)).toBe(text);
      }),
      { numRuns: 2_000 },
    );
  });

  test('every required property is there, and none of the optional ones is called required', () => {
    fc.assert(
      fc.property(tool, (any) => {
        const text = signature(any);
        const shown = (key: string): string =>
          /^[A-Za-z_$][\w$]*$/.test(key) ? key : visible(JSON.stringify(key));
        for (const key of any.required) expect(text).toContain(shown(key));
        for (const key of Object.keys(any.properties)) {
          if (!any.required.includes(key) && !text.includes('…')) expect(text).toContain(`${shown(key)}?`);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  function visible(text: string): string {
    const unseen =
      /(?!\u200c|\u200d|\ufe0e|\ufe0f)[\p{Cc}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
    return text.replace(unseen, (char) => `\\u{${char.codePointAt(0)!.toString(16)}}`);
  }
});
