import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { userConfigDirectory } from '../shared/paths.ts';
import { describeWarning, loadConfig, type LoadedConfig } from './index.ts';

const made: string[] = [];
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** A directory with these files; what is no text is written as JSON. */
function project(files: Record<string, unknown> = {}): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'load-config-')));
  made.push(directory);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

function load(directory: string, env: Record<string, string> = {}): Promise<LoadedConfig> {
  return loadConfig({ cwd: directory, env });
}

async function failure(promise: Promise<unknown>): Promise<SwitchboardError> {
  const error: unknown = await promise.then(
    () => new Error('it did not fail'),
    (reason: unknown) => reason,
  );
  if (error instanceof SwitchboardError) return error;
  throw error;
}

async function failureOf(config: unknown): Promise<SwitchboardError> {
  return failure(load(project({ 'switchboard.config.json': config })));
}

function names(loaded: LoadedConfig): string[] {
  return loaded.servers.map((server) => server.name);
}

function said(loaded: LoadedConfig, level?: 'warn' | 'info'): string {
  return loaded.warnings
    .filter((warning) => level === undefined || warning.level === level)
    .map(describeWarning)
    .join('\n');
}

const echo = { command: 'echo' };

describe('settings', () => {
  test('without a file the defaults hold (A-18, A-19, A-56)', async () => {
    const directory = project();
    const loaded = await load(directory);
    expect(loaded).toEqual({
      file: undefined,
      files: [],
      directory,
      search: { cwd: directory, userDirectory: userConfigDirectory() },
      suiteFiles: new Map(),
      settings: {
        discoverGlobs: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'],
        exposure: 'suite',
        naming: 'prefixed',
        offer: ['tools', 'resources', 'prompts'],
        instructions: { maxChars: 2000 },
        isolation: 'session',
        http: {
          allowedHosts: [],
          allowedOrigins: [],
          maxSessions: 1000,
          sessionIdleMs: 1_800_000,
          maxProcesses: 256,
        },
        management: { enabled: false, approval: 'ask', persist: false },
        suites: {},
        timeouts: {
          childSpawnMs: 60_000,
          rpcMs: 60000,
          idleMs: 600_000,
          drainMs: 3000,
          callMaxMs: 3_600_000,
          firstListMs: 10_000,
        },
        flatIdleMs: 'never',
        remoteStartMs: 8000,
        introspection: { mode: 'summary', summaryMaxChars: 160 },
        inheritEnv: true,
        logLevel: 'info',
        logArguments: false,
        limits: { messageBytes: 16_777_216, callsInFlight: 64, callsQueued: 4096 },
      },
      logDirectory: undefined,
      writtenHttpToken: undefined,
      servers: [],
      disabled: [],
      unusable: [],
      order: [],
      compounds: [],
      warnings: [],
    });
  });

  test('a file is merged over the defaults (A-20)', async () => {
    const directory = project({
      'switchboard.config.json': {
        $schema: './schema.json',
        discoverGlobs: ['tools/*.json'],
        timeouts: { rpcMs: 5, idleMs: 'never' },
        introspection: { mode: 'redacted' },
        inheritEnv: ['A'],
        logLevel: 'silent',
        logDirectory: './logs',
        logArguments: true,
        exposure: 'flat',
        naming: 'plain',
        offer: ['prompts', 'tools'],
        instructions: { maxChars: 0 },
        isolation: 'shared',
        http: { token: '${TOKEN}', allowedHosts: ['gateway.test'], maxSessions: 5 },
        management: true,
        limits: { callsInFlight: 1 },
      },
    });
    const { settings, file, logDirectory } = await load(directory);
    expect(logDirectory).toBe(join(directory, 'logs'));
    expect(file).toBe(join(directory, 'switchboard.config.json'));
    expect(settings).toEqual({
      discoverGlobs: ['tools/*.json'],
      exposure: 'flat',
      naming: 'plain',
      offer: ['prompts', 'tools'],
      instructions: { maxChars: 0 },
      isolation: 'shared',
      http: {
        allowedHosts: ['gateway.test'],
        allowedOrigins: [],
        maxSessions: 5,
        sessionIdleMs: 1_800_000,
        maxProcesses: 256,
      },
      management: { enabled: true, approval: 'ask', persist: false },
      suites: {},
      timeouts: {
        childSpawnMs: 60_000,
        rpcMs: 5,
        idleMs: 'never',
        drainMs: 3000,
        callMaxMs: 3_600_000,
        firstListMs: 10_000,
      },
      flatIdleMs: 'never',
      remoteStartMs: 8000,
      introspection: { mode: 'redacted', summaryMaxChars: 160 },
      inheritEnv: ['A'],
      logLevel: 'silent',
      logArguments: true,
      limits: { messageBytes: 16_777_216, callsInFlight: 1, callsQueued: 4096 },
    });
  });

  test.each([
    [{ timeout: {} }, 'timeout: is not a known key and is ignored. Did you mean "timeouts"?'],
    [{ timeouts: { rpcMS: 5 } }, 'timeouts.rpcMS: is not a known key and is ignored. Did you mean "rpcMs"?'],
    [
      { suites: { pw: { sweetName: 'x' } } },
      'suites.pw.sweetName: is not a known key and is ignored. Did you',
    ],
    [
      { suites: { pw: { expose: { alow: [] } } } },
      'suites.pw.expose.alow: is not a known key and is ignored. Did you mean "allow"?',
    ],
    [{ http: { tokens: 'x' } }, 'http.tokens: is not a known key and is ignored. Did you mean "token"?'],
    [{ http: { xyz: 'x' } }, 'http.xyz: is not a known key and is ignored. Known here: token, allowedHosts,'],
    [
      { tools: { t: { description: '', subtools: { a: { tools: [{ name: 'x', desc: '' }] } } } } },
      'tools.t.subtools.a.tools[0].desc: is not a known key and is ignored. Did you mean "description"?',
    ],
    [{ ['__proto__x']: {} }, '__proto__x: is not a known key and is ignored.'],
  ])('%j is a warning with a suggestion; the servers work', async (config, expected) => {
    const loaded = await load(project({ 'switchboard.config.json': { mcpServers: { a: echo }, ...config } }));
    expect(said(loaded, 'warn')).toContain(`switchboard.config.json: ${expected}`);
    expect(names(loaded)).toEqual(['a']);
  });

  test.each([
    [
      { introspection: { mode: 'sumary' } },
      'introspection.mode: must be one of "summary", "full", "redacted". Did you mean "summary"?',
    ],
    [
      { introspection: { summaryMaxChars: 0 } },
      'introspection.summaryMaxChars: must be a whole number of characters from 1',
    ],
    [
      { timeouts: { rpcMs: 0 } },
      'timeouts.rpcMs: must be a whole number of milliseconds from 1 to 2147483647; 0 does not mean unlimited',
    ],
    [
      { timeouts: { idleMs: 0 } },
      'timeouts.idleMs: must be a whole number of milliseconds from 1 to 2147483647; 0 does not mean unlimited; write "never"',
    ],
    [
      { timeouts: { idleMs: 'always' } },
      'timeouts.idleMs: must be a whole number of milliseconds from 1 to 2147483647, or "never"',
    ],
    [{ timeouts: { rpcMs: '5' } }, 'timeouts.rpcMs: must be a whole number of milliseconds'],
    [{ timeouts: { rpcMs: 3e9 } }, 'timeouts.rpcMs: must be a whole number of milliseconds'],
    [{ timeouts: [] }, 'timeouts: must be an object, not a list'],
    [{ discoverGlobs: 'x' }, 'discoverGlobs: must be a list of patterns'],
    [{ discoverGlobs: ['a', 5] }, 'discoverGlobs[1]: must be a text that is not empty'],
    [
      { suites: { 'my server': { suiteName: 'a b' } } },
      'suites["my server"].suiteName: must be 1 to 64 of the characters A-Z',
    ],
    [{ inheritEnv: 'PATH' }, 'inheritEnv: must be true, false or a list of variable names'],
    [{ inheritEnv: [true] }, 'inheritEnv[0]: must be a text that is not empty'],
    [{ logLevel: 'verbose' }, 'logLevel: must be one of "debug", "info", "warn", "error", "silent"'],
    [{ limits: { callsInFlight: 0 } }, 'limits.callsInFlight: must be a whole number from 1'],
    [{ mcpServers: [] }, 'mcpServers: must be an object of server names and servers, not a list'],
    [{ exposure: 'Suite' }, 'exposure: must be one of "suite", "flat", "hidden". Did you mean "suite"?'],
    [{ naming: 5 }, 'naming: must be one of "prefixed", "plain"'],
    [{ offer: 'tools' }, 'offer: must be a list of "tools", "resources", "prompts"'],
    [{ offer: ['tool'] }, 'offer[0]: must be one of "tools", "resources", "prompts". Did you mean "tools"?'],
    [{ offer: [] }, 'offer: must name at least one of "tools", "resources", "prompts"'],
    [{ offer: ['tools', 'tools'] }, 'offer[1]: is in the list already'],
    [{ suites: { a: { offer: [] } } }, 'suites.a.offer: must name at least one of'],
    [
      { instructions: { maxChars: -1 } },
      'instructions.maxChars: must be a whole number of characters from 0 to 100000',
    ],
    [{ management: 'ask' }, 'management: must be true, false or {"enabled", "approval", "persist"}'],
    [
      { management: { approval: 'aks' } },
      'management.approval: must be one of "ask", "auto". Did you mean "ask"?',
    ],
    [{ http: { maxSessions: 0 } }, 'http.maxSessions: must be a whole number from 1 to 100000'],
    [{ http: { allowedOrigins: ['a.test'] } }, 'http.allowedOrigins[0]: must be an origin such as'],
    [{ http: { allowedHosts: ['https://a.test'] } }, 'http.allowedHosts[0]: must be a host such as'],
    [{ isolation: true }, 'isolation: must be one of "session", "shared", not a boolean'],
    [{ management: { persist: 1 } }, 'management.persist: must be true or false'],
    [{ logDirectory: '' }, 'logDirectory: must be a text that is not empty'],
    [{ logArguments: 'yes' }, 'logArguments: must be true or false'],
    [{ tools: [] }, 'tools: must be an object of tool names and tools, not a list'],
    [
      { tools: { 'a b': { description: '', subtools: { a: { tools: [{ name: 'x' }] } } } } },
      'tools["a b"]: the name of a tool is 1 to 64 of the characters A-Z a-z 0-9 _ -',
    ],
    [{ tools: { t: { subtools: {} } } }, 'tools.t.description: is missing: say what the tool is for'],
    [
      { tools: { t: { description: '' } } },
      'tools.t.subtools: is missing: add the tools, for example "subtools": {"server":',
    ],
    [{ tools: { t: { description: '', subtools: {} } } }, 'tools.t.subtools: must name at least one server'],
    [
      { tools: { t: { description: '', subtools: { a: { tools: [] } } } } },
      'tools.t.subtools.a.tools: must name at least one tool',
    ],
    [
      { tools: { t: { description: '', subtools: { a: { tools: ['x'] } } } } },
      'tools.t.subtools.a.tools[0]: must be an object',
    ],
    [
      { tools: { t: { description: '', subtools: { a: { tools: [{ description: '' }] } } } } },
      'tools.t.subtools.a.tools[0].name: is missing: add the name the server gives the tool',
    ],
    [
      '{"tools": {"__proto__": {"description": 5, "subtools": {}}}}',
      'tools.__proto__.description: must be a text',
    ],
    ['[]', 'must be an object, not a list'],
    ['null', 'must be an object, not null'],
  ])('%j is refused, naming file, key and what is allowed (A-20, A-56)', async (config, expected) => {
    const error = await failureOf(config);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toMatch(/^\/.*\/switchboard\.config\.json: /);
    expect(error.message).toContain(`switchboard.config.json: ${expected}`);
  });

  test('the log directory may refer to the environment; what cannot be filled in costs the log file only', async () => {
    const directory = project({ 'switchboard.config.json': { logDirectory: '${LOGS}/mcp' } });
    expect((await load(directory, { LOGS: '/var/log' })).logDirectory).toBe('/var/log/mcp');
    const loaded = await load(directory);
    expect(loaded.logDirectory).toBeUndefined();
    const optional = project({ 'switchboard.config.json': { logDirectory: '${LOGS:-}' } });
    expect(await load(optional)).toMatchObject({ logDirectory: undefined, warnings: [] });
    expect(said(loaded, 'warn')).toContain(
      'switchboard.config.json: logDirectory: the environment variable LOGS is not set; no log file is written',
    );
  });

  test('every problem is listed, one per line, bad servers included', async () => {
    const error = await failureOf({
      a: 1,
      offer: [],
      timeouts: { b: 2, rpcMs: 0 },
      mcpServers: { x: { comand: 'y', offer: [] } },
    });
    const keys = error.message.split('\n').map((line) => line.split(': ')[1]);
    expect(keys.sort()).toEqual(['mcpServers.x', 'mcpServers.x.offer', 'offer', 'timeouts.rpcMs']);
  });
});

describe('files', () => {
  test('comments, trailing commas and a byte-order mark are fine', async () => {
    const directory = project({ 'switchboard.config.json': '\ufeff{\n  // why\n  "logLevel": "debug",\n}' });
    expect((await load(directory)).settings.logLevel).toBe('debug');
    expect(
      (await load(project({ 'switchboard.config.jsonc': '{"logLevel": "warn"} // x' }))).settings.logLevel,
    ).toBe('warn');
  });

  test('a slip in JSON is reported with line and column, and without values', async () => {
    const error = await failureOf('{\n  "mcpServers": {\n    "a": {"env": {"T": "s3cret" "U": 1}}\n  }\n}');
    expect(error.code).toBe('CONFIG_UNREADABLE');
    expect(error.message).toMatch(
      /switchboard\.config\.json:3:33: expected "," or "}" after the value, in: "a": /,
    );
    expect(error.message).not.toContain('s3cret');
  });

  test('a file in UTF-16 is refused with the way out', async () => {
    const directory = project();
    writeFileSync(join(directory, 'switchboard.config.json'), Buffer.from('\ufeff{}', 'utf16le'));
    expect((await failure(load(directory))).explained).toContain('Save it as UTF-8.');
  });

  test.each([
    ['switchboard.config.mjs', 'export default { logLevel: "debug" };'],
    ['switchboard.config.cjs', 'module.exports = { logLevel: "debug" };'],
    ['switchboard.config.cjs', 'exports.__esModule = true; exports.default = { logLevel: "debug" };'],
    ['switchboard.config.js', 'module.exports = { logLevel: "debug", limits: undefined };'],
    ['switchboard.config.mjs', 'export default () => ({ logLevel: "debug" });'],
    ['switchboard.config.mjs', 'export default async () => ({ logLevel: "debug" });'],
    ['switchboard.config.cjs', 'module.exports = async () => ({ logLevel: "debug" });'],
  ])('%s may say %s', async (name, text) => {
    expect((await load(project({ [name]: text }))).settings.logLevel).toBe('debug');
  });

  test.each([
    ['throw new Error("broken on purpose");', 'CONFIG_UNREADABLE', 'broken on purpose'],
    [
      'export default () => { throw new Error("broken on purpose"); };',
      'CONFIG_UNREADABLE',
      'broken on purpose',
    ],
    ['export const other = 1;', 'CONFIG_UNREADABLE', 'it exports nothing as default'],
    ['const a = {}; a.a = a; export default a;', 'CONFIG_UNREADABLE', 'the configuration contains itself'],
    [
      'export default { suites: { a: { tools: { t: { presets: { x: [{ y: () => 1 }] } } } } } };',
      'CONFIG_INVALID',
      'suites.a.tools.t.presets.x[0].y: must be a value that can be written in JSON',
    ],
    ['export default { logLevel: () => 1 };', 'CONFIG_INVALID', 'logLevel: must be one of'],
    [
      'export default { timeouts: { rpcMs: 1n } };',
      'CONFIG_INVALID',
      'timeouts.rpcMs: must be a whole number',
    ],
  ])('a module that says %s is refused, naming file and cause', async (text, code, expected) => {
    const directory = project({ 'switchboard.config.mjs': text });
    const error = await failure(load(directory));
    expect(error.code).toBe(code);
    expect(error.message).toContain(join(directory, 'switchboard.config.mjs'));
    expect(error.message).toContain(expected);
  });

  test('references are filled in for modules too', async () => {
    const directory = project({
      'switchboard.config.mjs': 'export default { mcpServers: { a: { command: "${CMD}" } } };',
    });
    expect((await load(directory, { CMD: 'run' })).servers[0]).toMatchObject({ command: 'run' });
  });

  test('of several files the first is used, with a warning about the others', async () => {
    const directory = project({
      'switchboard.config.json': { logLevel: 'error' },
      'switchboard.config.mjs': 'export default {}',
    });
    const loaded = await load(directory);
    expect(loaded.settings.logLevel).toBe('error');
    expect(said(loaded)).toContain('switchboard.config.mjs: is not used');
  });

  test('a file asked for by name is used from anywhere, and relative paths follow it', async () => {
    const directory = project({ 'sub/my.json': { mcpServers: { a: { command: 'x', cwd: 'work' } } } });
    const loaded = await loadConfig({ cwd: directory, configPath: 'sub/my.json', env: {} });
    expect(loaded.directory).toBe(join(directory, 'sub'));
    expect(loaded.servers[0]).toMatchObject({ cwd: join(directory, 'sub/work') });
  });

  test('a file asked for by name that is not there is an error with a hint', async () => {
    const directory = project({ 'switchboard.config.json': {} });
    const asked = (configPath: string): Promise<SwitchboardError> =>
      failure(loadConfig({ cwd: directory, configPath, env: {} }));
    expect(await asked('switchbord.config.json')).toMatchObject({
      code: 'CONFIG_NOT_FOUND',
      hint: 'Did you mean "switchboard.config.json"?',
    });
    expect((await asked('no/such.json')).hint).toContain('does not exist');
    expect((await asked('.')).message).toContain('is a directory');
  });
});

describe('mcpServers', () => {
  test('an entry becomes a definition with everything filled in', async () => {
    const directory = project({
      'switchboard.config.json': {
        timeouts: { rpcMs: 7 },
        inheritEnv: false,
        mcpServers: {
          full: {
            type: 'stdio',
            command: '${BIN}/server',
            args: ['--root', '${env:ROOT}', '${PORT:-80}', '$${x}'],
            env: { TOKEN: '${SECRET}', PORT: 8080, ON: true },
            cwd: './${DIR}',
            description: 'Does things.',
            switchboardDescription: 'Use it.',
            framing: 'content-length',
            timeouts: { childSpawnMs: 1, idleMs: 'never' },
            inheritEnv: ['A'],
            suiteName: 'things',
            expose: { allow: ['a*'], deny: ['ab'] },
            summaryMaxChars: 10,
            exposure: 'hidden',
            offer: ['resources'],
            isolation: 'shared',
          },
          plain: echo,
        },
      },
    });
    const loaded = await load(directory, { BIN: '/bin', ROOT: '/r', SECRET: 's3cret', DIR: 'd' });
    const file = join(directory, 'switchboard.config.json');
    expect(loaded.warnings).toEqual([]);
    expect(loaded.servers).toEqual([
      {
        kind: 'stdio',
        name: 'full',
        description: 'Does things.',
        switchboardDescription: 'Use it.',
        origin: { file, key: 'mcpServers.full', scope: 'project' },
        command: '/bin/server',
        args: ['--root', '/r', '80', '${x}'],
        written: {
          command: expect.any(String),
          args: ['--root', '${env:ROOT}', '${PORT:-80}', '$${x}'],
          cwd: './${DIR}',
        },
        cwd: join(directory, 'd'),
        env: { TOKEN: 's3cret', PORT: '8080', ON: 'true' },
        inheritEnv: ['A'],
        framing: 'content-length',
        timeouts: { childSpawnMs: 1, rpcMs: 7, idleMs: 'never', drainMs: 3000, callMaxMs: 3_600_000 },
        exposure: 'hidden',
        isolation: 'shared',
        naming: 'prefixed',
        offer: ['resources'],
        tools: {
          allow: [
            { pattern: 'a*', literal: false, origin: { file, key: 'mcpServers.full.expose.allow[0]' } },
          ],
          deny: [{ pattern: 'ab', literal: false, origin: { file, key: 'mcpServers.full.expose.deny[0]' } }],
          shapes: new Map(),
        },
        suite: {
          name: 'things',
          description: 'Use it.',
          summaryMaxChars: 10,
          instructionsMaxChars: 2000,
          mode: 'summary',
        },
      },
      {
        kind: 'stdio',
        name: 'plain',
        origin: { file, key: 'mcpServers.plain', scope: 'project' },
        command: 'echo',
        args: [],
        written: { command: 'echo', args: [], cwd: directory },
        cwd: directory,
        env: {},
        inheritEnv: false,
        framing: 'auto',
        timeouts: { childSpawnMs: 60_000, rpcMs: 7, idleMs: 600_000, drainMs: 3000, callMaxMs: 3_600_000 },
        exposure: 'suite',
        isolation: 'session',
        naming: 'prefixed',
        offer: ['tools', 'resources', 'prompts'],
        tools: { allow: undefined, deny: [], shapes: new Map() },
        suite: { summaryMaxChars: 160, instructionsMaxChars: 2000, mode: 'summary' },
      },
    ]);
  });

  test('command may be an object as in a child file', async () => {
    const directory = project({
      'switchboard.config.json': {
        mcpServers: {
          a: { command: { cmd: 'node', args: ['x'], env: { A: '1', B: '1' } }, args: ['y'], env: { B: '2' } },
        },
      },
    });
    expect((await load(directory)).servers[0]).toMatchObject({
      command: 'node',
      args: ['x', 'y'],
      env: { A: '1', B: '2' },
    });
  });

  test.each([
    [{ comand: 'x' }, 'mcpServers.bad.comand: is not a known key and is ignored. Did you mean "command"?'],
    [{ comand: 'x' }, 'mcpServers.bad: needs "command" or "url": the program to start, for example'],
    [{ args: [] }, 'mcpServers.bad: needs "command" or "url": the program to start, for example'],
    [{ headers: {} }, 'mcpServers.bad: needs "command" or "url"'],
    [{ disabled: 'yes' }, 'mcpServers.bad.disabled: must be true or false; the server cannot be used'],
    [{ command: '' }, 'mcpServers.bad.command: must be the program to start'],
    [{ command: { args: [] } }, 'mcpServers.bad.command.cmd: is missing'],
    [{ command: [] }, 'mcpServers.bad.command: must be the program to start, for example "npx", or {"cmd"'],
    [{ command: 'x', args: 'y' }, 'mcpServers.bad.args: must be a list of texts'],
    [{ command: 'x', args: ['a', 1] }, 'mcpServers.bad.args[1]: must be a text'],
    [
      { command: 'x', env: { A: [] } },
      'mcpServers.bad.env.A: must be a text, a number, true or false, not a list',
    ],
    [{ command: 'x', env: { 'A=B': '' } }, 'mcpServers.bad.env["A=B"]: the name of an environment variable'],
    [
      { command: 'x', framing: 'lines' },
      'mcpServers.bad.framing: must be one of "auto", "newline", "content-length"',
    ],
    [
      { command: 'x', url: 'http://x' },
      'mcpServers.bad.command: does not go together with "url"; leave one of them out',
    ],
    [{ type: 'http' }, 'mcpServers.bad.url: is missing: add the address of the server'],
    [{ url: 'ftp://x' }, 'mcpServers.bad.url: must be an address that begins with http:// or https://'],
    [{ url: 'http://' }, 'mcpServers.bad.url: is not an address that can be used'],
    [
      { url: 'http://x', headers: { 'X Y': 's3cret' } },
      'mcpServers.bad.headers["X Y"]: the name of a header has only letters',
    ],
    [
      { url: 'http://x', headers: { A: 's3cret\r\nB: c' } },
      'mcpServers.bad.headers.A: holds a character that a header cannot carry; the server cannot be used',
    ],
    [
      { url: 'http://x', headers: { A: 'x', a: 'y' } },
      'mcpServers.bad.headers.a: is the same header as one before it',
    ],
    [{ url: 'http://x', headers: { A: 5 } }, 'mcpServers.bad.headers.A: must be a text'],
    [{ url: 'http://x', oauth: true }, 'mcpServers.bad.oauth: must be false or {"clientId"'],
    [{ url: 'http://x', isolation: 'none' }, 'mcpServers.bad.isolation: must be one of "session", "shared"'],
    [
      { url: 'x', type: 'htp' },
      'mcpServers.bad.type: must be one of "auto", "http", "sse", "streamable-http". Did you mean "http"?',
    ],
    [{ command: 'x', disabled: 'yes' }, 'mcpServers.bad.disabled: must be true or false'],
    [
      { command: 'x', exposure: 'flatt' },
      'mcpServers.bad.exposure: must be one of "suite", "flat", "hidden". Did you mean "flat"?',
    ],
    [
      { command: 'x', offer: ['prompts', 'tools', 'prompts'] },
      'mcpServers.bad.offer[2]: is in the list already',
    ],
    [
      { command: 'x', exposedTools: 'a' },
      'mcpServers.bad.exposedTools: must be a list of tool names, patterns and {"original", "exposed"}',
    ],
    [
      { command: 'x', exposedTools: [5] },
      'mcpServers.bad.exposedTools[0]: must be the name or pattern of a tool, or {"original", "exposed"}',
    ],
    [
      { command: 'x', exposedTools: ['a', { original: 'b' }] },
      'mcpServers.bad.exposedTools[1].exposed: is missing: add the name the tool is offered under',
    ],
    [
      { command: 'x', exposedTools: [{ orignal: 'b', exposed: 'c' }] },
      'mcpServers.bad.exposedTools[0].orignal: is not a known key and is ignored. Did you mean "original"?',
    ],
    [
      { command: 'x', exposedTools: [{ original: 'b', exposed: 'c d' }] },
      'mcpServers.bad.exposedTools[0].exposed: must be 1 to 64 of the characters A-Z a-z 0-9 _ -',
    ],
    [{ command: 'x', hiddenTools: [{}] }, 'mcpServers.bad.hiddenTools[0]: must be a text, not an object'],
    [{ command: 'x', tools: { a: { name: '' } } }, 'mcpServers.bad.tools.a.name: must be 1 to 64 of'],
    [
      { command: 'x', tools: { a: { presets: ['b'] } } },
      'mcpServers.bad.tools.a.presets: must be an object of argument names and values, not a list',
    ],
    [{ command: 'x', tools: { a: { redact: 'b' } } }, 'mcpServers.bad.tools.a.redact: must be a list of'],
    [
      { url: 'http://x', tools: { a: { redact: [''] } } },
      'mcpServers.bad.tools.a.redact[0]: must be a text that is not empty',
    ],
    ['text', 'mcpServers.bad: must be an object'],
  ])('a bad entry %j cannot be used, with a warning, the others stay', async (bad, expected) => {
    const loaded = await load(
      project({ 'switchboard.config.json': { mcpServers: { a: echo, bad, z: echo } } }),
    );
    expect(names(loaded)).toEqual(['a', 'z']);
    expect(said(loaded, 'warn')).toContain(`switchboard.config.json: ${expected}`);
    expect(said(loaded)).toMatch(/the server cannot be used/i);
    expect(said(loaded)).not.toMatch(/[.?!];/);
    expect(loaded.warnings.map(({ server }) => server)).toContain('bad');
    expect(said(loaded)).not.toContain('s3cret');
  });

  test.each([
    [{ command: 'x', arg: ['a'] }, 'arg: is not a known key and is ignored. Did you mean "args"?'],
    [
      { command: { cmd: 'x', arsg: [] } },
      'command.arsg: is not a known key and is ignored. Did you mean "args"?',
    ],
    [{ command: 'x', timeouts: { rpc: 1 } }, 'timeouts.rpc: is not a known key and is ignored. Did you mean'],
    [{ command: 'x', type: 'http' }, 'type: does not fit a server with a "command"'],
    [{ url: 'http://x', cwd: '.' }, 'cwd: has no effect on a server with "url" and is ignored'],
    [
      { command: 'x', headers: { A: 'b' } },
      'headers: has no effect on a server with "command" and is ignored',
    ],
    [
      { url: 'http://x', oauth: { clientid: 'x' } },
      'oauth.clientid: is not a known key and is ignored. Did you',
    ],
    [
      { command: 'x', hidenTools: ['a'] },
      'hidenTools: is not a known key and is ignored. Did you mean "tools" or',
    ],
    [
      { command: 'x', tools: { 'a b': { preset: {} } } },
      'tools["a b"].preset: is not a known key and is ignored.',
    ],
  ])('%j works without the key nobody knows, with a warning', async (entry, expected) => {
    const loaded = await load(project({ 'switchboard.config.json': { mcpServers: { a: entry } } }));
    expect(names(loaded)).toEqual(['a']);
    expect(said(loaded, 'warn')).toContain(`switchboard.config.json: mcpServers.a.${expected}`);
  });

  test('names that cannot be are skipped, names of object members are names like any other', async () => {
    const map = { ['x'.repeat(65)]: echo, 'a\u0007b': echo, constructor: echo, toString: echo, 'a b': echo };
    const text = JSON.stringify({ mcpServers: map }).replace('{"xxx', '{"__proto__":{"command":"p"},"xxx');
    const loaded = await load(project({ 'switchboard.config.json': text }));
    expect(names(loaded)).toEqual(['__proto__', 'constructor', 'toString', 'a b']);
    expect(loaded.servers[0]).toMatchObject({ command: 'p' });
    expect(loaded.servers[1]?.suite).toEqual({
      summaryMaxChars: 160,
      instructionsMaxChars: 2000,
      mode: 'summary',
    });
    expect(said(loaded)).toContain('a server name has 1 to 64 characters');
    expect(({} as { command?: string }).command).toBeUndefined();
  });

  test('an unset variable skips that server, naming file, key and variable, never a value', async () => {
    const directory = project({
      'switchboard.config.json': {
        mcpServers: {
          a: {
            command: 'x',
            env: { T: 'pre-${SECRET}-${MISSING}', U: '${input:id}' },
            args: ['${ALSO_MISSING}'],
          },
          b: { command: '${EMPTY}' },
          c: { command: 'x', env: { N: 'a\0b' } },
          z: echo,
        },
      },
    });
    const loaded = await load(directory, { SECRET: 's3cret', EMPTY: '' });
    expect(names(loaded)).toEqual(['z']);
    const text = said(loaded, 'warn');
    expect(text).toContain(
      'switchboard.config.json: mcpServers.a.env.T: the environment variable MISSING is not set; the server cannot be used',
    );
    expect(text).toContain('mcpServers.a.args[0]: the environment variable ALSO_MISSING is not set');
    expect(text).toContain('mcpServers.a.env.U: ${input:…} cannot be filled in here');
    expect(text).toContain('the command of "b" is empty');
    expect(text).toContain('mcpServers.c.env.N: holds a NUL character');
    expect(text).not.toMatch(/s3cret|pre-/);
  });

  test('disabled servers are left out, named, and their variables not asked for', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': { mcpServers: { a: { command: '${MISSING}', disabled: true }, b: echo } },
      }),
    );
    expect(names(loaded)).toEqual(['b']);
    expect(loaded.disabled).toEqual(['a']);
    expect(loaded.warnings).toEqual([]);
  });

  test('servers that run elsewhere stand beside those that are started', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': {
          mcpServers: {
            a: { type: 'sse', url: 'http://x' },
            b: { url: 'http://x', headers: { A: 's3cret' } },
            c: echo,
          },
        },
      }),
    );
    expect(loaded.servers.map(({ name, kind }) => [name, kind])).toEqual([
      ['a', 'remote'],
      ['b', 'remote'],
      ['c', 'stdio'],
    ]);
    expect(said(loaded)).toBe('');
  });
});

describe('suites', () => {
  test('settings by server name win over the entry', async () => {
    const suite = {
      suiteName: 'web',
      description: 'From config.',
      expose: { allow: ['b'] },
      summaryMaxChars: 5,
    };
    const directory = project({
      'switchboard.config.json': {
        introspection: { mode: 'full', summaryMaxChars: 99 },
        suites: { a: suite, b: { ...suite, suiteName: 'other' } },
        mcpServers: {
          a: {
            ...echo,
            suiteName: 'own',
            description: 'Mine.',
            expose: { allow: ['x'], deny: ['y'] },
            summaryMaxChars: 7,
          },
          b: { ...echo, switchboardDescription: 'From the server.' },
          c: { ...echo, description: 'Mine.' },
        },
      },
    });
    const { servers, warnings } = await load(directory);
    expect(warnings).toEqual([]);
    expect(servers[0]).toMatchObject({
      description: 'Mine.',
      suite: {
        name: 'web',
        description: 'From config.',
        summaryMaxChars: 5,
        mode: 'full',
      },
      tools: {
        allow: [{ pattern: 'b', origin: { key: 'suites.a.expose.allow[0]' } }],
        deny: [{ pattern: 'y', origin: { key: 'mcpServers.a.expose.deny[0]' } }],
      },
    });
    expect(servers[1]?.suite.description).toBe('From config.');
    expect(servers[2]?.suite).toEqual({ summaryMaxChars: 99, instructionsMaxChars: 2000, mode: 'full' });
  });

  test('settings for a server nobody defines are pointed out', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': { suites: { playwrigth: {} }, mcpServers: { playwright: echo } },
      }),
    );
    expect(said(loaded)).toContain(
      'suites.playwrigth: there is no server of this name. Did you mean "playwright"?',
    );
  });
});

describe('discovery', () => {
  test('without files there are no servers, with files they are known by name (A-25, A-57)', async () => {
    expect((await load(project())).servers).toEqual([]);
    const directory = project({
      'mcps/two/.mcp.json': { name: 'b', command: { cmd: 'x' } },
      'mcps/one/.mcp.json': { name: 'a', command: { cmd: 'x' } },
    });
    expect(names(await load(directory))).toEqual(['a', 'b']);
  });

  test('the example of the build plan, word for word; cwd is the directory of the file (A-27)', async () => {
    const directory = project({
      'mcps/playwright/.mcp.json': `{
  "name": "playwright",
  "description": "Browser automation for testing.",
  "command": { "cmd": "node", "args": ["dist/index.js"] }
}`,
    });
    const { servers, warnings } = await load(directory);
    expect(warnings).toEqual([]);
    expect(servers).toMatchObject([
      {
        name: 'playwright',
        description: 'Browser automation for testing.',
        origin: { file: join(directory, 'mcps/playwright/.mcp.json'), key: '' },
        command: 'node',
        args: ['dist/index.js'],
        cwd: join(directory, 'mcps/playwright'),
        env: {},
      },
    ]);
  });

  test('the example of the architecture document, word for word (A-84)', async () => {
    const directory = project({
      '.switchboard/mcps/context7/.mcp.json': `{
  "name": "context7",
  "description": "Context7 Documentation MCP",
  "switchboardDescription": "Smart context management and retrieval for enhanced LLM interactions",
  "command": {
    "cmd": "npx",
    "args": ["-y", "@upstash/context7-mcp"],
    "env": {
      "DEFAULT_MINIMUM_TOKENS": "6000"
    }
  }
}`,
      // The wrapper keeps the server it wraps here; it must not be found a second time.
      '.switchboard/mcps/context7/original/.mcp.json': { name: 'original', command: 'x' },
      '.switchboard/mcps/original/.mcp.json': { name: 'original', command: 'x' },
    });
    const { servers, warnings } = await load(directory);
    expect(warnings).toEqual([]);
    expect(servers).toMatchObject([
      {
        name: 'context7',
        description: 'Context7 Documentation MCP',
        switchboardDescription: 'Smart context management and retrieval for enhanced LLM interactions',
        command: 'npx',
        args: ['-y', '@upstash/context7-mcp'],
        cwd: join(directory, '.switchboard/mcps/context7'),
        env: { DEFAULT_MINIMUM_TOKENS: '6000' },
      },
    ]);
  });

  test('a child file may use the flat form, keys we do not know, and references', async () => {
    const directory = project({
      'mcps/a/.mcp.json': {
        name: 'a',
        command: 'x',
        args: ['${V}'],
        env: { P: 1 },
        version: '1',
        cwd: '/',
        timeout: 5,
        language: 'python',
      },
    });
    const { servers, warnings } = await load(directory, { V: 'v' });
    expect(warnings).toEqual([]);
    expect(servers[0]).toMatchObject({
      command: 'x',
      args: ['v'],
      env: { P: '1' },
      cwd: join(directory, 'mcps/a'),
    });
  });

  test('invalid child files are skipped with a warning that names the file (A-26)', async () => {
    const directory = project({
      'mcps/a/.mcp.json': '{"name": "a", ',
      'mcps/b/.mcp.json': { description: 'no name' },
      'mcps/c/.mcp.json': { name: 'c' },
      'mcps/d/.mcp.json': { name: 'd', command: { args: [] } },
      'mcps/e/.mcp.json': { name: 5, command: 'x' },
      'mcps/f/.mcp.json': { name: 'f', url: 'http://x' },
      'mcps/g/.mcp.json': '[]',
      'mcps/h/.mcp.json': '',
      'mcps/z/.mcp.json': { name: 'z', command: 'x' },
    });
    const loaded = await load(directory);
    expect(names(loaded)).toEqual(['f', 'z']);
    const text = said(loaded, 'warn');
    expect(text).toContain(
      'mcps/a/.mcp.json:1:1: this "{" is never closed, in: {"name": "…",; the file is skipped',
    );
    expect(text).toContain('mcps/b/.mcp.json: has neither "name" nor "mcpServers" and is skipped');
    expect(text).toContain('mcps/c/.mcp.json: command: says nothing about how to start it; add');
    expect(text).toContain('mcps/d/.mcp.json: command.cmd: is missing');
    expect(text).toContain('mcps/e/.mcp.json: name: must be a text;');
    expect(text).not.toContain('mcps/f/.mcp.json');
    expect(text).toContain('mcps/g/.mcp.json: has neither');
    expect(text).toContain('mcps/h/.mcp.json:1:1: the file is empty');
  });

  test('a found file with a map contributes all its entries, from its own directory', async () => {
    const directory = project({
      'mcps/many/.mcp.json': {
        mcpServers: { a: echo, b: { command: 'x', cwd: 'in' }, c: { type: 'local', command: 'x' } },
      },
    });
    const { servers } = await load(directory);
    expect(servers).toMatchObject([
      { name: 'a', cwd: join(directory, 'mcps/many') },
      { name: 'b', cwd: join(directory, 'mcps/many/in') },
      { name: 'c', cwd: join(directory, 'mcps/many') },
    ]);
  });

  test('the root .mcp.json is read; keys of other hosts do not kill an entry', async () => {
    const directory = project({
      '.mcp.json': {
        mcpServers: {
          a: { command: 'x', alwaysAllow: [], timeout: 5, disabledTools: ['y'], comand: 1 },
          b: { command: 5 },
          c: { type: 'http', url: 'http://x' },
          d: { httpUrl: 'http://x', trust: true, env: {}, disabledTools: ['y'] },
          w: { type: 'ws', url: 'wss://x' },
          e: null,
          off: { command: 'x', disabled: true },
        },
      },
    });
    const loaded = await load(directory);
    expect(names(loaded)).toEqual(['a', 'c', 'd']);
    expect(loaded.disabled).toEqual(['off']);
    expect(loaded.unusable.map(({ name }) => name)).toEqual(['b', 'w', 'e']);
    expect(loaded.servers[0]).toMatchObject({
      timeouts: { rpcMs: 5000 },
      tools: { deny: [{ pattern: 'y' }] },
    });
    expect(said(loaded, 'info')).toContain(
      'mcpServers.a.alwaysAllow: is a setting of another host and has no effect here',
    );
    expect(said(loaded, 'info')).toContain('mcpServers.a.disabledTools: is read as "hiddenTools"');
    expect(said(loaded, 'warn')).toContain(
      'mcpServers.a.comand: is not a known key and is ignored. Did you mean "command"?',
    );
    expect(said(loaded, 'warn')).toContain('.mcp.json: mcpServers.b.command: must be the program to start');
    expect(said(loaded)).not.toContain('mcpServers.c');
    expect(said(loaded, 'info')).toContain('mcpServers.d.trust: is a setting of another host');
    expect(said(loaded, 'info')).toContain('mcpServers.d.env: has no effect on a server with "url"');
    expect(said(loaded, 'warn')).toContain(
      'mcpServers.w.type: servers reached by WebSocket are not supported; the server cannot be used',
    );
    expect(said(loaded, 'warn')).toContain(
      'mcpServers.e: must be an object, not null; the server cannot be used',
    );
  });

  test('a root .mcp.json without a map, or broken, stops nothing', async () => {
    expect(said(await load(project({ '.mcp.json': { name: 'x' } })), 'info')).toContain(
      'has no "mcpServers"',
    );
    expect(said(await load(project({ '.mcp.json': '{' })), 'warn')).toContain('the file is skipped');
    expect(said(await load(project({ '.mcp.json': { mcpServers: [] } })), 'warn')).toContain(
      'must be an object',
    );
  });

  test('an entry that starts Switchboard itself is left out with a note', async () => {
    const loaded = await load(
      project({
        '.mcp.json': {
          mcpServers: { switchboard: { command: 'npx', args: ['-y', 'mcp-switchboard'] }, a: echo },
        },
      }),
    );
    expect(names(loaded)).toEqual(['a']);
    expect(said(loaded, 'info')).toContain('mcpServers.switchboard: "switchboard" starts Switchboard itself');
    expect(said(loaded, 'warn')).toBe('');
  });

  test('of several definitions of a name the first wins: config, then patterns in order, then the root file', async () => {
    const child = (command: string): unknown => ({ name: 'x', command });
    const files = {
      'switchboard.config.json': { mcpServers: { x: { command: 'config' } } },
      '.switchboard/mcps/x/.mcp.json': child('first pattern'),
      'mcps/x/.mcp.json': child('second pattern'),
      '.mcp.json': { mcpServers: { x: { command: 'root' }, only: echo } },
    };
    const all = await load(project(files));
    expect(all.servers).toMatchObject([{ command: 'config' }, { command: 'echo' }]);
    expect(said(all, 'warn').split('\n')).toHaveLength(3);
    expect(said(all)).toContain('.mcp.json: mcpServers.x: "x" is already defined in');
    expect(said(all)).toContain('switchboard.config.json (mcpServers.x); this one is ignored');
    const without = (...names: string[]): string =>
      project(Object.fromEntries(Object.entries(files).filter(([name]) => !names.includes(name))));
    const second = await load(without('switchboard.config.json'));
    expect(second.servers[0]).toMatchObject({ command: 'first pattern' });
    const third = await load(without('switchboard.config.json', '.switchboard/mcps/x/.mcp.json'));
    expect(third.servers[0]).toMatchObject({ command: 'second pattern' });
  });

  test('a server of the root file can be turned off at home', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': { mcpServers: { x: { command: 'x', disabled: true } } },
        '.mcp.json': { mcpServers: { x: echo } },
      }),
    );
    expect(loaded.servers).toEqual([]);
    expect(said(loaded, 'warn')).toBe('');
  });

  test('a root file that a pattern finds too is read once', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': { discoverGlobs: ['.mcp.json'] },
        '.mcp.json': { mcpServers: { a: echo } },
      }),
    );
    expect(names(loaded)).toEqual(['a']);
    expect(loaded.warnings).toEqual([]);
  });

  test('two hundred children are all found, in order', async () => {
    const numbers = Array.from({ length: 200 }, (_, index) => String(index).padStart(3, '0'));
    const directory = project(
      Object.fromEntries(
        numbers.map((n) => [`mcps/c${n}/.mcp.json`, { name: `c${n}`, command: { cmd: 'node' } }]),
      ),
    );
    const loaded = await load(directory);
    expect(names(loaded)).toEqual(numbers.map((n) => `c${n}`));
    expect(loaded.warnings).toEqual([]);
  });
});
