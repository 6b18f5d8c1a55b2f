/** The built programs with real servers behind them, on Windows and elsewhere. */
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { failed, startMux } from '../helpers/management.ts';
import { alive } from '../helpers/processes.ts';
import { responseText, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, npmServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { batchFile, httpSession, importing, isWindows, npmShim } from './machine.ts';

/** Starting a server takes several times longer in Wine. */
const PATIENT = { deadline: 45_000 };

test('real servers are listed, introspected and called, as suites and flat', async () => {
  const files = createProject({ 'a file.txt': 'what it says\r\n' });
  const { client, call, introspect } = await startGateway(
    {
      everything: npmServer('everything'),
      memory: { ...npmServer('memory'), env: { MEMORY_FILE_PATH: files.path('memory.jsonl') } },
      files: { ...npmServer('filesystem', files.dir), exposure: 'flat' },
    },
    PATIENT,
  );
  const wanted = ['everything_suite', 'memory_suite', 'files__read_text_file'];
  await until(
    async () => {
      const names = (await client.listTools()).map(({ name }) => String(name));
      return wanted.every((name) => names.includes(name));
    },
    // The first list does not wait for a server that takes long to start.
    { ...PATIENT, every: 500, what: 'the tools of all three' },
  );
  expect(textOf(await introspect('everything'))).toContain('echo');
  expect(textOf(await call('everything', 'echo', { message: 'hällo' }))).toContain('hällo');
  const entities = [{ name: 'Ada', entityType: 'person', observations: ['counts'] }];
  await call('memory', 'create_entities', { entities });
  expect(textOf(await call('memory', 'read_graph'))).toContain('counts');
  const read = await client.call('files__read_text_file', { path: files.path('a file.txt') });
  expect(textOf(read)).toBe('what it says\r\n');
  expect((await client.close()).code).toBe(0);
});

test.runIf(isWindows)(
  'servers start by the .cmd files that npm installs, by npx and by batch files',
  async () => {
    const bin = createProject();
    const require = createRequire(import.meta.url);
    const manifest = require.resolve('@modelcontextprotocol/server-everything/package.json');
    const program = (JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> }).bin;
    const everything = join(dirname(manifest), program['mcp-server-everything'] ?? '');
    npmShim(bin, 'mcp-server-everything', importing(everything));
    const batch = batchFile(bin, 'a tool', importing(nodeServer('echo').args[0] ?? ''));
    const { call, client } = await startGateway(
      {
        installed: {
          command: 'mcp-server-everything',
          args: [],
          env: { PATH: `${bin.path('bin')};${process.env['PATH'] ?? ''}` },
        },
        batch: { command: batch, args: ['a & b'] },
      },
      PATIENT,
    );
    expect(textOf(await call('installed', 'echo', { message: 'one' }))).toContain('one');
    expect(textOf(await call('batch', 'echo', { text: 'two' }))).toContain('two');
    expect((await client.close()).code).toBe(0);
  },
);

test('a command that does not exist is told of, and the other servers work', async () => {
  const { call } = await startGateway(
    { gone: { command: 'no-such-command', args: [] }, echo: nodeServer('echo') },
    PATIENT,
  );
  expect(responseText(await call('gone', 'echo'))).toContain('command not found: "no-such-command"');
  expect(textOf(await call('echo', 'echo', { text: 'here' }))).toContain('here');
});

test('a server that crashes is told of and starts again', async () => {
  const { call } = await startGateway({ crash: nodeServer('crash') }, PATIENT);
  const first = textOf(await call('crash', 'pid'));
  expect((await call('crash', 'crash')).result?.isError).toBe(true);
  await until(
    async () => {
      const again = await call('crash', 'pid');
      return again.result?.isError !== true && textOf(again) !== first;
    },
    { deadline: 45_000, every: 200, what: 'the server to run again' },
  );
});

test('a call that takes too long is ended, and its server lives on', async () => {
  const { call } = await startGateway(
    { slow: { ...nodeServer('slow'), timeouts: { rpcMs: 2000, callMaxMs: 3000 } } },
    PATIENT,
  );
  const pid = textOf(await call('slow', 'pid'));
  expect((await call('slow', 'hang')).result?.isError).toBe(true);
  expect(textOf(await call('slow', 'pid'))).toBe(pid);
});

test('over HTTP, tools are listed and called', async () => {
  const request = await httpSession(await startHttpGateway({ echo: nodeServer('echo') }));
  expect(await request('tools/list', {})).toContain('echo_suite');
  const params = { name: 'echo_suite', arguments: { action: 'call', subtool: 'echo', args: { text: 'ää' } } };
  expect(await request('tools/call', params)).toContain('ää');
});

test('servers are added, reloaded and removed while it runs', async () => {
  const mux = await startMux(PATIENT);
  const { pid } = await mux.added('one', nodeServer('echo', '--tools=echo'));
  expect(await mux.tools()).toContain('one__echo');
  expect(failed(await mux.reload('one'))).toBe(false);
  const again = await mux.serverOnce('one', 'running');
  expect(again.pid).not.toBe(pid);
  await until(() => !alive(pid), { deadline: 30_000, what: 'the first process to end' });
  expect(failed(await mux.remove('one'))).toBe(false);
  expect(alive(again.pid)).toBe(false);
  expect(await mux.tools()).not.toContain('one__echo');
});
