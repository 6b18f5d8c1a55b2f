import { expect, test } from 'vitest';
import { withServerDisabled, withServerEnabled } from './edit.ts';

const TEXT = `{
  // mine
  "mcpServers": {
    "a": { "command": "x" }, // one
    "b": {
      "command": "y"
    }
  }
}
`;

test.each(['a', 'b'])('%s is turned off in its entry, and on again leaves the text as it was', (name) => {
  const off = withServerDisabled(TEXT, name);
  expect(off).toMatch(new RegExp(`"${name}": \\{[^}]*"disabled": true`));
  expect(off).toContain('// one');
  expect(withServerDisabled(off, name)).toBe(off);
  expect(withServerEnabled(off, name)).toBe(TEXT);
});

test('one that another file defines gets an entry that says only this, and loses it again', () => {
  const off = withServerDisabled(TEXT, 'c');
  expect(off).toMatch(/"c": \{\s*"disabled": true\s*\}/);
  expect(withServerEnabled(off, 'c')).toBe(TEXT);
});

test('a setting that is false or duplicated is cleaned up', () => {
  expect(withServerDisabled('{"mcpServers":{"a":{"disabled":false,"command":"x"}}}', 'a')).toBe(
    '{"mcpServers":{"a":{"disabled":true,"command":"x"}}}',
  );
  expect(withServerEnabled('{"mcpServers":{"a":{"disabled":true,"command":"x","disabled":true}}}', 'a')).toBe(
    '{"mcpServers":{"a":{"command":"x"}}}',
  );
});

test('a server that is already enabled stays unchanged', () => {
  expect(withServerEnabled(TEXT, 'a')).toBe(TEXT);
  expect(withServerEnabled(TEXT, 'c')).toBe(TEXT);
});
