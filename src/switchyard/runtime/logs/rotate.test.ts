import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rotateForRun } from './rotate.ts';

let directory: string;
let file: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'switchyard-rotate-'));
  file = join(directory, 'web.log');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function contents(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  );
}

describe('rotateForRun', () => {
  it('keeps the logs of the three previous runs', () => {
    for (let run = 1; run <= 6; run++) {
      rotateForRun(file);
      writeFileSync(file, `run ${run}\n`);
    }
    expect(contents()).toEqual({
      'web.1.log': 'run 5\n',
      'web.2.log': 'run 4\n',
      'web.3.log': 'run 3\n',
      'web.log': 'run 6\n',
    });
  });

  it('moves the earlier part of a long run along with it', () => {
    writeFileSync(file, 'run 1, end\n');
    writeFileSync(join(directory, 'web.earlier.log'), 'run 1, beginning\n');
    rotateForRun(file);
    writeFileSync(file, 'run 2\n');
    rotateForRun(file);
    expect(contents()).toEqual({
      'web.1.log': 'run 2\n',
      'web.2.earlier.log': 'run 1, beginning\n',
      'web.2.log': 'run 1, end\n',
    });
  });

  it('does nothing for the first run, nor for one without output', () => {
    rotateForRun(file);
    expect(contents()).toEqual({});
    writeFileSync(join(directory, 'web.1.log'), 'run 1\n');
    appendFileSync(file, '');
    rotateForRun(file);
    expect(contents()).toEqual({ 'web.1.log': 'run 1\n', 'web.log': '' });
  });

  it('lets a process that still writes continue in the log of its own run', () => {
    const writer = openSync(file, 'a');
    writeSync(writer, 'old\n');
    rotateForRun(file);
    writeFileSync(file, 'new\n');
    writeSync(writer, 'still old\n');
    closeSync(writer);
    expect(contents()).toEqual({ 'web.1.log': 'old\nstill old\n', 'web.log': 'new\n' });
  });
});
