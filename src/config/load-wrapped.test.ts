import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { concernsWrapped, loadWrapped } from './load-wrapped.ts';
import { applyDefaults } from './settings.ts';

const language = { model: 'm', maxSteps: 3, instructionsFile: 'CLAUDE.md' };

test('a wrapped server is defined as before, relative to the folder it was in, with the model before it', async () => {
  const project = createProject({
    'original/.mcp.json': {
      name: 'memory',
      description: 'Remembers.',
      command: { cmd: './run', args: ['${KEY}'], env: { A: '1' } },
    },
  });
  const config = await loadWrapped({ folder: project.dir, language, env: { KEY: 'k' } });
  expect(config.servers).toMatchObject([
    {
      name: 'memory',
      command: './run',
      args: ['k'],
      cwd: project.dir,
      env: { A: '1' },
      exposure: 'flat',
      naming: 'own',
      offer: ['tools'],
      inheritEnv: true,
      timeouts: { idleMs: 600_000 },
      language: { model: 'm', maxSteps: 3, maxTokens: 100_000, instructionsFile: project.path('CLAUDE.md') },
    },
  ]);
  expect(config.warnings).toEqual([]);
});

test('a map of servers and a server that runs elsewhere are taken too', async () => {
  const entry = { type: 'http', url: 'https://x.test/mcp', hiddenTools: ['drop'], exposure: 'hidden' };
  const project = createProject({ 'original/.mcp.json': { mcpServers: { docs: entry } } });
  const { servers } = await loadWrapped({ folder: project.dir, language, env: {} });
  expect(servers).toMatchObject([
    { kind: 'remote', name: 'docs', exposure: 'flat', language: { model: 'm' } },
  ]);
});

test('what a configuration says about time limits and the environment holds for it as well', async () => {
  const project = createProject({
    'switchboard.config.json': { timeouts: { childSpawnMs: 123 }, inheritEnv: ['A*'], exposure: 'hidden' },
    'mcps/one/original/.mcp.json': { name: 'one', command: 'x' },
  });
  const { servers, settings } = await loadWrapped({
    folder: project.path('mcps/one'),
    language,
    configPath: '../../switchboard.config.json',
    env: {},
  });
  expect(servers).toMatchObject([{ timeouts: { childSpawnMs: 123 }, inheritEnv: ['A*'], exposure: 'flat' }]);
  expect(concernsWrapped(settings)).toBe(true);
  expect(concernsWrapped(applyDefaults({ exposure: 'flat', logLevel: 'debug' }))).toBe(false);
});

test.each([
  ['is not there', {}, /original[\\/]\.mcp\.json: cannot be read/],
  ['refers to what is not set', { name: 'one', command: '${NOWHERE}' }, /NOWHERE/],
  [
    'defines several servers',
    { mcpServers: { a: { command: 'x' }, b: { command: 'x' } } },
    /must define one/,
  ],
  ['says nothing', { name: 'one' }, /command: is missing/],
])('one that %s is told of', async (what, definition, message) => {
  const project = createProject(what === 'is not there' ? {} : { 'original/.mcp.json': definition });
  await expect(loadWrapped({ folder: project.dir, language, env: {} })).rejects.toThrow(message);
});
