import { expect, test } from 'vitest';
import { Component, type Listing } from '../gateway/index.ts';
import { redacted } from './redact.ts';
import { toolRules, toolSettingWarnings } from './rules.ts';

const origin = (key: string) => ({ file: '/c.json', key });
const pattern = (text: string, literal = false) => ({ pattern: text, literal, origin: origin(text) });

function listing(...names: string[]): Listing {
  const components = names.map((name) => new Component(name, `{"name":"${name}"}`));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

test('exposed and not hidden: patterns, and names taken literally', () => {
  const rules = toolRules({
    allow: [pattern('read_*'), pattern('a*', true)],
    deny: [pattern('*_secret')],
    shapes: new Map(),
  });
  expect(['read_file', 'read_secret', 'write', 'a*', 'ab'].filter((tool) => rules.allows(tool))).toEqual([
    'read_file',
    'a*',
  ]);
  expect(toolRules({ allow: undefined, deny: [], shapes: new Map() }).allows('anything')).toBe(true);
  expect(toolRules({ allow: [], deny: [], shapes: new Map() }).allows('anything')).toBe(false);
});

test('a pattern that matches nothing is reported with its path and the nearest name', () => {
  const settings = {
    allow: [pattern('read_fil'), pattern('write*')],
    deny: [pattern('delete')],
    shapes: new Map([['renam', { exposed: 'x', origin: origin('tools.renam') }]]),
  };
  const found = toolSettingWarnings(settings, listing('read_file', 'write', 'rename'));
  expect(found.map(({ key }) => key)).toEqual(['read_fil', 'delete', 'tools.renam']);
  expect(found[0]).toEqual({
    file: '/c.json',
    key: 'read_fil',
    message: '"read_fil" does not match any tool of this server. Did you mean "read_file"?',
  });
  expect(toolSettingWarnings(settings, { ...listing(), incomplete: 'cut' })).toEqual([]);
});

test('a new name that another tool already has is reported with both', () => {
  const shapes = new Map([['read', { exposed: 'write', origin: origin('tools.read') }]]);
  const settings = { allow: undefined, deny: [], shapes };
  expect(toolSettingWarnings(settings, listing('read', 'write'))).toEqual([
    {
      ...origin('tools.read'),
      message: expect.stringContaining('"read" is renamed to "write", but the server already has'),
    },
  ]);
  expect(toolSettingWarnings({ ...settings, deny: [pattern('write')] }, listing('read', 'write'))).toEqual(
    [],
  );
  expect(toolSettingWarnings(settings, listing('read'))).toEqual([]);
});

test('named fields are left out of log messages at any depth, and the rest is limited', () => {
  const fields = new Set(['token']);
  expect(redacted({ a: 1, token: 'x', b: [{ token: { c: 1 } }] }, fields)).toBe(
    '{"a":1,"token":"[redacted]","b":[{"token":"[redacted]"}]}',
  );
  expect(redacted({ args: '{"token":"x","a":{"token":1}}' }, fields)).toBe(
    '{"args":{"token":"[redacted]","a":{"token":"[redacted]"}}}',
  );
  expect(redacted({ args: '{"token":"secret' }, fields)).not.toContain('secret');
  expect(redacted({ a: 'x'.repeat(5000) }, fields).length).toBeLessThan(2100);
  expect(redacted(undefined, fields)).toBe('none');
});
