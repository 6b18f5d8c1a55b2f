import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { echo, load, names, project, warningText } from './load.cases.ts';

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
        pin: 'warn',
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
        pin: 'warn',
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
    [{ disabled: 'yes' }, 'mcpServers.bad.disabled: must be true or false; the server is not available'],
    [{ command: '' }, 'mcpServers.bad.command: must be the program to start'],
    [{ command: { args: [] } }, 'mcpServers.bad.command.cmd: is missing'],
    [{ command: [] }, 'mcpServers.bad.command: must be the program to start, for example "npx", or {"cmd"'],
    [{ command: 'x', args: 'y' }, 'mcpServers.bad.args: must be a list of strings'],
    [{ command: 'x', args: ['a', 1] }, 'mcpServers.bad.args[1]: must be a string'],
    [
      { command: 'x', env: { A: [] } },
      'mcpServers.bad.env.A: must be a string, a number, true or false, not a list',
    ],
    [{ command: 'x', env: { 'A=B': '' } }, 'mcpServers.bad.env["A=B"]: the name of an environment variable'],
    [
      { command: 'x', framing: 'lines' },
      'mcpServers.bad.framing: must be one of "auto", "newline", "content-length"',
    ],
    [
      { command: 'x', url: 'http://x' },
      'mcpServers.bad.command: cannot be combined with "url"; remove one of them',
    ],
    [{ type: 'http' }, 'mcpServers.bad.url: is missing: add the address of the server'],
    [{ url: 'ftp://x' }, 'mcpServers.bad.url: must be a URL that starts with http:// or https://'],
    [{ url: 'http://' }, 'mcpServers.bad.url: is not a valid URL'],
    [
      { url: 'http://x', headers: { 'X Y': 's3cret' } },
      'mcpServers.bad.headers["X Y"]: a header name may contain only letters',
    ],
    [
      { url: 'http://x', headers: { A: 's3cret\r\nB: c' } },
      'mcpServers.bad.headers.A: contains a character that is not allowed in a header; the server is not available',
    ],
    [
      { url: 'http://x', headers: { A: 'x', a: 'y' } },
      'mcpServers.bad.headers.a: duplicates an earlier header',
    ],
    [{ url: 'http://x', headers: { A: 5 } }, 'mcpServers.bad.headers.A: must be a string'],
    [{ url: 'http://x', oauth: true }, 'mcpServers.bad.oauth: must be false or an object with "clientId"'],
    [{ url: 'http://x', isolation: 'none' }, 'mcpServers.bad.isolation: must be one of "session", "shared"'],
    [
      { url: 'x', type: 'htp' },
      'mcpServers.bad.type: must be one of "auto", "http", "sse", "streamable-http" (did you mean "http"?)',
    ],
    [{ command: 'x', disabled: 'yes' }, 'mcpServers.bad.disabled: must be true or false'],
    [
      { command: 'x', exposure: 'flatt' },
      'mcpServers.bad.exposure: must be one of "suite", "flat", "search", "code", "hidden" (did you mean "flat"?)',
    ],
    [
      { command: 'x', offer: ['prompts', 'tools', 'prompts'] },
      'mcpServers.bad.offer[2]: is already in the list',
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
      'mcpServers.bad.exposedTools[1].exposed: is missing: add the new name of the tool',
    ],
    [
      { command: 'x', exposedTools: [{ orignal: 'b', exposed: 'c' }] },
      'mcpServers.bad.exposedTools[0].orignal: is not a known key and is ignored. Did you mean "original"?',
    ],
    [
      { command: 'x', exposedTools: [{ original: 'b', exposed: 'c d' }] },
      'mcpServers.bad.exposedTools[0].exposed: must be 1 to 64 of the characters A-Z a-z 0-9 _ -',
    ],
    [{ command: 'x', hiddenTools: [{}] }, 'mcpServers.bad.hiddenTools[0]: must be a string, not an object'],
    [{ command: 'x', tools: { a: { name: '' } } }, 'mcpServers.bad.tools.a.name: must be 1 to 64 of'],
    [
      { command: 'x', tools: { a: { presets: ['b'] } } },
      'mcpServers.bad.tools.a.presets: must be an object of values by argument name, not a list',
    ],
    [{ command: 'x', tools: { a: { redact: 'b' } } }, 'mcpServers.bad.tools.a.redact: must be a list of'],
    [
      { url: 'http://x', tools: { a: { redact: [''] } } },
      'mcpServers.bad.tools.a.redact[0]: must be a non-empty string',
    ],
    ['text', 'mcpServers.bad: must be an object'],
  ])('a bad entry %j cannot be used, with a warning, the others stay', async (bad, expected) => {
    const loaded = await load(
      project({ 'switchboard.config.json': { mcpServers: { a: echo, bad, z: echo } } }),
    );
    expect(names(loaded)).toEqual(['a', 'z']);
    expect(warningText(loaded, 'warn')).toContain(`switchboard.config.json: ${expected}`);
    expect(warningText(loaded)).toMatch(/the server is not available/i);
    expect(warningText(loaded)).not.toMatch(/[.?!];/);
    expect(loaded.warnings.map(({ server }) => server)).toContain('bad');
    expect(warningText(loaded)).not.toContain('s3cret');
  });

  test.each([
    [{ command: 'x', arg: ['a'] }, 'arg: is not a known key and is ignored. Did you mean "args"?'],
    [
      { command: { cmd: 'x', arsg: [] } },
      'command.arsg: is not a known key and is ignored. Did you mean "args"?',
    ],
    [{ command: 'x', timeouts: { rpc: 1 } }, 'timeouts.rpc: is not a known key and is ignored. Did you mean'],
    [{ command: 'x', type: 'http' }, 'type: does not apply to a server with "command"'],
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
    expect(warningText(loaded, 'warn')).toContain(`switchboard.config.json: mcpServers.a.${expected}`);
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
    expect(warningText(loaded)).toContain('a server name has 1 to 64 characters');
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
    const text = warningText(loaded, 'warn');
    expect(text).toContain(
      'switchboard.config.json: mcpServers.a.env.T: the environment variable MISSING is not set; the server is not available',
    );
    expect(text).toContain('mcpServers.a.args[0]: the environment variable ALSO_MISSING is not set');
    expect(text).toContain('mcpServers.a.env.U: ${input:…} is not supported');
    expect(text).toContain('the command of "b" is empty');
    expect(text).toContain('mcpServers.c.env.N: contains a NUL character');
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

  test('remote servers are listed next to local ones', async () => {
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
    expect(warningText(loaded)).toBe('');
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

  test('settings for an undefined server cause a warning', async () => {
    const loaded = await load(
      project({
        'switchboard.config.json': { suites: { playwrigth: {} }, mcpServers: { playwright: echo } },
      }),
    );
    expect(warningText(loaded)).toContain('suites.playwrigth: unknown server. Did you mean "playwright"?');
  });
});
