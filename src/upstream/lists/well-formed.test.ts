import { expect, test } from 'vitest';
import { wellFormed } from './well-formed.ts';

test('what is right stays to the letter, whatever else it holds', () => {
  const text =
    '{ "name":"a", "inputSchema":{"type":"object","maximum":9007199254740993}, "x":1.0, "title":"A" }';
  expect(wellFormed(text, 'tools')).toMatchObject({ text, bad: [] });
});

test('a tool that does not say what it takes gets a schema that takes anything', () => {
  expect(wellFormed('{"name":"a"}', 'tools')).toMatchObject({
    text: '{"name":"a","inputSchema":{"type":"object"}}',
    bad: [],
  });
  expect(wellFormed('{"name":"a","inputSchema":{"type":"string"}}', 'tools')).toMatchObject({
    text: '{"name":"a","inputSchema":{"type":"object"}}',
    bad: ['inputSchema'],
  });
});

test.each([
  [
    'tools',
    '{"name":"a","description":5,"annotations":"none","inputSchema":{"type":"object"}}',
    ['description', 'annotations'],
  ],
  ['resources', '{"uri":"x","name":"n","mimeType":7,"size":"1"}', ['mimeType', 'size']],
  ['resourceTemplates', '{"uriTemplate":"x","name":"n","icons":{}}', ['icons']],
  ['prompts', '{"name":"p","arguments":"x","_meta":[]}', ['_meta', 'arguments']],
  ['prompts', '{"name":"p","arguments":[{"title":"no name"}]}', ['arguments']],
] as const)('what no client takes is left out of %s', (kind, text, bad) => {
  const repaired = wellFormed(text, kind);
  expect(repaired.bad).toEqual(bad);
  for (const member of bad) expect(JSON.parse(repaired.text)).not.toHaveProperty(member);
});

test('a resource without a name goes by its address', () => {
  expect(JSON.parse(wellFormed('{"uri":"x://1"}', 'resources').text)).toEqual({
    uri: 'x://1',
    name: 'x://1',
  });
  expect(JSON.parse(wellFormed('{"uri":"x://1","name":3}', 'resources').text)).toEqual({
    uri: 'x://1',
    name: 'x://1',
  });
});
