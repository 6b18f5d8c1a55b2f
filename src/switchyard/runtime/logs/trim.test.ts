import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { tailLog } from './tail.ts';
import { trimLog } from './trim.ts';

let directory: string;
let file: string;
let earlier: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchyard-trim-'));
  file = join(directory, 'web.log');
  earlier = join(directory, 'web.earlier.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index}\n`).join('');
}

describe('trimLog', () => {
  it('leaves a log alone that is short or missing', () => {
    expect(trimLog(file, 100)).toBe(false);
    writeFileSync(file, 'short\n');
    expect(trimLog(file, 100)).toBe(false);
    expect(readdirSync(directory)).toEqual(['web.log']);
  });

  it('keeps the end of a long log next to it, from a whole line on, for its owner only', () => {
    const text = numbered(1000);
    writeFileSync(file, text);
    expect(trimLog(file, 1000)).toBe(true);
    expect(statSync(file).size).toBe(0);
    const kept = readFileSync(earlier, 'utf8');
    expect(kept).toMatch(/^line \d+\n/);
    expect(text.endsWith(`\n${kept}`)).toBe(true);
    expect(kept.length).toBeGreaterThan(480);
    expect(kept.length).toBeLessThanOrEqual(500);
    if (process.platform !== 'win32') expect(statSync(earlier).mode & 0o777).toBe(0o600);
    expect(tailLog(file, 2)).toEqual(['line 998', 'line 999']);
    expect(readdirSync(directory).sort()).toEqual(['web.earlier.log', 'web.log']);
  });

  it.skipIf(process.platform === 'win32')('leaves alone what a link leads to', () => {
    const elsewhere = join(directory, 'elsewhere');
    writeFileSync(elsewhere, numbered(1000));
    symlinkSync(elsewhere, file);
    expect(trimLog(file, 1000)).toBe(false);
    expect(readFileSync(elsewhere, 'utf8')).toBe(numbered(1000));
    expect(readdirSync(directory).sort()).toEqual(['elsewhere', 'web.log']);
  });

  it('keeps half of a line that is longer than the limit', () => {
    writeFileSync(file, 'x'.repeat(5000));
    expect(trimLog(file, 1000)).toBe(true);
    expect(readFileSync(earlier, 'utf8')).toBe('x'.repeat(500));
  });

  it('is not stopped by what a process left that died', () => {
    writeFileSync(file, numbered(1000));
    writeFileSync(`${earlier}.new`, 'a part');
    expect(trimLog(file, 1000)).toBe(true);
    expect(readFileSync(earlier, 'utf8')).toMatch(/^line \d+\n/);
    expect(readdirSync(directory).sort()).toEqual(['web.earlier.log', 'web.log']);
  });

  it('lets a service keep writing to a clean file: whole lines in order, no gap', async () => {
    const log = openSync(file, 'a', 0o600);
    const script = `
      const { writeSync } = require('node:fs');
      for (let n = 0; n < 60000; n++) writeSync(1, 'line ' + n + '\\n');
    `;
    const writer = spawn(process.execPath, ['-e', script], { stdio: ['ignore', log, 'inherit'] });
    closeSync(log);
    const ended = once(writer, 'exit');
    let running = true;
    void ended.then(() => (running = false));
    let trims = 0;
    while (running) {
      if (trimLog(file, 50_000)) trims += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await ended;
    expect(trims).toBeGreaterThan(0);
    const text = readFileSync(earlier, 'utf8') + readFileSync(file, 'utf8');
    const lines = text.trimEnd().split('\n');
    expect(text).not.toContain('\0');
    // At each cut, the line that is being written may be partly lost.
    const whole = lines.filter((line) => /^line \d+$/.test(line));
    expect(lines.length - whole.length).toBeLessThanOrEqual(trims);
    const numbers = whole.map((line) => Number(line.slice(5)));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(numbers.at(-1)).toBeGreaterThan(50_000);
  });
});
