import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { textOf } from '../helpers/raw-client.ts';
import { nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const said = (response: any): string => response.error?.message ?? textOf(response);

describe('starting', () => {
  test('concurrent first calls start one process', async () => {
    const { call } = await startGateway({ echo: nodeServer('echo') });
    const pids = await Promise.all(Array.from({ length: 30 }, () => call('echo', 'pid').then(textOf)));
    expect(new Set(pids).size).toBe(1);
  });

  test('a command that does not exist is named, with what to do; others are untouched', async () => {
    const { call } = await startGateway({
      missing: { command: 'no-such-program-anywhere', args: [] },
      folder: { ...nodeServer('echo'), cwd: 'no/such/folder' },
      denied: { command: `${ROOT}/package.json`, args: [] },
      echo: nodeServer('echo'),
    });
    const [missing, folder, denied, fine] = await Promise.all([
      call('missing', 'x'),
      call('folder', 'x'),
      call('denied', 'x'),
      call('echo', 'echo', { text: 'fine' }),
    ]);
    expect(said(missing)).toContain('no-such-program-anywhere');
    expect(said(folder)).toContain('no/such/folder');
    expect(said(denied)).toMatch(/EACCES|permission|executable/i);
    expect(textOf(fine)).toBe('fine');
  });

  test('a server that exits at once shows its last words', async () => {
    const { call } = await startGateway({ early: nodeServer('close-early', '--lines=3', '--code=4') });
    const response = await call('early', 'x');
    expect(said(response)).toContain('exited with code 4');
    expect(said(response)).toContain('It wrote:');
  });

  test('a server that never answers initialize is given up in time and ended', async () => {
    const { client, call } = await startGateway(
      { never: { ...nodeServer('never-initialize'), framing: 'newline' } },
      { config: { timeouts: { childSpawnMs: 300 } } },
    );
    const response = await call('never', 'x');
    expect(said(response)).toContain(`Server 'never' did not respond to initialize within 0.`);
    expect(said(response)).toContain('timeouts.childSpawnMs');
    await until(() => processesWith(client.marker).length === 1, { what: 'only the gateway is left' });
  });

  test('a program that is not an MCP server is reported as such', async () => {
    const { call } = await startGateway({ hello: { command: 'sh', args: ['-c', 'echo hello there'] } });
    expect(said(await call('hello', 'x'))).toContain(
      'It printed "hello there" to stdout. Its command does not seem to start an MCP server.',
    );
  });

  test('the line that names the error is reported, not the end of its trace', async () => {
    const { call } = await startGateway({ gone: { command: process.execPath, args: ['no-such-file.mjs'] } });
    expect(said(await call('gone', 'x'))).toMatch(
      /Subtool 'x' of server 'gone' was not run\. .*Cannot find module/,
    );
  });

  test.runIf(existsSync('/bin/bash'))(
    'a server gets neither open files nor an odd umask from the host',
    async () => {
      const host = 'exec 40</dev/null; umask 000; exec "$@"';
      const look = 'ls /proc/$$/fd >descriptors; umask >umask; exec "$@"';
      const { command, args } = nodeServer('echo');
      const { call, project } = await startGateway(
        { echo: { command: '/bin/sh', args: ['-c', look, 'sh', command, ...args] } },
        { command: '/bin/bash', args: ['-c', host, 'bash', process.execPath, `${ROOT}/dist/index.js`] },
      );
      await call('echo', 'pid');
      expect(project.read('descriptors').split('\n')).not.toContain('40');
      expect(project.read('umask')).toBe('0022\n');
    },
  );

  test('a slow start delays no other server', async () => {
    const { call } = await startGateway({
      slow: nodeServer('slow', '--initialize-ms=1500'),
      echo: nodeServer('echo'),
    });
    const slow = call('slow', 'echo', { text: 'slow' }).then((response) => ({
      response,
      at: performance.now(),
    }));
    const fast = await call('echo', 'echo', { text: 'fast' }).then(() => performance.now());
    const { response, at } = await slow;
    expect(textOf(response)).toBe('slow');
    expect(fast).toBeLessThan(at);
  });
});

describe('crashing', () => {
  test('a crash during a call is reported within 100 ms, and the next call restarts the server', async () => {
    const { call } = await startGateway({ slow: nodeServer('slow') });
    const took: number[] = [];
    // On a busy machine any one of them may be late for reasons of its own; the mechanism is as fast as the fastest.
    for (let round = 0; round < 3; round++) {
      const before = Number(textOf(await call('slow', 'pid')));
      const hanging = call('slow', 'hang');
      // The hanging call has arrived there when a later one is answered.
      expect(textOf(await call('slow', 'running_count'))).toBe('1');
      process.kill(before, 'SIGKILL');
      const killed = performance.now();
      const response = await hanging;
      took.push(performance.now() - killed);
      expect(said(response)).toContain(`Subtool 'hang' of server 'slow' was not answered`);
      expect(said(response)).toContain('SIGKILL');
      const after = Number(textOf(await call('slow', 'pid')));
      expect(after).not.toBe(before);
      expect(alive(before)).toBe(false);
    }
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test('an answer written just before the exit is delivered', async () => {
    const { client, call } = await startGateway({ crash: nodeServer('crash') });
    for (let round = 1; round <= 3; round++) {
      expect(textOf(await call('crash', 'crash_after', { ms: 0 }))).toBe('crashing in 0 ms');
      // A call sent while the server is dying is lost with it; the next round waits for its end.
      await client.waitForStderr(new RegExp(`(server failed[^]*){${round}}`));
    }
  });

  test('a crash is reported in time and by name even if a descendant holds the pipes', async () => {
    const script = 'sleep 100 & exec "$@"';
    const { command, args } = nodeServer('slow');
    const { call } = await startGateway({
      held: { command: 'sh', args: ['-c', script, 'sh', command, ...args] },
    });
    const took: number[] = [];
    for (let round = 0; round < 3; round++) {
      const pid = Number(textOf(await call('held', 'pid')));
      const hanging = call('held', 'hang');
      expect(textOf(await call('held', 'running_count'))).toBe('1');
      process.kill(pid, 'SIGKILL');
      const killed = performance.now();
      expect(said(await hanging)).toContain('was ended by SIGKILL');
      took.push(performance.now() - killed);
    }
    expect(Math.min(...took)).toBeLessThan(100);
  });

  test('an exit in the middle of a call names its code', async () => {
    const { call } = await startGateway({ crash: nodeServer('crash', '--code=7') });
    expect(said(await call('crash', 'crash'))).toContain('exited with code 7');
  });

  test('a server that keeps crashing is left alone for a while, visibly, and others are untouched', async () => {
    const { call } = await startGateway({
      crash: nodeServer('crash', '--at-initialize'),
      echo: nodeServer('echo'),
    });
    const answers: string[] = [];
    for (let round = 0; round < 12; round++) answers.push(said(await call('crash', 'x')));
    expect(answers[0]).toContain('exited with code');
    expect(answers.at(-1)).toMatch(/keeps failing; the next attempt is allowed in \d+ s/);
    expect(textOf(await call('echo', 'echo', { text: 'fine' }))).toBe('fine');
  });

  test('a server that closes its stdout but stays is ended and comes back', async () => {
    const { call } = await startGateway({ closer: nodeServer('stdout-closer') });
    const before = Number(textOf(await call('closer', 'pid')));
    expect(said(await call('closer', 'close', { stream: 'stdout' }))).toContain('closed its stdout');
    expect(textOf(await call('closer', 'echo', { text: 'again' }))).toBe('again');
    await until(() => !alive(before), { what: 'the old process is gone' });
  });
});

describe('giving up', () => {
  test('a call without a response ends after rpcMs; the server is notified and keeps running', async () => {
    const { call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { timeouts: { rpcMs: 400 } } },
    );
    const pid = textOf(await call('slow', 'pid'));
    expect(said(await call('slow', 'hang'))).toMatch(
      /Subtool 'hang' of server 'slow' did not respond within 400 ms.*rpcMs/,
    );
    expect(textOf(await call('slow', 'cancelled_count'))).toBe('1');
    expect(textOf(await call('slow', 'pid'))).toBe(pid);
  });

  test('a late answer is dropped', async () => {
    const { client, call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { timeouts: { rpcMs: 200 } } },
    );
    await call('slow', 'pid');
    await call('slow', 'late', { ms: 400 });
    await until(async () => textOf(await call('slow', 'running_count')) === '0', {
      what: 'the late answer was sent',
    });
    expect(client.ledger.doubled()).toEqual([]);
  });

  test('a cancelled call is cancelled at the server and never answered', async () => {
    const { client, call } = await startGateway({ slow: nodeServer('slow') });
    await call('slow', 'pid');
    for (const id of ['to-cancel', 4711]) {
      client.send({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'slow_suite', arguments: { action: 'call', subtool: 'hang' } },
      });
      client.notify('notifications/cancelled', { requestId: id, reason: 'changed my mind' });
    }
    await until(async () => textOf(await call('slow', 'cancelled_count')) === '2', {
      what: 'both are cancelled',
    });
    const known = JSON.parse(textOf(await call('slow', 'cancellations'))).map((each: any) => each.known);
    expect(known).toEqual([true, true]);
    expect(client.messages.some((message) => message.id === 'to-cancel' || message.id === 4711)).toBe(false);
  });

  test('an unused server is stopped, and comes back when it is needed', async () => {
    const { client, call } = await startGateway(
      { echo: nodeServer('echo') },
      { config: { timeouts: { idleMs: 300 } } },
    );
    const before = textOf(await call('echo', 'pid'));
    await until(() => processesWith(client.marker).every(({ pid }) => pid !== Number(before)), {
      what: 'idle stop',
    });
    expect(textOf(await call('echo', 'pid'))).not.toBe(before);
  });
});

describe('leaving', () => {
  test('at the end of input what was received is answered, then all children are gone', async () => {
    const { client, call } = await startGateway({ echo: nodeServer('echo'), slow: nodeServer('slow') });
    const answers = Promise.all([
      call('echo', 'slow_echo', { text: 'still', ms: 700 }),
      call('slow', 'slow_echo', { text: 'there', ms: 900 }),
    ]);
    const closing = client.close();
    expect((await answers).map(textOf)).toEqual(['still', 'there']);
    expect((await closing).code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  });

  test('a call that does not end is failed after drainMs', async () => {
    const { client, call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { timeouts: { drainMs: 400 } } },
    );
    await call('slow', 'pid');
    const hanging = call('slow', 'hang');
    const closing = client.close();
    expect(said(await hanging)).toContain('Switchboard is stopping');
    expect((await closing).code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s lets running calls finish', async (signal) => {
    const { client, call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { timeouts: { drainMs: 15_000 } } },
    );
    const running = async (): Promise<boolean> => textOf(await call('slow', 'running_count')) === '1';
    const answer = call('slow', 'slow_echo', { text: 'finished', ms: 4000 });
    await until(running, { what: 'the call to run' });
    const exit = client.kill(signal);
    expect(textOf(await answer)).toBe('finished');
    expect((await exit).code).toBe(0);
    expect(processesWith(client.marker)).toEqual([]);
  });

  test('SIGTERM fails a call that does not end after drainMs', async () => {
    const { client, call } = await startGateway(
      { slow: nodeServer('slow') },
      { config: { timeouts: { drainMs: 400 } } },
    );
    const running = async (): Promise<boolean> => textOf(await call('slow', 'running_count')) === '1';
    const hanging = call('slow', 'hang');
    await until(running, { what: 'the call to run' });
    const exit = client.kill('SIGTERM');
    expect(said(await hanging)).toContain('Switchboard is stopping');
    expect((await exit).code).toBe(0);
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('%s: children end in order, exit code 0', async (signal) => {
    const { client, call } = await startGateway({ echo: nodeServer('echo') });
    await call('echo', 'pid');
    const exit = await client.kill(signal);
    expect([exit.code, exit.signal]).toEqual([0, null]);
    expect(processesWith(client.marker)).toEqual([]);
  });

  test('a server that ignores everything is gone within six seconds of the end of input', async () => {
    const { client, call } = await startGateway({ stubborn: nodeServer('stubborn') });
    await call('stubborn', 'pid');
    const exit = await client.close();
    expect(exit.ms).toBeLessThan(6500);
    expect(processesWith(client.marker)).toEqual([]);
  });

  test('a second signal does not wait', async () => {
    const { client, call } = await startGateway({ stubborn: nodeServer('stubborn') });
    await call('stubborn', 'pid');
    client.signal('SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    const exit = await client.kill('SIGTERM');
    expect(exit.ms).toBeLessThan(1500);
    await waitUntilGone(client.marker);
  });

  test('a host that is gone without a word takes everything with it', async () => {
    const { client, call } = await startGateway({ echo: nodeServer('echo') });
    const pid = Number(textOf(await call('echo', 'pid')));
    await client.kill('SIGKILL');
    await waitUntilGone(client.marker);
    expect(alive(pid)).toBe(false);
  });
});

test('env is given as configured and never appears in a log', async () => {
  const { client, call } = await startGateway(
    {
      echo: { ...nodeServer('echo'), env: { SECRET_TOKEN: 'canary-${INNER}', PLAIN: 'p' } },
      closed: { ...nodeServer('echo'), inheritEnv: false, env: { PLAIN: 'q' } },
      unset: { ...nodeServer('echo'), env: { X: '${NOT_SET_ANYWHERE}' } },
      program: { command: '${INNER}/program', args: ['${INNER}'] },
      place: { ...nodeServer('echo'), cwd: '${INNER}/folder' },
    },
    { env: { INNER: 'inside-5353', OUTER: 'outer' }, args: ['--log-level', 'debug'] },
  );
  expect(textOf(await call('echo', 'env', { name: 'SECRET_TOKEN' }))).toContain('canary-inside-5353');
  expect(textOf(await call('echo', 'env', { name: 'OUTER' }))).toContain('outer');
  expect(textOf(await call('closed', 'env', { name: 'OUTER' }))).not.toContain('outer');
  expect((await client.listTools()).map((tool: any) => tool.name)).toEqual([
    'echo_suite',
    'closed_suite',
    'unset_suite',
    'program_suite',
    'place_suite',
  ]);
  expect(said(await call('unset', 'x'))).toContain('NOT_SET_ANYWHERE');
  expect(said(await call('program', 'x'))).toContain('${INNER}/program');
  expect(said(await call('place', 'x'))).toContain('${INNER}/folder');
  await client.waitForStderr(/NOT_SET_ANYWHERE/);
  await client.close();
  expect(client.stderr).not.toContain('inside-5353');
  const answers = client.lines.map(({ text }) => text).filter((text) => !text.includes('canary-'));
  expect(answers.join('\n')).not.toContain('inside-5353');
});
