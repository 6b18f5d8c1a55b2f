import { writeFileSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SwitchboardError } from '../shared/errors.ts';
import { userConfigDirectory } from '../shared/paths.ts';
import { loadConfig } from './index.ts';
import { echo, load, names, project, warningText } from './load.cases.ts';

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

describe('settings', () => {
  test('without a file the defaults hold (A-18, A-19, A-56)', async () => {
    const directory = project();
    const loaded = await load(directory);
    expect(loaded).toEqual({
      file: undefined,
      openApproval: expect.any(Function) as unknown,
      files: [],
      directory,
      search: { cwd: directory, userDirectory: userConfigDirectory() },
      suiteFiles: new Map(),
      disabledAt: new Map(),
      settings: {
        discoverGlobs: ['.switchboard/mcps/*/.mcp.json', 'mcps/*/.mcp.json'],
        exposure: 'suite',
        naming: 'prefixed',
        pin: 'warn',
        offer: ['tools', 'resources', 'prompts'],
        instructions: { maxChars: 2000 },
        isolation: 'session',
        http: {
          allowedHosts: [],
          allowedOrigins: [],
          maxSessions: 1000,
          sessionIdleMs: 1_800_000,
          console: 'on',
          maxProcesses: 256,
        },
        replica: { group: 'default' },
        management: { enabled: false, approval: 'ask', persist: false },
        suites: {},
        timeouts: {
          childSpawnMs: 60_000,
          rpcMs: 60000,
          idleMs: 600_000,
          drainMs: 3000,
          callMaxMs: 3_600_000,
          firstListMs: 10_000,
          hookMs: 10_000,
        },
        flatIdleMs: 'never',
        remoteStartMs: 8000,
        introspection: { mode: 'summary', summaryMaxChars: 160 },
        code: {
          timeoutMs: 300_000,
          cpuMs: 5000,
          memoryMb: 64,
          maxCalls: 1000,
          concurrency: 8,
          maxTokens: 10_000,
        },
        inheritEnv: true,
        logLevel: 'info',
        logFormat: 'text',
        logArguments: false,
        audit: false,
        metrics: false,
        telemetry: false,
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
        code: { cpuMs: 2000 },
        inheritEnv: ['A'],
        logLevel: 'silent',
        logDirectory: './logs',
        logArguments: true,
        audit: { arguments: true },
        logFormat: 'json',
        metrics: { port: 9000 },
        telemetry: true,
        exposure: 'flat',
        naming: 'plain',
        pin: 'block',
        approve: ['delete_*'],
        suite: { split: 'effect' },
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
      pin: 'block',
      approve: ['delete_*'],
      suite: { split: 'effect' },
      offer: ['prompts', 'tools'],
      instructions: { maxChars: 0 },
      isolation: 'shared',
      http: {
        allowedHosts: ['gateway.test'],
        allowedOrigins: [],
        maxSessions: 5,
        sessionIdleMs: 1_800_000,
        console: 'on',
        maxProcesses: 256,
      },
      replica: { group: 'default' },
      management: { enabled: true, approval: 'ask', persist: false },
      suites: {},
      timeouts: {
        childSpawnMs: 60_000,
        rpcMs: 5,
        idleMs: 'never',
        drainMs: 3000,
        callMaxMs: 3_600_000,
        firstListMs: 10_000,
        hookMs: 10_000,
      },
      flatIdleMs: 'never',
      remoteStartMs: 8000,
      introspection: { mode: 'redacted', summaryMaxChars: 160 },
      code: {
        timeoutMs: 300_000,
        cpuMs: 2000,
        memoryMb: 64,
        maxCalls: 1000,
        concurrency: 8,
        maxTokens: 10_000,
      },
      inheritEnv: ['A'],
      logLevel: 'silent',
      logFormat: 'json',
      logArguments: true,
      audit: { arguments: true, redact: [], maxBytes: 10_485_760, files: 5 },
      metrics: { host: '127.0.0.1', port: 9000 },
      telemetry: {},
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
    [{ http: { xyz: 'x' } }, 'http.xyz: is not a known key and is ignored. Available: token, allowedHosts,'],
    [
      { tools: { t: { description: '', subtools: { a: { tools: [{ name: 'x', desc: '' }] } } } } },
      'tools.t.subtools.a.tools[0].desc: is not a known key and is ignored. Did you mean "description"?',
    ],
    [{ ['__proto__x']: {} }, '__proto__x: is not a known key and is ignored.'],
  ])('%j is a warning with a suggestion; the servers work', async (config, expected) => {
    const loaded = await load(project({ 'switchboard.config.json': { mcpServers: { a: echo }, ...config } }));
    expect(warningText(loaded, 'warn')).toContain(`switchboard.config.json: ${expected}`);
    expect(names(loaded)).toEqual(['a']);
  });

  test.each([
    [
      { introspection: { mode: 'sumary' } },
      'introspection.mode: must be one of "summary", "full", "redacted" (did you mean "summary"?)',
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
    [{ discoverGlobs: ['a', 5] }, 'discoverGlobs[1]: must be a non-empty string'],
    [
      { suites: { 'my server': { suiteName: 'a b' } } },
      'suites["my server"].suiteName: must be 1 to 64 of the characters A-Z',
    ],
    [{ inheritEnv: 'PATH' }, 'inheritEnv: must be true, false or a list of variable names'],
    [{ inheritEnv: [true] }, 'inheritEnv[0]: must be a non-empty string'],
    [{ logLevel: 'verbose' }, 'logLevel: must be one of "debug", "info", "warn", "error", "silent"'],
    [{ limits: { callsInFlight: 0 } }, 'limits.callsInFlight: must be a whole number from 1'],
    [{ mcpServers: [] }, 'mcpServers: must be an object of servers by name, not a list'],
    [
      { exposure: 'Suite' },
      'exposure: must be one of "suite", "flat", "search", "code", "hidden" (did you mean "suite"?)',
    ],
    [{ naming: 5 }, 'naming: must be one of "prefixed", "plain"'],
    [{ offer: 'tools' }, 'offer: must be a list of "tools", "resources", "prompts"'],
    [{ offer: ['tool'] }, 'offer[0]: must be one of "tools", "resources", "prompts" (did you mean "tools"?)'],
    [{ offer: [] }, 'offer: must name at least one of "tools", "resources", "prompts"'],
    [{ offer: ['tools', 'tools'] }, 'offer[1]: is already in the list'],
    [{ suites: { a: { offer: [] } } }, 'suites.a.offer: must name at least one of'],
    [
      { instructions: { maxChars: -1 } },
      'instructions.maxChars: must be a whole number of characters from 0 to 100000',
    ],
    [{ management: 'ask' }, 'management: must be true, false or {"enabled", "approval", "persist"}'],
    [
      { management: { approval: 'aks' } },
      'management.approval: must be one of "ask", "auto" (did you mean "ask"?)',
    ],
    [{ http: { maxSessions: 0 } }, 'http.maxSessions: must be a whole number from 1 to 100000'],
    [{ http: { allowedOrigins: ['a.test'] } }, 'http.allowedOrigins[0]: must be an origin such as'],
    [{ http: { allowedHosts: ['https://a.test'] } }, 'http.allowedHosts[0]: must be a host such as'],
    [{ isolation: true }, 'isolation: must be one of "session", "shared", "call", not a boolean'],
    [{ management: { persist: 1 } }, 'management.persist: must be true or false'],
    [{ logDirectory: '' }, 'logDirectory: must be a non-empty string'],
    [{ logArguments: 'yes' }, 'logArguments: must be true or false'],
    [{ tools: [] }, 'tools: must be an object of tools by name, not a list'],
    [
      { tools: { 'a b': { description: '', subtools: { a: { tools: [{ name: 'x' }] } } } } },
      'tools["a b"]: a tool name has 1 to 64 of the characters A-Z a-z 0-9 _ -',
    ],
    [{ tools: { t: { subtools: {} } } }, 'tools.t.description: is missing: describe what the tool is for'],
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
      "tools.t.subtools.a.tools[0].name: is missing: add the tool's own name",
    ],
    [
      '{"tools": {"__proto__": {"description": 5, "subtools": {}}}}',
      'tools.__proto__.description: must be a string',
    ],
    ['[]', 'must be an object, not a list'],
    ['null', 'must be an object, not null'],
  ])('%j is refused, naming file, key and what is allowed (A-20, A-56)', async (config, expected) => {
    const error = await failureOf(config);
    expect(error.code).toBe('CONFIG_INVALID');
    expect(isAbsolute(error.message.split(': ')[0]!)).toBe(true);
    expect(error.message).toContain(`switchboard.config.json: ${expected}`);
  });

  test('the log directory may refer to the environment; what cannot be filled in costs the log file only', async () => {
    const directory = project({ 'switchboard.config.json': { logDirectory: '${LOGS}/mcp' } });
    expect((await load(directory, { LOGS: '/var/log' })).logDirectory).toBe(
      resolve(directory, '/var/log/mcp'),
    );
    const loaded = await load(directory);
    expect(loaded.logDirectory).toBeUndefined();
    const optional = project({ 'switchboard.config.json': { logDirectory: '${LOGS:-}' } });
    expect(await load(optional)).toMatchObject({ logDirectory: undefined, warnings: [] });
    expect(warningText(loaded, 'warn')).toContain(
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

  test('a typo in JSON is reported with line and column, and without values', async () => {
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
    ['export const other = 1;', 'CONFIG_UNREADABLE', 'it has no default export'],
    ['const a = {}; a.a = a; export default a;', 'CONFIG_UNREADABLE', 'the configuration refers to itself'],
    [
      'export default { suites: { a: { tools: { t: { presets: { x: [{ y: () => 1 }] } } } } } };',
      'CONFIG_INVALID',
      'suites.a.tools.t.presets.x[0].y: must be a JSON value',
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
    expect(warningText(loaded)).toContain('switchboard.config.mjs: is ignored');
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
