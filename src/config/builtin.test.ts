import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { compareServers, describeWarning, loadConfig, type LoadedConfig } from './index.ts';

function load(servers: object, more: object = {}, env: Record<string, string> = {}): Promise<LoadedConfig> {
  const project = createProject({ 'switchboard.config.json': { mcpServers: servers, ...more } });
  return loadConfig({ cwd: project.dir, env });
}

// Switchyard is not available on Windows: src/config/resolve.test.ts.
const withYard = test.skipIf(process.platform === 'win32');

withYard('a part of this program is a server without a command', async () => {
  const { servers, warnings, directory } = await load({ yard: { builtin: 'switchyard' } });
  expect(warnings).toEqual([]);
  expect(servers).toMatchObject([
    {
      kind: 'builtin',
      name: 'yard',
      builtin: 'switchyard',
      project: undefined,
      directory,
      written: { builtin: 'switchyard' },
      exposure: 'suite',
      description: expect.stringContaining('local services'),
    },
  ]);
});

withYard('accepts the presentation settings of any server', async () => {
  const { servers, warnings } = await load(
    {
      yard: {
        builtin: 'switchyard',
        project: '${SHOP}/x',
        description: 'mine',
        exposure: 'flat',
        hiddenTools: ['switchyard_down'],
        tools: { switchyard_up: { name: 'go', presets: { branch: 'main' } } },
      },
      off: { builtin: 'switchyard', disabled: true },
    },
    {},
    { SHOP: '../shop' },
  );
  expect(warnings).toEqual([]);
  expect(servers).toMatchObject([
    {
      name: 'yard',
      project: '../shop/x',
      written: { project: '${SHOP}/x' },
      exposure: 'flat',
      description: 'mine',
    },
  ]);
  expect(servers[0]!.tools.deny).toMatchObject([{ pattern: 'switchyard_down' }]);
});

withYard('each client has its own, whatever holds for the others', async () => {
  const { servers } = await load({ yard: { builtin: 'switchyard' } }, { isolation: 'shared' });
  expect(servers[0]!.isolation).toBe('session');
});

test.each([
  [{ builtin: 'switchyrd' }, 'mcpServers.yard.builtin: must be "switchyard" (did you mean "switchyard"?)'],
  [{ builtin: 'switchyard', command: 'npx' }, 'mcpServers.yard.command: cannot be combined with "builtin"'],
  [
    { builtin: 'switchyard', url: 'https://a.example' },
    'mcpServers.yard.url: cannot be combined with "builtin"',
  ],
  [{ builtin: 'switchyard', project: '' }, 'mcpServers.yard.project: must be a non-empty string'],
  [{ builtin: null }, 'mcpServers.yard.builtin: must be "switchyard", not null'],
  [
    { builtn: 'switchyard' },
    'mcpServers.yard.builtn: is not a known key and is ignored. Did you mean "builtin"?',
  ],
])('%j cannot be used, with the reason: %s', async (entry, reason) => {
  const { servers, unusable, warnings } = await load({ yard: entry });
  expect(servers).toEqual([]);
  expect(unusable.map(({ name }) => name)).toEqual(['yard']);
  expect(warnings.map(describeWarning).join('\n')).toContain(reason);
});

withYard('a project that cannot be filled in is the reason', async () => {
  const { unusable, warnings } = await load({ yard: { builtin: 'switchyard', project: '${NOWHERE}' } });
  expect(unusable.map(({ name }) => name)).toEqual(['yard']);
  expect(warnings.map(describeWarning).join('\n')).toContain('mcpServers.yard.project');
});

withYard('another project is another server; another look is the same', async () => {
  const [plain, same, moved, shown] = await Promise.all(
    [{}, {}, { project: '/other' }, { exposure: 'flat' }].map(async (more) => {
      const { servers } = await load({ yard: { builtin: 'switchyard', ...more } });
      return { ...servers[0]!, directory: '/here' } as (typeof servers)[number];
    }),
  );
  expect(compareServers(plain!, same!)).toBe('same');
  expect(compareServers(plain!, moved!)).toBe('process');
  expect(compareServers(plain!, shown!)).toBe('presentation');
});
