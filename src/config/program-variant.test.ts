import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { describeWarning, loadConfig, type ProgramVariant } from './index.ts';
import { PROXY_EXAMPLE } from '../../test/helpers/proxy-example.ts';

const coordinator: ProgramVariant = {
  defaults: { exposure: 'flat', naming: 'plain' },
  configFile: 'config.json',
  configHint: 'Set MCP_PROXY_CONFIG_PATH to your configuration file.',
  discovers: false,
};

async function failure(promise: Promise<unknown>): Promise<SwitchboardError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof SwitchboardError) return error;
  throw error;
}

test("the coordinator's example loads as it stands (A-131, A-135, A-136, A-137, A-138)", async () => {
  const project = createProject({ 'config.json': PROXY_EXAMPLE });
  const file = project.path('config.json');
  const loaded = await loadConfig({ cwd: project.dir, env: {}, variant: coordinator });
  expect(loaded.file).toBe(file);
  expect(loaded.servers).toMatchObject([
    {
      name: 'ServerName1',
      command: '/path/to/server1/build/index.js',
      exposure: 'flat',
      naming: 'plain',
      timeouts: { idleMs: 'never' },
      tools: {
        allow: [
          { pattern: 'tool1', literal: false },
          { pattern: 'tool2', literal: true },
        ],
      },
    },
    {
      name: 'ServerName2',
      command: 'npx',
      args: ['@example/mcp-server', '--option', 'value'],
      tools: { allow: undefined, deny: [{ pattern: 'tool3', literal: false }] },
    },
    { name: 'ServerName3', kind: 'remote', transport: 'sse', url: 'http://example.com/mcp' },
  ]);
  expect(loaded.servers[0]?.tools.shapes.get('tool2')?.exposed).toBe('renamed_tool2');
  expect(loaded.compounds).toEqual([
    {
      name: 'CustomToolName',
      description: 'Description of the custom tool',
      subtools: [
        { server: 'ServerName1', tools: [{ name: 'toolA', description: 'Description of tool A' }] },
        { server: 'ServerName2', tools: [{ name: 'toolB', description: 'Description of tool B' }] },
      ],
      origin: { file, key: 'tools.CustomToolName' },
    },
  ]);
  expect(loaded.warnings.map(describeWarning)).toEqual([]);
});

test('a program that needs its file says where it was looked for and what to do', async () => {
  const project = createProject({ 'tsconfig.json': {}, 'switchboard.config.json': {}, 'sub/x.json': {} });
  const load = (configPath?: string): Promise<unknown> =>
    loadConfig({ cwd: project.dir, configPath, env: {}, variant: coordinator });
  expect(await failure(load())).toMatchObject({
    code: 'CONFIG_NOT_FOUND',
    message: `Configuration file not found: ${project.path('config.json')}.`,
    hint: 'Set MCP_PROXY_CONFIG_PATH to your configuration file.',
  });
  expect((await failure(load('other.yaml'))).hint).toBe(
    'Check the path, or leave it out to use config.json.',
  );
  const withoutDefault = loadConfig({
    cwd: project.dir,
    configPath: 'other.yaml',
    env: {},
    variant: { defaults: { exposure: 'flat', naming: 'prefixed' }, findsConfig: false },
  });
  expect((await failure(withoutDefault)).hint).toBe('Check the path.');
  expect((await failure(load('sub'))).hint).toContain(project.path('sub/config.json'));
  project.write('config.json/x', '');
  expect((await failure(load())).message).toContain('is a directory');
});

test("a file's own words win over the program's defaults", async () => {
  const project = createProject({
    'config.json': { exposure: 'suite', naming: 'prefixed', mcpServers: { a: { command: 'x' } } },
  });
  const { settings, servers } = await loadConfig({ cwd: project.dir, env: {}, variant: coordinator });
  expect(settings).toMatchObject({ exposure: 'suite', naming: 'prefixed' });
  expect(servers[0]).toMatchObject({ exposure: 'suite', timeouts: { idleMs: 600_000 } });
});

test('a program that does not discover reads other files only where the configuration asks for them', async () => {
  const files = {
    '.mcp.json': { mcpServers: { root: { command: 'x' } } },
    'mcps/a/.mcp.json': { name: 'a', command: 'x' },
  };
  const load = async (config: object, variant?: ProgramVariant): Promise<string[]> => {
    const { servers } = await loadConfig({
      cwd: createProject({ ...files, 'config.json': config }).dir,
      configPath: 'config.json',
      env: {},
      variant,
    });
    return servers.map(({ name }) => name);
  };
  expect(await load({}, coordinator)).toEqual([]);
  expect(await load({ discoverGlobs: ['mcps/*/.mcp.json'] }, coordinator)).toEqual(['a']);
  expect(await load({ discoverGlobs: ['.mcp.json'] }, coordinator)).toEqual(['root']);
  expect(await load({}, { defaults: coordinator.defaults })).toEqual(['a', 'root']);
  expect(await load({})).toEqual(['a', 'root']);
});
