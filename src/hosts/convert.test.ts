import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findHost } from './catalog.ts';
import { convertServer, type ConversionResult } from './convert.ts';
import type { HostName, HostEnvironment } from './host.ts';
import { replaceSecrets, documentSecrets, type Secret } from './entry-secrets.ts';

const LINUX: HostEnvironment = { platform: 'linux', home: '/home/ada', env: {}, cwd: '/srv/shop' };

function convert(
  name: HostName,
  value: unknown,
  { project, where = LINUX }: { project?: string; where?: HostEnvironment } = {},
): ConversionResult {
  const host = findHost(name);
  const location = {
    host,
    scope: 'user' as const,
    file: '/f',
    format: host.format,
    keyPath: host.keyPath,
    project,
  };
  return convertServer({ location, name: 's', value }, where);
}
const entryOf = (...given: Parameters<typeof convert>): unknown => {
  const converted = convert(...given);
  return converted.kind === 'server' ? converted.entry : converted.why;
};

describe('references become ours', () => {
  const program = (text: string) => ({ command: 'c', args: [text] });
  const args = (...given: Parameters<typeof convert>): unknown =>
    (entryOf(...given) as { args?: string[] }).args?.[0] ?? entryOf(...given);
  test.each<[HostName, string, string]>([
    ['claude-code', '${A}/${B:-x}', '${A}/${B:-x}'],
    ['claude-code', '${B:-${C}}', '${B:-${C}}'],
    ['claude-code', '$A %A% ${input:x}', '$A %A% $${input:x}'],
    ['claude-desktop', '${A} $A', '$${A} $A'],
    ['codex', '${A}', '$${A}'],
    ['cursor', '${env:A}-${userHome}${/}x', '${A}-${HOME}/x'],
    ['vscode', '${env:A} ${A}', '${A} ${A}'],
    ['vscode', '${input:api-key}', '${API_KEY}'],
    ['windsurf', '${env:A}', '${A}'],
    ['gemini', '$A ${B} ${C:-d} %D% 5$', '${A} ${B} ${C:-d} %D% 5$'],
  ])('%s: %s', (name, text, ours) => {
    expect(args(name, program(text))).toBe(ours);
  });

  test('where they depend on the system or the project', () => {
    const windows: HostEnvironment = { ...LINUX, platform: 'win32' };
    expect(args('gemini', program('%A%'), { where: windows })).toBe('${A}');
    expect(args('cursor', program('${userHome}${pathSeparator}x'), { where: windows })).toBe(
      '${USERPROFILE}\\x',
    );
    expect(args('vscode', program('${workspaceFolder}/x'), { project: '/w/p' })).toBe('/w/p/x');
    expect(args('vscode', program('${workspaceFolderBasename}'), { project: '/w/p' })).toBe('p');
  });

  test('or the server cannot be imported, with the reason', () => {
    expect(entryOf('vscode', program('${workspaceFolder}/x'))).toBe(
      'it refers to ${workspaceFolder}, which only the editor can resolve',
    );
    expect(entryOf('windsurf', program('${file:/p}'))).toBe(
      'it refers to ${file:/p}, which only the editor can resolve',
    );
    expect(entryOf('claude-code', program('$${A}'))).toBe('it has a "$" directly before a reference');
  });

  test('and the variables are reported, except those with a default', () => {
    const converted = convert('claude-code', {
      command: '${A}',
      args: ['${B:-x}', '${A}'],
      env: { X: '${C}' },
    });
    expect(converted).toMatchObject({ variables: ['A', 'C'], notes: [] });
    expect(convert('vscode', { command: 'c', env: { X: '${input:the key}' } })).toMatchObject({
      variables: ['THE_KEY'],
      notes: ['"the key" was an editor prompt; set the variable THE_KEY instead'],
    });
    expect(convert('codex', { command: 'c', env_vars: ['A', { name: 'B', source: 'local' }] })).toMatchObject(
      {
        variables: ['A', 'B'],
        entry: { command: 'c' },
      },
    );
  });
});

describe('a server that runs elsewhere', () => {
  const url = 'https://example.com/mcp';
  test.each<[HostName, object, object]>([
    [
      'claude-code',
      { type: 'http', url, headers: { A: '${B}' } },
      { type: 'http', url, headers: { A: '${B}' } },
    ],
    ['claude-code', { type: 'streamable-http', url }, { type: 'http', url }],
    ['claude-code', { type: 'sse', url }, { type: 'sse', url }],
    ['cursor', { url, headers: { A: 'x ${env:B}' } }, { url, headers: { A: 'x ${B}' } }],
    [
      'cursor',
      { url, auth: { CLIENT_ID: 'i', CLIENT_SECRET: '${env:S}', scopes: ['a', 'b'] } },
      { url, oauth: { clientId: 'i', clientSecret: '${S}', scope: 'a b' } },
    ],
    ['windsurf', { serverUrl: url }, { url }],
    ['gemini', { httpUrl: url, timeout: 30_000 }, { type: 'http', url, timeouts: { rpcMs: 30_000 } }],
    ['gemini', { url }, { url }],
    ['gemini', { url, type: 'sse' }, { type: 'sse', url }],
    [
      'codex',
      { url, bearer_token_env_var: 'T', http_headers: { A: '${x}' }, env_http_headers: { B: 'V' } },
      { url, headers: { A: '$${x}', B: '${V}', Authorization: 'Bearer ${T}' } },
    ],
    [
      'codex',
      {
        url,
        oauth: { client_id: 'i', callback_port: 8765 },
        scopes: ['r'],
        tool_timeout_sec: 1.5,
        startup_timeout_sec: 20,
      },
      {
        url,
        oauth: { clientId: 'i', scope: 'r', callbackPort: 8765 },
        timeouts: { childSpawnMs: 20_000, rpcMs: 1500 },
      },
    ],
  ])('of %s: %j', (name, value, entry) => {
    expect(entryOf(name, value)).toEqual(entry);
  });
  test('of a kind that we do not speak is left out', () => {
    expect(entryOf('claude-code', { type: 'ws', url })).toBe('it has the type "ws", which is not supported');
  });
});

test('a program keeps its directory, flags and tool lists; losses are reported', () => {
  expect(
    convert(
      'vscode',
      {
        type: 'stdio',
        command: 'c',
        cwd: '${workspaceFolder}/s',
        env: { A: 1, B: null },
        envFile: '.env',
        dev: {},
      },
      { project: '/p' },
    ),
  ).toEqual({
    kind: 'server',
    entry: { command: 'c', env: { A: '1' }, cwd: '/p/s', envFile: join('/p/.env') },
    variables: [],
    notes: [],
  });
  expect(entryOf('claude-code', { command: 'c', timeout: 5000, env: {} }, { project: '/p' })).toEqual({
    command: 'c',
    cwd: '/p',
    timeouts: { rpcMs: 5000 },
  });
  expect(entryOf('windsurf', { command: 'c', disabled: true, disabledTools: ['x'] })).toEqual({
    command: 'c',
    disabled: true,
    hiddenTools: ['x'],
  });
  expect(
    entryOf('codex', { command: 'c', enabled: false, enabled_tools: ['a'], disabled_tools: [] }),
  ).toEqual({
    command: 'c',
    disabled: true,
    exposedTools: ['a'],
  });
  expect(entryOf('gemini', { command: 'c', description: 'for x', includeTools: ['a'], trust: true })).toEqual(
    {
      command: 'c',
      description: 'for x',
      exposedTools: ['a'],
    },
  );
});

test('entries that are not servers are left out', () => {
  expect(entryOf('cursor', 'x')).toBe('it is not an object');
  expect(entryOf('cursor', {})).toBe('it has no command and no URL');
  expect(entryOf('cursor', { command: 'c', args: [{}] })).toBe(
    'it has a list with an item that is not a string',
  );
  expect(entryOf('vscode', { url: 'unix:///run/x.sock' })).toBe(
    'it has a URL that does not start with http:// or https://',
  );
  expect(entryOf('cursor', { url: 'https://x', headers: { 'a b': 'c' } })).toBe(
    'it has an invalid header name "a b"',
  );
  expect(entryOf('cursor', { command: 'c', env: { 'A=B': 'c' } })).toBe(
    'it has an invalid variable name "A=B"',
  );
  expect(entryOf('cursor', { type: 'http', command: 'c' })).toBe(
    'it has the type "http", but also a command',
  );
});

describe('secrets', () => {
  const TOKEN = 'ghp_0123456789abcdefghijABCDEFGHIJ012345';
  const found = (entry: Parameters<typeof replaceSecrets>[0]): unknown[] => {
    const secrets: Secret[] = [];
    replaceSecrets(entry, 'my-server', (secret) => {
      secrets.push(secret);
      return '***';
    });
    return secrets.map(({ where, value, variable }) => [where, value, variable]);
  };

  test('are found by their names and by their looks', () => {
    expect(
      found({
        command: 'c',
        env: { API_KEY: 'k', DEBUG: '1', OTHER: TOKEN, MODEL: 'claude-3-5-sonnet-20241022' },
      }),
    ).toEqual([
      ['env.API_KEY', 'k', 'API_KEY'],
      ['env.OTHER', TOKEN, 'OTHER'],
    ]);
    expect(
      found({
        url: 'https://x/mcp',
        headers: { Authorization: 'Bearer abc', 'X-API-Key': 'k', Accept: 'text/html' },
      }),
    ).toEqual([
      ['headers.Authorization', 'abc', 'MY_SERVER_TOKEN'],
      ['headers.X-API-Key', 'k', 'MY_SERVER_API_KEY'],
    ]);
    expect(
      found({
        command: 'c',
        args: [
          '--token',
          'abc',
          '--api-key=def',
          '-y',
          '@scope/server-with-a-long-name-2024',
          TOKEN,
          '--header',
          'Authorization: Bearer ghi',
        ],
      }),
    ).toEqual([
      ['args[1]', 'abc', 'MY_SERVER_TOKEN'],
      ['args[2]', 'def', 'MY_SERVER_API_KEY'],
      ['args[5]', TOKEN, 'MY_SERVER_TOKEN'],
      ['args[7]', 'ghi', 'MY_SERVER_TOKEN'],
    ]);
    expect(found({ command: 'c', args: ['postgres://ada:pa55@db/shop'] })).toEqual([
      ['args[0]', 'pa55', 'MY_SERVER_PASSWORD'],
    ]);
    expect(found({ url: `https://x/${TOKEN}/mcp?api_key=k&q=1` })).toEqual([
      ['url', 'k', 'MY_SERVER_API_KEY'],
      ['url', TOKEN, 'MY_SERVER_KEY'],
    ]);
    const oauth = { clientId: 'i', clientSecret: 's', privateKey: 'k', assertion: 'a' };
    expect(found({ url: 'https://x', oauth })).toEqual([
      ['oauth.clientSecret', 's', 'MY_SERVER_CLIENT_SECRET'],
      ['oauth.privateKey', 'k', 'MY_SERVER_PRIVATE_KEY'],
      ['oauth.assertion', 'a', 'MY_SERVER_ASSERTION'],
    ]);
    expect(
      found({
        command: 'c',
        env: { X: '3f2504e0-4f89-41d3-9a0c-0305e82c3301', Y: '/a/0123456789abcdef0123456789abcdef' },
      }),
    ).toEqual([['env.X', '3f2504e0-4f89-41d3-9a0c-0305e82c3301', 'X']]);
  });

  test('are no references, and nothing else is changed', () => {
    const entry = {
      command: 'npx',
      args: ['-y', 'pkg', '--token', '${T}', '--url=https://x/y?key=${K}'],
      env: { API_KEY: '${API_KEY}', EMPTY_TOKEN: '', PATHS: '/usr/bin:/bin' },
    };
    expect(replaceSecrets(entry, 's', () => '***')).toEqual(entry);
    expect(
      replaceSecrets({ command: 'c', args: ['--token=a', 'https://u:p@h/x'] }, 's', () => '***').args,
    ).toEqual(['--token=***', 'https://u:***@h/x']);
  });

  test('are found in a whole file, for code that shows a part of it', () => {
    const document = {
      userID: 'a'.repeat(10) + '0123456789abcdef',
      oauthAccount: { accessToken: 'at', email: 'ada@example.com' },
      mcpServers: {
        a: { command: 'c', args: ['--key-file', 'x', '--password', 'pw'], env: { LEVEL: 'debug' } },
      },
      mcp_servers: { b: { bearer_token_env_var: 'B_TOKEN', http_headers: { A: 'h' } } },
      list: [{ secret: 's1' }],
    };
    expect(documentSecrets(document).sort()).toEqual(
      ['aaaaaaaaaa0123456789abcdef', 'at', 'debug', 'h', 'pw', 's1'].sort(),
    );
  });
});

test('a dotenv file is imported with its full path, unless that is unknown', () => {
  const envFileOf = (envFile: string, project?: string): unknown => {
    const converted = convert('cursor', { command: 'c', envFile }, project === undefined ? {} : { project });
    return converted.kind === 'server' ? [converted.entry.envFile, converted.notes] : converted;
  };
  expect(envFileOf('${workspaceFolder}/.env', '/p')).toEqual(['/p/.env', []]);
  expect(envFileOf('conf/.env', '/p')).toEqual([join('/p/conf/.env'), []]);
  expect(envFileOf('/etc/x.env')).toEqual(['/etc/x.env', []]);
  expect(envFileOf('${userHome}/x.env')).toEqual(['${HOME}/x.env', []]);
  expect(envFileOf('.env')).toEqual([undefined, [expect.stringContaining('not imported: envFile')]]);
  expect(envFileOf('${workspaceFolder}/.env')).toEqual([
    undefined,
    [expect.stringContaining('not imported: envFile')],
  ]);
});
