import { describe, expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { describeWarning, loadConfig, type LoadedConfig, type RemoteDefinition } from './index.ts';

type Env = Record<string, string>;

async function load(files: Record<string, object>, env: Env = {}): Promise<LoadedConfig> {
  return loadConfig({ cwd: createProject(files).dir, env });
}

async function own(entry: object, env: Env = {}, rest: object = {}): Promise<LoadedConfig> {
  return load({ 'switchboard.config.json': { mcpServers: { r: entry }, ...rest } }, env);
}

async function foreign(entry: object, env: Env = {}): Promise<LoadedConfig> {
  return load({ '.mcp.json': { mcpServers: { r: entry } } }, env);
}

function only({ servers, warnings }: LoadedConfig): RemoteDefinition {
  expect(warnings.filter(({ level }) => level === 'warn')).toEqual([]);
  expect(servers).toHaveLength(1);
  const [server] = servers;
  if (server?.kind !== 'remote') throw new Error('it is no remote server');
  return server;
}

function warningText({ warnings }: LoadedConfig): string {
  return warnings.map(describeWarning).join('\n');
}

describe('an entry of our own', () => {
  test('is filled in, and shown as it was written', async () => {
    const entry = {
      type: 'streamable-http',
      url: 'https://${HOST:-x.test}/mcp',
      headers: { Authorization: 'Bearer ${TOKEN}', 'X-Plain': 'yes' },
      oauth: { clientId: '${CLIENT}', clientSecret: '${NONE:-}', scope: 'a b', callbackPort: 4000 },
      isolation: 'shared',
      description: 'Far away.',
      exposure: 'flat',
      timeouts: { rpcMs: 5 },
    };
    const server = only(await own(entry, { TOKEN: 's3cret', CLIENT: 'me' }));
    expect(server).toMatchObject({
      kind: 'remote',
      name: 'r',
      transport: 'http',
      url: 'https://x.test/mcp',
      written: { url: 'https://${HOST:-x.test}/mcp' },
      headers: { Authorization: 'Bearer s3cret', 'X-Plain': 'yes' },
      isolation: 'shared',
      description: 'Far away.',
      exposure: 'flat',
      timeouts: { rpcMs: 5, idleMs: 'never' },
    });
    expect(server.oauth).toEqual({ clientId: 'me', scope: 'a b', callbackPort: 4000 });
    expect(server).not.toHaveProperty('command');
  });

  test('says how a service logs in, with references filled in', async () => {
    const identityProvider = {
      tokenEndpoint: '${IDP}/token',
      clientId: 'us',
      clientSecret: '${SECRET}',
    };
    const oauth = { dpop: 'required', grant: 'token_exchange', assertion: '${ID_TOKEN}', identityProvider };
    const env = { IDP: 'https://id.test', SECRET: 's3cret', ID_TOKEN: 'a.b.c' };
    expect(only(await own({ url: 'https://x.test', oauth }, env)).oauth).toEqual({
      dpop: 'required',
      grant: 'token_exchange',
      assertion: 'a.b.c',
      identityProvider: { tokenEndpoint: 'https://id.test/token', clientId: 'us', clientSecret: 's3cret' },
    });
  });

  test('needs no more than an address', async () => {
    const server = only(await own({ url: 'http://x.test' }));
    expect(server).toMatchObject({ transport: 'auto', headers: {}, oauth: {}, isolation: 'session' });
    expect(only(await own({ url: 'http://x.test', oauth: false })).oauth).toBe(false);
    const shared = await own({ url: 'http://x.test' }, {}, { isolation: 'shared' });
    expect(only(shared).isolation).toBe('shared');
  });

  test.each<[object, string]>([
    [{ url: 'https://${HOST}/mcp' }, 'mcpServers.r.url: the environment variable HOST is not set'],
    [
      { url: 'https://x', headers: { Authorization: 'Bearer ${TOKEN}' } },
      'mcpServers.r.headers.Authorization: the environment variable TOKEN is not set',
    ],
    [
      { url: 'https://x', oauth: { clientSecret: '${TOKEN}' } },
      'mcpServers.r.oauth.clientSecret: the environment variable TOKEN is not set',
    ],
    [
      {
        url: 'https://x',
        oauth: {
          grant: 'token_exchange',
          identityProvider: { tokenEndpoint: 'https://x', clientSecret: '${TOKEN}' },
        },
      },
      'mcpServers.r.oauth.identityProvider.clientSecret: the environment variable TOKEN is not set',
    ],
    [{ url: '${BAD}' }, 'mcpServers.r.url: is not a valid URL, such as https://example.com/mcp'],
    [
      { url: 'https://x', headers: { A: '${LINES}' } },
      'mcpServers.r.headers.A: contains a character that is not allowed in a header',
    ],
  ])('%j cannot be used, and the warning names the key alone', async (entry, expected) => {
    const loaded = await own(entry, { BAD: 'file:///s3cret', LINES: 's3cret\nX: y' });
    expect(loaded.servers).toEqual([]);
    expect(loaded.unusable.map(({ name }) => name)).toEqual(['r']);
    expect(warningText(loaded)).toContain(`${expected}; the server is not available`);
    expect(warningText(loaded)).not.toContain('s3cret');
  });

  test('that is turned off is not looked into', async () => {
    const loaded = await own({ url: 'https://${HOST}', disabled: true });
    expect([loaded.disabled, loaded.warnings]).toEqual([['r'], []]);
  });

  test('a name and a password in the address become a header, unless there is one', async () => {
    const server = only(await own({ url: 'https://me:p%40ss@x.test/mcp?a=1' }));
    expect(server.url).toBe('https://x.test/mcp?a=1');
    expect(server.headers).toEqual({
      Authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    });
    expect(server.written.url).toBe('https://***@x.test/mcp?a=***');
    const given = only(await own({ url: 'https://me:x@x.test', headers: { authorization: 'mine' } }));
    expect(given.headers).toEqual({ authorization: 'mine' });
  });

  test('the line break at the end of a token does no harm', async () => {
    const entry = { url: 'https://x', headers: { Authorization: 'Bearer ${TOKEN}' } };
    expect(only(await own(entry, { TOKEN: 'abc\n' })).headers.Authorization).toBe('Bearer abc');
  });

  test('headers that are ours to set are ignored with a note', async () => {
    const loaded = await own({
      url: 'https://x',
      headers: { 'Content-Type': 'text/plain', Accept: '*/*', A: 'b' },
    });
    expect(only(loaded).headers).toEqual({ A: 'b' });
    expect(warningText(loaded)).toContain('mcpServers.r.headers.Content-Type: is set by Switchboard itself');
    expect(loaded.warnings.map(({ level }) => level)).toEqual(['info', 'info']);
  });
});

describe("another program's entry", () => {
  test.each<[object, string]>([
    [{ url: 'http://x' }, 'auto'],
    [{ type: 'http', url: 'http://x' }, 'http'],
    [{ type: 'sse', url: 'http://x' }, 'sse'],
    [{ type: 'streamable-http', url: 'http://x' }, 'http'],
    [{ type: 'streamableHttp', url: 'http://x' }, 'http'],
    [{ type: 'streamable_http', url: 'http://x' }, 'http'],
    [{ type: 'remote', url: 'http://x' }, 'auto'],
    [{ type: 'auto', url: 'http://x' }, 'auto'],
    [{ httpUrl: 'http://x' }, 'http'],
    [{ httpUrl: 'http://x', url: 'http://other' }, 'http'],
    [{ serverUrl: 'http://x' }, 'auto'],
  ])('%j is understood', async (entry, transport) => {
    expect(only(await foreign(entry))).toMatchObject({ transport, url: 'http://x' });
  });

  test('may name headers in other words', async () => {
    const entry = {
      url: 'http://x',
      http_headers: { 'X-A': 'a' },
      env_http_headers: { 'X-B': 'B' },
      bearer_token_env_var: 'TOKEN',
    };
    const server = only(await foreign(entry, { TOKEN: 't', B: 'b' }));
    expect(server.headers).toEqual({ 'X-A': 'a', 'X-B': 'b', Authorization: 'Bearer t' });
    expect(warningText(await foreign(entry, { B: 'b' }))).toContain(
      'mcpServers.r.headers.Authorization: the environment variable TOKEN is not set; the server is not available',
    );
    const twice = { ...entry, headers: { authorization: 's3cret' } };
    const loaded = await foreign(twice, { TOKEN: 't', B: 'b' });
    expect(warningText(loaded)).toContain('mcpServers.r.headers.authorization: duplicates an earlier header');
    expect(warningText(loaded)).not.toContain('s3cret');
  });

  test('is a program where the address is left empty', async () => {
    const loaded = await foreign({ command: 'npx', url: '' });
    expect(loaded.servers).toMatchObject([{ kind: 'stdio', command: 'npx' }]);
    expect(loaded.warnings).toEqual([]);
    expect(only(await foreign({ command: '', args: [], url: 'http://x' })).url).toBe('http://x');
  });

  test('keeps our own keys', async () => {
    const entry = {
      url: 'http://x',
      oauth: { clientId: 'me', enabled: true },
      isolation: 'shared',
      exposure: 'hidden',
      offer: ['tools'],
      tools: ['*'],
    };
    const server = only(await foreign(entry));
    expect(server).toMatchObject({ isolation: 'shared', exposure: 'hidden', offer: ['tools'] });
    expect(server.oauth).toEqual({ clientId: 'me' });
  });

  test.each<[object, string]>([
    [{ type: 'ws', url: 'ws://x' }, 'mcpServers.r.type: servers reached by WebSocket are not supported'],
    [{ type: 'http' }, 'mcpServers.r.url: is missing: add the address'],
    [{ url: 'x' }, 'mcpServers.r.url: must be a URL that starts with http:// or https://'],
    [{ httpUrl: 'http://' }, 'mcpServers.r.url: is not a valid URL'],
    [{ url: 'http://x', command: 'npx' }, 'mcpServers.r.command: cannot be combined with "url"'],
    [{ url: 'http://x', headers: { A: 5 } }, 'mcpServers.r.headers.A: must be a string'],
    [{ url: 'http://x', offer: [] }, 'mcpServers.r.offer: must name at least one'],
  ])('%j cannot be used, with a warning', async (entry, expected) => {
    const loaded = await foreign(entry);
    expect(loaded.unusable.map(({ name }) => name)).toEqual(['r']);
    expect(warningText(loaded)).toContain(expected);
  });

  test('that is turned off needs nothing else', async () => {
    const loaded = await foreign({ type: 'ws', disabled: true });
    expect([loaded.disabled, loaded.warnings]).toEqual([['r'], []]);
  });
});

describe('a file about one server', () => {
  test('may give an address', async () => {
    const file = {
      name: 'far',
      type: 'sse',
      url: 'http://${HOST}/sse',
      headers: { A: '${A:-b}' },
      isolation: 'shared',
      description: 'Far away.',
      exposure: 'of another program',
    };
    const server = only(await load({ 'mcps/far/.mcp.json': file }, { HOST: 'x.test' }));
    expect(server).toMatchObject({
      name: 'far',
      transport: 'sse',
      url: 'http://x.test/sse',
      headers: { A: 'b' },
      isolation: 'shared',
      description: 'Far away.',
      exposure: 'suite',
      origin: { key: '' },
    });
  });

  test.each<[object, string]>([
    [{ name: 'far', url: 'x' }, 'url: must be a URL that starts with'],
    [{ name: 'far', url: 'http://x', command: 'npx' }, 'command: cannot be combined with "url"'],
    [{ name: 5, url: 'http://x' }, 'name: must be a string'],
  ])('%j cannot be used, with a warning', async (file, expected) => {
    const loaded = await load({ 'mcps/far/.mcp.json': file });
    expect(loaded.servers).toEqual([]);
    expect(warningText(loaded)).toContain(expected);
  });
});
