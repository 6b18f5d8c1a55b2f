/** install and uninstall: the files of hosts as they are left, and programs started as a host would. */
import { chmodSync, existsSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  ECHO_CONFIG,
  createHostHome,
  ECHO_SERVER,
  FILES,
  USER_CONFIG,
  serversOf,
  startAsHost,
  useAsHost,
} from '../helpers/host-home.ts';
import type { Json } from '../helpers/raw-client.ts';
import { ROOT } from '../helpers/temp-project.ts';

const CONFIG = 'work/switchboard.config.json';
const ALL = Object.keys(FILES) as (keyof typeof FILES)[];

describe('install', () => {
  test('lets every host start the program, from anywhere and without a PATH; uninstall leaves no trace', async () => {
    const at = createHostHome({ [USER_CONFIG]: ECHO_CONFIG });
    const before = at.files();
    const installed = await at.run(['install', ...ALL]);
    expect(installed).toMatchObject({ code: 0, stderr: '' });
    for (const host of ALL) {
      expect(installed.stdout).toContain(at.home.path(FILES[host]));
      expect(serversOf(at, host).switchboard.args).toEqual([expect.stringMatching(/index\.js$/)]);
    }
    // It is the same command everywhere.
    expect(await useAsHost(at, serversOf(at, 'claude-desktop').switchboard)).toContain('hello');
    for (const host of ['codex', 'opencode'] as const)
      expect(await useAsHost(at, serversOf(at, host).switchboard)).toContain('hello');
    const again = await at.run(['install', ...ALL, '--json']);
    expect(again.json.hosts.map(({ action }: Json) => action)).toEqual(ALL.map(() => 'unchanged'));
    expect(at.backups()).toEqual([]);
    const removed = await at.run(['uninstall', ...ALL, '--json']);
    expect(removed.json.hosts.map(({ action }: Json) => action)).toEqual(ALL.map(() => 'removed'));
    expect(at.files()).toEqual(before);
  });

  test('from two projects: neither changes what the other sees, nor what the user has everywhere', async () => {
    const named = (name: string) => ({ mcpServers: { [name]: ECHO_SERVER } });
    const at = createHostHome({
      [USER_CONFIG]: named('common'),
      'a/switchboard.config.json': named('a'),
      'b/switchboard.config.json': named('b'),
    });
    const [a, b] = [at.home.path('a'), at.home.path('b')];
    expect((await at.run(['install', 'claude-code', '--json'], { cwd: a })).json.hosts[0].action).toBe(
      'added',
    );
    const entry = serversOf(at, 'claude-code').switchboard;
    const second = await at.run(['install', 'claude-code', '--json'], { cwd: b });
    expect(second.json.hosts[0].action).toBe('unchanged');
    const seenIn = async (cwd?: string): Promise<unknown> => {
      const client = await startAsHost(at, entry, cwd);
      const { tools } = (await client.request('tools/list')).result;
      await client.close();
      return tools.map(({ name }: Json) => name).sort();
    };
    expect(await seenIn(a)).toEqual(['a_suite', 'common_suite']);
    expect(await seenIn(b)).toEqual(['b_suite', 'common_suite']);
    expect(await seenIn()).toEqual(['common_suite']);
  });

  test('into a project: the entry works on the machine of a colleague', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [USER_CONFIG]: { mcpServers: { mine: { ...ECHO_SERVER, args: ['${MINE}'] } } },
    });
    const scope = ['--scope', 'project'];
    const { json } = await at.run(['install', 'claude-code', 'codex', 'opencode', ...scope, '--json']);
    const launch = ['npx', '-y', 'mcp-switchboard'];
    expect(json.hosts.map(({ entry }: Json) => entry)).toEqual([
      { type: 'stdio', command: launch[0], args: launch.slice(1) },
      { command: launch[0], args: launch.slice(1) },
      { type: 'local', command: launch },
    ]);
    // As npx would start it.
    const bin = at.home.path('bin');
    at.home.write('bin/npx', `#!/bin/sh\nshift 2\nexec ${process.execPath} ${ROOT}/dist/index.js "$@"\n`);
    chmodSync(join(bin, 'npx'), 0o755);
    const entry = JSON.parse(at.read('work/.mcp.json')).mcpServers.switchboard;
    expect(await useAsHost(at, entry, at.project, { PATH: `${bin}:/usr/bin:/bin` })).toContain('hello');

    // A file that is named on purpose is named as everybody can.
    at.home.write('work/mcp/team.json', ECHO_CONFIG);
    const pinned = await at.run(['install', 'cursor', ...scope, '--config', 'mcp/team.json', '--json']);
    expect(pinned.json.hosts[0].entry.args.slice(-2)).toEqual(['--config', 'mcp/team.json']);
    const outside = await at.run(['install', 'cursor', ...scope, '--config', at.home.path(USER_CONFIG)]);
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('is outside this project') });
    const own = await at.run(['install', 'cursor', '--config', 'mcp/team.json', '--json']);
    expect(own.json.hosts[0].entry.args.slice(-2)).toEqual(['--config', at.home.path('work/mcp/team.json')]);
  });

  test('into the files of a project, and into files with other content, to the byte and back', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [FILES.cursor]: '{\n  // mine\n  "mcpServers": {\n    "a": { "command": "a" }, // a\n  },\n}\n',
      [FILES.codex]: '# mine\nmodel = "x"\n\n[mcp_servers.a]\ncommand = "a"',
      [FILES['claude-code']]: '{"numStartups":3,"projects":{}}',
      'work/.vscode/mcp.json': '\ufeff{\r\n\t"servers": {}\r\n}\r\n',
    });
    chmodSync(at.home.path(FILES.cursor), 0o640);
    const before = at.files();
    expect((await at.run(['install', 'cursor', 'codex', 'claude'])).code).toBe(0);
    expect((await at.run(['install', 'vscode', 'claude-code', 'gemini', '--scope', 'project'])).code).toBe(0);
    expect(at.read('work/.vscode/mcp.json')).toMatch(
      /^\ufeff\{\r\n\t"servers": \{\r\n\t\t"switchboard": \{\r\n/,
    );
    expect(existsSync(at.home.path('work/.mcp.json'))).toBe(true);
    expect(existsSync(at.home.path('work/.gemini/settings.json'))).toBe(true);
    expect(at.backups()).toHaveLength(4);
    expect(statSync(at.home.path(FILES.cursor)).mode & 0o777).toBe(0o640);
    await at.run(['uninstall', 'cursor', 'codex', 'claude']);
    await at.run(['uninstall', 'vscode', 'claude-code', 'gemini', '--scope', 'project']);
    expect(at.files()).toEqual(before);
  });

  test('a dry run shows the change without secrets, and changes nothing', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [FILES.cursor]:
        '{\n  "mcpServers": {\n    "a": { "command": "a", "env": { "KEY": "very-secret" } }\n  }\n}\n',
    });
    const before = at.files();
    const { stdout, code } = await at.run(['install', 'cursor', 'codex', '--dry-run']);
    expect(code).toBe(0);
    expect(stdout).toContain('+    "switchboard": {');
    expect(stdout).toContain('+[mcp_servers.switchboard]');
    expect(stdout).not.toContain('very-secret');
    const { json } = await at.run(['install', 'cursor', '--dry-run', '--json']);
    expect(json.hosts[0]).toMatchObject({
      host: 'cursor',
      action: 'added',
      diff: expect.stringContaining('+++'),
    });
    expect(at.files()).toEqual(before);
    expect(at.backups()).toEqual([]);
  });

  test('a broken file is not touched, nor is any other then, and its place is named', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [FILES.cursor]: '{ "mcpServers": {} }',
      [FILES.gemini]: '{\n  "mcpServers": {},\n}\n',
    });
    const before = at.files();
    const { code, stderr, stdout } = await at.run(['install', 'cursor', 'gemini']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(
      `${at.home.path(FILES.gemini)}, line 2, column 19: trailing commas are not allowed`,
    );
    expect(stderr).toContain('Nothing was changed.');
    expect(at.files()).toEqual(before);
    const removed = await at.run(['uninstall', 'gemini', '--json']);
    expect(removed).toMatchObject({
      code: 1,
      json: { hosts: [{ action: 'failed', error: { code: 'HOST_FILE_BROKEN' } }] },
    });
    expect(at.files()).toEqual(before);
  });

  test('an entry that is not ours stays, unless it is to be replaced', async () => {
    const theirs = {
      mcpServers: { switchboard: { command: 'npx', args: ['-y', 'other', '--token', 'hidden-token'] } },
    };
    const at = createHostHome({ [CONFIG]: ECHO_CONFIG, [FILES.windsurf]: theirs });
    const refused = await at.run(['install', 'windsurf']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('already has another entry');
    expect(refused.stderr).toContain('npx -y other --token ***');
    expect(refused.stderr).not.toContain('hidden-token');
    expect((await at.run(['uninstall', 'windsurf'])).code).toBe(1);
    expect(serversOf(at, 'windsurf')).toEqual(theirs.mcpServers);
    expect((await at.run(['install', 'windsurf', '--name', 'gateway'])).code).toBe(0);
    expect(Object.keys(serversOf(at, 'windsurf'))).toEqual(['switchboard', 'gateway']);
    expect((await at.run(['install', 'windsurf', '--force'])).code).toBe(0);
    expect(await useAsHost(at, serversOf(at, 'windsurf').switchboard, at.project)).toContain('hello');
  });

  test('variables of the configuration reach it where the host passes on only what is named', async () => {
    const at = createHostHome({
      [CONFIG]: { mcpServers: { echo: { ...ECHO_SERVER, env: { A: '${ECHO_TOKEN}', B: '${PLAIN:-x}' } } } },
      [USER_CONFIG]: { mcpServers: { mine: { ...ECHO_SERVER, env: { C: '${MY_CERT}' } } } },
    });
    const { stdout } = await at.run(['install', 'codex', 'gemini', 'copilot', 'cline', 'claude-desktop'], {
      env: { ECHO_TOKEN: 't' },
    });
    // Also the one that says where our own files are.
    const names = ['ECHO_TOKEN', 'MY_CERT', 'PLAIN', 'SWITCHBOARD_STATE_DIR'];
    expect(serversOf(at, 'codex').switchboard.env_vars).toEqual(names);
    for (const host of ['gemini', 'copilot'] as const)
      expect(serversOf(at, host).switchboard.env).toEqual(
        Object.fromEntries(names.map((name) => [name, `\${${name}}`])),
      );
    expect(serversOf(at, 'cline').switchboard.env).toMatchObject({ ECHO_TOKEN: '${env:ECHO_TOKEN}' });
    expect(serversOf(at, 'claude-desktop').switchboard.env).toBeUndefined();
    expect(stdout).toContain(
      'Claude Desktop passes on few environment variables, and the configuration uses ECHO_TOKEN, MY_CERT, PLAIN',
    );
  });

  test('with an address the host connects; the token stays in the environment', async () => {
    const at = createHostHome();
    const url = 'http://127.0.0.1:3006/mcp';
    expect((await at.run(['install', 'claude-code', 'codex', 'windsurf', '--http', url])).code).toBe(0);
    expect(serversOf(at, 'claude-code').switchboard).toEqual({
      type: 'http',
      url,
      headers: { Authorization: 'Bearer ${SWITCHBOARD_HTTP_TOKEN}' },
    });
    expect(serversOf(at, 'codex').switchboard).toEqual({
      url,
      bearer_token_env_var: 'SWITCHBOARD_HTTP_TOKEN',
    });
    expect(serversOf(at, 'windsurf').switchboard.serverUrl).toBe(url);
    expect((await at.run(['install', 'claude-desktop', '--http', url])).code).toBe(2);
    await at.run(['uninstall', 'claude-code', 'codex', 'windsurf']);
    expect(Object.keys(at.files())).toEqual(['work/.keep']);
  });

  test('without a host it lists hosts and servers, and reports problems', async () => {
    const at = createHostHome({
      [CONFIG]: ECHO_CONFIG,
      [FILES.cursor]: { mcpServers: { a: { command: 'a' } } },
      [FILES.gemini]: '{',
    });
    await at.run(['install', 'codex']);
    const { stdout, code } = await at.run(['install']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/cursor\s+user\s+–\s+a\s/);
    expect(stdout).toMatch(/codex\s+user\s+switchboard\s+none\s/);
    expect(stdout).toMatch(/gemini\s+user\s+–\s+cannot be read/);
    expect(stdout).not.toContain('windsurf');
    expect((await at.run(['install', 'curser'])).stderr).toContain('Did you mean "cursor"?');
    expect((await at.run(['install', '--force'])).code).toBe(2);
    expect((await at.run(['install', 'windsurf', '--scope', 'project'])).stderr).toContain(
      'no configuration file per project',
    );
    expect((await at.run(['install', 'cursor', '--scope', 'world'])).code).toBe(2);
    expect((await at.run(['uninstall'])).code).toBe(2);
    // A configuration may come later.
    const elsewhere = await at.run(['install', 'cursor'], { cwd: at.home.dir });
    expect(elsewhere).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('No server is configured yet'),
    });
    expect((await at.run(['install', 'cursor', '--config', 'nowhere.json'])).code).toBe(78);
  });

  test('a link stays a link', async () => {
    const at = createHostHome({ [CONFIG]: ECHO_CONFIG, 'dotfiles/cursor.json': '{}', '.cursor/x': '' });
    symlinkSync(at.home.path('dotfiles/cursor.json'), at.home.path(FILES.cursor));
    await at.run(['install', 'cursor']);
    expect(JSON.parse(at.read('dotfiles/cursor.json')).mcpServers.switchboard).toBeDefined();
    expect(readdirSync(at.home.path('dotfiles'))).toEqual(['cursor.json']);
  });
});

test('the help has these commands, and only that of this program', async () => {
  const at = createHostHome({ [CONFIG]: ECHO_CONFIG });
  const commands = ['install [host…]', 'uninstall [host…]', 'import [host…]', 'eject [host…]'];
  const { stdout } = await at.run(['--help']);
  for (const command of commands) expect(stdout).toContain(command);
  const other = await at.run(['--help'], { program: 'mcp-proxy-server' });
  for (const command of commands) expect(other.stdout).not.toContain(command);
});
