import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { describeWarning, loadConfig, type LoadedConfig, type ServerDefinition } from './index.ts';

const echo = { command: 'echo' };

async function load(
  files: Record<string, string | object>,
  env: Record<string, string> = {},
): Promise<LoadedConfig> {
  return loadConfig({ cwd: createProject(files).dir, env });
}

async function loadOwn(config: object | string, env?: Record<string, string>): Promise<LoadedConfig> {
  return load({ 'switchboard.config.json': config }, env);
}

/** The only server of a configuration that causes no warnings. */
async function only(config: object, env?: Record<string, string>): Promise<ServerDefinition> {
  const { servers, warnings } = await loadOwn(config, env);
  expect(warnings).toEqual([]);
  expect(servers).toHaveLength(1);
  return servers[0]!;
}

function warningTexts({ warnings }: LoadedConfig): string[] {
  return warnings.map(({ level, key = '', message }) => `${level} ${describeWarning({ key, message })}`);
}

describe('the tools that are offered', () => {
  test('exposedTools is another spelling of expose.allow, hiddenTools of expose.deny; both are joined', async () => {
    const { tools, origin } = await only({
      mcpServers: {
        a: {
          ...echo,
          expose: { allow: ['get_*'], deny: ['*_all'] },
          exposedTools: ['list_*', { original: 'a[1]', exposed: 'first' }],
          hiddenTools: ['get_secret'],
        },
      },
    });
    const at = (key: string) => ({ file: origin.file, key: `mcpServers.a.${key}` });
    expect(tools).toEqual({
      allow: [
        { pattern: 'get_*', literal: false, origin: at('expose.allow[0]') },
        { pattern: 'list_*', literal: false, origin: at('exposedTools[0]') },
        { pattern: 'a[1]', literal: true, origin: at('exposedTools[1]') },
      ],
      deny: [
        { pattern: '*_all', literal: false, origin: at('expose.deny[0]') },
        { pattern: 'get_secret', literal: false, origin: at('hiddenTools[0]') },
      ],
      shapes: new Map([['a[1]', { exposed: 'first', origin: at('exposedTools[1]') }]]),
    });
  });

  test('a list in suites replaces that of the entry, whichever spelling and renames included', async () => {
    const { tools } = await only({
      suites: { a: { expose: { allow: ['x'] }, hiddenTools: ['y'] } },
      mcpServers: {
        a: {
          ...echo,
          exposedTools: [{ original: 'b', exposed: 'c' }],
          expose: { deny: ['d'] },
          tools: { e: { name: 'f' } },
        },
      },
    });
    expect(tools.allow?.map(({ pattern }) => pattern)).toEqual(['x']);
    expect(tools.deny.map(({ pattern }) => pattern)).toEqual(['y']);
    expect([...tools.shapes.keys()]).toEqual(['e']);
  });

  test('an empty list offers nothing, no list everything', async () => {
    expect((await only({ mcpServers: { a: { ...echo, exposedTools: [] } } })).tools.allow).toEqual([]);
    expect((await only({ mcpServers: { a: echo } })).tools).toEqual({
      allow: undefined,
      deny: [],
      shapes: new Map(),
    });
  });
});

describe('how a tool looks', () => {
  test('each of its settings comes from suites, else from the entry', async () => {
    const { tools, origin } = await only({
      suites: { a: { tools: { t: { description: 'From suites.', presets: { x: 1 } } } } },
      mcpServers: {
        a: {
          ...echo,
          tools: {
            t: { name: 'u', description: 'From the entry.', presets: { y: 2 }, redact: ['z'] },
            'other tool': { redact: [] },
          },
        },
      },
    });
    expect(tools.shapes).toEqual(
      new Map([
        [
          't',
          {
            exposed: 'u',
            description: 'From suites.',
            presets: { x: 1 },
            redact: ['z'],
            origin: { file: origin.file, key: 'suites.a.tools.t' },
          },
        ],
        [
          'other tool',
          { redact: [], origin: { file: origin.file, key: 'mcpServers.a.tools["other tool"]' } },
        ],
      ]),
    );
  });

  test('of two names for one tool that of tools holds, with a warning where they differ', async () => {
    const loaded = await loadOwn({
      mcpServers: {
        a: {
          ...echo,
          exposedTools: [
            { original: 't', exposed: 'one' },
            { original: 'u', exposed: 'same' },
            { original: 'v', exposed: 'first' },
            { original: 'v', exposed: 'second' },
          ],
          tools: { t: { name: 'two' }, u: { name: 'same' } },
        },
      },
    });
    expect(warningTexts(loaded)).toEqual([
      'warn mcpServers.a.exposedTools[0].exposed: "t" is already renamed to "two" in mcpServers.a.tools.t, which is used',
      'warn mcpServers.a.exposedTools[3].exposed: "v" is already renamed to "first" in mcpServers.a.exposedTools[2], which is used',
    ]);
    const shapes = [...loaded.servers[0]!.tools.shapes];
    expect(shapes.map(([tool, { exposed }]) => [tool, exposed])).toEqual([
      ['t', 'two'],
      ['u', 'same'],
      ['v', 'first'],
    ]);
  });

  test('a name in suites wins over one in the entry without a word, whichever spelling', async () => {
    const { tools } = await only({
      suites: { a: { exposedTools: [{ original: 't', exposed: 'one' }] } },
      mcpServers: { a: { ...echo, tools: { t: { name: 'two' } } } },
    });
    expect(tools.shapes.get('t')?.exposed).toBe('one');
  });

  test('two tools with the same new name are pointed out', async () => {
    const loaded = await loadOwn({
      mcpServers: { a: { ...echo, tools: { t: { name: 'x' }, u: { name: 'x' } } } },
    });
    expect(warningTexts(loaded)).toEqual([
      'warn mcpServers.a.tools.u: "x" is already the new name of "t"; choose another name for "u"',
    ]);
  });
});

describe('presets', () => {
  test('texts are filled in however deep, everything else stays as it is', async () => {
    const config = JSON.stringify({
      mcpServers: {
        a: {
          ...echo,
          tools: {
            t: {
              presets: {
                text: 'Bearer ${TOKEN}',
                deep: [{ '${KEY}': ['${TOKEN}', 1, null, true, '$${x} \0'] }],
                standard: '${GONE:-none}',
                PROTO: { PROTO: '${TOKEN}' },
              },
            },
          },
        },
      },
    }).replaceAll('PROTO', '__proto__');
    const { servers, warnings } = await loadOwn(config, { TOKEN: 's3cret' });
    expect(warnings).toEqual([]);
    const { presets } = servers[0]!.tools.shapes.get('t')!;
    expect(JSON.stringify(presets)).toBe(
      '{"text":"Bearer s3cret","deep":[{"${KEY}":["s3cret",1,null,true,"${x} \\u0000"]}],"standard":"none",' +
        '"__proto__":{"__proto__":"s3cret"}}',
    );
  });

  test('an unset variable skips the server, naming file and key, never a value', async () => {
    const project = createProject({
      'switchboard.config.json': {
        suites: { found: { tools: { t: { presets: { k: 'pre-${MISSING}' } } } } },
        mcpServers: {
          a: { ...echo, tools: { t: { presets: { k: ['x', { y: 'pre-${SECRET}-${MISSING}' }] } } } },
          z: echo,
        },
      },
      'mcps/found/.mcp.json': { name: 'found', command: 'echo' },
    });
    const loaded = await loadConfig({ cwd: project.dir, env: { SECRET: 's3cret' } });
    expect(loaded.servers.map(({ name }) => name)).toEqual(['z']);
    expect(loaded.warnings.map(describeWarning)).toEqual(
      ['mcpServers.a.tools.t.presets.k[1].y', 'suites.found.tools.t.presets.k'].map(
        (key) =>
          `${project.path('switchboard.config.json')}: ${key}: the environment variable MISSING is not set; ` +
          `the server is not available`,
      ),
    );
  });

  test('variables of presets that do not count, or of a disabled server, are not asked for', async () => {
    const tools = { t: { presets: { k: '${MISSING}' } } };
    const loaded = await loadOwn({
      suites: { a: { tools: { t: { presets: {} } } } },
      mcpServers: { a: { ...echo, tools }, off: { ...echo, tools, disabled: true } },
    });
    expect(loaded.warnings).toEqual([]);
    expect(loaded.servers.map(({ name }) => name)).toEqual(['a']);
  });

  test('a number too large for JSON is refused', async () => {
    const loaded = await loadOwn(
      '{"mcpServers": {"a": {"command": "x", "tools": {"t": {"presets": {"n": 1e999}}}}}}',
    );
    expect(warningTexts(loaded)).toEqual([
      'warn mcpServers.a.tools.t.presets.n: must be a JSON value; the server is not available',
    ]);
  });
});

describe('how a server is shown', () => {
  test('suites win over the entry, the entry over the top', async () => {
    const { servers, warnings } = await load({
      'switchboard.config.json': {
        exposure: 'hidden',
        naming: 'plain',
        offer: ['prompts'],
        suites: { a: { exposure: 'suite', offer: ['tools'] }, found: { exposure: 'flat' } },
        mcpServers: {
          a: { ...echo, exposure: 'flat', offer: ['resources'] },
          b: { ...echo, exposure: 'flat', offer: ['resources'] },
          c: echo,
        },
      },
      'mcps/found/.mcp.json': { name: 'found', command: 'echo' },
    });
    expect(warnings).toEqual([]);
    expect(servers.map(({ name, exposure, naming, offer }) => [name, exposure, naming, offer])).toEqual([
      ['a', 'suite', 'plain', ['tools']],
      ['b', 'flat', 'plain', ['resources']],
      ['c', 'hidden', 'plain', ['prompts']],
      ['found', 'flat', 'plain', ['prompts']],
    ]);
  });

  test('a flat server is kept running by default', async () => {
    const idle = async (timeouts: object, server: object): Promise<unknown> =>
      (await only({ timeouts, mcpServers: { a: { ...echo, ...server } } })).timeouts.idleMs;
    expect(await idle({}, { exposure: 'flat' })).toBe('never');
    expect(await idle({ rpcMs: 1 }, { exposure: 'flat', timeouts: { rpcMs: 2 } })).toBe('never');
    expect(await idle({ idleMs: 5 }, { exposure: 'flat' })).toBe(5);
    expect(await idle({}, { exposure: 'flat', timeouts: { idleMs: 6 } })).toBe(6);
    expect(await idle({}, { exposure: 'hidden' })).toBe(600_000);
    expect(await idle({}, {})).toBe(600_000);
  });
});

describe('a map that other programs read too', () => {
  test('may hold the same keys, which are checked', async () => {
    const project = createProject({
      '.mcp.json': {
        mcpServers: {
          a: { ...echo, exposure: 'flat', offer: ['tools'], exposedTools: ['x'], hiddenTools: ['y'] },
          b: { ...echo, tools: { t: { name: 'u' } }, trust: true },
          c: { ...echo, exposedTools: [5] },
          d: { ...echo, offer: [] },
        },
      },
    });
    const loaded = await loadConfig({ cwd: project.dir, env: {} });
    expect(loaded.servers).toMatchObject([
      {
        name: 'a',
        exposure: 'flat',
        offer: ['tools'],
        tools: {
          allow: [
            {
              pattern: 'x',
              origin: { file: join(project.dir, '.mcp.json'), key: 'mcpServers.a.exposedTools[0]' },
            },
          ],
          deny: [{ pattern: 'y' }],
        },
      },
      { name: 'b' },
    ]);
    expect(loaded.servers[1]?.tools.shapes.get('t')?.exposed).toBe('u');
    expect(warningTexts(loaded)).toEqual([
      'info mcpServers.b.trust: is a setting of another host and has no effect here',
      'warn mcpServers.c.exposedTools[0]: must be the name or pattern of a tool, or {"original", "exposed"}; the server is not available',
      'warn mcpServers.d.offer: must name at least one of "tools", "resources", "prompts"; the server is not available',
    ]);
  });

  test("another host's list of tools is honoured", async () => {
    const loaded = await load({
      '.mcp.json': { mcpServers: { a: { ...echo, tools: ['*'] }, b: { ...echo, tools: ['x'] } } },
    });
    expect(loaded.servers.map(({ tools }) => tools.allow?.map(({ pattern }) => pattern))).toEqual([
      undefined,
      ['x'],
    ]);
    expect(warningTexts(loaded)).toEqual(['info mcpServers.b.tools: is read as "exposedTools"']);
  });
});
