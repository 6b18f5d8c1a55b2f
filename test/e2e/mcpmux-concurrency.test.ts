/** mcpmux: management calls that run at the same time. */
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { failed, MANAGEMENT_TOOLS, startMux } from '../helpers/management.ts';
import { processesWith } from '../helpers/processes.ts';
import { responseText, textOf } from '../helpers/raw-client.ts';
import { nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('at the same time', () => {
  test('servers of different names are added, reloaded and removed side by side', async () => {
    const mux = await startMux();
    const names = Array.from({ length: 6 }, (_, n) => `s${n}`);
    const slowly = nodeServer('slow', '--initialize-ms=700');
    const begin = performance.now();
    const added = await Promise.all(names.map((name) => mux.added(name, slowly)));
    const took = performance.now() - begin;
    // One after the other they would take six times 700 ms.
    expect(took).toBeLessThan(6 * 700);
    expect(new Set(added.map(({ pid }) => pid)).size).toBe(6);
    expect((await mux.servers()).map(({ name }) => name)).toEqual(names);
    const [first, second, ...others] = names;
    const results = await Promise.all([
      mux.remove(first!),
      mux.reload(second!),
      ...others.map((name) => mux.client.call(`${name}__pid`)),
    ]);
    expect(results.filter(failed)).toEqual([]);
    expect((await mux.servers()).map(({ name, status }) => `${name} ${status}`)).toEqual(
      names.slice(1).map((name) => `${name} running`),
    );
  });

  test('two adds of one name start one server; the other gets an error', async () => {
    const mux = await startMux();
    const journal = mux.project.path('journal');
    const server = { ...nodeServer('echo'), env: { TEST_SERVER_JOURNAL: journal } };
    for (let round = 1; round <= 3; round++) {
      const answers = await Promise.all(Array.from({ length: 4 }, () => mux.add('same', server)));
      expect(answers.filter((answer) => !failed(answer))).toHaveLength(1);
      for (const answer of answers.filter(failed)) expect(responseText(answer)).toContain('"same" already');
      expect(readJournal(journal).filter(({ event }) => event === 'start')).toHaveLength(round);
      expect(failed(await mux.remove('same'))).toBe(false);
    }
  });

  test('adds, reloads and removals of one name are done one after the other, and leave nothing behind', async () => {
    const mux = await startMux();
    const server = nodeServer('echo', '--tools=echo');
    for (let round = 0; round < 6; round++) {
      const answers = await Promise.all([
        mux.add('it', server),
        ...(round % 2 === 0 ? [mux.reload('it')] : []),
        mux.remove('it'),
        mux.add('it', server),
        ...(round % 3 === 0 ? [mux.remove('it')] : []),
      ]);
      for (const answer of answers.filter(failed))
        expect(responseText(answer)).toMatch(/"it" already|No server named "it"/);
      const servers = await mux.servers();
      const running = processesWith(mux.client.marker).filter(({ pid }) => pid !== mux.client.pid);
      expect(servers.map(({ pid }) => pid)).toEqual(running.map(({ pid }) => pid));
      for (const { status, tools } of servers)
        expect({ status, tools }).toEqual({ status: 'running', tools: ['it__echo'] });
      if (servers.length > 0) expect(failed(await mux.remove('it'))).toBe(false);
      expect(await mux.tools()).toEqual(MANAGEMENT_TOOLS);
    }
  });

  test('a removal waits for the add before it, and takes out what that added', async () => {
    const mux = await startMux();
    const adding = mux.add('late', nodeServer('slow', '--initialize-ms=500'));
    await mux.serverOnce('late', 'starting');
    const removing = mux.remove('late');
    expect(failed(await adding)).toBe(false);
    expect(failed(await removing)).toBe(false);
    expect(await mux.servers()).toEqual([]);
    expect(processesWith(mux.client.marker)).toHaveLength(1);
  });

  test('a slow call that is cancelled is cancelled at its server, and never answered', async () => {
    const mux = await startMux();
    await mux.added('slow', nodeServer('slow'));
    void mux.client.call('slow__hang', {}, { id: 'unwanted' });
    const other = mux.client.call('slow__slow_echo', { text: 'other', ms: 300 });
    expect(textOf(await mux.client.call('slow__running_count'))).toBe('2');
    mux.client.notify('notifications/cancelled', { requestId: 'unwanted', reason: 'changed my mind' });
    await until(async () => textOf(await mux.client.call('slow__cancelled_count')) === '1', {
      what: 'the server to hear of it',
    });
    expect(JSON.parse(textOf(await mux.client.call('slow__cancellations')))).toMatchObject([
      { reason: 'changed my mind', known: true },
    ]);
    expect(textOf(await other)).toBe('other');
    // It does not hold up a removal, either.
    expect(failed(await mux.remove('slow'))).toBe(false);
    expect(mux.client.ledger.unanswered().map(({ id }) => id)).toEqual(['unwanted']);
  });
});
