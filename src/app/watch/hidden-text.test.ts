import { expect, test } from 'vitest';
import { createProject } from '../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../config/index.ts';
import { hiddenText } from './hidden-text.ts';

const SECRET = 'the-secret-of-the-test';

async function hidden(more: object = {}) {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        one: { command: 'x', env: { KEY: SECRET }, ...more },
      },
    },
  });
  const { servers } = await loadConfig({ cwd: project.dir, env: {}, configPath: 'switchboard.config.json' });
  return { servers, env: {} };
}

test('secrets are hidden by value and by name, even in JSON inside a text', async () => {
  const value = {
    text: `it is ${SECRET}`,
    password: 'x',
    apiKey: 'y',
    max_tokens: 'not a secret name',
    author: 'Ada',
    count: { token: 7 },
    inner: JSON.stringify({ 'api-key': 'z', kept: [1] }),
  };
  const text = JSON.stringify(value);
  const shown = hiddenText(text, text.length, 1000, await hidden());
  expect(JSON.parse(shown?.text ?? '')).toEqual({
    ...value,
    text: 'it is ***',
    password: '[redacted]',
    apiKey: '[redacted]',
    inner: '{"api-key":"[redacted]","kept":[1]}',
  });
  expect(shown?.length).toBe(shown?.text.length);
});

test('a secret at the place where a text is cut does not show', async () => {
  const context = { ...(await hidden()) };
  for (let lead = 3; lead < SECRET.length; lead++) {
    // Only the beginning was read, and it ends inside the secret.
    const text = `${JSON.stringify({ text: 'a'.repeat(8000) }).slice(0, -2)}${SECRET.slice(0, lead)}`;
    const shown = hiddenText(text, 1_000_000, 6000, context);
    expect(shown?.text).toMatch(/^\{"text":"a+$/);
    expect(shown?.length).toBe(1_000_000);
  }
});

test('fields that a tool wants hidden are hidden, and a text that is too long to find them is not kept', async () => {
  const context = await hidden({ tools: { pay: { redact: ['card'] } } });
  const text = JSON.stringify({ args: { card: 4242 } });
  expect(hiddenText(text, text.length, 1000, context)?.text).toBe('{"args":{"card":"[redacted]"}}');
  expect(hiddenText(text.slice(0, -3), text.length, 1000, context)).toBeNull();
});
