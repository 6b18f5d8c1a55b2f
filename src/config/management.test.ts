import { describe, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { SwitchboardError } from '../shared/errors.ts';
import {
  describeWarning,
  loadConfig,
  MANAGEMENT_TOOLS,
  type ProgramVariant,
  type LoadedConfig,
} from './index.ts';

const mux: ProgramVariant = {
  defaults: {
    exposure: 'flat',
    naming: 'prefixed',
    management: { enabled: true, approval: 'auto', persist: false },
  },
};

function load(config: object, variant?: ProgramVariant): Promise<LoadedConfig> {
  return loadConfig({ cwd: createProject({ 'switchboard.config.json': config }).dir, env: {}, variant });
}

async function management(given: unknown, variant?: ProgramVariant): Promise<unknown> {
  return (await load(given === undefined ? {} : { management: given }, variant)).settings.management;
}

test.each([
  [undefined, { enabled: false, approval: 'ask', persist: false }],
  [false, { enabled: false, approval: 'ask', persist: false }],
  [true, { enabled: true, approval: 'ask', persist: false }],
  [{}, { enabled: true, approval: 'ask', persist: false }],
  [{ approval: 'auto' }, { enabled: true, approval: 'auto', persist: false }],
  [
    { enabled: false, persist: true },
    { enabled: false, approval: 'ask', persist: true },
  ],
])('management %j becomes %j', async (given, expected) => {
  expect(await management(given)).toEqual(expected);
});

test('a program may have other defaults, over which the configuration wins', async () => {
  expect(await management(undefined, mux)).toEqual({ enabled: true, approval: 'auto', persist: false });
  expect(await management(false, mux)).toMatchObject({ enabled: false });
  expect(await management({ approval: 'ask' }, mux)).toEqual({
    enabled: true,
    approval: 'ask',
    persist: false,
  });
  expect(await management({ persist: true }, mux)).toEqual({
    enabled: true,
    approval: 'auto',
    persist: true,
  });
});

describe('a compound tool called as a management tool', () => {
  const tools = Object.fromEntries(
    [...MANAGEMENT_TOOLS, 'other'].map((name) => [
      name,
      { description: '', subtools: { a: { tools: [{ name: 't' }] } } },
    ]),
  );
  const mcpServers = { a: { command: 'x' } };

  test.each([
    [{ management: true }, undefined],
    [{ management: {} }, undefined],
    [{}, mux],
  ])('is refused with %j', async (config, variant) => {
    const error: unknown = await load({ ...config, mcpServers, tools }, variant).catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(SwitchboardError);
    const lines = (error as Error).message.split('\n');
    expect(lines).toHaveLength(MANAGEMENT_TOOLS.length);
    expect(lines[0]).toContain(
      'switchboard.config.json: tools.add_server: is reserved for "management"; choose another name',
    );
  });

  test('is fine where there are no management tools', async () => {
    for (const config of [{}, { management: false }, { management: { enabled: false } }])
      expect((await load({ ...config, mcpServers, tools })).compounds).toHaveLength(5);
    expect((await load({ management: false, mcpServers, tools }, mux)).compounds).toHaveLength(5);
  });
});

test('settings for a server that may still come are no reason for a warning', async () => {
  const suites = { later: { exposure: 'flat' } };
  const [warning] = (await load({ management: true, suites })).warnings;
  expect(warning?.level).toBe('info');
  expect(describeWarning(warning!)).toContain('suites.later: unknown server');
  expect((await load({ suites })).warnings[0]?.level).toBe('warn');
});
