import fc from 'fast-check';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LINE_LIMIT, linesBackwards } from './read-backwards.ts';
import { earlierPart, partsOf } from './run-files.ts';
import { stripAnsi } from './strip-ansi.ts';
import { tailLog } from './tail.ts';

let directory: string;
beforeAll(() => (directory = mkdtempSync(join(tmpdir(), 'switchyard-tail-'))));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function fileWith(content: string | Buffer, name = 'web.log'): string {
  const file = join(directory, name);
  writeFileSync(file, content);
  return file;
}

/** The lines of a log, determined in the simplest way. */
function linesOf(text: string): string[] {
  if (text === '') return [];
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
}

const text = fc
  .array(
    fc.oneof(
      fc.constant('\n'),
      fc.constantFrom('\r\n', '\u001b[31m', 'é', '🚀'),
      fc.string({ maxLength: 12 }),
    ),
  )
  .map((parts) => parts.join(''));

describe('tailLog', () => {
  it('returns the last lines of any text, for any block size', () => {
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 1, max: 16 }),
        (content, lines, blockSize) => {
          const file = fileWith(content);
          expect(tailLog(file, lines, { blockSize })).toEqual(linesOf(content).slice(-lines).map(stripAnsi));
        },
      ),
    );
  });

  it('reads a log in two parts as one, wherever the cut is', () => {
    fc.assert(
      fc.property(text, fc.nat(), fc.integer({ min: 1, max: 16 }), (content, where, blockSize) => {
        const bytes = Buffer.from(content);
        const cut = where % (bytes.length + 1);
        const file = fileWith(bytes.subarray(cut), 'two.log');
        fileWith(bytes.subarray(0, cut), 'two.earlier.log');
        expect(earlierPart(file)).toBe(join(directory, 'two.earlier.log'));
        expect(tailLog(file, 1000, { blockSize })).toEqual(linesOf(content).map(stripAnsi));
      }),
    );
  });

  it('reads no line twice if the log is moved aside meanwhile', () => {
    const file = fileWith('a\nb\nc\n', 'moved.log');
    const lines = linesBackwards(partsOf(file), { blockSize: 2 });
    expect(lines.next().value).toBe('c');
    renameSync(file, earlierPart(file));
    expect([...lines]).toEqual(['b', 'a']);
  });

  it.skipIf(process.platform === 'win32')(
    'finds the last lines of a log that is moved aside all the time',
    async () => {
      const file = fileWith('a  line\n'.repeat(1000), 'rotated.log');
      // Eight bytes, so that the system writes each line in one step. Rotates like the log writer: at any moment, both
      // files together contain the last lines.
      const rotate = `
        const { renameSync, openSync, writeSync, closeSync } = require('node:fs');
        process.send('ready');
        for (;;) {
          renameSync(process.argv[1], process.argv[2]);
          const log = openSync(process.argv[1], 'a');
          for (let line = 0; line < 100; line++) writeSync(log, 'a  line\\n');
          closeSync(log);
        }`;
      const writer = spawn(process.execPath, ['-e', rotate, file, earlierPart(file)], {
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      });
      try {
        await once(writer, 'message');
        for (let round = 0; round < 40_000; round++)
          expect(tailLog(file, 3), `round ${round}`).toEqual(['a  line', 'a  line', 'a  line']);
      } finally {
        writer.kill('SIGKILL');
        await once(writer, 'exit');
      }
    },
  );

  it('stops at the given end of the log', () => {
    fc.assert(
      fc.property(text, fc.nat(), (content, where) => {
        const bytes = Buffer.from(content);
        const upTo = where % (bytes.length + 1);
        const found = [...linesBackwards([fileWith(content)], { upTo, blockSize: 8 })].reverse();
        expect(found).toEqual(linesOf(bytes.subarray(0, upTo).toString()));
      }),
    );
  });

  it('replaces invalid UTF-8', () => {
    expect(tailLog(fileWith(Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xc3])), 5)).toEqual(['a\ufffdb', '\ufffd']);
  });

  it('truncates a line that never ends, at a whole character', () => {
    const [line, ...others] = tailLog(fileWith(`first\n${'é'.repeat(500_000)}`), 1);
    expect(others).toEqual([]);
    expect(line).toMatch(/^é+…$/u);
    expect(Buffer.byteLength(line!)).toBeLessThan(LINE_LIMIT + 4);
    expect(
      tailLog(fileWith(`first\nx${'é'.repeat(500_000)}\nlast\n`), 3).map((each) => each.slice(0, 5)),
    ).toEqual(['first', 'xéééé', 'last']);
  });

  it('returns no lines for a missing file', () => {
    expect(tailLog(join(directory, 'nothing.log'), 5)).toEqual([]);
  });

  it('reads no further back than necessary', () => {
    const file = fileWith(Buffer.alloc(40 * 1024 * 1024, 'line\n'));
    const started = performance.now();
    for (let round = 0; round < 100; round++) expect(tailLog(file, 3)).toEqual(['line', 'line', 'line']);
    // Reading the whole file a hundred times would take far longer.
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

it.runIf(process.platform !== 'win32')('an earlier part that is a link is none of ours', () => {
  const secret = fileWith('secret\n', 'secret.txt');
  const file = fileWith('own\n', 'linked.log');
  symlinkSync(secret, earlierPart(file));
  expect(tailLog(file, 10)).toEqual(['own']);
});
