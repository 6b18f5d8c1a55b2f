import { expect, test } from 'vitest';
import { redactConfig } from './redact-config.ts';

test('values of environments, headers and presets go, references and all else stay', () => {
  const text = `\ufeff{
  // "env": {"NOTE": "kept"}
  "mcpServers": {
    "env": { "command": "run", "args": ["--env"], "env": { "A": "one", "B": "\${B}", "C": "\${C:-two}", "D": "\${env:D}" } },
    "old": { "command": { "cmd": "x", "env": { "A": "three" } }, "tools": { "t": { "presets": { "n": 4, "o": {
      "deep": "five" } } } } },
    "remote": { "url": "u", "headers": { "Authorization": "six" } },
  },
  "suites": { "old": { "tools": { "t": { "presets": { "n": "seven" }, "redact": ["n"] } } } },
  "env": { "unknown": "here" },
}
`;
  const shown = redactConfig(text);
  expect(shown).not.toMatch(/one|two|three|4|five|six|seven/);
  expect(shown).toContain('"env": { "command": "run", "args": ["--env"], "env": { "A": "***", "B": "${B}"');
  expect(shown).toContain('"D": "${env:D}"');
  expect(shown).toContain('"redact": ["n"]');
  expect(shown).toContain('"unknown": "here"');
  expect(shown).toContain('// "env": {"NOTE": "kept"}');
  expect(shown.split('\n')).toHaveLength(text.split('\n').length);
});

test('secrets of addresses, logins and our own door go too', () => {
  const text = `{
  "http": { "token": "one", "allowedHosts": ["a.test"] },
  "mcpServers": {
    "a": { "url": "https://me:two@x.test/mcp?key=three", "oauth": { "clientId": "me", "clientSecret": "four" } },
    "b": { "url": "https://x.test", "headers": { "Authorization": "Bearer \${TOKEN}", "B": "five \${TOKEN} six" } }
  }
}
`;
  const shown = redactConfig(text);
  expect(shown).not.toMatch(/one|two|three|four|five|six/);
  expect(shown).toContain('{ "token": "***", "allowedHosts": ["a.test"] }');
  expect(shown).toContain('"url": "https://***@x.test/mcp?key=***"');
  expect(shown).toContain('"oauth": { "clientId": "me", "clientSecret": "***" }');
  expect(shown).toContain(
    '"url": "https://x.test", "headers": { "Authorization": "Bearer ${TOKEN}", "B": "***" }',
  );
  const references = '{"http": {"token": "${T}"}, "mcpServers": {"a": {"oauth": {"clientSecret": "${S}"}}}}';
  expect(redactConfig(references)).toBe(references);
});

test('the key of a model goes, and what its address hides', () => {
  const text = `{
  "mcpServers": {
    "a": { "command": "x", "language": { "apiKey": "one", "baseUrl": "https://me:two@m.test/v1?key=three", "model": "m" } },
    "b": { "command": "x", "language": { "apiKey": "\${KEY}", "baseUrl": "http://localhost:11434/v1" } }
  }
}
`;
  const shown = redactConfig(text);
  expect(shown).not.toMatch(/one|two|three/);
  expect(shown).toContain('"apiKey": "***", "baseUrl": "https://***@m.test/v1?key=***", "model": "m"');
  expect(shown).toContain('"apiKey": "${KEY}", "baseUrl": "http://localhost:11434/v1"');
});

test('a text without any is left as it is', () => {
  for (const text of ['{}\n', '{"mcpServers": {}}', '{"mcpServers": {"a": {"command": "x", "env": {}}}}'])
    expect(redactConfig(text)).toBe(text);
});
