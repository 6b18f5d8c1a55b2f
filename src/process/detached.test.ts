import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { carriersOf, holdsWithin, isAlive } from '../../test/servers/shapes/watch.ts';
import { startDetached, type DetachedOptions } from './detached.ts';
import { readExit } from './exit-file.ts';
import { readStat } from './process-identity.ts';

const MARK = `DETACHED_MARK_${process.pid}`;
let folder = '';
beforeAll(() => (folder = mkdtempSync(join(tmpdir(), 'switchyard-detached-'))));
afterAll(() => {
  for (const pid of carriersOf(MARK)) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

let count = 0;
/** Options for a program with its own files. */
function program(args: readonly string[], more: Partial<DetachedOptions> = {}): DetachedOptions {
  const place = join(folder, String(count++));
  return {
    name: 'web',
    command: process.execPath,
    args,
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', [MARK]: '1' },
    logFile: join(place, 'web.log'),
    ...more,
  };
}

const noting = (args: readonly string[], more: Partial<DetachedOptions> = {}) => {
  const options = program(args, more);
  return { ...options, exitFile: join(folder, `exit-${count}`) };
};

const textOf = (file: string): string => readFileSync(file, 'utf8');
const says = (file: string, text: string): Promise<boolean> =>
  holdsWithin(20_000, () => textOf(file).includes(text));

describe.skipIf(process.platform === 'win32')('a detached program', () => {
  test('has its own session, no input, and both outputs in its log', async () => {
    const script = `
      process.stdin.on('end', () => console.log('input ends')).resume();
      console.log('out ' + process.pid); console.error('err');`;
    const options = program(['-e', script]);
    const started = await startDetached(options);
    expect(started.startTime).toBeGreaterThan(0);
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(textOf(options.logFile).split('\n').sort()).toEqual(
      ['', `out ${started.pid}`, 'err', 'input ends'].sort(),
    );
    expect(statSync(options.logFile).mode & 0o777).toBe(0o600);
  });

  test.runIf(process.platform === 'linux')('is identified by its pid, start time and session', async () => {
    const { pid, startTime } = await startDetached(program(['-e', 'setInterval(() => {}, 1000)']));
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(readStat(pid)).toMatchObject({ pid, startTime, session: pid, alive: true });
    const ended = await startDetached(program([], { command: 'true' }));
    await ended.exited;
    expect(ended.startTime).toBeGreaterThanOrEqual(startTime);
  });

  test('appends to its log, and continues at the end after a truncation', async () => {
    const script = `
      const tick = () => console.log('tick');
      tick(); setInterval(tick, 20);`;
    const options = program(['-e', script]);
    const first = await startDetached(
      program([], { command: 'echo', args: ['earlier'], logFile: options.logFile }),
    );
    await first.exited;
    const { pid } = await startDetached(options);
    onTestFinished(() => void process.kill(pid, 'SIGKILL'));
    expect(await says(options.logFile, 'tick\ntick\n')).toBe(true);
    expect(textOf(options.logFile).startsWith('earlier\ntick\n')).toBe(true);

    truncateSync(options.logFile);
    appendFileSync(options.logFile, 'cut here\n');
    expect(await says(options.logFile, 'cut here\ntick\ntick\n')).toBe(true);
    expect(textOf(options.logFile)).not.toContain('\0');
  });

  test('gets the given environment, also through the shell that records its exit', async () => {
    const odd = {
      'npm_config_@scope:registry': 'odd "name" $HOME',
      'with space': '1\n2',
      note: 'n',
      code: 'c',
      PWD: folder,
    };
    const script = 'process.stdout.write(JSON.stringify(process.env))';
    const direct = program(['-e', script]);
    const noted = noting(['-e', script]);
    const env = { ...direct.env, ...odd };
    for (const options of [direct, noted]) {
      const { exited } = await startDetached({ ...options, env });
      expect(await exited).toEqual({ code: 0, signal: null });
    }
    expect(JSON.parse(textOf(direct.logFile))).toEqual(env);
    // Some shells add a few variables.
    expect(JSON.parse(textOf(noted.logFile))).toMatchObject(env);
    expect(textOf(noted.logFile)).not.toContain('CARRIED');
  });

  test('gets its arguments unchanged, however unusual', async () => {
    const args = [
      '',
      ' ',
      'two words',
      `'"\`$HOME$(id)\\`,
      'new\nline\n',
      '*',
      '-n',
      ';',
      '&',
      'ä€😀',
      '#',
      '{a,b}',
    ];
    const script = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    for (const options of [program([]), noting([])]) {
      const { exited } = await startDetached({ ...options, args: ['-e', script, '--', ...args] });
      await exited;
      expect(JSON.parse(textOf(options.logFile))).toEqual(args);
    }
  });

  test('is never interpreted by the shell that records its exit', async () => {
    const options = noting(['stays text'], { command: 'echo' });
    writeFileSync(join(folder, 'echo'), '#!/bin/sh\nprintf "the program got: %s\\n" "$1"\n');
    chmodSync(join(folder, 'echo'), 0o755);
    const { exited } = await startDetached({ ...options, env: { ...options.env, PATH: folder } });
    await exited;
    rmSync(join(folder, 'echo'));
    expect(textOf(options.logFile)).toBe('the program got: stays text\n');
  });

  test('that cannot be started is reported, not only in its log', async () => {
    const file = (name: string, text: string, mode: number): string => {
      writeFileSync(join(folder, name), text);
      chmodSync(join(folder, name), mode);
      return join(folder, name);
    };
    const failures: [Partial<DetachedOptions>, string][] = [
      [{ command: 'no-such-command-here' }, 'COMMAND_NOT_FOUND'],
      [{ command: './missing' }, 'COMMAND_NOT_FOUND'],
      [{ command: '' }, 'COMMAND_NOT_RUNNABLE'],
      [{ command: file('plain.txt', 'text', 0o644) }, 'COMMAND_NOT_EXECUTABLE'],
      [{ command: file('script', '#!/no/such/interpreter -x\n', 0o755) }, 'COMMAND_NOT_RUNNABLE'],
      [{ cwd: join(folder, 'missing') }, 'CWD_NOT_USABLE'],
      [{ args: ['a\0b'] }, 'COMMAND_NOT_RUNNABLE'],
      [{ logFile: join(file('a-file', '', 0o600), 'web.log') }, 'LOG_NOT_WRITABLE'],
    ];
    for (const [wrong, code] of failures) {
      for (const options of [program(['-e', '0'], wrong), noting(['-e', '0'], wrong)]) {
        await expect(startDetached(options)).rejects.toMatchObject({
          code,
          message: expect.stringContaining('"web"'),
          hint: expect.any(String),
        });
      }
    }
  });
});

describe.skipIf(process.platform === 'win32')('the end of a program is noted', () => {
  test('with its code', async () => {
    for (const code of [0, 3, 255]) {
      const options = noting(['-e', `process.exit(${code})`]);
      const began = Math.floor(Date.now() / 1000);
      const { exited } = await startDetached(options);
      expect(await exited).toEqual({ code, signal: null });
      const note = readExit(options.exitFile);
      expect(note?.code).toBe(code);
      expect(note!.at).toBeGreaterThanOrEqual(began - 1);
      expect(note!.at).toBeLessThanOrEqual(Date.now() / 1000 + 1);
      expect(statSync(options.exitFile).mode & 0o777).toBe(0o600);
    }
  });

  test('when the whole session gets a signal that the program obeys, handles or ignores', async () => {
    const cases = [
      ['SIGTERM', 'setInterval(() => {}, 1000)', 143],
      ['SIGINT', 'setInterval(() => {}, 1000)', 130],
      ['SIGHUP', 'setInterval(() => {}, 1000)', 129],
      ['SIGTERM', `process.on('SIGTERM', () => process.exit(9)); setInterval(() => {}, 1000)`, 9],
      ['SIGTERM', `process.on('SIGTERM', () => setTimeout(() => process.exit(5), 200))`, 5],
    ] as const;
    for (const [signal, script, code] of cases) {
      const options = noting(['-e', `${script}; setInterval(() => {}, 1000); console.log('ready')`]);
      const { pid, exited } = await startDetached(options);
      expect(await says(options.logFile, 'ready')).toBe(true);
      expect(readExit(options.exitFile)).toBeUndefined();
      process.kill(-pid, signal);
      await exited;
      expect(readExit(options.exitFile)?.code).toBe(code);
    }
  });

  test('when only the program is killed', async () => {
    const options = noting(['-e', `console.log('pid ' + process.pid + '.'); setInterval(() => {}, 1000)`]);
    const { exited } = await startDetached(options);
    expect(await says(options.logFile, '.')).toBe(true);
    process.kill(Number(/pid (\d+)/.exec(textOf(options.logFile))![1]), 'SIGKILL');
    await exited;
    expect(readExit(options.exitFile)?.code).toBe(137);
  });

  test('without adding anything to the log of the program, whichever signal ends it', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGABRT', 'SIGSEGV'] as const) {
      const options = noting(['-e', `console.error('last words'); process.kill(process.pid, '${signal}')`]);
      const { exited } = await startDetached(options);
      await exited;
      expect(readExit(options.exitFile)?.code).toBe(128 + constants.signals[signal]);
      expect(textOf(options.logFile)).toBe('last words\n');
    }
  });

  test('again for each start, and not at all when everything is killed', async () => {
    const options = noting(['-e', '0']);
    await (
      await startDetached(options)
    ).exited;
    expect(readExit(options.exitFile)?.code).toBe(0);
    const again = await startDetached({ ...options, args: ['-e', 'setInterval(() => {}, 1000)'] });
    expect(readExit(options.exitFile)).toBeUndefined();
    process.kill(-again.pid, 'SIGKILL');
    await again.exited;
    expect(readExit(options.exitFile)).toBeUndefined();
  });

  test('only by a valid record', () => {
    const file = join(folder, 'a-note');
    expect(readExit(file)).toBeUndefined();
    for (const text of ['', '3', 'x\n', '-1\n', '1 2\n', '12345\n']) {
      writeFileSync(file, text);
      expect(readExit(file)).toBeUndefined();
    }
    writeFileSync(file, '3\n');
    expect(readExit(file)?.code).toBe(3);
  });
});

describe.runIf(process.platform === 'linux')('a program whose starter', () => {
  let starter = '';
  beforeAll(() => {
    starter = join(folder, 'starter.mjs');
    buildSync({
      stdin: {
        contents: `
          import { startDetached } from './detached.ts';
          const { pid } = await startDetached(JSON.parse(process.argv[2]));
          console.log(pid);
          if (process.argv[3] === 'stay') setInterval(() => {}, 1000);`,
        resolveDir: fileURLToPath(new URL('.', import.meta.url)),
        loader: 'ts',
      },
      outfile: starter,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
  });

  const start = async (options: DetachedOptions, then: 'stay' | 'leave') => {
    const child = spawn(process.execPath, [starter, JSON.stringify(options), then], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const ended = once(child, 'exit');
    const [text] = (await once(child.stdout, 'data')) as [Buffer];
    const pid = Number(text.toString());
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(-pid, 'SIGKILL');
    });
    return { child, pid, ended };
  };
  const ticking = `setInterval(() => console.log('tick ' + Date.now()), 20)`;

  test('is killed keeps running and logging, and its exit is recorded', async () => {
    const options = noting(['-e', ticking]);
    const { child, pid, ended } = await start(options, 'stay');
    expect(await says(options.logFile, 'tick')).toBe(true);
    child.kill('SIGKILL');
    await ended;
    const length = textOf(options.logFile).length;
    expect(await holdsWithin(20_000, () => textOf(options.logFile).length > length + 100)).toBe(true);
    expect(isAlive(pid)).toBe(true);
    process.kill(-pid, 'SIGTERM');
    expect(await holdsWithin(20_000, () => readExit(options.exitFile)?.code === 143)).toBe(true);
  });

  test('has nothing else to do does not prevent it from ending', async () => {
    const options = program(['-e', ticking]);
    const { pid, ended } = await start(options, 'leave');
    expect((await ended)[0]).toBe(0);
    expect(isAlive(pid)).toBe(true);
  });
});
