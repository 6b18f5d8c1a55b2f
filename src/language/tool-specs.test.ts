import { expect, test } from 'vitest';
import { Component, type OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import { toolSpecs } from './tool-specs.ts';

function offered(name: string, more: JsonObject = {}): OfferedTool {
  const text = JSON.stringify({ name, inputSchema: { type: 'object' }, ...more });
  return { name, original: name, component: new Component(name, text), presets: undefined };
}

test('names become such that every model takes them, stay different, and lead back to their tools', async () => {
  const tools = ['notes/read', 'notes.read', 'notes_read', 'x'.repeat(70), 'x'.repeat(80), '…'].map((name) =>
    offered(name),
  );
  const book = await toolSpecs(tools);
  const names = book.specs.map(({ name }) => name);
  // The tool whose name is already valid keeps it.
  expect(names.slice(0, 3)).toEqual(['notes_read_2', 'notes_read_3', 'notes_read']);
  for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
  expect(new Set(names).size).toBe(tools.length);
  expect(names.map((name) => book.find(name))).toEqual(tools);
});

test("a model that uses the server's own name for a tool is understood", async () => {
  const tool = offered('notes/read');
  expect((await toolSpecs([tool])).find('notes/read')).toBe(tool);
  expect((await toolSpecs([tool])).find('notes/write')).toBeUndefined();
});

test('what models refuse at the top of a schema is said in words instead', async () => {
  const anyOf = [{ required: ['a'] }, { required: ['b'] }];
  const properties = { a: { anyOf: [{ type: 'string' }] }, b: {} };
  const { specs } = await toolSpecs([
    offered('either', { description: 'Does it.', inputSchema: { type: 'object', properties, anyOf } }),
  ]);
  const [spec] = specs;
  expect(spec?.inputSchema).toEqual({ type: 'object', properties });
  expect(spec?.description).toMatch(/^Does it\.\n\n.*"anyOf":\[\{"required":\["a"\]\}/);
});

test('a long description is shortened, and a title replaces a missing one', async () => {
  const { specs } = await toolSpecs([
    offered('long', { description: 'word '.repeat(5000) }),
    offered('titled', { title: 'Titled' }),
    offered('noted', { description: ' ', annotations: { title: 'Noted' } }),
    offered('silent', { description: 7 }),
  ]);
  expect(specs[0]!.description.length).toBeLessThan(4100);
  expect(specs.slice(1).map(({ description }) => description)).toEqual(['Titled', 'Noted', '']);
});
