/** `switchboard init`: from servers scattered over hosts to one configuration, with flags or in lists. */
import { existsSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { CAN_PRESS, createHostHome, FILES, type HostHome } from '../helpers/host-home.ts';
import type { Json } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';

const OWN = '.config/switchboard/switchboard.config.json';
const ECHO = nodeServer('echo', '--instructions=Echoes whatever it is told, and adds numbers.');
const echo = (key: string): object => ({ ...ECHO, env: { API_KEY: key } });
const codexEcho = (key: string): string =>
  `[mcp_servers.echo]\ncommand = ${JSON.stringify(ECHO.command)}\nargs = ${JSON.stringify(ECHO.args)}\nenv = { API_KEY = "${key}" }\n`;

/** Cursor and Codex have the same server with different keys, and Cursor one more. */
function twoHosts(): HostHome {
  return createHostHome({
    [FILES.cursor]: { mcpServers: { echo: echo('cursor-key'), pages: nodeServer('pages') } },
    [FILES.codex]: codexEcho('codex-key'),
  });
}

const serversIn = (at: HostHome, file: string): Json => JSON.parse(at.read(file)).mcpServers;

describe('with --yes', () => {
  test('moves servers into the own file, each once, and eject puts every host back to the byte', async () => {
    const at = twoHosts();
    const before = at.files();
    const { code, stdout, stderr } = await at.run(['init', '--yes', '--no-start']);
    expect(code, stderr).toBe(0);
    expect(serversIn(at, OWN)).toEqual({ echo: echo('cursor-key'), pages: nodeServer('pages') });
    expect(statSync(at.home.path(OWN)).mode & 0o777).toBe(0o600);
    expect(Object.keys(serversIn(at, FILES.cursor))).toEqual(['switchboard']);
    expect(at.read(FILES.cursor)).not.toContain('--config');
    expect(at.read(FILES.codex)).not.toContain('mcp_servers.echo');
    expect(existsSync(at.home.path('work/switchboard.config.json'))).toBe(false);
    for (const text of [
      OWN,
      'Moved behind Switchboard: echo, pages',
      'Reload Window',
      'switchboard eject cursor',
    ])
      expect(stdout).toContain(text);

    const again = await at.run(['init', '--yes', '--no-start']);
    expect(again.code, again.stderr).toBe(0);
    expect(again.stdout).not.toMatch(/Added|Moved|Wrote/);

    expect((await at.run(['eject'])).code).toBe(0);
    expect(at.files()).toEqual({ ...before, [OWN]: at.read(OWN) });
  });

  test('takes the key of the host that is preferred, and only what the flags name', async () => {
    const at = twoHosts();
    const cursor = at.read(FILES.cursor);
    const flags = ['--servers', 'echo', '--hosts', 'codex', '--prefer', 'codex', '--no-start', '--json'];
    const { code, json, stderr } = await at.run(['init', '--yes', ...flags]);
    expect(code, stderr).toBe(0);
    expect(serversIn(at, OWN)).toEqual({ echo: echo('codex-key') });
    expect(at.read(FILES.cursor)).toBe(cursor);
    expect(json).toMatchObject({
      configs: [{ level: 'user', changed: true, servers: [{ name: 'echo', state: 'new', host: 'codex' }] }],
      hosts: [{ host: 'codex', changed: true, moved: ['echo'], beside: [] }],
      started: null,
    });
    const wrong = await at.run(['init', '--yes', '--servers', 'ecko']);
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('echo');
  });

  test('takes the key of the host that is preferred also for a server that is configured already', async () => {
    const at = twoHosts();
    const flags = ['--servers', 'echo', '--beside', 'all', '--no-start', '--json'];
    await at.run(['init', '--yes', ...flags]);
    const again = await at.run(['init', '--yes', ...flags]);
    expect(again.json.configs[0].servers).toMatchObject([{ name: 'echo', state: 'same' }]);
    const { json } = await at.run(['init', '--yes', ...flags, '--prefer', 'codex']);
    expect(json.configs[0].servers).toMatchObject([{ name: 'echo', state: 'updated', host: 'codex' }]);
    expect(serversIn(at, OWN)).toEqual({ echo: echo('codex-key') });
    const stays = await at.run(['init', '--yes', ...flags]);
    expect(stays.json.configs[0].servers).toMatchObject([{ name: 'echo', state: 'differs' }]);
    expect(serversIn(at, OWN)).toEqual({ echo: echo('codex-key') });
  });

  test('counts what hosts load afterwards: what stays beside it, Switchboard, and all instructions', async () => {
    const at = twoHosts();
    const flags = ['--servers', 'echo', '--beside', 'codex', '--json'];
    const { code, json, stderr } = await at.run(['init', '--yes', ...flags]);
    expect(code, stderr).toBe(0);
    expect(stderr).toMatch(/✓ echo: 13 tools, \d+\.\d s\n/);
    const { hosts } = json.started;
    const [cursor, codex] = ['cursor', 'codex'].map((name) => hosts.find((each: Json) => each.host === name));
    expect(cursor).toMatchObject({ before: { tools: 19 }, after: { tools: 7 }, direct: ['pages'] });
    expect(codex).toMatchObject({ before: { tools: 13 }, after: { tools: 14 }, direct: ['echo'] });
    // What stays is loaded as before, and Switchboard on top of it, once for each host alike.
    const tokens = (load: Json): number => Number(load.tokens);
    const own = tokens(codex.after) - tokens(codex.before);
    const { json: listed } = await at.run(['--dry-run', '--json']);
    // As --dry-run counts it, but for rounding; the tool alone is less.
    expect(Math.abs(own - listed.tokens.listed)).toBeLessThan(3);
    expect(own).toBeGreaterThan(tokens({ tokens: listed.servers[0].tokens.listed }) + 10);
    expect(tokens(cursor.before)).toBe(tokens(cursor.after) - own + tokens(codex.before));
    expect(at.read(FILES.codex)).toContain('mcp_servers.echo');
    expect(at.read(FILES.codex)).toContain('mcp_servers.switchboard');
  });

  test('files of a team change only when they are named, and no secret goes into the project', async () => {
    const team = { mcpServers: { shop: { ...nodeServer('echo'), env: { SHOP_TOKEN: 'team-secret' } } } };
    const at = createHostHome({
      [FILES.cursor]: { mcpServers: { echo: echo('my-secret') } },
      'work/.cursor/mcp.json': team,
      'work/.mcp.json': team,
    });
    const [cursor, claude] = [at.read('work/.cursor/mcp.json'), at.read('work/.mcp.json')];
    const usual = await at.run(['init', '--yes', '--no-start']);
    expect(usual.code, usual.stderr).toBe(0);
    expect([at.read('work/.cursor/mcp.json'), at.read('work/.mcp.json')]).toEqual([cursor, claude]);
    expect(existsSync(at.home.path('work/switchboard.config.json'))).toBe(false);
    expect(usual.stdout).not.toContain(at.home.path('work'));

    const { code, stdout, stderr } = await at.run([
      'init',
      '--yes',
      '--hosts',
      '.cursor/mcp.json',
      '--no-start',
    ]);
    expect(code, stderr).toBe(0);
    const config = at.read('work/switchboard.config.json');
    expect(JSON.parse(config).mcpServers.shop.env).toEqual({ SHOP_TOKEN: '${SHOP_TOKEN}' });
    expect(config).not.toContain('secret');
    expect(stdout).toContain('SHOP_TOKEN');
    const { switchboard, ...rest } = serversIn(at, 'work/.cursor/mcp.json');
    expect(rest).toEqual({});
    // It works for everybody who has the project.
    expect(JSON.stringify(switchboard)).not.toContain(at.home.dir);
    expect(switchboard.command).toBe('npx');
    expect(at.read('work/.mcp.json')).toBe(claude);

    const other = twoHosts();
    const own = await other.run(['init', '--yes', '--project', '--hosts', 'cursor', '--no-start']);
    expect(own.code, own.stderr).toBe(0);
    // Other projects would miss it.
    expect(Object.keys(serversIn(other, FILES.cursor))).toEqual(['echo', 'pages', 'switchboard']);
    expect(serversIn(other, 'work/switchboard.config.json').echo.env).toEqual({ API_KEY: '${API_KEY}' });
    expect(existsSync(other.home.path(OWN))).toBe(false);
  });

  test('says so where the project leaves the own file out', async () => {
    const at = twoHosts();
    at.home.write('work/switchboard.config.json', { extends: false });
    const { code, stdout, stderr } = await at.run(['init', '--yes', '--no-start']);
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('"extends": false');
  });

  test('starts no server of a project that was not chosen', async () => {
    const at = createHostHome({
      [FILES.cursor]: { mcpServers: { echo: nodeServer('echo') } },
      'work/.cursor/mcp.json': {
        mcpServers: { stranger: { command: process.execPath, args: ['-e', 'fs.writeFileSync("ran", "")'] } },
      },
    });
    const { stdout, stderr } = await at.run(['init', '--yes']);
    expect(stdout, stderr).toContain('not started: stranger');
    expect(existsSync(at.home.path('work/ran'))).toBe(false);
  });

  test('a server of this project in Claude Code comes along, one of another project does not', async () => {
    const at = createHostHome();
    const server = (name: string): object => ({ [name]: { type: 'stdio', ...nodeServer('echo') } });
    at.home.write(FILES['claude-code'], {
      projects: { [at.project]: { mcpServers: server('here') }, '/other': { mcpServers: server('there') } },
    });
    const { code, stdout, stderr } = await at.run(['init', '--yes', '--no-start']);
    expect(code, stderr).toBe(0);
    expect(serversIn(at, OWN)).toEqual({ here: { ...nodeServer('echo'), cwd: at.project } });
    const { mcpServers, projects } = JSON.parse(at.read(FILES['claude-code']));
    expect(Object.keys(mcpServers)).toEqual(['switchboard']);
    expect(projects).toMatchObject({
      [at.project]: { mcpServers: {} },
      '/other': { mcpServers: server('there') },
    });
    expect(stdout).toContain('Moved behind Switchboard: here.');
    const none = await at.run(['init', '--yes', '--servers', 'none', '--hosts', 'none', '--no-start']);
    expect(none.code, none.stderr).toBe(0);
  });

  test('offers the services of a switchyard.toml as well', async () => {
    const at = createHostHome({ 'work/switchyard.toml': '[services.web]\ncommand = "node web.js"\n' });
    const { code, stderr } = await at.run(['init', '--yes', '--no-start']);
    expect(code, stderr).toBe(0);
    expect(serversIn(at, 'work/switchboard.config.json')).toEqual({ yard: { builtin: 'switchyard' } });
  });
});

test('without a terminal, and where there is nothing, it changes nothing and says what to do', async () => {
  const at = twoHosts();
  const before = at.files();
  const refused = await at.run(['init']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('--yes');
  const looked = await at.run(['init', '--dry-run']);
  expect(looked.code, looked.stderr).toBe(0);
  expect(looked.stdout).toContain('move behind Switchboard: echo, pages');
  expect(looked.stdout).not.toContain('cursor-key');
  expect(at.files()).toEqual(before);

  const team = createHostHome({ 'work/.mcp.json': { mcpServers: { shop: nodeServer('echo') } } });
  expect((await team.run(['init', '--yes'])).stdout).toContain('switchboard init --hosts .mcp.json\n');
  expect(Object.keys(team.files())).toEqual(['work/.mcp.json']);

  const bare = createHostHome({ [FILES.cursor]: { mcpServers: {} } });
  const nothing = await bare.run(['init', '--yes']);
  expect(nothing.code).toBe(0);
  expect(nothing.stdout).toContain('switchboard add memory');
  expect(Object.keys(bare.files())).toEqual([FILES.cursor, 'work/.keep']);
});

describe.skipIf(!CAN_PRESS)('in a terminal', () => {
  const [ENTER, SPACE, DOWN, CTRL_C] = ['\r', ' ', '\u001b[B', '\u0003'];
  const QUESTIONS = [
    'Which hosts should use Switchboard?',
    'Which servers should Switchboard run?',
    'echo differs between hosts',
    'Move these servers',
    'Where should',
    'Start your servers',
    'Do this?',
  ];

  test('servers and hosts are chosen in lists; nothing is started without a yes', async () => {
    const at = twoHosts();
    const started = { command: process.execPath, args: ['-e', 'fs.writeFileSync("../ran", "")'] };
    at.home.write(FILES.cursor, {
      mcpServers: { echo: echo('cursor-key'), started, pages: nodeServer('pages') },
    });
    const [hosts, servers, which, move, secrets, start, confirm] = QUESTIONS as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const { code, stdout } = await at.press(
      ['init'],
      [
        [hosts, ENTER],
        // Not the last one.
        [servers, DOWN + DOWN + SPACE + ENTER],
        // The key of Codex.
        [which, DOWN + ENTER],
        // Codex keeps its own.
        [move, DOWN + SPACE + ENTER],
        // As they are now.
        [secrets, DOWN + ENTER],
        [start, 'n'],
        [confirm, ENTER],
      ],
    );
    expect(code, stdout).toBe(0);
    expect(stdout).toContain('stay in place: pages');
    expect(serversIn(at, OWN)).toEqual({ echo: echo('codex-key'), started });
    expect(Object.keys(serversIn(at, FILES.cursor))).toEqual(['pages', 'switchboard']);
    expect(at.read(FILES.codex)).toContain('mcp_servers.echo');
    expect(existsSync(at.home.path('ran'))).toBe(false);
  });

  test('shows which server is waited for, and for how long', async () => {
    const at = createHostHome({
      [FILES.cursor]: { mcpServers: { slow: nodeServer('slow', '--start-ms=2200') } },
    });
    const { code, stdout } = await at.press(['init', '--yes'], []);
    expect(code, stdout).toBe(0);
    expect(stdout).toMatch(/0 of 1 done, waiting for slow (?!0\.)[\d.]+ s/);
    expect(stdout).toMatch(/✓ slow: \d+ tools?, [\d.]+ s/);
  });

  test.each(QUESTIONS.map((question, at) => [question, at] as const))(
    'Ctrl-C at "%s" changes nothing',
    async (question, index) => {
      const at = twoHosts();
      const before = at.files();
      const steps = QUESTIONS.slice(0, index).map((each) => [each, ENTER] as const);
      const { code, stdout } = await at.press(['init'], [...steps, [question, CTRL_C]]);
      expect(code, stdout).toBe(130);
      expect(stdout).toContain('Nothing was changed.');
      expect(at.files()).toEqual(before);
      expect(existsSync(at.home.path('.state/takeover'))).toBe(false);
    },
  );
});
