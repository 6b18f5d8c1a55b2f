/** `switchboard import`: servers of hosts become servers of the configuration. */
import { existsSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createHostHome, ECHO_SERVER, FILES, USER_CONFIG, startAsHost } from '../helpers/host-home.ts';
import { textOf, type Json } from '../helpers/raw-client.ts';

const CONFIG = 'work/switchboard.config.json';

describe('import', () => {
  const SECRET = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const hosts = () => ({
    [FILES.cursor]: `{
  // cursor
  "mcpServers": {
    "echo": ${JSON.stringify(ECHO_SERVER)},
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

  test('shows what hosts have, and writes only with --yes', async () => {
    const at = createHostHome(hosts());
    const before = at.files();
    const shown = await at.run(['import']);
    expect(shown.code).toBe(2);
    expect(shown.stdout).toMatch(/cursor\s+echo\s+new\s/);
    expect(shown.stdout).toMatch(/codex\s+github\s+clash, as github-codex\s+npx -y other/);
    expect(shown.stdout).toMatch(/vscode\s+docs\s+new\s+https:\/\/docs/);
    expect(shown.stdout).toContain('"docs-key" was an editor prompt; set the variable DOCS_KEY instead');
    expect(shown.stdout).toContain('+++');
    expect(shown.stderr).toContain('Nothing was written, because there is no terminal to ask in. Add --yes');
    expect(shown.stdout + shown.stderr).not.toContain(SECRET);
    expect(at.files()).toEqual(before);
    const written = await at.run(['import', '--yes']);
    expect(written).toMatchObject({ code: 0, stderr: '' });
    expect(written.stdout).not.toContain(SECRET);
    expect(JSON.parse(at.read(USER_CONFIG)).mcpServers).toEqual({
      echo: ECHO_SERVER,
      github: { command: 'npx', args: ['-y', 'gh'], env: { GITHUB_TOKEN: SECRET, LEVEL: 'debug' } },
      docs: { type: 'http', url: 'https://docs.example.com/mcp', headers: { 'X-API-Key': '${DOCS_KEY}' } },
      'github-codex': { command: 'npx', args: ['-y', 'other'] },
    });
    // It holds a secret.
    expect(statSync(at.home.path(USER_CONFIG)).mode & 0o777).toBe(0o600);
    const again = await at.run(['import', '--yes', '--json']);
    expect(again.json.servers.map(({ state }: Json) => state)).toEqual(['same', 'same', 'same', 'same']);
    expect(again.json.configs).toMatchObject([{ level: 'user', changed: false }]);
    const list = await at.run(['list', '--json']);
    expect(list.json.servers.map(({ name }: Json) => name)).toEqual(
      expect.arrayContaining(['echo', 'github', 'github-codex']),
    );
  });

  test('puts secrets into variables where that is wanted, and never prints them', async () => {
    const at = createHostHome({ ...hosts(), [USER_CONFIG]: '{\n  // mine\n  "logLevel": "warn"\n}\n' });
    const { json, stdout, stderr } = await at.run(['import', '--secrets', 'env', '--yes', '--json'], {
      env: { DOCS_KEY: 'set' },
    });
    expect(json.variables).toEqual([
      { name: 'DOCS_KEY', servers: ['docs'], secret: false, state: 'set' },
      { name: 'GH_HOST', servers: ['github-codex'], secret: false, state: 'unset' },
      { name: 'GITHUB_TOKEN', servers: ['github'], secret: true, state: 'unset' },
    ]);
    expect(stdout + stderr).not.toContain(SECRET);
    expect(at.read(USER_CONFIG)).toContain('// mine');
    expect(at.read(USER_CONFIG)).toContain('"GITHUB_TOKEN": "${GITHUB_TOKEN}"');
    expect(at.read(USER_CONFIG)).not.toContain(SECRET);
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
    const at = createHostHome({ [CONFIG]: {}, 'work/.mcp.json': { mcpServers: { echo: ECHO_SERVER } } });
    const { json } = await at.run(['import', '--yes', '--json']);
    expect(json.servers).toMatchObject([{ name: 'echo', state: 'same', notes: ['already read from there'] }]);
    expect(JSON.parse(at.read(CONFIG))).toEqual({});
    // Also where it cannot be used now, because a variable is not set.
    const unset = { ...ECHO_SERVER, env: { A: '${NOBODY_SETS_THIS}' } };
    at.home.write('work/.mcp.json', { mcpServers: { echo: unset } });
    const again = await at.run(['import', '--yes', '--json']);
    expect(again.json.servers).toMatchObject([{ name: 'echo', as: 'echo', state: 'same' }]);
    const taken = await at.run(['import', '--takeover', '--scope', 'project', '--yes', '--json']);
    expect(taken.json.servers).toMatchObject([{ name: 'echo', as: 'echo', state: 'new' }]);
  });

  test('makes no file where nothing is new', async () => {
    const at = createHostHome({ 'work/.mcp.json': { mcpServers: { echo: ECHO_SERVER } } });
    const shown = await at.run(['import']);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('Nothing to do.') });
    const done = await at.run(['import', '--yes', '--json']);
    expect(done.json.servers).toMatchObject([{ name: 'echo', state: 'same' }]);
    expect(existsSync(at.home.path(CONFIG))).toBe(false);
  });

  test('what belongs to a project goes into its file, without its secrets', async () => {
    const at = createHostHome({
      ...hosts(),
      'work/.cursor/mcp.json': { mcpServers: { shop: { command: 's', env: { SHOP_TOKEN: 'a-secret' } } } },
    });
    const { code, json } = await at.run(['import', '--yes', '--json']);
    expect(code).toBe(0);
    expect(json.configs).toMatchObject([
      { level: 'user', file: at.home.path(USER_CONFIG), changed: true },
      { level: 'project', file: at.home.path(CONFIG), changed: true },
    ]);
    expect(JSON.parse(at.read(CONFIG)).mcpServers).toEqual({
      shop: { command: 's', env: { SHOP_TOKEN: '${SHOP_TOKEN}' } },
    });
    expect(Object.keys(JSON.parse(at.read(USER_CONFIG)).mcpServers)).not.toContain('shop');
    expect((await at.run(['import', '--user', '--project'])).code).toBe(2);
  });

  test('a dotenv file comes along, and its variables reach the server and no log', async () => {
    const at = createHostHome({
      'work/.vscode/mcp.json': {
        servers: { echo: { ...ECHO_SERVER, envFile: '${workspaceFolder}/conf/.env' } },
      },
      'work/conf/.env': 'SHOP_TOKEN=canary-7171\n',
    });
    await at.run(['import', 'vscode', '--yes']);
    expect(JSON.parse(at.read(CONFIG)).mcpServers).toEqual({
      echo: { ...ECHO_SERVER, envFile: 'conf/.env' },
    });
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
    expect(Object.keys(JSON.parse(at.read(USER_CONFIG)).mcpServers)).toHaveLength(4);
  });

  describe.runIf(existsSync('/usr/bin/script'))('in a terminal', () => {
    test('asks, and does what the answer says', async () => {
      const at = createHostHome(hosts());
      const no = await at.type(['import', 'cursor'], ['n']);
      expect(no.stdout).toContain('Write this? [y/N]');
      expect(no.stdout).toContain('Nothing was written.');
      expect(no.stdout).not.toContain(SECRET);
      expect(existsSync(at.home.path(USER_CONFIG))).toBe(false);
      const yes = await at.type(['import', 'cursor'], ['y']);
      expect(yes.stdout).toContain('Wrote 2 servers to');
      expect(Object.keys(JSON.parse(at.read(USER_CONFIG)).mcpServers)).toEqual(['echo', 'github']);
    });
  });
});
