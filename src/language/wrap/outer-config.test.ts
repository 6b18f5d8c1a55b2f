import { expect, test } from 'vitest';
import { outerConfigChanges, outerConfig } from './outer-config.ts';

const options = { server: 'memory', command: 'node', args: ['w.mjs', '--model', 'm'], rpcMs: 7 };

test('a file about one server keeps its form and what says how the server is shown, and none of its secrets', () => {
  const original = {
    name: 'memory',
    description: 'Remembers.',
    switchboardDescription: 'Use it.',
    isolation: 'shared',
    disabled: false,
    command: { cmd: 'npx', args: ['x'], env: { TOKEN: 's3cret' } },
    env: { OTHER: 's3cret' },
    timeouts: { rpcMs: 5 },
  };
  expect(outerConfig(original, options)).toEqual({
    name: 'memory',
    description: 'Remembers.',
    switchboardDescription: 'Use it.',
    isolation: 'shared',
    disabled: false,
    command: { cmd: 'node', args: ['w.mjs', '--model', 'm'] },
    timeouts: { rpcMs: 7 },
  });
});

test('a map of servers stays one, without what is about tools that are not shown any more', () => {
  const entry = {
    url: 'https://x.test/${KEY}',
    headers: { A: 's3cret' },
    hiddenTools: ['x'],
    suiteName: 'mem',
  };
  const original = { mcpServers: { memory: entry }, inputs: [] };
  expect(outerConfig(original, { ...options, env: { KEY: '${KEY:-}' } })).toEqual({
    mcpServers: {
      memory: {
        suiteName: 'mem',
        command: 'node',
        args: ['w.mjs', '--model', 'm'],
        env: { KEY: '${KEY:-}' },
        timeouts: { rpcMs: 7 },
      },
    },
  });
});

test('the purpose is written down where the definition does not say it', () => {
  const known = { ...options, purpose: 'remembering facts' };
  expect(outerConfig({ name: 'memory' }, known)).toMatchObject({ description: 'remembering facts' });
  const entry = { mcpServers: { memory: { command: 'x' } } };
  expect(outerConfig(entry, known)).toMatchObject({
    mcpServers: { memory: { description: 'remembering facts' } },
  });
  const described = { name: 'memory', description: 'Remembers.' };
  expect(outerConfig(described, known)).toMatchObject(described);
  expect(outerConfig({ switchboardDescription: 'Use it.' }, known)).not.toHaveProperty('description');
});

test('a server may be called like a member of every object', () => {
  const original = JSON.parse('{"mcpServers": {"__proto__": {"command": "x"}}}') as Record<string, unknown>;
  const outer = outerConfig(original, { ...options, server: '__proto__' });
  expect(JSON.stringify(outer)).toContain('"__proto__":{"command":"node"');
});

test('changes are listed by key; the arguments of the script are settings', () => {
  const written = outerConfig({ name: 'memory' }, options);
  expect(outerConfigChanges(structuredClone(written), written)).toEqual([]);
  expect(outerConfigChanges({ ...written, command: { cmd: 'node', args: ['w.mjs'] } }, written)).toEqual([]);
  expect(outerConfigChanges({ ...written, env: { A: '1' }, name: 'other' }, written)).toEqual([
    'env.A',
    'name',
  ]);
  expect(outerConfigChanges(undefined, written)).toEqual(['everything']);
});
