import { expect, test } from 'vitest';
import { createProject } from '../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../config/index.ts';
import { httpBanner } from './http-banner.ts';
import { type CliVariant, switchboard, mcpProxyServer } from '../variants.ts';
import { plainStyle } from '../../kit/style.ts';

const URL = 'http://127.0.0.1:80/mcp';

async function announced(
  servers: object,
  {
    variant = switchboard,
    showToken = false,
    goesWithLast = false,
    made = false,
    isTerminal = false,
    platform = 'linux',
  }: Partial<Asked> = {},
) {
  const project = createProject({ 'switchboard.config.json': { mcpServers: servers } });
  const config = await loadConfig({ cwd: project.dir, env: {} });
  const token = {
    token: 'the-token-0123456789',
    from: 'file',
    file: '/state/http-token',
    made,
  } as const;
  const said = httpBanner({
    url: URL,
    token,
    showToken,
    config,
    variant,
    goesWithLast,
    isTerminal,
    platform,
  });
  return {
    file: project.path('switchboard.config.json'),
    data: said.data,
    text: said.text(plainStyle),
    remark: said.remark,
  };
}

interface Asked {
  readonly variant: CliVariant;
  readonly showToken: boolean;
  readonly goesWithLast: boolean;
  readonly made: boolean;
  readonly isTerminal: boolean;
  readonly platform: NodeJS.Platform;
}

test('a variable is set as the shells of the system do it', async () => {
  expect((await announced({})).text).toContain('\n  export SWITCHBOARD_HTTP_TOKEN=<token>\n');
  const { text } = await announced({}, { platform: 'win32' });
  expect(text).toContain('\n  $env:SWITCHBOARD_HTTP_TOKEN = "<token>"\n');
});

test('it names both addresses alike, the configuration and its servers, and where the token is', async () => {
  const servers = { memory: { command: 'x' }, far: { url: 'http://x' }, lost: { command: '${NOT_SET}' } };
  const { file, text, data, remark } = await announced(servers);
  expect(text).toContain(`switchboard serves MCP at ${URL}\n  older clients: http://127.0.0.1:80/sse\n`);
  expect(text).toContain(`  configuration: ${file} (2 servers: memory, far; skipped: lost)\n`);
  expect(text).toContain('  token: /state/http-token (--show-token adds it to the entries below)\n');
  expect(text).toContain(`  ${URL}\n  Authorization: Bearer <token>\n`);
  expect(data).toMatchObject({
    url: URL,
    sse: 'http://127.0.0.1:80/sse',
    health: 'http://127.0.0.1:80/healthz',
    config: file,
    servers: ['memory', 'far'],
    skipped: ['lost'],
    endsWithLastClient: false,
  });
  expect(remark).toBeUndefined();
  expect(text + JSON.stringify(data)).not.toContain('the-token');
});

test('a new token is shown to a person, and never to what may be a log', async () => {
  const { text, data } = await announced({}, { made: true });
  expect(text + JSON.stringify(data)).not.toContain('the-token');
  expect(text).toContain('  token: /state/http-token, just created (--show-token ');
  expect((await announced({}, { made: true, isTerminal: true })).text).toContain(
    'Bearer the-token-0123456789',
  );
  expect((await announced({}, { isTerminal: true })).text).not.toContain('the-token');
});

test('without any server it says so, with the next step', async () => {
  const { file, text, remark } = await announced({});
  expect(text).toContain(`configuration: ${file} (no servers)\n`);
  expect(remark).toMatch(
    /^switchboard: No server is configured\. `switchboard init` .*; `switchboard add NAME/,
  );
});

test('mcp-proxy-server says when it ends', async () => {
  const servers = { memory: { command: 'x' } };
  const goes = await announced(servers, { variant: mcpProxyServer, goesWithLast: true });
  expect(goes.text).toContain(
    'It stops when its last client disconnects; KEEP_SERVER_OPEN=1 keeps it running.',
  );
  const stays = await announced(servers, { variant: mcpProxyServer });
  expect(stays.text).toContain('It keeps running when its last client disconnects');
  expect((await announced(servers)).text).not.toContain('last client');
});
