import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { readRegularFile, statOf, withRegularFile } from './regular-file.ts';

let file: string;

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'regular-file-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  file = join(folder, 'file');
});

test.each([0, 1, 10])('a file of %i bytes is read as a whole, up to the limit', (size) => {
  writeFileSync(file, 'x'.repeat(size));
  expect(readRegularFile(file, { maxBytes: 10 }).toString()).toBe('x'.repeat(size));
});

test('a larger one is refused', () => {
  writeFileSync(file, 'x'.repeat(11));
  expect(() => readRegularFile(file, { maxBytes: 10 })).toThrow('it is larger than 10 bytes');
  writeFileSync(file, Buffer.alloc(4 * 1024 * 1024 + 1));
  expect(() => readRegularFile(file)).toThrow('it is larger than 4 MiB');
});

test('a link is followed only where the file need not be ours', () => {
  writeFileSync(`${file}-itself`, 'text');
  symlinkSync(`${file}-itself`, file);
  expect(readRegularFile(file).toString()).toBe('text');
  expect(() => withRegularFile(file, ({ read }) => read())).toThrow();
});

describe.runIf(process.platform !== 'win32')('what is not a regular file', () => {
  test.each([
    ['a directory', () => mkdirSync(file)],
    ['a device', () => symlinkSync('/dev/zero', file)],
    ['a pipe', () => void execFileSync('mkfifo', [file])],
  ])('is refused: %s', (_what, make) => {
    make();
    expect(() => readRegularFile(file)).toThrow('it is not a regular file');
  });

  test('or leads in a circle is refused, and is nothing', () => {
    symlinkSync(file, file);
    expect(() => readRegularFile(file)).toThrow('ELOOP');
    expect(statOf(file)).toBeUndefined();
  });
});

test.runIf(process.platform === 'linux')('a file that does not say how large it is has an end', () => {
  expect(readRegularFile('/proc/self/status').toString()).toMatch(/^Name:[^]*\n$/);
  expect(() => readRegularFile('/proc/self/status', { maxBytes: 20 })).toThrow('larger than 20 bytes');
});
