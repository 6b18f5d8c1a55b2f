import { expect, test } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import { defineRuntimeServer, loadConfig } from '../config/index.ts';
import { Gateway, Session, type CatalogEntry, type Listing, type Source } from '../gateway/index.ts';
import { CLIENT_SHAPE, type JsonObject } from '../protocol/index.ts';
import { silentLogger } from '../shared/log.ts';
import { Message } from '../wire/index.ts';
import { ServerManager } from './server-manager.ts';
import { managementTools } from './tools.ts';

const NOTHING: Listing = { components: [], byKey: new Map(), incomplete: undefined };

/** A running server inside this process that offers nothing. */
function idleSource(name: string): Source {
  return {
    name,
    state: { kind: 'running', pid: 1, since: 0 },
    about: () => undefined,
    list: () => Promise.resolve(NOTHING),
    known: () => NOTHING,
    remembered: () => undefined,
    request: (_edits, call) => call.succeed({}),
    start: () => Promise.resolve(),
    ask: () => Promise.reject(new Error('asked nothing')),
    notify: () => undefined,
    listen: () => undefined,
    setIdleTimeout: () => undefined,
    fail: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

/** A server that never finishes starting. */
function hangingSource(name: string): Source {
  let stop = (): void => undefined;
  const start = new Promise<void>((_, reject) => {
    stop = () => reject(new Error('closed'));
  });
  start.catch(() => undefined);
  return {
    ...idleSource(name),
    state: { kind: 'starting' },
    start: () => start,
    close: () => {
      stop();
      return Promise.resolve();
    },
  };
}

async function open(mcpServers: object, starts = true): Promise<Gateway> {
  const project = createProject({ 'switchboard.config.json': { mcpServers } });
  const config = await loadConfig({ cwd: project.dir, env: { TOKEN: 's3cret' } });
  const build = ({ name }: { readonly name: string }): CatalogEntry => ({
    source: starts ? idleSource(name) : hangingSource(name),
    rules: { allows: () => true, overrides: new Map() },
    offers: new Set(['tools']),
    naming: 'prefixed',
    exposure: { needsTools: false, present: () => [] },
  });
  const gateway = new Gateway({ entries: config.servers.map(build) });
  const manager = new ServerManager({
    gateway,
    log: silentLogger,
    build,
    withPresentation: build,
    definitions: config.servers,
  });
  const tools = managementTools({
    manager,
    approval: 'auto',
    define: (name, entry) => defineRuntimeServer(name, entry, config),
    alwaysOn: false,
    callerMs: 50,
  });
  gateway.swap(gateway.catalog.entries, { overall: [tools] });
  return gateway;
}

/** The result of a call, or why it failed. */
function call(gateway: Gateway, name: string, args: object): Promise<string> {
  const request = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } };
  return new Promise((resolve) => {
    const session = new Session({
      congested: false,
      capabilities: {},
      whenDrained: () => undefined,
      forwardAnswer: () => undefined,
      forwardNotification: () => undefined,
      answer: (_call, result) => resolve(JSON.stringify(result)),
      answerText: (_call, text) => resolve(text),
      fail: (_call, error) => resolve(error.explained),
      notify: () => undefined,
      ask: () => 0,
      withdraw: () => undefined,
    });
    gateway.join(session);
    gateway.handle(session.open(Message.from(request, CLIENT_SHAPE), request.method));
  });
}

test('list_servers returns commands and addresses as they were written', async () => {
  const gateway = await open({
    near: { command: 'node', args: ['${TOKEN}'] },
    far: { url: 'https://me:${TOKEN:-x}@x.test/mcp?key=abc', headers: { Authorization: '${TOKEN}' } },
  });
  const said = await call(gateway, 'list_servers', {});
  expect(said).not.toContain('s3cret');
  const { structuredContent } = JSON.parse(said) as { structuredContent: { servers: JsonObject[] } };
  expect(structuredContent.servers).toMatchObject([
    { name: 'near', command: 'node', args: ['${TOKEN}'], status: 'running' },
    { name: 'far', command: '', args: [], url: 'https://***@x.test/mcp?key=***', status: 'running' },
  ]);
  expect(structuredContent.servers[0]).not.toHaveProperty('url');
});

test('add_server takes programs only, and says where addresses go', async () => {
  const said = await call(await open({}), 'add_server', { name: 'far', url: 'https://x.test' });
  expect(said).toContain('Only programs can be added');
  expect(said).toContain('configuration');
});

test('add_server and reload_server answer before their caller gives up', async () => {
  const gateway = await open({ slow: { command: 'node' } }, false);
  const added = await call(gateway, 'add_server', { name: 'late', command: 'node' });
  expect(JSON.parse(added)).toMatchObject({
    content: [{ text: expect.stringContaining('Added late. It is still starting') }, {}],
    structuredContent: { server: { name: 'late', tools: [] } },
  });
  const reloading = call(gateway, 'reload_server', { name: 'slow' });
  // Simulates a busy machine: the answer is late, and says so.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  const reloaded = await reloading;
  const told = /Server 'slow' is still starting after (\d+\.\d) s\. It continues to start/.exec(reloaded);
  expect(Number(told?.[1])).toBeGreaterThanOrEqual(0.3);
  expect(gateway.catalog.entries.map(({ source }) => source.name)).toEqual(['slow', 'late']);
});

test('add_server takes a time limit, and nothing else in its place', async () => {
  const gateway = await open({});
  const wrong = await call(gateway, 'add_server', { name: 'a', command: 'node', timeout_ms: 'long' });
  expect(wrong).toContain('timeout_ms must be a whole number of milliseconds');
  await call(gateway, 'add_server', { name: 'a', command: 'node', timeout_ms: 90_000 });
  expect(gateway.catalog.entries.map(({ source }) => source.name)).toEqual(['a']);
});
