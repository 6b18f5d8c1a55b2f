import { describe, expect, test } from 'vitest';
import { checkServer } from './check-server.ts';
import { translateHostKeys } from './host-keys.ts';
import { keyPath } from './problem.ts';
import { isServer, serverKeys } from './schema/quick-check.generated.js';

async function check(entry: object): Promise<{ server: unknown; said: string[] }> {
  const checked = await checkServer('a', entry);
  const said = checked.notes.map(({ path, message, level }) => `${level} ${keyPath(path)}: ${message}`);
  return { server: 'server' in checked ? checked.server : checked, said };
}

describe('an entry as another host writes it', () => {
  test.each([
    ['Claude Code', { type: 'stdio', command: 'x', args: [], env: {} }, { type: 'stdio', command: 'x' }],
    [
      'Codex',
      {
        command: 'x',
        startup_timeout_sec: 2.5,
        tool_timeout_sec: 90,
        enabled_tools: ['a*'],
        env_vars: ['T'],
      },
      { command: 'x', timeouts: { childSpawnMs: 2500, rpcMs: 90_000 }, exposedTools: ['a\\*'] },
    ],
    [
      'Codex, over HTTP',
      {
        url: 'http://x',
        bearer_token_env_var: 'T',
        http_headers: { A: 'a' },
        env_http_headers: { B: 'BEE' },
      },
      { url: 'http://x', headers: { A: 'a', B: '${BEE}', Authorization: 'Bearer ${T}' } },
    ],
    [
      'Cline',
      {
        transport: { type: 'stdio', command: 'x', args: ['y'] },
        autoApprove: ['z'],
        timeout: 60,
        disabled: false,
      },
      { type: 'stdio', command: 'x', args: ['y'], timeouts: { rpcMs: 60_000 } },
    ],
    [
      'Gemini CLI',
      { httpUrl: 'http://x', url: 'http://other', timeout: 600_000, trust: true, excludeTools: ['rm'] },
      { url: 'http://x', type: 'http', timeouts: { rpcMs: 600_000 }, hiddenTools: ['rm'] },
    ],
    [
      'opencode',
      { type: 'local', command: ['npx', '-y', 'x'], environment: { A: 'b' }, enabled: true },
      { type: 'stdio', command: 'npx', args: ['-y', 'x'], env: { A: 'b' } },
    ],
    ['opencode, remote', { type: 'remote', url: 'http://x', oauth: { scope: 's' } }, { type: 'auto' }],
    ['Copilot CLI', { type: 'local', command: 'x', tools: ['*'] }, { type: 'stdio', command: 'x' }],
    ['Copilot CLI, with a list', { command: 'x', tools: ['a', 'b'] }, { exposedTools: ['a', 'b'] }],
    ['Windsurf', { serverUrl: 'http://x', disabledTools: ['a'] }, { url: 'http://x', hiddenTools: ['a'] }],
    [
      'Cursor',
      { url: 'http://x', auth: { CLIENT_ID: 'i', CLIENT_SECRET: 's', scopes: ['a', 'b'] } },
      { oauth: { clientId: 'i', clientSecret: 's', scope: 'a b' } },
    ],
    ['Goose', { cmd: 'x', envs: { A: 'b' }, type: 'stdio', env_keys: [] }, { command: 'x', env: { A: 'b' } }],
    [
      'Roo Code',
      { type: 'streamable-http', url: 'http://x', alwaysAllow: [] },
      { type: 'http', url: 'http://x' },
    ],
  ])('%s: %j is understood', async (_, entry, expected) => {
    const { server, said } = await check(entry);
    expect(server).toMatchObject(expected);
    expect(said.filter((line) => line.startsWith('warn'))).toEqual([]);
  });

  test('what our own keys say wins', async () => {
    const entry = {
      command: 'x',
      timeouts: { rpcMs: 7 },
      timeout: 60,
      exposedTools: ['a'],
      includeTools: ['b'],
      disabled: false,
      enabled: false,
    };
    const { server, said } = await check(entry);
    expect(server).toMatchObject({ timeouts: { rpcMs: 7 }, exposedTools: ['a'], disabled: false });
    expect(said).toContain('info includeTools: is ignored, because "exposedTools" is set');
  });

  test('"enabled": false turns it off, whatever else is wrong', async () => {
    expect((await check({ enabled: false, command: 5 })).server).toMatchObject({ kind: 'disabled' });
  });

  test.each([
    [{ command: 'x', timeout: 'soon' }, 'warn timeout: must be a number above 0; it is ignored'],
    [{ command: 'x', env: { A: null, B: 'b' } }, 'warn env: null does not unset A; use'],
    [{ url: 'http://x', bearer_token_env_var: '${X}' }, 'warn bearer_token_env_var: must be the name of an'],
    [{ url: 'http://x', env_http_headers: { A: '1x' } }, 'warn env_http_headers: A must be the name of an'],
  ])('%j works, with a warning', async (entry, expected) => {
    const { server, said } = await check(entry);
    expect(server).not.toHaveProperty('kind');
    expect(said.join('\n')).toContain(expected);
  });
});

test('a program in our own keys is the same after the translation, so none is needed', () => {
  const entry = {
    type: 'stdio',
    command: 'x',
    args: ['y'],
    env: { A: 'b', C: 1 },
    envFile: '.env',
    cwd: '.',
    framing: 'auto',
    inheritEnv: ['A'],
    description: 'x',
    switchboardDescription: 'x',
    disabled: false,
    timeouts: { rpcMs: 7 },
    isolation: 'shared',
    maxProcesses: 3,
    stopFirst: true,
    sandbox: { write: ['a'] },
    language: { model: 'x' },
    suiteName: 'x',
    expose: { allow: ['a'] },
    summaryMaxChars: 40,
    exposure: 'flat',
    offer: ['tools'],
    exposedTools: ['a', { original: 'b', exposed: 'c' }],
    hiddenTools: ['d'],
    tools: { a: { name: 'e' } },
    results: { maxTokens: 500 },
    suite: { split: 'effect' },
    approve: 'destructive',
    pin: 'block',
  };
  expect(Object.keys(entry).sort()).toEqual([...serverKeys.command].sort());
  expect(isServer(entry)).toBe(true);
  expect(translateHostKeys(entry)).toEqual({ entry, notes: [] });
});
