import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recentErrors } from './recent-errors.ts';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'switchyard-errors-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function errorsOf(lines: readonly string[], options?: Parameters<typeof recentErrors>[1]): string[] {
  const file = join(directory, 'web.log');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return recentErrors(file, options);
}

describe('recentErrors', () => {
  it('selects the lines that look like errors, in any case and color', () => {
    const trouble = [
      'TypeError: x is not a function',
      'Unhandled EXCEPTION',
      'build failed',
      'Traceback (most recent call last):',
      'listen EADDRINUSE',
      'panic: nil map',
    ];
    const lines = ['ready', ...trouble.map((line) => `  \u001b[31m${line}\u001b[0m`), 'GET / 200'];
    expect(errorsOf(lines)).toEqual(trouble);
  });

  it('ignores a count of zero errors', () => {
    expect(
      errorsOf([
        'Found 0 errors. Watching for file changes.',
        '12 passed, 0 failed',
        'errors: 0',
        'no errors',
      ]),
    ).toEqual([]);
    expect(errorsOf(['0 errors, but 1 failed'])).toEqual(['0 errors, but 1 failed']);
  });

  it('keeps the last eight of the last 200 lines', () => {
    const lines = Array.from({ length: 300 }, (_, index) => (index % 20 === 0 ? `error ${index}` : 'fine'));
    expect(errorsOf(lines)).toEqual(
      [140, 160, 180, 200, 220, 240, 260, 280].map((index) => `error ${index}`),
    );
    expect(errorsOf(['error early', ...Array<string>(200).fill('fine')])).toEqual([]);
  });

  it('truncates long lines, never in the middle of a character', () => {
    const [line] = errorsOf([`error ${'🚀'.repeat(300)}`], { width: 20 });
    expect(line).toBe(`error ${'🚀'.repeat(6)}…`);
  });

  it('finds none in a log that does not exist', () => {
    expect(recentErrors(join(directory, 'nothing.log'))).toEqual([]);
  });
});
