import fc from 'fast-check';
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lastThatFit, shareOut, sizeOf } from './fit-lines.ts';
import { readLog } from './read.ts';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'switchyard-read-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function logOf(lines: readonly string[]): string {
  const file = join(directory, 'web.log');
  writeFileSync(file, lines.map((line) => `${line}\n`).join(''));
  return file;
}

const whole = { truncated: false, undated: false };

describe('readLog', () => {
  it('returns everything by default, and nothing for a missing file', async () => {
    expect(await readLog(logOf(['a', 'b']))).toEqual({ lines: ['a', 'b'], ...whole });
    expect(await readLog(join(directory, 'nothing.log'))).toEqual({ lines: [], ...whole });
  });

  it('reports whether there was more', async () => {
    const file = logOf(['a', 'b', 'c']);
    expect(await readLog(file, { lines: 2 })).toEqual({ lines: ['b', 'c'], ...whole, truncated: true });
    expect(await readLog(file, { lines: 3 })).toEqual({ lines: ['a', 'b', 'c'], ...whole });
  });

  it('searches the whole log, not only its last lines', async () => {
    const lines = Array.from({ length: 5000 }, (_, index) => `line ${index}`);
    const file = logOf(lines);
    expect(await readLog(file, { grep: '^line 1$', lines: 80 })).toEqual({ lines: ['line 1'], ...whole });
    expect(await readLog(file, { grep: '7$', lines: 2 })).toEqual({
      lines: ['line 4987', 'line 4997'],
      truncated: true,
      undated: false,
    });
  });

  it('searches the visible text, not the color codes', async () => {
    const file = logOf(['\u001b[31m31 errors\u001b[0m', '\u001b[31mred\u001b[0m']);
    expect((await readLog(file, { grep: '31' })).lines).toEqual(['31 errors']);
  });

  describe('since a moment', () => {
    const since = Date.parse('2026-03-04T12:00:00Z');
    const before = since - 60_000;

    it('returns all of a run that began after it', async () => {
      expect(await readLog(logOf(['a', 'b']), { since, began: since + 1 })).toEqual({
        lines: ['a', 'b'],
        ...whole,
      });
    });

    it('returns nothing of a log that was not written after it', async () => {
      const file = logOf(['a']);
      utimesSync(file, new Date(before), new Date(before));
      expect(await readLog(file, { since, began: before })).toEqual({ lines: [], ...whole });
    });

    it('uses the timestamps of lines; the lines after one belong to it', async () => {
      const file = logOf([
        'banner',
        '2026-03-04T11:59:59Z old',
        '  trace of old',
        '2026-03-04T12:00:00Z new',
        '  trace of new',
        '2026-03-04T12:00:01Z newer',
      ]);
      expect(await readLog(file, { since, began: before })).toEqual({
        lines: ['2026-03-04T12:00:00Z new', '  trace of new', '2026-03-04T12:00:01Z newer'],
        ...whole,
      });
      expect((await readLog(file, { since, began: before, grep: 'trace' })).lines).toEqual([
        '  trace of new',
      ]);
    });

    it('omits lines before the first timestamp if the run began earlier', async () => {
      const file = logOf(['banner', '2026-03-04T12:00:00Z new']);
      expect((await readLog(file, { since, began: before })).lines).toEqual(['2026-03-04T12:00:00Z new']);
    });

    it('returns everything, and says so, if no line has a timestamp', async () => {
      const file = logOf(['a', 'b', 'c']);
      expect(await readLog(file, { since, began: before, lines: 2 })).toEqual({
        lines: ['b', 'c'],
        truncated: true,
        undated: true,
      });
    });
  });

  it('respects the maximum size for any lines, and reports omissions', async () => {
    const lines = fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🚀', ' ') }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 4, max: 200 }), async (content, maxBytes) => {
        const answer = await readLog(logOf(content), { maxBytes });
        const size = answer.lines.reduce((sum, line) => sum + sizeOf(line), 0);
        expect(size).toBeLessThanOrEqual(maxBytes);
        const all = content.reduce((sum, line) => sum + sizeOf(line), 0);
        expect(answer.truncated).toBe(all > maxBytes);
        if (all <= maxBytes) expect(answer.lines).toEqual(content);
        expect(answer.lines.join('')).not.toContain('\ufffd');
      }),
    );
  });
});

describe('lastThatFit', () => {
  it('keeps the last lines, and the beginning of one that is too long alone', () => {
    expect(lastThatFit(['aaaa', 'bb', 'cc'], 6)).toEqual(['bb', 'cc']);
    expect(lastThatFit(['aaaa', 'bb', 'cc'], 5)).toEqual(['cc']);
    expect(lastThatFit(['abcdefghij'], 8)).toEqual(['abcd…']);
    expect(lastThatFit([], 8)).toEqual([]);
  });
});

describe('shareOut', () => {
  it('gives the unused share of some to the others', () => {
    expect(shareOut([10, 100, 100], 110)).toEqual([10, 50, 50]);
    expect(shareOut([100, 1, 1], 30)).toEqual([28, 1, 1]);
    expect(shareOut([1, 2], Infinity)).toEqual([1, 2]);
  });

  it('never gives more than available or needed', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 1, maxLength: 10 }), fc.nat(3000), (needs, bytes) => {
        const shares = shareOut(needs, bytes);
        expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(bytes);
        shares.forEach((share, index) => expect(share).toBeLessThanOrEqual(needs[index]!));
        if (needs.reduce((sum, need) => sum + need, 0) <= bytes) expect(shares).toEqual(needs);
      }),
    );
  });
});
