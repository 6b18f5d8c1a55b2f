/** The servers in test/servers that fail, hang or break the framing, driven directly. */
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { alive } from '../helpers/processes.ts';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';
import { expectEcho, startReadyServer, startTestServer } from '../helpers/test-servers.ts';
import { until } from '../helpers/until.ts';

/** The raw line of the answer to this id. */
function lineOf(client: RawClient, id: number): string {
  const line = client.lines.find(({ message }) => message?.id === id && message.method === undefined);
  if (line === undefined) throw new Error(`no line with id ${id}`);
  return line.text;
}

describe('crash', () => {
  test('exits with 1 before answering', async () => {
    const client = await startReadyServer('crash', ['--stderr-lines=30']);
    await expect(client.call('crash')).rejects.toThrow(/exited \(code 1\).*crash line 30/s);
    expect(await client.exited).toMatchObject({ code: 1, signal: null });
  });

  test('answers first, then exits', async () => {
    const client = await startReadyServer('crash', ['--code=7']);
    expect(textOf(await client.call('crash_after', { ms: 1 }))).toBe('crashing in 1 ms');
    expect(await client.exited).toMatchObject({ code: 7 });
  });

  test('dies by a signal', async () => {
    const killed = await startReadyServer('crash', ['--signal']);
    const faulted = await startReadyServer('crash', ['--signal=SIGSEGV']);
    await expect(killed.call('crash')).rejects.toThrow(/SIGKILL/);
    await expect(faulted.call('crash')).rejects.toThrow(/SIGSEGV/);
  });

  test('dies at start and at initialize', async () => {
    expect(await startTestServer('crash', ['--at-start']).exited).toMatchObject({ code: 1 });
    const client = startTestServer('crash', ['--at-initialize']);
    expect((await client.request('ping')).result).toEqual({});
    await expect(client.initialize()).rejects.toThrow(/exited \(code 1\)/);
  });
});

describe('slow', () => {
  test('delays start, initialize and tools/list', async () => {
    const begin = performance.now();
    const client = await startReadyServer('slow', ['--start-ms=100', '--initialize-ms=100'], {
      env: { TEST_SERVER_LIST_MS: '100' },
    });
    expect(performance.now() - begin).toBeGreaterThan(195);
    const listing = performance.now();
    await client.listTools();
    expect(performance.now() - listing).toBeGreaterThan(95);
  });

  test('hangs, and counts the cancellations it gets', async () => {
    const client = await startReadyServer('slow');
    void client.call('hang', {}, { id: 'h' });
    expect(textOf(await client.call('running_count'))).toBe('1');
    client.notify('notifications/cancelled', { requestId: 'h', reason: 'too slow' });
    client.notify('notifications/cancelled', { requestId: 'nobody' });
    expect(textOf(await client.call('cancelled_count'))).toBe('2');
    expect(JSON.parse(textOf(await client.call('cancellations')))).toEqual([
      { requestId: 'h', reason: 'too slow', known: true },
      { requestId: 'nobody', known: false },
    ]);
    expect(client.ledger.unanswered()).toHaveLength(1);
  });

  test('answers late even when cancelled', async () => {
    const client = await startReadyServer('slow');
    const late = client.call('late', { ms: 20 }, { id: 'l' });
    client.notify('notifications/cancelled', { requestId: 'l' });
    expect(textOf(await late)).toBe('late by 20 ms');
  });
});

test('never-initialize lives, reads and stays silent', async () => {
  const client = startTestServer('never-initialize');
  void client.initialize();
  await client.waitForStderr(/not answering/);
  expect(client.lines).toEqual([]);
  expect(alive(client.pid!)).toBe(true);
  expect(await client.close()).toMatchObject({ code: 0 });
  expect(alive(client.pid!)).toBe(false);
});

test('never-initialize can be stubborn too', async () => {
  const client = startTestServer('never-initialize', ['--stubborn']);
  void client.initialize();
  await client.waitForStderr(/not answering/);
  client.signal('SIGTERM');
  void client.request('ping');
  await client.waitForStderr(/not answering\nnot answering/);
  expect(await client.kill('SIGKILL')).toMatchObject({ signal: 'SIGKILL' });
});

test('stubborn ignores signals and the end of stdin; only SIGKILL ends it', async () => {
  const project = createProject();
  const file = project.path('journal');
  const client = await startReadyServer('stubborn', ['--chatty'], { env: { TEST_SERVER_JOURNAL: file } });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) client.signal(signal);
  await until(() => readJournal(file).filter(({ event }) => event === 'ignored').length === 3);
  await expectEcho(client);
  const closing = client.close();
  await client.waitForStderr(/stdin ended, staying[^]*still here/);
  expect(alive(client.pid!)).toBe(true);
  client.signal('SIGKILL');
  expect(await closing).toMatchObject({ signal: 'SIGKILL' });
});

test('stubborn still ends of old age', async () => {
  const client = await startReadyServer('stubborn', ['--lifetime-ms=1000']);
  expect(await client.close()).toMatchObject({ code: 0 });
});

describe('flood', () => {
  test('floods stderr when called, and answers', async () => {
    const client = await startReadyServer('flood');
    await client.call('flood', { stream: 'stderr', bytes: 3_000_000 });
    await until(() => client.stderr.length >= 3_000_000);
    expect(client.problems).toEqual([]);
  });

  test('floods stdout with lines that are no messages', async () => {
    const client = await startReadyServer('flood');
    await client.call('flood', { stream: 'stdout', bytes: 1_000_000 });
    expect(client.problems).toHaveLength(10_000);
    await client.call('flood', { stream: 'stdout', bytes: 1_000_000, style: 'no-newline' });
    expect(client.problems).toHaveLength(10_001);
    await expectEcho(client);
  });

  test('floods at start, in every style, and for ever', async () => {
    const ansi = await startReadyServer('flood', ['--stderr-bytes=1000', '--style=ansi']);
    await ansi.waitForStderr(/\]52;c;/);
    expect(ansi.stderr).toContain('\u001b]52;c;');
    const binary = await startReadyServer('flood', ['--stdout-bytes=1000', '--style=binary']);
    expect(binary.problems).toHaveLength(100);
    expect(binary.lines[0]?.bytes.includes(0xff)).toBe(true);
    const forever = await startReadyServer('flood', ['--forever']);
    await until(() => forever.stderr.length > 2_000_000);
    await expectEcho(forever);
    expect((await forever.close()).code).toBe(0);
  });

  test('floods with notifications', async () => {
    const client = await startReadyServer('flood');
    await client.call('notify_flood', { count: 2500 });
    expect(client.notifications).toHaveLength(2500);
    expect(client.notifications[0]?.method).toBe('notifications/tools/list_changed');
  });
});

describe('noisy', () => {
  test('writes a banner first and a line of text before every message', async () => {
    const client = await startReadyServer('noisy');
    await expectEcho(client);
    expect(client.lines[0]?.text).toBe('*** Noisy server 1.0 ***');
    expect(client.lines.map(({ problem }) => problem === undefined)).toEqual([
      false,
      false,
      false,
      true,
      false,
      true,
    ]);
  });

  test('ends lines in \\r\\n, starts with a byte order mark', async () => {
    const client = startTestServer('noisy', ['--crlf', '--bom', '--quiet']);
    void client.initialize();
    await until(() => client.lines.length === 1);
    expect(client.lines[0]?.bytes.subarray(0, 3)).toEqual(Buffer.from([0xef, 0xbb, 0xbf]));
    await client.call('echo', { text: 'x' });
    expect(client.lines[1]?.text).toMatch(/\}\r$/);
    expect(client.problems).toHaveLength(2);
  });

  test('writes JSON that is no JSON-RPC', async () => {
    const client = await startReadyServer('noisy', ['--json-noise']);
    for (let turn = 0; turn < 9; turn++) await expectEcho(client);
    const noise = client.lines.filter(({ problem }) => problem !== undefined).map(({ text }) => text);
    expect(noise).toEqual(expect.arrayContaining(['null', '42', '[1,2,3]', '', '{"jsonrpc":"2.0"}']));
  });

  test('puts text behind or before a message on its line', async () => {
    const client = await startReadyServer('noisy', ['--quiet']);
    void client.call('trailing', {}, { id: 50 });
    expect(textOf(await client.call('trailing', { clean_after: true }))).toBe('clean');
    expect(textOf(await client.call('leading'))).toBe('clean');
    expect(client.lines[1]?.text).toMatch(/^\{.*\} \/\/ done$/);
    expect(client.problems).toHaveLength(3);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([50]);
  });
});

describe('half-line', () => {
  test('writes its messages in small pieces', async () => {
    const client = startTestServer('half-line', ['--pause-ms=2']);
    await client.initialize();
    // More than 150 bytes in pieces of 4 on average, 2 ms apart: some may arrive together, by far not all.
    expect(client.chunkSizes.length).toBeGreaterThan(10);
    await expectEcho(client);
    expect(client.problems).toEqual([]);
  });

  test('writes several messages at once', async () => {
    const client = await startReadyServer('half-line', ['--whole']);
    await client.call('burst', { count: 50 });
    expect(client.notifications).toHaveLength(50);
    const response = await client.call('progress_and_answer', {}, { progressToken: 't' });
    expect(textOf(response)).toBe('together');
    expect(client.notifications.at(-1)?.params).toEqual({ progressToken: 't', progress: 1, total: 1 });
  });

  test('leaves half a message behind, with and without a newline after it', async () => {
    const client = await startReadyServer('half-line', ['--whole']);
    void client.call('half', {}, { id: 60 });
    await expectEcho(client);
    expect(client.problems).toHaveLength(1);
    void client.call('half_joined', {}, { id: 61 });
    void client.call('echo', { text: 'lost' }, { id: 62 });
    await expectEcho(client);
    expect(client.problems).toHaveLength(2);
    expect(client.ledger.unanswered().map(({ id }) => id)).toEqual([60, 61, 62]);
  });
});

describe('huge', () => {
  test('answers with 64 MiB, the id first or last', async () => {
    const client = await startReadyServer('huge');
    await client.call('huge', {}, { id: 80 });
    await client.call('huge', { id: 'last', bytes: 1_000_000 }, { id: 81 });
    expect(lineOf(client, 80)).toMatch(/^\{"jsonrpc":"2.0","id":80,/);
    expect(lineOf(client, 80).length).toBeGreaterThan(64 * 1_048_576);
    expect(lineOf(client, 81).slice(0, 60)).not.toContain('"id"');
    expect(lineOf(client, 81)).toMatch(/"id":81\}$/);
    await expectEcho(client);
  });

  test('answers very deep, with very many keys', async () => {
    const client = await startReadyServer('huge');
    void client.call('deep', {}, { id: 82 }); // Whether our own JSON.parse can take it is not the point.
    const { result } = await client.call('keys');
    expect(Object.keys(result.structuredContent)).toHaveLength(100_000);
    const line = client.lines.find(({ text }) => text.startsWith('{"jsonrpc":"2.0","id":82'));
    expect(line?.text.split('[').length).toBeGreaterThan(1_000_000);
  });

  test('writes bytes that never become a line', async () => {
    const client = await startReadyServer('huge');
    void client.call('no_newline', { bytes: 5_000_000 });
    await client.close();
    expect(client.lines.at(-1)?.text).toHaveLength(5_000_000);
    expect(client.problems).toHaveLength(1);
  });
});

describe('framed', () => {
  test.each([[[]], [['--split']], [['--lowercase', '--extra-headers']], [['--strict']]])(
    'speaks Content-Length %j',
    async (args) => {
      const client = await startReadyServer('framed', args, { framing: 'content-length', strict: true });
      await expectEcho(client);
      expect(textOf(await client.call('two_in_one'))).toBe('second');
      expect(client.notifications).toHaveLength(1);
      expect((await client.close()).code).toBe(0);
    },
  );

  test('does not answer newline framing, and may exit over it', async () => {
    const lenient = startTestServer('framed');
    void lenient.initialize();
    expect(await lenient.close()).toMatchObject({ code: 0 });
    expect(lenient.lines).toEqual([]);
    const strict = startTestServer('framed', ['--strict']);
    strict.sendRaw('{"jsonrpc":"2.0","id":1,"method":"ping"}\n\r\n\r\n');
    expect(await strict.exited).toMatchObject({ code: 3 });
  });

  test('finds a frame behind a newline-framed message', async () => {
    const client = startTestServer('framed', [], { framing: 'content-length' });
    client.sendRaw('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n');
    expect((await client.request('ping', {}, { id: 2 })).result).toEqual({});
  });
});

describe('stdout-closer', () => {
  test.each(['--at-start', '--after-initialize', 'tool'])('closes stdout and lives: %s', async (how) => {
    const client = startTestServer('stdout-closer', how === 'tool' ? [] : [how]);
    if (how !== '--at-start') await client.initialize();
    if (how === 'tool') void client.call('close');
    await client.stdoutEnded();
    expect(alive(client.pid!)).toBe(true);
    expect((await client.close()).code).toBe(0);
  });

  test('closes stderr and works on; closes stdin and hears nothing', async () => {
    const client = await startReadyServer('stdout-closer');
    expect(textOf(await client.call('close', { stream: 'stderr' }))).toBe('closed stderr');
    await expectEcho(client);
    expect(textOf(await client.call('close', { stream: 'stdin' }))).toBe('closed stdin');
    const exiting = client.close();
    await nextTurn();
    expect(alive(client.pid!)).toBe(true);
    client.signal('SIGTERM');
    expect((await exiting).signal).toBe('SIGTERM');
  });
});

test('exit-on-third exits on its third call', async () => {
  const client = await startReadyServer('exit-on-third', ['--code=4']);
  await expectEcho(client);
  await expectEcho(client);
  await expect(client.call('canary')).rejects.toThrow(/exited \(code 4\)/);
});

test('close-early exits 0 at once and says why on stderr', async () => {
  const client = startTestServer('close-early', ['--lines=30']);
  expect(await client.exited).toMatchObject({ code: 0 });
  await client.waitForStderr(/missing API key, line 30/);
  await expect(client.initialize()).rejects.toThrow(/exited \(code 0\).*line 30/s);
});

test('a program that does not exist is reported, not waited for', async () => {
  const client = startClient({ command: join(ROOT, 'no-such-program') });
  await expect(client.initialize()).rejects.toThrow(/could not be started: .*ENOENT/);
});

test('slow-reader leaves what it is sent in the pipe', async () => {
  const client = await startReadyServer('slow-reader', ['--after-initialized', '--bytes=1', '--every-ms=5']);
  const begin = performance.now();
  expect(textOf(await client.call('echo', { text: 'x' }))).toBe('x');
  expect(performance.now() - begin).toBeGreaterThan(300); // 97 bytes, 5 ms each, and the newline
});
