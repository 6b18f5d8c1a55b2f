/** mcpmux: remove_server and reload_server. */
import { chmodSync, rmSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import {
  changesBy,
  failed,
  MANAGEMENT_TOOLS,
  SERVER_WITHOUT_TOOLS,
  startMux,
  waitForNotifications,
  type ListedServer,
} from '../helpers/management.ts';
import { ownTools, swappable } from '../helpers/mcpmux.ts';
import { alive, processesWith } from '../helpers/processes.ts';
import { responseText, startClient, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('remove_server', () => {
  test('takes the server and its tools away at once, though its process takes five seconds to end', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const server = { ...nodeServer('stubborn'), env: { TEST_SERVER_JOURNAL: journal } };
    const { pid } = await mux.added('tough', server);
    await mux.added('other', nodeServer('echo', '--tools=echo'));
    await mux.changed(2);
    const begin = performance.now();
    const removing = mux.remove('tough');
    await mux.changed(3);
    expect(performance.now() - begin).toBeLessThan(1000);
    expect((await mux.servers()).map(({ name }) => name)).toEqual(['other']);
    expect(await ownTools(mux)).toEqual(['other__echo']);
    expect(responseText(await mux.client.call('tough__echo'))).toContain(`'tough' was removed`);
    expect(responseText(await mux.reload('tough'))).toContain('No server named "tough"');
    expect(alive(pid)).toBe(true);
    // Its name is free; the new one starts when the old one is gone.
    const again = mux.add('tough', { ...nodeServer('echo'), env: { TEST_SERVER_JOURNAL: journal } });
    expect(failed(await removing)).toBe(false);
    const took = performance.now() - begin;
    expect(alive(pid)).toBe(false);
    expect(took).toBeGreaterThan(4500);
    expect(took).toBeLessThan(7000);
    expect(failed(await again)).toBe(false);
    const events = readJournal(journal).map((entry) => `${entry.event} ${entry.signal ?? ''}`.trim());
    // First its stdin is closed, then it is asked, and only then killed.
    expect(events.filter((event) => event !== 'message')).toEqual([
      'start',
      'stdin-end',
      'ignored SIGTERM',
      'start',
    ]);
    // One change for the removal, one for the new one: it may be told before or after the answer to the addition.
    await mux.changed(4);
    expect(mux.changes()).toBe(4);
  });

  test('lets calls that run finish, and fails those that take too long, with the reason', async () => {
    const mux = await startMux();
    await mux.added('slow', nodeServer('slow'));
    const short = mux.client.call('slow__slow_echo', { text: 'short', ms: 300 });
    const long = mux.client.call('slow__hang');
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('2');
    const removing = mux.remove('slow');
    expect(textOf(await short)).toBe('short');
    expect(responseText(await long)).toMatch(
      /'hang' of server 'slow' was not answered: Server 'slow' was removed/,
    );
    expect(failed(await removing)).toBe(false);
    await until(() => processesWith(mux.client.marker).length === 1, { what: 'only the gateway to be left' });
  });

  test('ends one that has crashed, and one that was never used', async () => {
    const mux = await startMux();
    await mux.added('dead', nodeServer('crash'));
    await mux.added('idle', nodeServer('echo'));
    await mux.client.call('dead__crash');
    await mux.serverOnce('dead', 'crashed');
    for (const name of ['dead', 'idle'])
      expect(responseText(await mux.remove(name))).toContain(`Removed ${name}`);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });
});

test.each(['remove_server', 'reload_server'])('%s of an unknown name says which there are', async (tool) => {
  const mux = await startMux();
  const refused = async (args: object): Promise<string> => {
    const response = await mux.client.call(tool, args);
    expect(failed(response)).toBe(true);
    return responseText(response);
  };
  expect(await refused({ name: 'alpha' })).toMatch(/No server named "alpha"\. No server is configured/);
  await mux.added('alpha', SERVER_WITHOUT_TOOLS);
  await mux.added('omega', SERVER_WITHOUT_TOOLS);
  expect(await refused({ name: 'alhpa' })).toMatch(/No server named "alhpa"\. Did you mean "alpha"\?/);
  expect(await refused({ name: 'quite another' })).toContain('Available: alpha, omega.');
  expect(await refused({})).toMatch(/name is required/);
  expect((await mux.servers()).map(({ status }) => status)).toEqual(['running', 'running']);
});

describe('reload_server', () => {
  test('starts the same command in the same place with the same environment; then the old one ends', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const folder = mux.project.write('folder/.keep', '').replace('/.keep', '');
    const env = { TEST_SERVER_JOURNAL: journal, OWN: 'kept' };
    const before = await mux.added('echo', { ...nodeServer('echo', '--extra=1'), env, cwd: folder });
    const response = await mux.reload('echo');
    const after: ListedServer = response.result.structuredContent.server;
    expect(after).toEqual({ ...before, pid: after.pid });
    expect(after.pid).not.toBe(before.pid);
    expect(JSON.parse(textOf(await mux.client.call('echo__whoami')))).toMatchObject({
      pid: after.pid,
      args: ['--extra=1'],
      cwd: folder,
    });
    expect(JSON.parse(textOf(await mux.client.call('echo__env', { name: 'OWN' }))).value).toBe('kept');
    await until(() => !alive(before.pid), { what: 'the old process to be gone' });
    expect(livesIn(journal)).toEqual([
      ['start', before.pid],
      ['start', after.pid],
      ['exit', before.pid],
    ]);
  });

  test('with stop_first starts the new one when the old one is gone', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const env = { TEST_SERVER_JOURNAL: journal };
    const before = await mux.added('echo', { ...nodeServer('echo'), env });
    const response = await mux.reload('echo', { stop_first: true });
    const { pid } = response.result.structuredContent.server;
    expect(livesIn(journal)).toEqual([
      ['start', before.pid],
      ['exit', before.pid],
      ['start', pid],
    ]);
    expect(responseText(await mux.reload('echo', { stop_first: 'yes' as never }))).toContain(
      'stop_first must be true or false',
    );
  });

  test('that fails keeps the old process, which answers as before; the answer and the list say why', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    const { pid } = await mux.added('dev', server);
    const before = mux.changes();
    for (const broken of ['close-early', 'bad-list']) {
      become(broken);
      const response = await mux.reload('dev');
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(
        /'dev' was not reloaded, and its old process keeps running\. .*(missing API key|the catalogue is on fire).*"stop_first": true/s,
      );
      expect(await mux.server('dev')).toMatchObject({
        status: 'running',
        pid,
        error: expect.stringContaining('was not reloaded'),
      });
      expect(textOf(await mux.client.call('dev__pid'))).toBe(String(pid));
    }
    await until(() => processesWith(mux.client.marker).length === 2, { what: 'only one process to be left' });
    become('echo-v2');
    expect(failed(await mux.reload('dev'))).toBe(false);
    expect(await mux.server('dev')).not.toHaveProperty('error');
    expect(await mux.tools()).toContain('dev__reverse');
    expect(mux.changes()).toBeGreaterThan(before);
  });

  test('of a command that is not there any more keeps the old process', async () => {
    const mux = await startMux();
    const program = mux.project.write('server.sh', '#!/bin/sh\nexec "$@"\n');
    chmodSync(program, 0o755);
    const { command, args } = nodeServer('echo');
    const { pid } = await mux.added('dev', { command: program, args: [command, ...args] });
    rmSync(program);
    expect(responseText(await mux.reload('dev'))).toMatch(/was not reloaded.*server\.sh/s);
    expect(textOf(await mux.client.call('dev__pid'))).toBe(String(pid));
  });

  test('of a server that cannot run twice keeps the old one, and with stop_first starts it again', async () => {
    const mux = await startMux();
    const lock = mux.project.path('lock');
    const { pid } = await mux.added('single', nodeServer('single', `--lock=${lock}`));
    const response = await mux.reload('single');
    expect(responseText(response)).toMatch(/the lock is taken.*pass "stop_first": true to reload_server/s);
    expect(textOf(await mux.client.call('single__pid'))).toBe(String(pid));
    const again = await mux.reload('single', { stop_first: true });
    expect(again.result.structuredContent.server.pid).not.toBe(pid);
    expect(textOf(await mux.client.call('single__pid'))).not.toBe(String(pid));
  });

  test('is one change to the client', async () => {
    const mux = await startMux();
    await mux.added('echo', nodeServer('echo'));
    // Not in the moment after another change, with which it would be told.
    await waitForNotifications(mux);
    expect(await changesBy(mux, () => mux.reload('echo'))).toBe(1);
    expect(await changesBy(mux, () => mux.reload('echo'))).toBe(1);
  });

  test('lists tools and schemas again; missing ones are explained', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo-v2');
    await mux.added('dev', server);
    expect(await mux.tools()).toContain('dev__reverse');
    become('crash');
    await mux.reload('dev');
    expect(await ownTools(mux)).toEqual([
      'dev__crash',
      'dev__crash_after',
      'dev__echo',
      'dev__pid',
      'dev__canary',
    ]);
    expect(responseText(await mux.client.call('dev__reverse', { text: 'abc' }))).toMatch(
      /"dev__reverse" is no longer available: its server 'dev' no longer has it\. Call tools\/list/,
    );
    become('progress');
    await mux.reload('dev');
    const direct = startClient(nodeServer('progress'));
    await direct.initialize();
    const listed = (await mux.client.listTools()).filter(({ name }) => name.startsWith('dev__'));
    expect(listed.map(({ inputSchema }) => inputSchema)).toEqual(
      (await direct.listTools()).map(({ inputSchema }) => inputSchema),
    );
  });

  test('that stopped the old one first and fails keeps the server, crashed, with the reason and its command; it can be tried again', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    const env = { OWN: 'kept' };
    await mux.added('dev', { ...server, env });
    become('close-early');
    for (let round = 1; round <= 2; round++) {
      const response = await mux.reload('dev', { stop_first: true });
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(
        /'dev' exited with code 0\. It wrote: "close-early: missing API key/,
      );
      expect(await mux.server('dev')).toEqual({
        name: 'dev',
        ...server,
        status: 'crashed',
        tools: [],
        pid: 0,
        uptime_seconds: 0,
        error: expect.stringContaining('missing API key'),
      });
      expect(responseText(await mux.client.call('dev__echo', { text: 'x' }))).toMatch(
        /'dev' has crashed.*missing API key.*reload_server \{"name":"dev"\}/,
      );
    }
    expect(responseText(await mux.add('dev', server))).toContain('"dev" already');
    become('echo');
    expect(failed(await mux.reload('dev'))).toBe(false);
    expect(JSON.parse(textOf(await mux.client.call('dev__env', { name: 'OWN' }))).value).toBe('kept');
  });

  test('of a server that was stopped first, starts and cannot be listed leaves it crashed, too, with nothing running', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    await mux.added('dev', server);
    become('bad-list');
    expect(responseText(await mux.reload('dev', { stop_first: true }))).toContain('the catalogue is on fire');
    expect(await mux.server('dev')).toMatchObject({
      status: 'crashed',
      tools: [],
      pid: 0,
      error: expect.stringContaining('the catalogue is on fire'),
    });
    await until(() => processesWith(mux.client.marker).length === 1, { what: 'only the gateway to be left' });
    become('echo');
    expect(failed(await mux.reload('dev'))).toBe(false);
  });

  test('that stopped the old one first and fails is told once: the tools are gone', async () => {
    const mux = await startMux();
    const { become, server } = swappable(mux.project, 'echo');
    await mux.added('dev', server);
    await waitForNotifications(mux);
    become('close-early');
    expect(await changesBy(mux, () => mux.reload('dev', { stop_first: true }))).toBe(1);
    expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
  });

  test('lets calls that run finish; until the new one has started, the old one takes new calls', async () => {
    const mux = await startMux();
    const gate = mux.project.path('gate');
    const server = nodeServer('named', '--name=dev');
    const wrapped = `while [ -e "${gate}" ]; do sleep 0.05; done; exec "$@"`;
    const { command, args } = server;
    const { pid } = await mux.added('dev', {
      command: 'sh',
      args: ['-c', wrapped, 'sh', command, ...args],
    });
    const running = mux.client.call('dev__who', { tag: 'running', ms: 800 });
    mux.project.write('gate', '');
    const reloading = mux.reload('dev');
    expect(textOf(await mux.client.call('dev__who', { tag: 'meanwhile', ms: 0 }))).toContain(String(pid));
    expect(await mux.server('dev')).toMatchObject({ status: 'running', pid });
    rmSync(gate);
    const after: ListedServer = (await reloading).result.structuredContent.server;
    expect(after.pid).not.toBe(pid);
    expect(textOf(await running)).toContain(String(pid));
    expect(textOf(await mux.client.call('dev__who', { tag: 'after', ms: 0 }))).toContain(String(after.pid));
  });

  test('with stop_first lets calls that run finish; meanwhile the server is starting, and new calls wait for the new one', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('echo', nodeServer('echo'));
    const running = mux.client.call('echo__slow_echo', { text: 'finished', ms: 800 });
    await mux.client.call('echo__canary');
    const reloading = mux.reload('echo', { stop_first: true });
    await mux.serverOnce('echo', 'starting');
    const next = mux.client.call('echo__pid');
    expect(textOf(await running)).toBe('finished');
    const after: ListedServer = (await reloading).result.structuredContent.server;
    expect(after.pid).not.toBe(pid);
    expect(textOf(await next)).toBe(String(after.pid));
  });
});

/** The starts and ends of processes, in the order they happened. */
function livesIn(journal: string): [string, number][] {
  return readJournal(journal)
    .filter(({ event }) => event === 'start' || event === 'exit')
    .map(({ event, pid }) => [event, pid]);
}
