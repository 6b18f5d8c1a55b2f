/** install, uninstall, import and eject: the files of hosts as they are left, and programs started as a host would. */
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { parse } from 'smol-toml';
import { describe, expect, test } from 'vitest';
import { createHostHome, FILES, type HostHome } from '../helpers/host-home.ts';
import { startClient, textOf, type Json } from '../helpers/raw-client.ts';
import { nodeServer, ROOT } from '../helpers/temp-project.ts';

type Client = ReturnType<typeof startClient>;

const CONFIG = 'work/switchboard.config.json';
/** The user's own. */
const OWN = '.config/switchboard/switchboard.config.json';
const ALL = Object.keys(FILES) as (keyof typeof FILES)[];
const echo = nodeServer('echo');
const config = { mcpServers: { echo } };

/** The servers of a host, as it would read them. */
function serversOf(at: HostHome, host: keyof typeof FILES): Json {
  const text = at.read(FILES[host]);
  if (host === 'codex') return JSON.parse(JSON.stringify(parse(text).mcp_servers ?? {}));
  // Written by us, all of them are plain JSON up to comments.
  const servers = JSON.parse(text.replace(/^\s*\/\/.*$/gm, ''))[KEYS[host] ?? 'mcpServers'];
  if (host !== 'opencode') return servers;
  const plain = ({ command: [command, ...args], environment: env, ...rest }: Json) => ({
    ...{ command, args, env },
    ...rest,
  });
  return Object.fromEntries(Object.entries(servers).map(([name, entry]) => [name, plain(entry)]));
}

const KEYS: Readonly<Record<string, string>> = { vscode: 'servers', zed: 'context_servers', opencode: 'mcp' };

/** Starts an entry as its host would: in a project, where there is one. */
async function startAsHost(at: HostHome, { command, args }: Json, cwd = '/', env = {}): Promise<Client> {
  // The project is the person's own.
  const allowed = { SWITCHBOARD_ALLOW_PROJECT: '1' };
  const client = startClient({ command, args, cwd, env: { ...at.hostEnv, ...allowed, ...env } });
  await client.initialize();
  return client;
}

/** Calls a tool of the server called `echo` through an entry. */
async function useAsHost(at: HostHome, entry: Json, cwd?: string, env?: object): Promise<string> {
  const client = await startAsHost(at, entry, cwd, env);
  const answer = await client.call('echo_suite', {
    action: 'call',
    subtool: 'echo',
    args: { text: 'hello' },
  });
  await client.close();
  return textOf(answer);
}

describe('install', () => {
  test('lets every host start the program, from anywhere and without a PATH; uninstall leaves no trace', async () => {
    const at = createHostHome({ [OWN]: config });
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
    const named = (name: string) => ({ mcpServers: { [name]: echo } });
    const at = createHostHome({
      [OWN]: named('common'),
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
      [CONFIG]: config,
      [OWN]: { mcpServers: { mine: { ...echo, args: ['${MINE}'] } } },
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
    at.home.write('work/mcp/team.json', config);
    const pinned = await at.run(['install', 'cursor', ...scope, '--config', 'mcp/team.json', '--json']);
    expect(pinned.json.hosts[0].entry.args.slice(-2)).toEqual(['--config', 'mcp/team.json']);
    const outside = await at.run(['install', 'cursor', ...scope, '--config', at.home.path(OWN)]);
    expect(outside).toMatchObject({ code: 2, stderr: expect.stringContaining('is not in this project') });
    const own = await at.run(['install', 'cursor', '--config', 'mcp/team.json', '--json']);
    expect(own.json.hosts[0].entry.args.slice(-2)).toEqual(['--config', at.home.path('work/mcp/team.json')]);
  });

  test('into the files of a project, and into files with other content, to the byte and back', async () => {
    const at = createHostHome({
      [CONFIG]: config,
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
      [CONFIG]: config,
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
      [CONFIG]: config,
      [FILES.cursor]: '{ "mcpServers": {} }',
      [FILES.gemini]: '{\n  "mcpServers": {},\n}\n',
    });
    const before = at.files();
    const { code, stderr, stdout } = await at.run(['install', 'cursor', 'gemini']);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`${at.home.path(FILES.gemini)}, line 2, column 19: the program takes no comma`);
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
    const at = createHostHome({ [CONFIG]: config, [FILES.windsurf]: theirs });
    const refused = await at.run(['install', 'windsurf']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('that is not ours');
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
      [CONFIG]: { mcpServers: { echo: { ...echo, env: { A: '${ECHO_TOKEN}', B: '${PLAIN:-x}' } } } },
      [OWN]: { mcpServers: { mine: { ...echo, env: { C: '${MY_CERT}' } } } },
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
      'Claude Desktop passes little of your environment on, and the configuration refers to ECHO_TOKEN, MY_CERT, PLAIN',
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

  test('without a host it tells what there is, and what is wrong is told plainly', async () => {
    const at = createHostHome({
      [CONFIG]: config,
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
      'no file for single projects',
    );
    expect((await at.run(['install', 'cursor', '--scope', 'world'])).code).toBe(2);
    expect((await at.run(['uninstall'])).code).toBe(2);
    // A configuration may come later.
    const elsewhere = await at.run(['install', 'cursor'], { cwd: at.home.dir });
    expect(elsewhere).toMatchObject({ code: 0, stdout: expect.stringContaining('no server behind it yet') });
    expect((await at.run(['install', 'cursor', '--config', 'nowhere.json'])).code).toBe(78);
  });

  test('a link stays a link', async () => {
    const at = createHostHome({ [CONFIG]: config, 'dotfiles/cursor.json': '{}', '.cursor/x': '' });
    symlinkSync(at.home.path('dotfiles/cursor.json'), at.home.path(FILES.cursor));
    await at.run(['install', 'cursor']);
    expect(JSON.parse(at.read('dotfiles/cursor.json')).mcpServers.switchboard).toBeDefined();
    expect(readdirSync(at.home.path('dotfiles'))).toEqual(['cursor.json']);
  });
});

describe('import', () => {
  const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const hosts = () => ({
    [FILES.cursor]: `{
  // cursor
  "mcpServers": {
    "echo": ${JSON.stringify(echo)},
    "github": { "command": "npx", "args": ["-y", "gh"], "env": { "GITHUB_TOKEN": "${SECRET}", "LEVEL": "debug" } }
  }
}
`,
    [FILES.codex]: '[mcp_servers.github]\ncommand = "npx"\nargs = ["-y", "other"]\nenv_vars = ["GH_HOST"]\n',
    [FILES.vscode]: {
      inputs: [{ id: 'docs-key', type: 'promptString' }],
      servers: {
        docs: {
          type: 'http',
          url: 'https://docs.example.com/mcp',
          headers: { 'X-API-Key': '${input:docs-key}' },
        },
      },
    },
  });

  test('shows what hosts have, and writes only when it is told to', async () => {
    const at = createHostHome(hosts());
    const before = at.files();
    const shown = await at.run(['import']);
    expect(shown.code).toBe(2);
    expect(shown.stdout).toMatch(/cursor\s+echo\s+new\s/);
    expect(shown.stdout).toMatch(/codex\s+github\s+clash, as github-codex\s+npx -y other/);
    expect(shown.stdout).toMatch(/vscode\s+docs\s+new\s+https:\/\/docs/);
    expect(shown.stdout).toContain(
      'the editor asked for "docs-key"; it is read from the variable DOCS_KEY now',
    );
    expect(shown.stdout).toContain('+++');
    expect(shown.stderr).toContain('nothing was written, because nobody can be asked here. Add --yes');
    expect(shown.stdout + shown.stderr).not.toContain(SECRET);
    expect(at.files()).toEqual(before);
    const written = await at.run(['import', '--yes']);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(written.stdout).not.toContain(SECRET);
    expect(JSON.parse(at.read(OWN)).mcpServers).toEqual({
      echo,
      github: { command: 'npx', args: ['-y', 'gh'], env: { GITHUB_TOKEN: SECRET, LEVEL: 'debug' } },
      docs: { type: 'http', url: 'https://docs.example.com/mcp', headers: { 'X-API-Key': '${DOCS_KEY}' } },
      'github-codex': { command: 'npx', args: ['-y', 'other'] },
    });
    // It holds a secret.
    expect(statSync(at.home.path(OWN)).mode & 0o777).toBe(0o600);
    const again = await at.run(['import', '--yes', '--json']);
    expect(again.json.servers.map(({ state }: Json) => state)).toEqual(['same', 'same', 'same', 'same']);
    expect(again.json.configs).toMatchObject([{ level: 'user', changed: false }]);
    const list = await at.run(['list', '--json']);
    expect(list.json.servers.map(({ name }: Json) => name)).toEqual(
      expect.arrayContaining(['echo', 'github', 'github-codex']),
    );
  });

  test('puts secrets into variables where that is wanted, and never prints them', async () => {
    const at = createHostHome({ ...hosts(), [OWN]: '{\n  // mine\n  "logLevel": "warn"\n}\n' });
    const { json, stdout, stderr } = await at.run(['import', '--secrets', 'env', '--yes', '--json'], {
      env: { DOCS_KEY: 'set' },
    });
    expect(json.variables).toEqual([
      { name: 'DOCS_KEY', servers: ['docs'], secret: false, state: 'set' },
      { name: 'GH_HOST', servers: ['github-codex'], secret: false, state: 'unset' },
      { name: 'GITHUB_TOKEN', servers: ['github'], secret: true, state: 'unset' },
    ]);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(at.read(OWN)).toContain('// mine');
    expect(at.read(OWN)).toContain('"GITHUB_TOKEN": "${GITHUB_TOKEN}"');
    expect(at.read(OWN)).not.toContain(SECRET);
    expect((await at.run(['import', '--secrets', 'hide'])).code).toBe(2);
  });

  test('takes one host, one scope or one server; ours is never among them', async () => {
    const at = createHostHome({
      ...hosts(),
      'work/.cursor/mcp.json': { mcpServers: { local: { command: 'l' } } },
    });
    const names = async (...args: string[]): Promise<unknown> =>
      (await at.run(['import', ...args, '--json'])).json.servers.map(({ name }: Json) => name);
    expect(await names('vscode')).toEqual(['docs']);
    expect(await names('cursor')).toEqual(['echo', 'github', 'local']);
    expect(await names('cursor', '--scope', 'project')).toEqual(['local']);
    expect(await names('--only', 'github', '--only', 'docs')).toEqual(['github', 'docs', 'github']);
    expect((await at.run(['import', '--only', 'nobody'])).code).toBe(2);
    await at.run(['import', '--yes']);
    await at.run(['install', 'cursor']);
    expect(await names('cursor')).toEqual(['echo', 'github', 'local']);
  });

  test('reads a .mcp.json beside the configuration only once', async () => {
    const at = createHostHome({ [CONFIG]: {}, 'work/.mcp.json': { mcpServers: { echo } } });
    const { json } = await at.run(['import', '--yes', '--json']);
    expect(json.servers).toMatchObject([{ name: 'echo', state: 'same', notes: ['read from there already'] }]);
    expect(JSON.parse(at.read(CONFIG))).toEqual({});
    // Also where it cannot be used now, because a variable is not set.
    const unset = { ...echo, env: { A: '${NOBODY_SETS_THIS}' } };
    at.home.write('work/.mcp.json', { mcpServers: { echo: unset } });
    const again = await at.run(['import', '--yes', '--json']);
    expect(again.json.servers).toMatchObject([{ name: 'echo', as: 'echo', state: 'same' }]);
    const taken = await at.run(['import', '--takeover', '--scope', 'project', '--yes', '--json']);
    expect(taken.json.servers).toMatchObject([{ name: 'echo', as: 'echo', state: 'new' }]);
  });

  test('what belongs to a project goes into its file, without its secrets', async () => {
    const at = createHostHome({
      ...hosts(),
      'work/.cursor/mcp.json': { mcpServers: { shop: { command: 's', env: { SHOP_TOKEN: 'a-secret' } } } },
    });
    const { code, json } = await at.run(['import', '--yes', '--json']);
    expect(code).toBe(0);
    expect(json.configs).toMatchObject([
      { level: 'user', file: at.home.path(OWN), changed: true },
      { level: 'project', file: at.home.path(CONFIG), changed: true },
    ]);
    expect(JSON.parse(at.read(CONFIG)).mcpServers).toEqual({
      shop: { command: 's', env: { SHOP_TOKEN: '${SHOP_TOKEN}' } },
    });
    expect(Object.keys(JSON.parse(at.read(OWN)).mcpServers)).not.toContain('shop');
    expect((await at.run(['import', '--user', '--project'])).code).toBe(2);
  });

  test('a dotenv file comes along, and its variables reach the server and no log', async () => {
    const at = createHostHome({
      'work/.vscode/mcp.json': { servers: { echo: { ...echo, envFile: '${workspaceFolder}/conf/.env' } } },
      'work/conf/.env': 'SHOP_TOKEN=canary-7171\n',
    });
    await at.run(['import', 'vscode', '--yes']);
    expect(JSON.parse(at.read(CONFIG)).mcpServers).toEqual({ echo: { ...echo, envFile: 'conf/.env' } });
    const { json } = await at.run(['install', 'claude-code', '--json']);
    const entry = { ...json.hosts[0].entry, args: [...json.hosts[0].entry.args, '--log-level', 'debug'] };
    const client = await startAsHost(at, entry, at.project);
    const call = { action: 'call', subtool: 'env', args: { name: 'SHOP_TOKEN' } };
    expect(textOf(await client.call('echo_suite', call))).toContain('canary-7171');
    await client.close();
    expect(client.stderr).not.toContain('canary-7171');
    const doctor = await at.run(['doctor']);
    expect(doctor.stdout + doctor.stderr).not.toContain('canary-7171');
  });

  test('a broken file of a host that was named is an error, and otherwise a remark', async () => {
    const odd = { mcpServers: { odd: { serverUrl: 'unix:///x.sock' } } };
    const at = createHostHome({ ...hosts(), [FILES.gemini]: '{', [FILES.windsurf]: odd });
    expect(await at.run(['import', 'gemini'])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('line 1, column 1'),
    });
    const all = await at.run(['import', '--yes']);
    expect(all.code).toBe(1);
    expect(all.stderr).toContain(at.home.path(FILES.gemini));
    expect(all.stdout).toMatch(/windsurf\s+odd\s+unusable/);
    expect(Object.keys(JSON.parse(at.read(OWN)).mcpServers)).toHaveLength(4);
  });

  describe.runIf(existsSync('/usr/bin/script'))('in a terminal', () => {
    test('asks, and does what the answer says', async () => {
      const at = createHostHome(hosts());
      const no = await at.type(['import', 'cursor'], ['n']);
      expect(no.stdout).toContain('Write this? [y/N]');
      expect(no.stdout).toContain('Nothing was written.');
      expect(no.stdout).not.toContain(SECRET);
      expect(existsSync(at.home.path(OWN))).toBe(false);
      const yes = await at.type(['import', 'cursor'], ['y']);
      expect(yes.stdout).toContain('Wrote 2 servers into');
      expect(Object.keys(JSON.parse(at.read(OWN)).mcpServers)).toEqual(['echo', 'github']);
    });
  });
});

describe('a takeover', () => {
  const servers = (extra: object = {}) => ({
    [FILES['claude-code']]: JSON.stringify(
      {
        numStartups: 7,
        mcpServers: { echo },
        projects: {
          '/somewhere': { mcpServers: { local: { type: 'stdio', command: 'local' } }, history: ['x'] },
        },
      },
      undefined,
      2,
    ),
    [FILES.cursor]: `{\n  // mine\n  "mcpServers": {\n    "echo": ${JSON.stringify(echo)}, // e\n  },\n}\n`,
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
    expect(JSON.parse(at.read(OWN)).mcpServers).toMatchObject({
      echo,
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
    expect(existsSync(at.home.path(OWN))).toBe(true);
    expect((await at.run(['eject'])).stdout).toContain('nothing to put back');
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
      mcpServers: { echo },
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
      expect(all.stdout).toContain(`${at.home.path(file)} keeps its servers`);
      expect(all.stdout).not.toContain(`our entry in ${at.home.path(file)}`);
    }
    // What is read from there anyway is not copied.
    expect(all.stdout).toMatch(/claude-code \(project\)\s+team\s+same/);
    const asked = await at.run(['import', 'claude-code', '--scope', 'project', '--takeover', '--yes']);
    expect(asked.stdout).toContain(
      `Replaced 1 server of Claude Code with our entry in ${at.home.path('work/.mcp.json')}`,
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
      expect(Object.keys(JSON.parse(at.read(OWN)).mcpServers)).toEqual(moved);
      expect(json.takeover).toMatchObject([{ host, removed: moved }]);
      expect(at.read(FILES[host])).toContain('"switchboard"');
      for (const name of moved) expect(at.read(FILES[host])).not.toContain(`"${name}": {\n`);
      expect((await at.run(['list'])).code).toBe(0);
      expect((await at.run(['eject', host])).stdout).toContain('is as it was before the takeover');
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
      const inConfig = existsSync(at.home.path(OWN)) ? Object.keys(JSON.parse(at.read(OWN)).mcpServers) : [];
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
    return Object.fromEntries(entries.filter(([file]) => file !== OWN && !file.endsWith('.tmp')));
  }
});

describe('what is kept', () => {
  const cursor = { mcpServers: { echo, other: { command: 'o' } } };

  test('is listed, and a takeover that nobody wants back is forgotten', async () => {
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
      [CONFIG]: config,
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
      'No host has an entry of ours.\n',
    );
    expect((await at.run(['uninstall', '--all', 'cursor'])).code).toBe(2);
  });
});

test('the help has these commands, and only that of this program', async () => {
  const at = createHostHome({ [CONFIG]: config });
  const commands = ['install [host…]', 'uninstall [host…]', 'import [host…]', 'eject [host…]'];
  const { stdout } = await at.run(['--help']);
  for (const command of commands) expect(stdout).toContain(command);
  const other = await at.run(['--help'], { program: 'mcp-proxy-server' });
  for (const command of commands) expect(other.stdout).not.toContain(command);
});
