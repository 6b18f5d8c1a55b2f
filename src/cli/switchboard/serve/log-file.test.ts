import { execFileSync, spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { SwitchboardError } from '../../../shared/errors.ts';
import { openLogFile, type LogFileOptions } from './log-file.ts';

const posix = process.platform !== 'win32';
let root: string;
let directory: string;
let count = 0;
beforeAll(() => (root = fs.mkdtempSync(join(tmpdir(), 'log-file-'))));
beforeEach(() => (directory = join(root, String(++count))));
afterAll(() => fs.rmSync(root, { recursive: true, force: true }));

const open = (more: Partial<LogFileOptions> = {}) =>
  openLogFile({
    directory,
    program: 'gate',
    onError: (message) => {
      throw new Error(message);
    },
    ...more,
  });
const names = () => fs.readdirSync(directory).sort();
const read = (name = 'gate.log') => fs.readFileSync(join(directory, name), 'utf8');
/** The lines of a file without their times. */
const linesOf = (name?: string) => withoutTimes(read(name));
const withoutTimes = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      expect(line).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /);
      return line.slice(25);
    });
const modeOf = (path: string) => fs.statSync(path).mode & 0o777;
const soon = () => new Promise((resume) => setTimeout(resume, 50));

test('lines are appended, each with its time in front', () => {
  const log = open();
  expect(log.file).toBe(join(directory, 'gate.log'));
  log.write('first');
  log.write('second\n');
  log.write('a stack:\n  at one\r\n');
  log.close();
  const again = open();
  again.write('later ü');
  again.close();
  expect(linesOf()).toEqual(['first', 'second', 'a stack:', '  at one', 'later ü']);
});

test('lines arrive without closing, and none after it', async () => {
  const log = open();
  log.write('one');
  await vi.waitFor(() => expect(linesOf()).toEqual(['one']));
  log.write('two');
  log.close();
  log.close();
  log.write('three');
  await soon();
  expect(linesOf()).toEqual(['one', 'two']);
});

test.runIf(posix)('only this user can read it', () => {
  open().close();
  expect(modeOf(directory)).toBe(0o700);
  expect(modeOf(join(directory, 'gate.log'))).toBe(0o600);
  fs.chmodSync(join(directory, 'gate.log'), 0o644);
  open().close();
  expect(modeOf(join(directory, 'gate.log'))).toBe(0o600);
});

describe('what cannot work is refused when opening', () => {
  const refusal = () => {
    try {
      open();
    } catch (error) {
      if (error instanceof SwitchboardError) return { code: error.code, said: error.explained };
      throw error;
    }
    throw new Error('It was opened');
  };

  test.runIf(posix)('a symbolic link, which is left alone', () => {
    fs.mkdirSync(directory);
    const target = join(directory, 'precious');
    const file = join(directory, 'gate.log');
    fs.writeFileSync(target, 'mine');
    fs.symlinkSync(target, file);
    expect(refusal()).toEqual({
      code: 'LOG_FILE_UNUSABLE',
      said: `The log file ${file} is a symbolic link, so nothing is written to it. Remove it, or choose another directory for the log.`,
    });
    expect(fs.readFileSync(target, 'utf8')).toBe('mine');
    fs.rmSync(target);
    expect(refusal().code).toBe('LOG_FILE_UNUSABLE');
    expect(fs.existsSync(target)).toBe(false);
  });

  test.runIf(posix)('a pipe, without waiting for a reader', () => {
    fs.mkdirSync(directory);
    execFileSync('mkfifo', [join(directory, 'gate.log')]);
    expect(refusal().code).toBe('LOG_FILE_UNUSABLE');
  });

  test('a directory that cannot be made', () => {
    fs.writeFileSync(directory, '');
    const { code, said } = refusal();
    expect(code).toBe('LOG_DIRECTORY_UNUSABLE');
    expect(said).toContain(directory);
    expect(said).toContain('choose another one');
  });
});

test('beyond a size the file is moved aside, and the newest lines are kept', async () => {
  const text = 'x'.repeat(74);
  const log = open({ maxBytes: 4096 });
  for (let line = 0; line < 1000; line++) {
    log.write(`${text}${line}`);
    if (line % 7 === 0) await new Promise((resume) => setImmediate(resume));
  }
  log.close();
  expect(names()).toEqual(['gate.log', 'gate.log.1']);
  // A file ends with the lines of one turn that passed its size.
  for (const name of names()) expect(fs.statSync(join(directory, name)).size).toBeLessThan(5120);
  const kept = ['gate.log.1', 'gate.log'].flatMap(linesOf);
  expect(kept.length).toBeGreaterThan(40);
  expect(kept).toEqual(Array.from(kept, (_, at) => `${text}${1000 - kept.length + at}`));
  if (posix) for (const name of names()) expect(modeOf(join(directory, name))).toBe(0o600);
});

describe('several programs', () => {
  let program: string;
  beforeAll(() => {
    program = join(root, 'log-file.mjs');
    buildSync({
      entryPoints: [fileURLToPath(new URL('./log-file.ts', import.meta.url))],
      outfile: program,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
  });
  const run = (script: string) =>
    new Promise<number | null>((resolve, reject) => {
      const source = `import { openLogFile } from ${JSON.stringify(program)};
        const open = (more) => openLogFile({
          directory: ${JSON.stringify(directory)}, program: 'gate', onError: () => process.exit(3), ...more });
        ${script}`;
      const file = join(root, `run-${Math.random()}.mjs`);
      fs.writeFileSync(file, source);
      spawn(process.execPath, [file], { stdio: 'ignore' }).on('exit', resolve).on('error', reject);
    });

  const writers = ['a', 'b', 'c'];
  const writeTogether = (options: string) =>
    Promise.all(
      writers.map((name) =>
        run(`
          const log = open({ ${options} });
          for (let line = 0; line < 2000; line++) {
            log.write('${name} ' + line + ' ' + 'x'.repeat(line % 90));
            if (line % 10 === 0) await new Promise((resume) => setTimeout(resume, 1));
          }
          log.close();
        `),
      ),
    );

  test('write to one file without losing or tearing a line', { timeout: 60_000 }, async () => {
    expect(await writeTogether('')).toEqual([0, 0, 0]);
    expect(names()).toEqual(['gate.log']);
    const lines = linesOf();
    for (const name of writers) {
      const mine = lines
        .filter((line) => line.startsWith(`${name} `))
        .map((line) => Number(line.split(' ')[1]));
      expect(mine).toEqual(Array.from({ length: 2000 }, (_, at) => at));
    }
    expect(lines).toHaveLength(6000);
  });

  test('rotate it without tearing a line', { timeout: 60_000 }, async () => {
    expect(await writeTogether('maxBytes: 16384')).toEqual([0, 0, 0]);
    expect(names()).toEqual(['gate.log', 'gate.log.1']);
    for (const line of names().flatMap(linesOf)) expect(line).toMatch(/^[abc] \d+ x*$/);
  });

  test('a program that ends without closing has written its last words', async () => {
    expect(await run(`const log = open(); log.write('why'); log.write('it ended'); process.exit(7);`)).toBe(
      7,
    );
    expect(linesOf()).toEqual(['why', 'it ended']);
    expect(await run(`open().write('by itself');`)).toBe(0);
    expect(linesOf().at(-1)).toBe('by itself');
    expect(await run(`open().write('by a bug'); throw new Error('a bug');`)).toBe(1);
    expect(linesOf().at(-1)).toBe('by a bug');
  });
});

test.runIf(posix)('a file that was moved away or removed is created again', async () => {
  const log = open();
  log.write('one');
  await vi.waitFor(() => expect(linesOf()).toEqual(['one']));
  fs.renameSync(log.file, `${log.file}.old`);
  log.write('two');
  await vi.waitFor(() => expect(linesOf()).toEqual(['two']));
  expect(linesOf('gate.log.old')).toEqual(['one']);
  fs.rmSync(log.file);
  log.write('three');
  log.close();
  expect(linesOf()).toEqual(['three']);
});

describe('a disk that fails after opening', () => {
  test('is reported once; lines are lost until it works again', async () => {
    const errors: string[] = [];
    const log = open({ onError: (message) => errors.push(message) });
    fs.rmSync(log.file);
    fs.mkdirSync(log.file);
    log.write('one');
    await vi.waitFor(() => expect(errors).toHaveLength(1));
    expect(errors[0]).toContain(log.file);
    log.write('two');
    await soon();
    fs.rmdirSync(log.file);
    log.write('three');
    log.close();
    expect(linesOf()).toEqual(['three']);
    expect(errors).toHaveLength(1);
  });

  test.runIf(posix)('a link that took the place of the file is not followed', () => {
    const errors: string[] = [];
    const log = open({ onError: (message) => errors.push(message) });
    const target = join(directory, 'precious');
    fs.writeFileSync(target, 'mine');
    fs.rmSync(log.file);
    fs.symlinkSync(target, log.file);
    log.write('secret');
    log.close();
    expect(errors).toHaveLength(1);
    expect(fs.readFileSync(target, 'utf8')).toBe('mine');
  });
});

test('lines that have a time of their own get no other', () => {
  const log = open({ times: false });
  log.write('{"time":"now"}\n');
  log.close();
  expect(read()).toBe('{"time":"now"}\n');
});
