import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { startAuthServer, type AuthServer } from '../../../../test/servers/auth-server.mjs';
import { createApp } from '../../../app/index.ts';
import { loadConfig } from '../../../config/index.ts';
import { createLogger } from '../../../shared/log.ts';
import { parseArguments } from '../../kit/arguments.ts';
import type { CommandOutcome } from '../../kit/command.ts';
import type { Context } from '../command.ts';
import { switchboard } from '../variants.ts';
import { plainStyle } from '../../kit/style.ts';
import { authCommand } from './auth.ts';

let directory: string;
let server: AuthServer;
let stderr: string;
let logged: string[];
/** Additional environment variables. */
let elsewhere: Record<string, string>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'switchboard-auth-command-'));
  server = await startAuthServer();
  stderr = '';
  logged = [];
  elsewhere = {};
});
afterEach(async () => {
  vi.restoreAllMocks();
  await server.close();
  rmSync(directory, { recursive: true, force: true });
});

const stopping = new AbortController();

async function run(line: string, signal = stopping.signal): Promise<CommandOutcome> {
  const env = {
    SWITCHBOARD_STATE_DIR: join(directory, 'state'),
    NOTES_KEY: 'secret-in-header',
    ...elsewhere,
  };
  const log = createLogger({ level: 'debug', program: 'test', write: (text) => logged.push(text) });
  const context: Context = {
    variant: switchboard,
    cwd: directory,
    env,
    log,
    status: { visible: false, show: () => undefined, clear: () => undefined },
    stop: signal,
    loadConfig: () => loadConfig({ cwd: directory, env }),
    open: (config) => createApp({ config, log, stderr: () => undefined, env }),
    runQuietly: () => Promise.reject(new Error('not here')),
    unseenOutput: () => [],
  };
  const words = line.split(' ').filter((word) => word !== '');
  const outcome = await authCommand.run(parseArguments(words, authCommand.flags), context);
  return { exitCode: 0, ...outcome };
}

function configure(more: object = {}): void {
  const mcpServers = {
    notes: { type: 'http', url: server.url },
    local: { command: 'node', args: ['x.js'] },
    keyed: { type: 'http', url: server.url, headers: { authorization: 'Bearer ${NOTES_KEY}' } },
    plain: { type: 'http', url: server.url, oauth: false },
    ...more,
  };
  writeFileSync(join(directory, 'switchboard.config.json'), JSON.stringify({ mcpServers }));
}

/** Simulates a person who follows the first printed address. */
function followPrintedAddress(): void {
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    stderr += String(text);
    const [, address] = /^ {2}(http\S+)$/m.exec(String(text)) ?? [];
    if (address !== undefined) void fetch(address).then((answer) => answer.text());
    return true;
  });
}

test('a person logs in by the address that is printed, sees it in the list, and logs out', async () => {
  configure();
  followPrintedAddress();
  const done = await run('notes --no-browser');
  expect(done.exitCode).toBe(0);
  expect(done.text(plainStyle).replace(/\d+ min/, 'N min')).toBe(
    `Logged in to notes (issuer ${server.origin}), scope read write, expires in N min, renewed automatically.\n`,
  );
  expect(done.data).toMatchObject({
    server: 'notes',
    kind: 'logged-in',
    issuer: server.origin,
    renewable: true,
  });
  expect(stderr).toContain(`${server.origin}/authorize?`);
  expect(stderr).toMatch(/ssh -L (\d+):127\.0\.0\.1:\1 /);
  expect(stderr).toContain('Waiting for up to 5 min.');
  const list = await run('');
  expect(list.text(plainStyle)).toMatch(
    /notes +logged in, \d+ min left, renewed automatically +http.*\n.*keyed +not needed: Authorization header is set.*\n.*plain +disabled/,
  );
  expect(list.data).toMatchObject({
    servers: [
      { name: 'notes', login: { kind: 'logged-in', scope: 'read write' } },
      { name: 'keyed', login: { kind: 'header' } },
      { name: 'plain', login: { kind: 'off' } },
    ],
  });
  const out = await run('notes --logout');
  expect((await run('')).text(plainStyle)).toMatch(/notes +not logged in +–/);
  expect(out.text(plainStyle)).toBe('Logged out of notes.\n');
  expect(out.data).toEqual({ server: 'notes', removed: true, revoked: true });
  expect((await run('notes --logout')).text(plainStyle)).toBe('You were not logged in to notes.\n');
  expect(readdirSync(join(directory, 'state', 'auth'))).toEqual([]);
  const everything = [stderr, ...logged, JSON.stringify([done, list, out].map(({ data }) => data))].join('');
  for (const secret of [...server.issued, 'secret-in-header']) expect(everything).not.toContain(secret);
});

test('an issuer that takes nothing back is a remark, not a failure', async () => {
  server.settings.revocation = false;
  configure();
  followPrintedAddress();
  await run('notes --no-browser');
  const out = await run('notes --logout');
  expect(out.exitCode).toBe(0);
  expect(out.remark).toContain('was not notified');
});

test('where no browser can be opened it is as with --no-browser', async () => {
  configure();
  followPrintedAddress();
  elsewhere = { SSH_CONNECTION: '192.0.2.1 50000 192.0.2.2 22' };
  expect((await run('notes')).exitCode).toBe(0);
  expect(stderr).toMatch(/^Log in to notes here:/m);
  expect(stderr).toMatch(/ssh -L /);
});

test('a server that asks for no login is good news', async () => {
  // It does not describe a login either.
  const open = createServer(({ url: path }, response) => {
    response.writeHead(path === '/mcp' ? 200 : 404, { 'content-type': 'application/json' }).end('{}');
  });
  await new Promise<void>((listening) => void open.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(open.address() as AddressInfo).port}/mcp`;
  try {
    configure({ open: { url } });
    const done = await run('open --no-browser');
    expect(done).toMatchObject({ exitCode: 0, data: { server: 'open', kind: 'not-needed' } });
    expect(done.text(plainStyle)).toBe('open does not require a login.\n');
  } finally {
    open.closeAllConnections();
    await new Promise((closed) => open.close(closed));
  }
  // The server is no longer running.
  await expect(run('open --no-browser')).rejects.toMatchObject({
    code: 'AUTH_UNREACHABLE',
    message: `Server 'open' cannot be reached at ${url}: connection refused.`,
  });
});

test('a server that is not available is reported with the reason', async () => {
  configure({ lost: { url: 'https://${NOT_SET_ANYWHERE}/mcp' } });
  await expect(run('lost')).rejects.toMatchObject({
    code: 'SERVER_UNUSABLE',
    message: expect.stringMatching(
      /^The server "lost" is not available:\n.*mcpServers\.lost\.url: .*NOT_SET_ANYWHERE is not set/,
    ) as string,
  });
});

test('a refused login is a failure that says so', async () => {
  server.settings.deny = 'access_denied';
  configure();
  followPrintedAddress();
  await expect(run('notes --no-browser')).rejects.toMatchObject({ code: 'AUTH_DENIED' });
});

test('a login stops when the person stops the command', async () => {
  configure();
  const stop = new AbortController();
  vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
    if (String(text).includes('/authorize?')) stop.abort();
    return true;
  });
  await expect(run('notes --no-browser', stop.signal)).rejects.toMatchObject({ code: 'AUTH_STOPPED' });
});

test.each([
  ['note', 'SERVER_UNKNOWN', 'Did you mean "notes"'],
  ['local', 'USAGE', 'env'],
  ['keyed', 'USAGE', 'header'],
  ['plain', 'USAGE', 'oauth'],
  ['notes other', 'USAGE', 'auth notes'],
  ['--logout', 'USAGE', 'auth linear'],
])('%s is a mistake, and the next step is named', async (line, code, hint) => {
  configure();
  await expect(run(line)).rejects.toMatchObject({ code, hint: expect.stringContaining(hint) });
  expect(server.requests).toEqual([]);
});

test('where no server is remote the list says so', async () => {
  writeFileSync(
    join(directory, 'switchboard.config.json'),
    JSON.stringify({ mcpServers: { local: { command: 'node' } } }),
  );
  expect((await run('')).text(plainStyle)).toContain('No remote server');
});
