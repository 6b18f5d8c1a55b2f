import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProject, type Project } from '../../test/helpers/temp-project.ts';
import { SwitchboardError } from '../shared/errors.ts';
import {
  composeEnv,
  defineRuntimeServer,
  describeWarning,
  entryForConfig,
  isRuntimeServer,
  loadConfig,
  type LoadedConfig,
  type RuntimeContext,
  type RuntimeEntry,
  type ServerDefinition,
  type StdioDefinition,
} from './index.ts';
import { applyDefaults } from './settings.ts';

function load(project: Project): Promise<LoadedConfig> {
  return loadConfig({ cwd: project.dir, env: {} });
}

async function define(
  entry: RuntimeEntry,
  config: object = {},
  context: Partial<RuntimeContext> = {},
): Promise<StdioDefinition> {
  const loaded = await load(createProject({ 'switchboard.config.json': config }));
  return defineRuntimeServer('added', entry, { ...loaded, ...context });
}

function failure(name: string, entry: RuntimeEntry = { command: 'x' }): SwitchboardError {
  try {
    defineRuntimeServer(name, entry, defaults);
  } catch (error) {
    if (error instanceof SwitchboardError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

const defaults = { settings: applyDefaults({}), directory: resolve('/project') };

test('a server added at run time is what the same entry in the configuration is', async () => {
  const config = {
    exposure: 'flat',
    naming: 'plain',
    offer: ['tools'],
    inheritEnv: ['A_*'],
    timeouts: { rpcMs: 7 },
    introspection: { mode: 'full', summaryMaxChars: 9 },
    suites: {
      added: { description: 'Mine.', suiteName: 'mine', hiddenTools: ['x*'], tools: { t: { name: 'u' } } },
    },
  };
  const entry = { command: 'node', args: ['$HOME', '${A}'], env: { B: '${B}', __proto__x: '' }, cwd: 'sub' };
  const project = createProject({ 'switchboard.config.json': config });
  const loaded = await load(project);
  const added = defineRuntimeServer('added', entry, { ...loaded });
  const written = createProject({
    'switchboard.config.json': { ...config, mcpServers: { added: entryForConfig(entry) } },
  });
  const { servers } = await load(written);
  const elsewhere = (server: ServerDefinition, dir: string): unknown => {
    const text = JSON.stringify({ ...server, shapes: [...server.tools.shapes] }, (key, value: unknown) =>
      key === 'written' || (key === 'origin' && value === server.origin) ? undefined : value,
    );
    return JSON.parse(text.replaceAll(JSON.stringify(dir).slice(1, -1), ''));
  };
  expect(elsewhere(added, project.dir)).toEqual(elsewhere(servers[0]!, written.dir));
  expect(added).toMatchObject({
    args: ['$HOME', '${A}'],
    env: { B: '${B}' },
    cwd: project.path('sub'),
    written: { command: 'node', args: ['$HOME', '${A}'], cwd: project.path('sub') },
    exposure: 'flat',
    timeouts: { rpcMs: 7, idleMs: 'never' },
    suite: { name: 'mine', description: 'Mine.', mode: 'full', summaryMaxChars: 9 },
    tools: { deny: [{ pattern: 'x*', origin: { file: loaded.file, key: 'suites.added.hiddenTools[0]' } }] },
  });
  expect([isRuntimeServer(added), isRuntimeServer(servers[0]!)]).toEqual([true, false]);
});

test('without a configuration the defaults hold', () => {
  const server = defineRuntimeServer('a', { command: 'x' }, defaults);
  const { childSpawnMs, rpcMs, idleMs, drainMs, callMaxMs } = defaults.settings.timeouts;
  expect(server).toMatchObject({
    name: 'a',
    command: 'x',
    args: [],
    env: {},
    cwd: resolve('/project'),
    exposure: 'suite',
    naming: 'prefixed',
    framing: 'auto',
    inheritEnv: true,
    origin: { file: '', key: '' },
    timeouts: { childSpawnMs, rpcMs, idleMs, drainMs, callMaxMs },
  });
  expect(composeEnv(server, { A: '1' })).toEqual(composeEnv({ env: {}, inheritEnv: true }, { A: '1' }));
});

test('a time limit of the configuration holds for flat servers too', async () => {
  const entry = { command: 'x' };
  expect((await define(entry, { exposure: 'flat' })).timeouts.idleMs).toBe('never');
  const config = { exposure: 'flat', timeouts: { idleMs: 600_000 } };
  expect((await define(entry, config)).timeouts.idleMs).toBe(600_000);
});

test('the working directory is absolute, relative to the directory, or left out', async () => {
  const at = async (cwd: string): Promise<string> =>
    (await define({ command: 'x', cwd }, {}, { directory: resolve('/project') })).cwd;
  expect(await at('a/../b')).toBe(resolve('/project', 'b'));
  expect(await at('${X}')).toBe(resolve('/project', '${X}'));
  expect(await at('/elsewhere')).toBe(resolve('/elsewhere'));
  expect([await at(''), await at(' ')]).toEqual([resolve('/project'), resolve('/project')]);
});

test('presets of the configuration are filled in; what cannot be is the reason given', async () => {
  const config = { suites: { added: { tools: { t: { presets: { key: '${SECRET}' } } } } } };
  const server = await define({ command: 'x' }, config, { env: { SECRET: 's3cret' } });
  expect(server.tools.shapes.get('t')?.presets).toEqual({ key: 's3cret' });
  await expect(define({ command: 'x' }, config, { env: {} })).rejects.toMatchObject({
    code: 'SERVER_INVALID',
    message: expect.stringContaining(
      'switchboard.config.json: suites.added.tools.t.presets.key: the environment variable SECRET is not set',
    ),
  });
});

test('ignored settings of the configuration for it are reported', async () => {
  const said: string[] = [];
  const tools = { t: { name: 'same' }, u: { name: 'same' } };
  const warn: RuntimeContext['warn'] = (warning) => void said.push(describeWarning(warning));
  await define({ command: 'x' }, { suites: { added: { tools } } }, { warn });
  expect(said.join()).toContain('suites.added.tools.u: "same" is already the new name of "t"');
});

describe('is refused, each with its own sentence:', () => {
  test.each([
    ['', 'A server needs a name.'],
    [' ', 'A server needs a name.'],
    ['x'.repeat(65), 'A server name has at most 64 characters; this one has 65.'],
    ['a\u001bb', 'The name "a\\x1bb" contains a control character.'],
    ['a\0', 'The name "a\\x00" contains a control character.'],
    ['a__b', 'The name "a__b" contains "__", which separates a server from its tool.'],
    ['__', 'The name "__" contains "__", which separates a server from its tool.'],
    ['a_', 'The name "a_" ends in "_", which is ambiguous before the "__" of its tools.'],
  ])('the name %j', (name, message) => {
    expect(failure(name)).toMatchObject({ code: 'SERVER_INVALID', message, hint: expect.any(String) });
  });

  test.each<[RuntimeEntry, string]>([
    [{ command: '' }, 'The command is empty.'],
    [{ command: ' \n' }, 'The command is empty.'],
    [{ command: 'x\0' }, 'NUL characters are not allowed in the command.'],
    [{ command: 'x', args: ['a', '\0'] }, 'NUL characters are not allowed in the arguments.'],
    [{ command: 'x', cwd: '/a\0' }, 'NUL characters are not allowed in the working directory.'],
    [{ command: 'x', env: { A: 's3cret\0' } }, 'NUL characters are not allowed in the environment.'],
    [{ command: 'x', env: { 'A\0': '' } }, 'NUL characters are not allowed in the environment.'],
    [{ command: 'x', env: { '': '' } }, 'The name of an environment variable is empty or contains "=".'],
    [
      { command: 'x', env: { 'A=s3cret': '' } },
      'The name of an environment variable is empty or contains "=".',
    ],
  ])('%j', (entry, message) => {
    expect(failure('a', entry)).toMatchObject({ code: 'SERVER_INVALID', message, hint: expect.any(String) });
  });

  test.each<[RuntimeEntry]>([
    [{ command: 'switchboard' }],
    [{ command: 'npx', args: ['-y', 'mcp-switchboard'] }],
    [{ command: 'node', args: ['program.js'], cwd: 'bin' }],
  ])('%j, which starts us', (entry) => {
    const project = createProject({ 'bin/program.js': '' });
    const script = project.path('bin/program.js');
    const context = { settings: defaults.settings, directory: project.dir, ourScript: script };
    expect(() => defineRuntimeServer('a', entry, context)).toThrow('"a" would start this gateway itself');
  });
});

test('64 characters, letters of any script and names of object members are fine', () => {
  for (const name of ['💥'.repeat(64), 'größe', '_a', 'a_b', 'constructor', 'toString'])
    expect(defineRuntimeServer(name, { command: 'x' }, defaults).name).toBe(name);
});
