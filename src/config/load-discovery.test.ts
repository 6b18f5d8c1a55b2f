import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { echo, load, names, project, warningText } from './load.cases.ts';

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
      // The wrapper keeps the original server here, which must not be discovered a second time.
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
    const text = warningText(loaded, 'warn');
    expect(text).toContain(
      'mcps/a/.mcp.json:1:1: this "{" is never closed, in: {"name": "…",; the file is skipped',
    );
    expect(text).toContain('mcps/b/.mcp.json: has neither "name" nor "mcpServers" and is skipped');
    expect(text).toContain('mcps/c/.mcp.json: command: is missing; add');
    expect(text).toContain('mcps/d/.mcp.json: command.cmd: is missing');
    expect(text).toContain('mcps/e/.mcp.json: name: must be a string;');
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
    expect(warningText(loaded, 'info')).toContain(
      'mcpServers.a.alwaysAllow: is a setting of another host and has no effect here',
    );
    expect(warningText(loaded, 'info')).toContain('mcpServers.a.disabledTools: is read as "hiddenTools"');
    expect(warningText(loaded, 'warn')).toContain(
      'mcpServers.a.comand: is not a known key and is ignored. Did you mean "command"?',
    );
    expect(warningText(loaded, 'warn')).toContain(
      '.mcp.json: mcpServers.b.command: must be the program to start',
    );
    expect(warningText(loaded)).not.toContain('mcpServers.c');
    expect(warningText(loaded, 'info')).toContain('mcpServers.d.trust: is a setting of another host');
    expect(warningText(loaded, 'info')).toContain('mcpServers.d.env: has no effect on a server with "url"');
    expect(warningText(loaded, 'warn')).toContain(
      'mcpServers.w.type: servers reached by WebSocket are not supported; the server is not available',
    );
    expect(warningText(loaded, 'warn')).toContain(
      'mcpServers.e: must be an object, not null; the server is not available',
    );
  });

  test('a root .mcp.json without a map, or broken, stops nothing', async () => {
    expect(warningText(await load(project({ '.mcp.json': { name: 'x' } })), 'info')).toContain(
      'has no "mcpServers"',
    );
    expect(warningText(await load(project({ '.mcp.json': '{' })), 'warn')).toContain('the file is skipped');
    expect(warningText(await load(project({ '.mcp.json': { mcpServers: [] } })), 'warn')).toContain(
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
    expect(warningText(loaded, 'info')).toContain(
      'mcpServers.switchboard: "switchboard" starts Switchboard itself',
    );
    expect(warningText(loaded, 'warn')).toBe('');
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
    expect(warningText(all, 'warn').split('\n')).toHaveLength(3);
    expect(warningText(all)).toContain('.mcp.json: mcpServers.x: "x" is already defined in');
    expect(warningText(all)).toContain('switchboard.config.json (mcpServers.x); this one is ignored');
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
    expect(warningText(loaded, 'warn')).toBe('');
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
