import { expect, test } from 'vitest';
import { maskedDiff, entryText } from './without-secrets.ts';
import { plainStyle } from '../../kit/style.ts';

const diffOf = (before: string | undefined, after: string | undefined): string =>
  maskedDiff({ file: '/f.json', before, after }, plainStyle);

test('secrets are hidden in what changes and in the lines around', () => {
  const before =
    '{\n  "authToken": "around-1",\n  "servers": {\n    "a": { "command": "a", "args": ["--token", "gone-22"], "env": { "PW": "x1" } }\n  }\n}\n';
  const after = '{\n  "authToken": "around-1",\n  "servers": {\n    "b": { "command": "b" }\n  }\n}\n';
  const shown = diffOf(before, after);
  expect(shown).toContain('-    "a": { "command": "a", "args": ["--token", "***"], "env": { "PW": "***" } }');
  expect(shown).toContain('   "authToken": "***",');
  expect(shown).not.toMatch(/around-1|gone-22|x1/);
});

test('a change of only secrets is reported as such, and a file may be created or deleted', () => {
  expect(diffOf('{"token": "one-one"}', '{"token": "two-two"}')).toBe(
    'In /f.json only secret values would change.\n',
  );
  expect(diffOf(undefined, '{"a": 1}\n')).toContain('--- (no file)');
  expect(diffOf('{"a": 1}\n', undefined)).toContain('-{"a": 1}');
  expect(diffOf('{}', '{}')).toBe('');
});

test('an entry is shown in one line, without secrets', () => {
  expect(entryText({ command: 'npx', args: ['-y', 'x', '--api-key', 'abcdefg'], env: { T: 'u' } })).toBe(
    'npx -y x --api-key ***',
  );
  expect(entryText({ serverUrl: 'https://x/mcp?key=abcdefg' })).toBe('https://x/mcp?key=***');
  expect(entryText({})).toBe('no command and no URL');
  expect(entryText(3)).toBe('no command and no URL');
});
