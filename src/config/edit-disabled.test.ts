import { expect, test } from 'vitest';
import { withServerOff, withServerOn } from './edit-disabled.ts';

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
  const off = withServerOff(TEXT, name);
  expect(off).toMatch(new RegExp(`"${name}": \\{[^}]*"disabled": true`));
  expect(off).toContain('// one');
  expect(withServerOff(off, name)).toBe(off);
  expect(withServerOn(off, name)).toBe(TEXT);
});

test('one that another file defines gets an entry that says only this, and loses it again', () => {
  const off = withServerOff(TEXT, 'c');
  expect(off).toMatch(/"c": \{\s*"disabled": true\s*\}/);
  expect(withServerOn(off, 'c')).toBe(TEXT);
});

test('a setting that says false or stands twice is cleaned up', () => {
  expect(withServerOff('{"mcpServers":{"a":{"disabled":false,"command":"x"}}}', 'a')).toBe(
    '{"mcpServers":{"a":{"disabled":true,"command":"x"}}}',
  );
  expect(withServerOn('{"mcpServers":{"a":{"disabled":true,"command":"x","disabled":true}}}', 'a')).toBe(
    '{"mcpServers":{"a":{"command":"x"}}}',
  );
});

test('what is on already stays as it is', () => {
  expect(withServerOn(TEXT, 'a')).toBe(TEXT);
  expect(withServerOn(TEXT, 'c')).toBe(TEXT);
});
