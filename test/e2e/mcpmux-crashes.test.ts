/** mcpmux: servers that crash, and its own end by a signal or the end of input. */
import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { changesBy, failed, MANAGEMENT_TOOLS, startMux } from '../helpers/management.ts';
import { ownTools } from '../helpers/mcpmux.ts';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { responseText, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('a crash', () => {
  test('by kill -9 is told within 100 ms, once, and takes only its own tools away', async () => {
    const mux = await startMux();
    await mux.added('spared', nodeServer('echo', '--tools=echo'));
    await mux.added('doomed', nodeServer('echo', '--tools=echo,pid'));
    await mux.changed(2);
    const took: number[] = [];
    // On a busy machine any one of them may be late for reasons of its own; the mechanism is as fast as the fastest.
    for (let round = 0; round < 3; round++) {
      const { pid } = await mux.server('doomed');
      const changes = await changesBy(mux, async () => {
        const before = mux.changes();
        process.kill(pid, 'SIGKILL');
        const killed = performance.now();
        await mux.changed(before + 1);
        took.push(performance.now() - killed);
        expect(await mux.server('doomed')).toMatchObject({ status: 'crashed', tools: [], pid: 0 });
        expect(await ownTools(mux)).toEqual(['spared__echo']);
      });
      expect(changes).toBe(1);
      const before = mux.changes();
      expect(failed(await mux.reload('doomed'))).toBe(false);
      await mux.changed(before + 1);
      expect(await ownTools(mux)).toEqual(['spared__echo', 'doomed__echo', 'doomed__pid']);
    }
    expect(Math.min(...took)).toBeLessThan(100);
    expect(textOf(await mux.client.call('spared__echo', { text: 'fine' }))).toBe('fine');
  });

  test('is not followed by a start, whatever is called', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    await mux.added('once', { ...nodeServer('crash'), env: { TEST_SERVER_JOURNAL: journal } });
    await mux.client.call('once__crash');
    await mux.serverOnce('once', 'crashed');
    for (let n = 0; n < 5; n++) expect(failed(await mux.client.call('once__echo', { text: 'x' }))).toBe(true);
    await mux.client.request('resources/list');
    await mux.client.request('prompts/list');
    mux.client.notify('notifications/roots/list_changed');
    // As long as it takes another one to come up.
    await mux.added('other', nodeServer('echo'));
    expect((await mux.server('once')).status).toBe('crashed');
    expect(readJournal(journal).filter(({ event }) => event === 'start')).toHaveLength(1);
  });

  test.each([
    ['an exit', nodeServer('crash', '--code=7'), 'crash', {}, /exited with code 7/],
    ['a signal', nodeServer('crash', '--signal=SIGSEGV'), 'crash', {}, /was ended by SIGSEGV/],
    ['a closed stdout', nodeServer('stdout-closer'), 'close', { stream: 'stdout' }, /closed its stdout/],
  ])(
    'during a call, by %s, is the answer to the call: who, why and what to do',
    async (_how, server, tool, args, why) => {
      const mux = await startMux();
      const { pid } = await mux.added('frail', server);
      const response = await mux.client.call(`frail__${tool}`, args);
      expect(failed(response)).toBe(true);
      expect(responseText(response)).toMatch(new RegExp(`'${tool}' of server 'frail' was not answered: `));
      expect(responseText(response)).toMatch(why);
      expect(responseText(response)).toContain('reload_server {"name":"frail"} brings it back');
      expect(await mux.serverOnce('frail', 'crashed')).toMatchObject({ error: expect.stringMatching(why) });
      await until(() => !alive(pid), { what: 'its process to be gone' });
    },
  );

  test('all calls that run are answered by it', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('slow', nodeServer('slow'));
    const calls = Array.from({ length: 20 }, () => mux.client.call('slow__hang'));
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('20');
    process.kill(pid, 'SIGKILL');
    for (const response of await Promise.all(calls))
      expect(responseText(response)).toMatch(/'slow'.*SIGKILL/);
  });

  test('is also that nobody can write to a server any more', async () => {
    const mux = await startMux();
    const { pid } = await mux.added('deaf', nodeServer('stdout-closer'));
    expect(textOf(await mux.client.call('deaf__close', { stream: 'pipe' }))).toBe('closed pipe');
    await until(() => !existsSync(`/proc/${pid}/fd/0`), { what: 'the pipe to be closed' });
    const response = await mux.client.call('deaf__echo', { text: 'x' });
    expect(failed(response)).toBe(true);
    expect(responseText(response)).toMatch(
      /server 'deaf' was not answered: Server 'deaf' closed its stdin.*reload_server/,
    );
    await mux.serverOnce('deaf', 'crashed');
    expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
    await until(() => !alive(pid), { what: 'its process to be gone' });
  });

  test('and a removal are explained to a host that kept its list, each with what to do', async () => {
    const mux = await startMux();
    await mux.added('gone', nodeServer('echo'));
    await mux.added('dead', nodeServer('crash'));
    const kept = await ownTools(mux);
    await mux.remove('gone');
    await mux.client.call('dead__crash');
    await mux.serverOnce('dead', 'crashed');
    for (const name of kept) {
      const { error } = await mux.client.call(name, { text: 'x' });
      expect(error?.code).toBe(-32602);
      expect(error?.message).toContain(`"${name}" is no longer available`);
      expect(error?.message).toMatch(
        name.startsWith('gone')
          ? /server 'gone' was removed\. add_server can add it again\. Call tools\/list/
          : /server 'dead' has crashed\. .*exited with code 1\..*reload_server \{"name":"dead"\} restores it/,
      );
    }
    // Added again, they are there as before.
    await mux.added('gone', nodeServer('echo'));
    expect(textOf(await mux.client.call('gone__echo', { text: 'back' }))).toBe('back');
    // And what never was there is only unknown.
    expect(responseText(await mux.client.call('gone__ecko'))).toMatch(
      /Unknown tool: "gone__ecko"\. Did you mean "gone__echo"/,
    );
    expect(responseText(await mux.client.call('list_server'))).toMatch(/Unknown tool.*"list_servers"/);
  });
});

describe('leaving', () => {
  test('ends every child: one that runs, one that ignores it, one that starts, one that is being removed', async () => {
    const mux = await startMux();
    await mux.added('echo', nodeServer('echo'));
    await mux.added('tough', nodeServer('stubborn'));
    await mux.added('removed', nodeServer('stubborn'));
    const removing = mux.remove('removed');
    const adding = mux.add('starting', nodeServer('slow', '--initialize-ms=60000'));
    await mux.serverOnce('starting', 'starting');
    const exit = await mux.client.close();
    expect(exit.code).toBe(0);
    expect(exit.ms).toBeLessThan(7000);
    expect(processesWith(mux.client.marker)).toEqual([]);
    // Whatever was asked was answered before the end.
    expect(failed(await adding)).toBe(true);
    await removing;
    expect(mux.client.ledger.unanswered()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT'] as const)('by %s ends every child, and exits with 0', async (signal) => {
    const mux = await startMux();
    const pids = [];
    for (const name of ['a', 'b', 'c']) pids.push((await mux.added(name, nodeServer('echo'))).pid);
    expect(pids.filter(alive)).toHaveLength(3);
    expect(await mux.client.kill(signal)).toMatchObject({ code: 0, signal: null });
    expect(processesWith(mux.client.marker)).toEqual([]);
  });

  test('by SIGKILL leaves no child behind', async () => {
    const mux = await startMux();
    for (const name of ['a', 'b']) await mux.added(name, nodeServer('stubborn'));
    await mux.client.kill('SIGKILL');
    await waitUntilGone(mux.client.marker);
  });
});

test('SIGHUP changes nothing: what was added stays, with its process', async () => {
  const mux = await startMux();
  const { pid } = await mux.added('echo', nodeServer('echo', '--tools=echo'));
  const running = mux.client.call('echo__echo', { text: 'through' });
  mux.client.signal('SIGHUP');
  await mux.client.waitForStderr(/configuration reloaded/);
  expect(textOf(await running)).toBe('through');
  expect(await mux.server('echo')).toMatchObject({ status: 'running', pid });
  expect(await ownTools(mux)).toEqual(['echo__echo']);
});
