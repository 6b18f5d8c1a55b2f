/** A machine for pictures of the console: two gateways with real servers and clients, hosts, and a Switchyard project. */
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from './bundle.mjs';

const PROGRAM = join(ROOT, 'dist/index.js');
const SWITCHYARD = join(ROOT, 'dist/switchyard.js');

/** Builds the scene and starts the console. `end` removes everything again. */
export async function createScene() {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'sam-')));
  const write = (file, content) => {
    const path = join(home, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
  };
  const env = {
    PATH: `${join(home, '.local/bin')}${delimiter}${process.env.PATH}`,
    HOME: home,
    SWITCHBOARD_STATE_DIR: join(home, '.state'),
    SWITCHYARD_HOME: join(home, '.switchyard'),
    SWITCHBOARD_ALLOW_PROJECT: '1',
    GIT_AUTHOR_NAME: 'Sam',
    GIT_AUTHOR_EMAIL: 'sam@example.com',
    GIT_COMMITTER_NAME: 'Sam',
    GIT_COMMITTER_EMAIL: 'sam@example.com',
  };
  const ends = [];
  const end = async () => {
    for (const each of ends.reverse()) await each();
    rmSync(home, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  };
  try {
    const login = await loginWanted();
    ends.push(login.close);
    writeConfigurations(write, home, login.url);
    await startYard(join(home, 'shop'), env, ends);
    const [code, notes] = await Promise.all([
      connect(join(home, 'shop'), 'claude-code', '2.1.4', env),
      connect(join(home, 'notes'), 'cursor', '1.9.2', env),
    ]);
    ends.push(() => Promise.all([code.close(), notes.close()]));
    const page = await startConsole(env, ends);
    return { page, work: () => work(home, code, notes), end };
  } catch (error) {
    await end();
    throw error;
  }
}

function writeConfigurations(write, home, login) {
  const writeProgram = (name, script) => {
    write(`.local/bin/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(join(home, '.local/bin', name), 0o755);
  };
  // As if installed, so that no path of this repository appears in the pictures.
  for (const name of ['filesystem', 'memory', 'everything'])
    writeProgram(`mcp-server-${name}`, `exec node '${programOf(name)}' "$@"`);
  writeProgram('report-server', `exec node '${join(ROOT, 'test/servers/slow-start.mjs')}' "$@"`);
  writeProgram('postgres-mcp', `echo 'connect ECONNREFUSED 127.0.0.1:5432' >&2; exit 1`);
  const npm = (name, ...args) => ({ command: `mcp-server-${name}`, args });
  write('shop/README.md', '# Shop\n\nA small shop.\n\n- `web` is the page\n- `api` answers it\n');
  write(
    'shop/docs/orders.md',
    '# Orders\n\nAn order has lines. Each line has a product and a **quantity**.\n',
  );
  write('shop/switchboard.config.json', {
    mcpServers: {
      filesystem: npm('filesystem', join(home, 'shop')),
      memory: { ...npm('memory'), env: { MEMORY_FILE_PATH: join(home, 'memory.json') } },
      everything: { ...npm('everything'), exposure: 'flat' },
      postgres: { command: 'postgres-mcp', args: ['--database', 'shop'] },
      tracker: { type: 'http', url: login },
      browser: { command: 'npx', args: ['-y', '@playwright/mcp'], disabled: true },
      reports: { command: 'report-server', args: [] },
    },
  });
  write('notes/switchboard.config.json', {
    mcpServers: {
      notes: npm('filesystem', join(home, 'notes')),
      recall: { ...npm('memory'), env: { MEMORY_FILE_PATH: join(home, 'recall.json') } },
    },
  });
  write('.claude.json', { mcpServers: { switchboard: { command: 'switchboard', args: ['--stdio'] } } });
  write('.cursor/mcp.json', {
    mcpServers: {
      memory: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
      fetch: { command: 'uvx', args: ['mcp-server-fetch'] },
    },
  });
  write(
    '.codex/config.toml',
    '[mcp_servers.context7]\ncommand = "npx"\nargs = ["-y", "@upstash/context7-mcp"]\n',
  );
}

function programOf(name) {
  const manifest = createRequire(import.meta.url).resolve(
    `@modelcontextprotocol/server-${name}/package.json`,
  );
  return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin[`mcp-server-${name}`]);
}

/** A remote server that requires a login. */
async function loginWanted() {
  const server = createServer((request, response) => {
    const { port } = server.address();
    const origin = `http://127.0.0.1:${port}`;
    if (request.url === '/mcp')
      return response
        .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}/meta"` })
        .end();
    if (request.url === '/meta')
      return response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ resource: `${origin}/mcp`, authorization_servers: [origin] }));
    return response.writeHead(404).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

async function startYard(shop, env, ends) {
  const run = (...args) =>
    execFileSync(process.execPath, [SWITCHYARD, ...args], { cwd: shop, env, stdio: 'pipe' });
  const git = (...args) => execFileSync('git', args, { cwd: shop, env, stdio: 'pipe' });
  const service = (name) => `node ${join(ROOT, 'test/services', `${name}.mjs`)}`;
  writeFileSync(
    join(shop, 'switchyard.toml'),
    `[project]\nname = "shop"\n[ports]\nstart = 27400\nend = 27449\n[proxy]\nport = 27450\n` +
      `[services.web]\ncommand = '${service('pages')}'\nport = 27451\n` +
      `[services.api]\ncommand = '${service('plain-http')}'\nport = 27452\n` +
      `[services.worker]\ncommand = '${service('talks')}'\n`,
  );
  git('init', '-q', '-b', 'main');
  git('add', '.');
  git('commit', '-qm', 'Begin');
  ends.push(() => {
    attempt('down', 'main');
    attempt('down', 'faster-checkout');
    attempt('proxy', 'stop');
  });
  const attempt = (...args) => {
    try {
      run(...args);
    } catch (error) {
      console.error(`switchyard ${args.join(' ')}: ${String(error.stderr).trim()}`);
    }
  };
  attempt('create', 'faster-checkout');
  attempt('up', 'main', '--checkout');
  attempt('up', 'faster-checkout');
}

async function connect(cwd, name, version, env) {
  const client = new Client({ name, version });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [PROGRAM, '--stdio'],
      cwd,
      env,
      stderr: 'ignore',
    }),
  );
  return client;
}

async function startConsole(env, ends) {
  const child = spawn(process.execPath, [PROGRAM, 'console', '--no-open', '--json'], {
    cwd: env.HOME,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  ends.push(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.kill('SIGTERM')) await ended;
  });
  let said = '';
  for await (const chunk of child.stdout.setEncoding('utf8')) {
    said += chunk;
    if (said.trimEnd().endsWith('}')) break;
  }
  return JSON.parse(said);
}

/** What the clients do while the console watches. */
async function work(home, code, notes) {
  const call = (client, server, subtool, args = {}) =>
    client
      .callTool({ name: `${server}_suite`, arguments: { action: 'call', subtool, args } })
      .catch(() => undefined);
  const shop = (file) => join(home, 'shop', file);
  await Promise.all([call(code, 'postgres', 'query'), call(code, 'tracker', 'list')]);
  for (let turn = 0; turn < 6; turn += 1) {
    await call(code, 'filesystem', 'list_directory', { path: shop('.') });
    await Promise.all([
      call(code, 'filesystem', 'read_text_file', { path: shop('README.md') }),
      call(code, 'filesystem', 'read_text_file', { path: shop('docs/orders.md') }),
      call(code, 'filesystem', 'read_text_file', { path: shop('docs/missing.md') }),
      call(notes, 'notes', 'list_directory', { path: join(home, 'notes') }),
    ]);
    await call(code, 'memory', 'create_entities', {
      entities: [{ name: `order ${turn}`, entityType: 'order', observations: ['has two lines'] }],
    });
    await call(code, 'memory', 'search_nodes', { query: 'order' });
    await code.callTool({ name: 'everything__get-sum', arguments: { a: turn, b: 2 } }).catch(() => undefined);
    await call(notes, 'recall', 'read_graph');
    await sleep(turn === 2 ? 6_000 : 400);
  }
}
