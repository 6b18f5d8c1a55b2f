import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { holdsWithin, isAlive } from '../../test/servers/shapes/watch.ts';
import { run } from './run.ts';

const cwd = process.cwd();
const node = (script: string, options: Partial<Parameters<typeof run>[2]> = {}) =>
  run(process.execPath, ['-e', script], { cwd, ...options });

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'switchyard-run-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  return made;
}

test.skipIf(process.platform === 'win32')(
  'nothing of the working directory runs by its name alone',
  async () => {
    const directory = folder();
    writeFileSync(join(directory, 'only-here'), '#!/bin/sh\n', { mode: 0o755 });
    await expect(run('only-here', [], { cwd: directory, env: { PATH: '/nowhere:' } })).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
    });
  },
);

test('the output of a command is collected, and its exit code is a result', async () => {
  expect(await node(`console.log('out'); console.error('err'); process.exitCode = 3`)).toEqual({
    code: 3,
    signal: null,
    stdout: 'out\n',
    stderr: 'err\n',
  });
  const killed = process.platform === 'win32' ? { code: 1, signal: null } : { code: null, signal: 'SIGKILL' };
  expect(await node(`process.kill(process.pid, 'SIGKILL')`)).toMatchObject(killed);
});

test('a command gets its arguments, directory, environment and input unchanged', async () => {
  const directory = folder();
  const args = ['', ' a b ', '"\'`$(x)*', 'new\nline', '--flag=ä'];
  const script = `
    let text = '';
    process.stdin.on('data', (chunk) => (text += chunk)).on('end', () => {
      console.log(JSON.stringify([process.argv.slice(1), process.cwd(), process.env.ONLY, process.env.PATH ?? null, text]));
    });`;
  const { stdout } = await run(process.execPath, ['-e', script, '--', ...args], {
    cwd: directory,
    env: { ONLY: 'this' },
    input: 'what it reads',
  });
  const [argv, cwdSeen, only, path, text] = JSON.parse(stdout) as unknown[];
  expect([argv, cwdSeen, only, text]).toEqual([args, directory, 'this', 'what it reads']);
  // Windows adds variables that no program can run without.
  if (process.platform !== 'win32') expect(path).toBeNull();
});

test('a command that does not read its input is fine', async () => {
  expect(await node('0', { input: 'x'.repeat(1_000_000) })).toMatchObject({ code: 0 });
});

test('a long output arrives completely, with characters intact across chunks', async () => {
  const { stdout, stderr } = await node(
    `process.stdout.write('ä€😀'.repeat(100_000)); process.stderr.write('y'.repeat(300_000))`,
  );
  expect(stdout).toBe('ä€😀'.repeat(100_000));
  expect(stderr.length).toBe(300_000);
});

test('a command that cannot be started is an error with the reason', async () => {
  await expect(run('no-such-command-here', [], { cwd })).rejects.toMatchObject({
    code: 'COMMAND_NOT_FOUND',
    message: expect.stringContaining('"no-such-command-here"'),
  });
  await expect(node('0', { cwd: join(cwd, 'missing') })).rejects.toMatchObject({ code: 'CWD_NOT_USABLE' });
  await expect(run(process.execPath, ['a\0b'], { cwd })).rejects.toMatchObject({
    code: 'COMMAND_NOT_RUNNABLE',
  });
});

test.skipIf(process.platform === 'win32')(
  'a command that takes too long is stopped with all its descendants, even if they ignore SIGTERM',
  async () => {
    const note = join(folder(), 'pids');
    const script = `trap '' TERM; sleep 60 & echo $$ $! >"$1"; while :; do sleep 1; done`;
    await expect(run('/bin/sh', ['-c', script, 'sh', note], { cwd, timeout: 1500 })).rejects.toMatchObject({
      code: 'COMMAND_TIMEOUT',
      message: expect.stringContaining('1500 ms'),
    });
    const pids = readFileSync(note, 'utf8').split(' ').map(Number);
    expect(pids).toHaveLength(2);
    expect(await holdsWithin(5000, () => !pids.some(isAlive))).toBe(true);
  },
);

test.skipIf(process.platform === 'win32')('a stopped command gets the given time to clean up', async () => {
  const directory = folder();
  const ready = join(directory, 'ready');
  const cleaned = join(directory, 'cleaned');
  const caller = new AbortController();
  const running = node(
    `const { writeFileSync } = require('fs');
       process.on('SIGTERM', () => setTimeout(() => {
         writeFileSync(${JSON.stringify(cleaned)}, '');
         process.exit();
       }, 2000));
       writeFileSync(${JSON.stringify(ready)}, '');
       setInterval(() => {}, 1000)`,
    { signal: caller.signal, grace: 60_000 },
  );
  const refused = expect(running).rejects.toMatchObject({ code: 'STOPPED' });
  expect(await holdsWithin(20_000, () => existsSync(ready))).toBe(true);
  caller.abort();
  await refused;
  expect(existsSync(cleaned)).toBe(true);
});

test('a command is stopped when the caller aborts, or not started if it aborted before', async () => {
  const caller = new AbortController();
  const note = join(folder(), 'pid');
  const running = node(
    `require('fs').writeFileSync(${JSON.stringify(note)}, String(process.pid)); setInterval(() => {}, 1000)`,
    { signal: caller.signal },
  );
  const refused = expect(running).rejects.toMatchObject({ code: 'STOPPED' });
  let pid = 0;
  expect(await holdsWithin(10_000, () => (pid = numberIn(note)) > 0)).toBe(true);
  caller.abort();
  await refused;
  expect(isAlive(pid)).toBe(false);
  await expect(node('0', { signal: caller.signal })).rejects.toMatchObject({ code: 'STOPPED' });
});

test('a command is stopped when the caller aborts while it is starting', async () => {
  const caller = new AbortController();
  const running = node('setInterval(() => {}, 1000)', { signal: caller.signal });
  caller.abort();
  await expect(running).rejects.toMatchObject({ code: 'STOPPED' });
});

test('a command with too much output is stopped', async () => {
  await expect(
    node(`setInterval(() => process.stdout.write('x'.repeat(10_000)), 1)`, { maxBytes: 50_000 }),
  ).rejects.toMatchObject({ code: 'COMMAND_OUTPUT' });
});

test.skipIf(process.platform === 'win32')('a daemon left behind by a command is not waited for', async () => {
  const script = `
    const daemon = require('child_process').spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60000)'], { stdio: 'inherit', detached: true });
    daemon.unref();
    console.log(daemon.pid);`;
  const { stdout, code } = await node(script);
  const daemon = Number(stdout);
  expect(isAlive(daemon)).toBe(true);
  process.kill(daemon, 'SIGKILL');
  expect(code).toBe(0);
});

test.skipIf(process.platform === 'win32')(
  'nor is a daemon that keeps writing, and the output of the command itself counts',
  async () => {
    const script = `
    const talk = 'trap "" PIPE; i=0; while [ $i -lt 1000 ]; do echo -; sleep 0.02; i=$((i+1)); done 2>/dev/null';
    const daemon = require('child_process').spawn('/bin/sh', ['-c', talk], { stdio: 'inherit', detached: true });
    console.log(daemon.pid);
    setTimeout(process.exit, 500);`;
    const { stdout, code } = await node(script, { timeout: 20_000 });
    const daemon = Number(/\d+/.exec(stdout));
    expect(isAlive(daemon)).toBe(true);
    process.kill(daemon, 'SIGKILL');
    expect(code).toBe(0);
  },
);

function numberIn(file: string): number {
  try {
    return Number(readFileSync(file, 'utf8'));
  } catch {
    return 0;
  }
}
