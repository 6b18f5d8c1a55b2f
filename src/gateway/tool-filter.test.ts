import { expect, test } from 'vitest';
import { Component, type Listing } from './component.ts';
import { originalName, filterTools, withPresets, type ToolRules } from './tool-filter.ts';

function listing(...texts: string[]): Listing {
  const components = texts.map((text) => new Component((JSON.parse(text) as { name: string }).name, text));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

function rules(
  overrides: Record<string, object> = {},
  allows: (tool: string) => boolean = () => true,
): ToolRules {
  return { allows, overrides: new Map(Object.entries(overrides)) };
}

test('a tool that nothing is said about keeps its text to the letter', () => {
  const text = '{"name":"a","x-new":9007199254740993,"inputSchema":{"maximum":1.0}}';
  const { tools } = filterTools(listing(text), rules());
  expect(tools[0]?.component.text).toBe(text);
});

test('tools that are filtered out are neither listed nor found', () => {
  const filtered = filterTools(
    listing('{"name":"a"}', '{"name":"b"}'),
    rules({}, (tool) => tool === 'b'),
  );
  expect(filtered.tools.map((tool) => tool.name)).toEqual(['b']);
  expect(filtered.byName.has('a')).toBe(false);
});

test('a renamed tool is found by its new name only, and keeps everything else', () => {
  const shaped = rules({ a: { exposed: 'z', description: 'Better.' } });
  const filtered = filterTools(listing('{"name":"a","big":9007199254740993,"description":"Worse."}'), shaped);
  const tool = filtered.byName.get('z');
  expect(tool).toMatchObject({ name: 'z', original: 'a' });
  expect(tool?.component.text).toBe('{"name":"z","big":9007199254740993,"description":"Better."}');
  expect(filtered.byName.has('a')).toBe(false);
  expect(originalName('z', shaped)).toBe('a');
  expect(originalName('a', shaped)).toBeUndefined();
  expect(originalName('other', shaped)).toBe('other');
});

test('a tool renamed to what another is called leaves both reachable', () => {
  const filtered = filterTools(listing('{"name":"a"}', '{"name":"b"}'), rules({ a: { exposed: 'b' } }));
  expect(filtered.tools.map(({ name, original }) => [name, original])).toEqual([
    ['b', 'a'],
    ['b_2', 'b'],
  ]);
});

test('presets are gone from the schema, and everything else in it stays', () => {
  const tool =
    '{"name":"a","inputSchema":{"type":"object","properties":{"key":{"type":"string"},"n":{"maximum":9007199254740993}},"required":["key","n"],"x":1}}';
  const { tools } = filterTools(listing(tool), rules({ a: { presets: { key: 'secret', unknown: 1 } } }));
  expect(tools[0]?.component.text).toBe(
    '{"name":"a","inputSchema":{"type":"object","properties":{"n":{"maximum":9007199254740993}},"required":["n"],"x":1}}',
  );
  expect([...(tools[0]?.presets ?? [])]).toEqual([
    ['key', '"secret"'],
    ['unknown', '1'],
  ]);
});

test('a preset wins over what the client sends, and other arguments keep their text', () => {
  const presets = new Map([['key', '"ours"']]);
  expect(withPresets('{"n":1.0,"key":"theirs"}', presets)).toBe('{"n":1.0,"key":"ours"}');
  expect(withPresets('{}', presets)).toBe('{"key":"ours"}');
});

test('the same listing under the same rules is selected once', () => {
  const list = listing('{"name":"a"}');
  const same = rules();
  expect(filterTools(list, same)).toBe(filterTools(list, same));
  expect(filterTools(list, rules())).not.toBe(filterTools(list, same));
});
