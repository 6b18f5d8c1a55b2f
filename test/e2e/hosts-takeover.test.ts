/** `switchboard import --takeover`, `eject` and `uninstall --all`, with the files of hosts. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ECHO_CONFIG,
  createHostHome,
  ECHO_SERVER,
  FILES,
  USER_CONFIG,
  serversOf,
  useAsHost,
  type HostHome,
} from '../helpers/host-home.ts';
import type { Json } from '../helpers/raw-client.ts';
import { ROOT } from '../helpers/temp-project.ts';

const CONFIG = 'work/switchboard.config.json';

describe('a takeover', () => {
  const servers = (extra: object = {}) => ({
    [FILES['claude-code']]: JSON.stringify(
      {
        numStartups: 7,
        mcpServers: { echo: ECHO_SERVER },
        projects: {
          '/somewhere': { mcpServers: { local: { type: 'stdio', command: 'local' } }, history: ['x'] },
        },
      },
      undefined,
      2,
    ),
    [FILES.cursor]: `{\n  // mine\n  "mcpServers": {\n    "echo": ${JSON.stringify(ECHO_SERVER)}, // e\n  },\n}\n`,
    [FILES.codex]:
      '# mine\n[mcp_servers.files]\ncommand = "npx" # c\n\n[mcp_servers.files.env]\nA = "1"\n\n[tui]\nx = 1',
    ...extra,
  });

  test('leaves one entry in each host, through which the servers work; eject gives all back to the byte', async () => {
    const at = createHostHome(servers());
    const before = at.files();
    const { code, json } = await at.run(['import', '--takeover', '--yes', '--json']);
    expect(code).toBe(0);
    expect(json.takeover.map(({ host, removed }: Json) => [host, removed])).toEqual([
      ['claude-code', ['echo', 'local']],
      ['cursor', ['echo']],
      ['codex', ['files']],
    ]);
    for (const host of ['claude-code', 'codex'] as const)
      expect(Object.keys(serversOf(at, host))).toEqual(['switchboard']);
    expect(at.read(FILES.cursor)).toMatch(/^\{\n {2}\/\/ mine\n {2}"mcpServers": \{\n {4}"switchboard": \{/);
    expect(JSON.parse(at.read(FILES['claude-code'])).projects['/somewhere']).toEqual({
      mcpServers: {},
      history: ['x'],
    });
    expect(JSON.parse(at.read(USER_CONFIG)).mcpServers).toMatchObject({
      echo: ECHO_SERVER,
      local: { cwd: '/somewhere' },
      files: { env: { A: '1' } },
    });
    expect(await useAsHost(at, serversOf(at, 'claude-code').switchboard)).toContain('hello');
    for (const { record } of json.takeover) expect(statSync(record).mode & 0o777).toBe(0o600);

    const warned = await at.run(['uninstall', 'cursor', '--dry-run']);
    expect(warned.stdout).toContain('switchboard eject cursor');
    const one = await at.run(['eject', 'cursor', '--json']);
    expect(one.json.ejected).toMatchObject([
      { host: 'cursor', how: 'restored', returned: ['echo'], left: [] },
    ]);
    const rest = await at.run(['eject']);
    expect(rest).toMatchObject({ code: 0, stderr: '' });
    expect(hostFiles(at)).toEqual(before);
    expect(existsSync(at.home.path(USER_CONFIG))).toBe(true);
    expect((await at.run(['eject'])).stdout).toContain('nothing to restore');
  });

  test('a dry run changes nothing, neither here nor there', async () => {
    const at = createHostHome(servers());
    const before = at.files();
    const { stdout } = await at.run(['import', '--takeover', '--dry-run']);
    expect(stdout).toContain('-[mcp_servers.files]');
    expect(stdout).toContain('+[mcp_servers.switchboard]');
    expect(at.files()).toEqual(before);
    await at.run(['import', '--takeover', '--yes']);
    const after = at.files();
    const { json } = await at.run(['eject', '--dry-run', '--json']);
    expect(json.ejected.map(({ how }: Json) => how)).toEqual(['restored', 'restored', 'restored']);
    expect(at.files()).toEqual(after);
  });

  test('what the host has written since stays, and the servers come back all the same', async () => {
    const at = createHostHome(servers());
    await at.run(['import', 'claude-code', '--takeover', '--yes']);
    const now = JSON.parse(at.read(FILES['claude-code']));
    writeFileSync(
      at.home.path(FILES['claude-code']),
      JSON.stringify({ ...now, numStartups: 8, fresh: true }, undefined, 2),
    );
    const { json } = await at.run(['eject', '--json']);
    expect(json.ejected).toMatchObject([{ how: 'merged', returned: ['echo', 'local'], left: [] }]);
    expect(JSON.parse(at.read(FILES['claude-code']))).toEqual({
      numStartups: 8,
      fresh: true,
      mcpServers: { echo: ECHO_SERVER },
      projects: {
        '/somewhere': { mcpServers: { local: { type: 'stdio', command: 'local' } }, history: ['x'] },
      },
    });
  });

  test('leaves the file of a team alone, unless it is asked for, and claims no entry that is not there', async () => {
    const team = '{ "mcpServers": { "team": { "command": "t", "env": { "K": "${TEAM_KEY}" } } } }\n';
    const at = createHostHome(servers({ 'work/.mcp.json': team, 'work/.cursor/mcp.json': team }));
    const all = await at.run(['import', '--takeover', '--yes']);
    expect(all.code).toBe(0);
    for (const file of ['work/.mcp.json', 'work/.cursor/mcp.json']) {
      expect(at.read(file)).toBe(team);
      expect(all.stdout).toContain(`${at.home.path(file)} was not changed`);
      expect(all.stdout).not.toContain(`an entry for Switchboard in ${at.home.path(file)}`);
    }
    // What is read from there anyway is not copied.
    expect(all.stdout).toMatch(/claude-code \(project\)\s+team\s+same/);
    const asked = await at.run(['import', 'claude-code', '--scope', 'project', '--takeover', '--yes']);
    expect(asked.stdout).toContain(
      `Replaced 1 server of Claude Code with an entry for Switchboard in ${at.home.path('work/.mcp.json')}`,
    );
    expect(at.read('work/.cursor/mcp.json')).toBe(team);
    expect(JSON.parse(at.read('work/.mcp.json')).mcpServers).toEqual({
      switchboard: { type: 'stdio', command: 'npx', args: ['-y', 'mcp-switchboard'] },
    });
    expect(JSON.parse(at.read(CONFIG)).mcpServers.team).toEqual({ command: 't', env: { K: '${TEAM_KEY}' } });
    await at.run(['eject']);
    expect(at.read('work/.mcp.json')).toBe(team);
  });

  test.each(['zed', 'cline', 'copilot', 'opencode'] as const)(
    'of %s brings over what it has, in its own shapes, and gives it back to the byte',
    async (host) => {
      const golden = readFileSync(join(ROOT, 'src/hosts/golden', host, 'other-servers.before.txt'), 'utf8');
      const at = createHostHome({ [FILES[host]]: golden });
      const { code, json } = await at.run(['import', host, '--takeover', '--yes', '--json']);
      expect(code).toBe(0);
      const moved = json.servers
        .filter(({ state }: Json) => state !== 'unusable')
        .map(({ name }: Json) => name);
      expect(moved).not.toEqual([]);
      for (const name of moved) expect(golden).toContain(`"${name}": {\n`);
      expect(Object.keys(JSON.parse(at.read(USER_CONFIG)).mcpServers)).toEqual(moved);
      expect(json.takeover).toMatchObject([{ host, removed: moved }]);
      expect(at.read(FILES[host])).toContain('"switchboard"');
      for (const name of moved) expect(at.read(FILES[host])).not.toContain(`"${name}": {\n`);
      expect((await at.run(['list'])).code).toBe(0);
      expect((await at.run(['eject', host])).stdout).toContain('byte for byte');
      expect(at.read(FILES[host])).toBe(golden);
    },
  );

  test('passes on what the servers need, and lists itself where only listed servers are used', async () => {
    const at = createHostHome({
      [FILES.gemini]: {
        mcpServers: { search: { command: 's', env: { CA: '$MY_CERT' } } },
        mcp: { allowed: ['search'] },
      },
      [FILES.codex]: '[mcp_servers.gh]\ncommand = "gh-mcp"\nenv_vars = ["GH_HOST"]\n',
    });
    const before = at.files();
    await at.run(['import', '--takeover', '--yes']);
    const settings = JSON.parse(at.read(FILES.gemini));
    expect(settings.mcp.allowed).toEqual(['search', 'switchboard']);
    expect(settings.mcpServers.switchboard.env).toMatchObject({
      MY_CERT: '${MY_CERT}',
      GH_HOST: '${GH_HOST}',
    });
    expect(serversOf(at, 'codex').switchboard.env_vars).toEqual(
      expect.arrayContaining(['GH_HOST', 'MY_CERT']),
    );
    // Gemini has written something since.
    writeFileSync(at.home.path(FILES.gemini), JSON.stringify({ ...settings, ui: { theme: 'x' } }));
    await at.run(['eject']);
    const now = JSON.parse(at.read(FILES.gemini));
    expect(now).toEqual({ ...JSON.parse(before[FILES.gemini]!), ui: { theme: 'x' } });
  });

  test('that is killed at any moment loses no server', async () => {
    for (let round = 0; round < 12; round++) {
      const at = createHostHome(servers());
      await at.kill(['import', '--takeover', '--yes'], 40 + round * 30);
      const inConfig = existsSync(at.home.path(USER_CONFIG))
        ? Object.keys(JSON.parse(at.read(USER_CONFIG)).mcpServers)
        : [];
      const inCodex = Object.keys(serversOf(at, 'codex'));
      // Always in the host, or in the configuration with our entry in the host.
      expect(
        inCodex.includes('files') || (inCodex.includes('switchboard') && inConfig.includes('files')),
      ).toBe(true);
      expect((await at.run(['eject'])).code).toBe(0);
      expect(hostFiles(at)).toEqual(hostFiles(createHostHome(servers())));
    }
  });

  /** Without our own; and a kill may leave a file behind that was being written aside. */
  function hostFiles(at: HostHome): Record<string, string> {
    const entries = Object.entries(at.files());
    return Object.fromEntries(entries.filter(([file]) => file !== USER_CONFIG && !file.endsWith('.tmp')));
  }
});

describe('what is kept', () => {
  const cursor = { mcpServers: { echo: ECHO_SERVER, other: { command: 'o' } } };

  test('is listed, and can be dropped', async () => {
    const at = createHostHome({ [FILES.cursor]: cursor });
    expect((await at.run(['eject', '--list'])).stdout).toBe('No host has been taken over.\n');
    await at.run(['import', 'cursor', '--takeover', '--yes']);
    const listed = await at.run(['eject', '--list']);
    expect(listed.stdout).toMatch(/cursor\s+\d{4}-\d\d-\d\d \d\d:\d\d\s+echo, other/);
    const { json } = await at.run(['eject', '--list', '--json']);
    expect(json.takeovers).toMatchObject([{ host: 'cursor', servers: ['echo', 'other'] }]);
    expect(json.backups).toMatchObject([{ file: at.home.path(FILES.cursor) }]);
    expect(JSON.parse(readFileSync(json.backups[0].path, 'utf8'))).toEqual(cursor);

    expect((await at.run(['eject', '--drop'])).code).toBe(2);
    const before = at.files();
    await at.run(['eject', 'cursor', '--drop', '--dry-run']);
    expect((await at.run(['eject', '--list', '--json'])).json.takeovers).toHaveLength(1);
    expect((await at.run(['eject', 'cursor', '--drop'])).stdout).toContain('Forgot the takeover of Cursor');
    expect((await at.run(['eject', '--list', '--json'])).json.takeovers).toEqual([]);
    expect(at.files()).toEqual(before);
  });

  test('uninstall --all removes every entry of ours, and no other', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [FILES.cursor]: cursor,
      [FILES.gemini]: '{',
      [FILES.zed]: '// mine\n{}\n',
      'work/.mcp.json': { mcpServers: {} },
    });
    const before = at.files();
    await at.run(['install', 'cursor', 'zed', 'opencode']);
    await at.run(['install', 'cursor', '--name', 'gateway']);
    await at.run(['install', 'claude-code', '--scope', 'project']);
    const team = at.read('work/.mcp.json');
    const removed = await at.run(['uninstall', '--all', '--json']);
    expect(removed.code).toBe(1);
    expect(removed.json.hosts.map(({ host, name, action }: Json) => [host, name, action])).toEqual([
      ['gemini', 'switchboard', 'failed'],
      ['cursor', 'switchboard', 'removed'],
      ['cursor', 'gateway', 'removed'],
      ['zed', 'switchboard', 'removed'],
      ['opencode', 'switchboard', 'removed'],
    ]);
    expect(at.files()).toEqual({ ...before, 'work/.mcp.json': team });
    expect((await at.run(['uninstall', '--all', '--scope', 'project'])).code).toBe(0);
    expect(at.files()).toEqual(before);
    expect((await at.run(['uninstall', '--all', '--scope', 'project'])).stdout).toBe(
      'No host has an entry for Switchboard.\n',
    );
    expect((await at.run(['uninstall', '--all', 'cursor'])).code).toBe(2);
  });
});
