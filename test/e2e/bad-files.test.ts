/** Files that a stranger may have put where we look: none of them ends, stops or fills a program. */
import { describe, expect, test } from 'vitest';
import { BAD_FILES, putBadFile } from '../helpers/bad-files.ts';
import { runEditCommand } from '../helpers/edit-commands.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { createYard } from '../helpers/yard.ts';

const KINDS = Object.keys(BAD_FILES).filter(() => process.platform !== 'win32');
const CONFIG = 'switchboard.config.json';
/** In a project, each of these is looked for. */
const FOUND = [
  '.mcp.json',
  'mcps/bad/.mcp.json',
  'mcp-descriptions.json',
  '.switchboard/mcp-descriptions.json',
];

describe.each(KINDS)('a file %s', (kind) => {
  test.each(['1', '0'])('does not cost the others their servers (allowed: %s)', async (allowed) => {
    const project = createProject({
      '.config/switchboard/switchboard.config.json': { mcpServers: { echo: nodeServer('echo') } },
    });
    for (const file of FOUND) putBadFile(kind, project.path(file));
    const env = { SWITCHBOARD_ALLOW_PROJECT: allowed };
    const { code, json, stderr } = await runEditCommand(project, ['list', '--json'], { env });
    expect({ code, bug: stderr.includes('bug') }).toEqual({ code: 0, bug: false });
    expect(json.servers).toContainEqual(expect.objectContaining({ name: 'echo' }));
  });

  test('beside a configuration that is in order leaves its servers', async () => {
    const project = createProject({
      [CONFIG]: {
        mcpServers: { echo: { ...nodeServer('echo'), envFile: 'bad.env' }, other: nodeServer('echo') },
      },
    });
    for (const file of [...FOUND, 'bad.env']) putBadFile(kind, project.path(file));
    const { code, json, stderr } = await runEditCommand(project, ['list', '--json']);
    expect({ code, bug: stderr.includes('bug') }).toEqual({ code: 0, bug: false });
    expect(json.servers).toContainEqual(expect.objectContaining({ name: 'other' }));
  });

  test.each(['index', 'mcp-proxy-server', 'mcpmux'] as const)(
    'named with --config is an error of %s',
    async (program) => {
      const project = createProject();
      putBadFile(kind, project.path('bad.json'));
      const { code, stderr } = await runEditCommand(project, ['list', '--config', 'bad.json'], { program });
      // A link to itself and a directory are not found; all others cannot be used.
      expect([code, stderr]).toEqual([78, expect.stringContaining('bad.json')]);
      expect(stderr).not.toMatch(/\bbug\b/);
    },
  );

  test('in the place of the user file or of what is remembered does not end the start', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { echo: nodeServer('echo') } } });
    for (const file of [
      '.config/switchboard/switchboard.config.json',
      '.state/allowed-files.json',
      '.state/run/1.json',
    ])
      putBadFile(kind, project.path(file));
    const env = { SWITCHBOARD_ALLOW_PROJECT: '0' };
    const { code, stderr } = await runEditCommand(project, ['list', '--json'], { env });
    expect({ code, bug: stderr.includes('bug') }).toEqual({ code: 0, bug: false });
  });

  test('in the place of switchyard.toml or of git’s files is no bug', async () => {
    const yard = createYard({ git: false });
    putBadFile(kind, yard.path('switchyard.toml'));
    putBadFile(kind, yard.path('.git'));
    const { code, stderr } = await yard.run(['status']);
    expect({ code, bug: stderr.includes('bug') }).toEqual({ code: 1, bug: false });
  });
});

test.runIf(KINDS.length > 0).each([
  ['that is a pipe', 'not a regular file', FOUND],
  ['that is a link to /dev/zero', 'not a regular file', FOUND],
  // In the places that a pattern names, it is no file, as a link to nowhere.
  ['that is a link to itself', 'ELOOP', ['.mcp.json']],
])('a file %s is not passed over in silence', async (kind, reason, reported) => {
  const project = createProject({ [CONFIG]: { mcpServers: { echo: nodeServer('echo') } } });
  for (const file of FOUND) putBadFile(kind, project.path(file));
  const { stderr } = await runEditCommand(project, ['list']);
  for (const file of reported)
    expect(stderr).toMatch(new RegExp(`${project.path(file)}: cannot be read: .*${reason}`));
  putBadFile(kind, project.path(CONFIG));
  const config = await runEditCommand(project, ['list']);
  expect([config.code, config.stderr]).toEqual([78, expect.stringContaining(reason)]);
  const yard = createYard({ git: false });
  putBadFile(kind, yard.path('switchyard.toml'));
  expect((await yard.run(['status'])).stderr).toContain(reason);
});
