import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { build } from 'esbuild';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { explainConfig, explainServer, explainServerName } from '../explain.ts';
import { resolveAudit } from '../audit.ts';
import { DEFAULTS } from '../defaults.ts';
import { resolveManagement } from '../management.ts';
import { applyDefaults } from '../settings.ts';
import { builtinServer, config, remoteServer, stdioServer } from './config.ts';
import * as quick from './quick-check.generated.js';

const root = new URL('../../../', import.meta.url);
const editorSchema = JSON.parse(readFileSync(new URL('switchboard.config.schema.json', root), 'utf8')) as {
  properties: Record<string, Record<string, unknown>>;
};
const byEditorSchema = new Ajv2020({ strict: false }).compile(editorSchema);

test('the generated files are current', () => {
  execFileSync(process.execPath, ['scripts/generate.mjs', '--check'], { cwd: root, stdio: 'pipe' });
});

test('importing the configuration does not load the schema library', async () => {
  const { metafile } = await build({
    entryPoints: ['src/config/index.ts'],
    absWorkingDir: fileURLToPath(root),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    outdir: 'dist',
    write: false,
    metafile: true,
    // As in a build.
    external: ['@napi-rs/keyring'],
  });
  const loaded = new Set(Object.keys(metafile.outputs).filter((path) => path.endsWith('/index.js')));
  for (const path of loaded) {
    const { imports } = metafile.outputs[path]!;
    for (const { kind, path: next } of imports)
      if (kind === 'import-statement' && next in metafile.outputs) loaded.add(next);
  }
  const inputs = [...loaded].flatMap((path) => Object.keys(metafile.outputs[path]!.inputs));
  expect(inputs).toContain('src/config/load.ts');
  expect(inputs.filter((path) => path.includes('node_modules'))).toEqual([]);
  expect(inputs).not.toContain('src/config/schema/config.ts');
});

describe('the quick check and the schema agree', () => {
  const scalar = fc.constantFrom<unknown>(
    ...[0, 1, -1, 1.5, 160, 1024, 2_147_483_647, 2_147_483_648, 1e300, true, false, null],
    ...[
      '',
      ' ',
      'x',
      'never',
      'summary',
      'full',
      'auto',
      'newline',
      'info',
      'stdio',
      'http',
      'a b',
      'A_b-1',
      'x'.repeat(65),
      'suite',
      'plain',
      'tools',
      'ask',
      'auto',
      'sse',
      'streamable-http',
      'streamableHttp',
      'shared',
      'http://x',
      'HTTPS://x/y',
      '${URL}',
      'ftp://x',
      'x.test:80',
      '\u00e9',
      '\u20ac',
    ],
    ...['\u0001', '💥'],
  );
  const keys = [
    ...new Set(
      [config, stdioServer, remoteServer, builtinServer].flatMap((schema) => Object.keys(schema.shape)),
    ),
    ...[
      'childSpawnMs',
      'rpcMs',
      'idleMs',
      'drainMs',
      'callMaxMs',
      'firstListMs',
      'hookMs',
      'mode',
      'messageBytes',
      'callsInFlight',
      'callsQueued',
      'maxChars',
    ],
    ...['original', 'exposed', 'presets', 'redact', 'subtools', 'enabled', 'approval', 'persist'],
    ...['clientId', 'clientSecret', 'clientMetadataUrl', 'scope', 'callbackPort'],
    ...['token', 'allowedHosts', 'allowedOrigins', 'maxSessions', 'sessionIdleMs', 'maxProcesses', 'console'],
    ...['Authorization', 'X Y'],
    ...['allow', 'deny', 'cmd', 'Timeouts', '__proto__', 'constructor', 'A=B', '', 'x'.repeat(65), '\u0001'],
  ];
  const object = (key: fc.Arbitrary<string>, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
    fc.array(fc.tuple(key, value), { maxLength: 4 }).map((entries) => Object.fromEntries(entries) as unknown);
  const anyKey = fc.constantFrom(...keys);
  const list = fc.array(scalar, { maxLength: 3 });
  const leaf = fc.oneof({ weight: 3, arbitrary: scalar }, list);
  const small = fc.oneof(leaf, object(anyKey, leaf));
  const exposedTools = fc.array(
    fc.oneof(
      scalar,
      fc.record({ original: scalar, exposed: scalar }, { requiredKeys: [] }),
      object(anyKey, scalar),
    ),
    { maxLength: 2 },
  );
  const shapes = object(
    anyKey,
    fc.oneof(
      small,
      fc.record(
        { name: scalar, description: scalar, presets: fc.oneof(small, object(anyKey, small)), redact: leaf },
        { requiredKeys: [] },
      ) as fc.Arbitrary<unknown>,
    ),
  );
  const look = fc.record(
    { exposure: scalar, offer: leaf, exposedTools, hiddenTools: leaf, tools: fc.oneof(leaf, shapes) },
    { requiredKeys: [] },
  ) as fc.Arbitrary<object>;
  const compound = fc.oneof(
    small,
    fc.record(
      {
        description: scalar,
        subtools: fc.oneof(
          small,
          object(
            anyKey,
            fc.record(
              { tools: fc.array(fc.oneof(small, fc.record({ name: scalar })), { maxLength: 2 }) },
              { requiredKeys: [] },
            ),
          ),
        ),
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<unknown>,
  );
  const managed = fc.record(
    { enabled: scalar, approval: scalar, persist: scalar },
    { requiredKeys: [] },
  ) as fc.Arbitrary<unknown>;
  const limits = object(anyKey, fc.constantFrom<unknown>(1, 1024, 'never', 0));
  const entry = fc.oneof(
    object(anyKey, small),
    fc
      .tuple(
        object(anyKey, small),
        fc.constantFrom<unknown>('npx', { cmd: 'x' }, { cmd: 'x', args: ['a'] }, 5),
      )
      .map(([rest, command]) => ({ ...(rest as object), command })),
    look.map((keys) => ({ ...keys, command: 'npx' })),
    fc.record(
      {
        type: scalar,
        url: fc.oneof(scalar, fc.constant('https://x')),
        headers: fc.oneof(small, object(anyKey, scalar)),
        oauth: fc.oneof(small, object(anyKey, leaf)),
        isolation: scalar,
        bearer_token_env_var: scalar,
        timeouts: limits,
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<unknown>,
  );
  const http = fc.record(
    {
      token: scalar,
      allowedHosts: leaf,
      allowedOrigins: leaf,
      maxSessions: scalar,
      sessionIdleMs: scalar,
      maxProcesses: scalar,
      console: scalar,
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<unknown>;
  const whole = fc.oneof(
    small,
    fc.record(
      {
        mcpServers: fc.oneof(scalar, object(anyKey, entry)),
        suites: fc.oneof(scalar, object(anyKey, fc.oneof(small, look))),
        tools: fc.oneof(scalar, object(anyKey, compound)),
        exposure: scalar,
        naming: scalar,
        offer: leaf,
        instructions: limits,
        management: fc.oneof(small, managed),
        isolation: scalar,
        http: fc.oneof(small, http),
        logArguments: scalar,
        logDirectory: scalar,
        timeouts: limits,
        introspection: limits,
        limits,
        discoverGlobs: leaf,
        inheritEnv: leaf,
        logLevel: scalar,
      },
      { requiredKeys: [] },
    ) as fc.Arbitrary<unknown>,
  );

  const agreeOnConfig = (value: unknown): void => {
    const valid = quick.isConfig(value);
    expect(explainConfig(value).length === 0).toBe(valid);
    expect(byEditorSchema(value)).toBe(valid);
    // Only zod ignores "__proto__" in records; explainConfig does not.
    if (!JSON.stringify(value).includes('__proto__')) expect(config.safeParse(value).success).toBe(valid);
    if (!quick.isConfig(value)) return;
    if (JSON.stringify(value).includes('__proto__')) return;
    const { $schema, extends: extended, allowProjects, mcpServers, tools, logDirectory, store } = value;
    const { flatIdleMs, remoteStartMs, ...settings } = applyDefaults(value);
    expect(settings.http).not.toHaveProperty('token');
    expect(flatIdleMs).toBe(value.timeouts?.idleMs ?? 'never');
    expect(remoteStartMs).toBe(value.timeouts?.childSpawnMs ?? 8000);
    const parsed = config.parse(value);
    const http = { ...settings.http, token: value.http?.token };
    expect({
      ...settings,
      http,
      $schema,
      extends: extended,
      allowProjects,
      mcpServers,
      tools,
      logDirectory,
      ...(store === undefined ? {} : { store }),
    }).toEqual({
      ...parsed,
      management: resolveManagement(parsed.management),
      audit: resolveAudit(parsed.audit),
      metrics: parsed.metrics === true ? DEFAULTS.metrics : parsed.metrics,
      telemetry: parsed.telemetry === true ? {} : parsed.telemetry,
    });
  };

  test('on random configurations, and so do the editor schema and the defaults', () => {
    fc.assert(fc.property(whole, agreeOnConfig), { numRuns: 3000 });
  });

  test('on random entries and names', () => {
    fc.assert(
      fc.property(fc.oneof(entry, small), (value) => {
        expect(explainServer(value).length === 0).toBe(quick.isServer(value));
      }),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(fc.string(), (name) => (explainServerName(name).length === 0) === quick.isServerName(name)),
    );
  });

  test.each([
    {},
    { audit: true },
    { audit: { arguments: true, redact: ['body'] } },
    { audit: { files: 1 } },
    [],
    null,
    'text',
    { $schema: 'x' },
    { extends: false },
    { allowProjects: ['~/src/**'] },
    { allowProjects: '~/src/**' },
    { extends: 'other.json' },
    { mcpServers: { a: { command: 'npx', args: ['-y'], env: { A: 1, B: true, C: 'x' } } } },
    { mcpServers: { a: { command: { cmd: 'node', args: [], env: {} } } } },
    { mcpServers: { a: { command: { cmd: 'node', arg: [] } } } },
    { mcpServers: { a: { url: 'http://x', type: 'sse' } } },
    { mcpServers: { a: { url: 'http://x', command: 'npx' } } },
    {
      mcpServers: { a: { url: 'HTTPS://x', headers: { 'X-A': 'b\tc' }, oauth: false, isolation: 'shared' } },
    },
    { mcpServers: { a: { url: '${URL}', type: 'auto', oauth: { clientId: 'x', callbackPort: 8080 } } } },
    { mcpServers: { a: { url: 'x', type: 'http' } } },
    { mcpServers: { a: { type: 'http' } } },
    { mcpServers: { a: { type: 'ws', url: 'http://x' } } },
    { mcpServers: { a: { url: 'http://x', headers: { 'a b': '' } } } },
    { mcpServers: { a: { url: 'http://x', headers: { a: 'b\nc' } } } },
    { mcpServers: { a: { url: 'http://x', headers: { a: '\u20ac' } } } },
    { mcpServers: { a: { url: 'http://x', oauth: true } } },
    { mcpServers: { a: { url: 'http://x', oauth: { clientMetadataUrl: 'http://x' } } } },
    { mcpServers: { a: { url: 'http://x', oauth: { callbackPort: 0 } } } },
    { mcpServers: { a: { command: 'npx', headers: {} } } },
    { isolation: 'shared', http: { token: '${T}', allowedHosts: ['a.test', '[::1]:80'], maxSessions: 1 } },
    { http: { allowedOrigins: ['https://a.test', 'vscode-webview://abc'], sessionIdleMs: 1 } },
    { http: { allowedOrigins: ['https://a.test/'] } },
    { http: { allowedHosts: ['http://a.test'] } },
    { http: { maxProcesses: 0 } },
    { http: { console: true } },
    { mcpServers: { a: { command: 'npx', env: { 'A=B': '' } } } },
    { timeouts: { idleMs: 'never' } },
    { timeouts: { rpcMs: 'never' } },
    { timeouts: { rpcMs: 0 } },
    { inheritEnv: ['PATH', ''] },
    { limits: { messageBytes: 1 } },
    { exposure: 'hidden', naming: 'plain', offer: ['tools'], logArguments: true, logDirectory: 'logs' },
    { exposure: 'Flat' },
    { offer: ['tool'] },
    { management: true },
    { management: {} },
    { management: { enabled: false, approval: 'auto', persist: true } },
    { management: { approval: 'never' } },
    { management: { enable: true } },
    { management: 'ask' },
    { metrics: true },
    { metrics: { port: 9000 } },
    { telemetry: true },
    { telemetry: { sampleRatio: 2 } },
    { instructions: { maxChars: 0 } },
    { instructions: { maxChars: 100_001 } },
    { mcpServers: { a: { command: 'x', exposedTools: ['a', { original: 'b', exposed: 'c' }] } } },
    { mcpServers: { a: { command: 'x', exposedTools: [{ original: 'b' }] } } },
    { mcpServers: { a: { command: 'x', exposedTools: [{ original: 'b', exposed: 'c d' }] } } },
    { mcpServers: { a: { command: 'x', tools: { t: { presets: { a: [{ b: null }] }, redact: ['x'] } } } } },
    { mcpServers: { a: { command: 'x', tools: { t: { preset: {} } } } } },
    { mcpServers: { a: { command: 'x', tools: ['*'] } } },
    { suites: { a: { exposure: 'flat', hiddenTools: ['x*'], tools: { t: { name: 'u' } } } } },
    { tools: { both: { description: 'x', subtools: { a: { tools: [{ name: 't', description: 'y' }] } } } } },
    { tools: { 'a b': { description: 'x', subtools: {} } } },
    { tools: { both: { description: 'x', subtools: { a: [] } } } },
    JSON.parse('{"tools": {"__proto__": {"description": "x", "subtools": {}}}}') as unknown,
    JSON.parse('{"tools": {"__proto__": {"nope": 5}}}') as unknown,
    JSON.parse('{"mcpServers": {"__proto__": {"command": 5}}}') as unknown,
    JSON.parse('{"suites": {"__proto__": {"nope": 5}}}') as unknown,
  ])('on %j', (value) => {
    agreeOnConfig(value);
  });
});

test('the editor schema describes what the plan asks for, with defaults and descriptions', () => {
  const { properties } = editorSchema;
  expect(Object.keys(properties)).toEqual(
    expect.arrayContaining(['discoverGlobs', 'suites', 'timeouts', 'introspection']),
  );
  const suite = properties.suites?.additionalProperties as { properties: Record<string, unknown> };
  expect(Object.keys(suite.properties)).toEqual([
    ...['description', 'suiteName', 'suite', 'approve', 'expose', 'summaryMaxChars'],
    ...['exposure', 'offer', 'exposedTools', 'hiddenTools', 'tools', 'results'],
  ]);
  expect(properties.introspection?.properties).toMatchObject({
    mode: { enum: ['summary', 'full', 'redacted'], default: 'summary' },
    summaryMaxChars: { default: 160 },
  });
  expect(properties.timeouts?.properties).toMatchObject({
    childSpawnMs: { default: 60_000 },
    rpcMs: { default: 60000 },
  });
  for (const [key, property] of Object.entries(properties))
    expect(property.description, key).toBeTypeOf('string');
});
