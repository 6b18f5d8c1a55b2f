import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { withInterpreter } from './interpreter.ts';

/** A working directory, and a PATH with only these programs. */
function searchWith(...programs: string[]): { cwd: string; path: string } {
  const cwd = mkdtempSync(join(tmpdir(), 'yard-path-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const path = join(cwd, 'bin');
  mkdirSync(path);
  for (const name of programs) {
    writeFileSync(join(path, name), '#!/bin/sh\n');
    chmodSync(join(path, name), 0o755);
  }
  return { cwd, path };
}

describe('an interpreter', () => {
  test.each([
    { argv: ['node', 'a.js'], there: [], used: [process.execPath, 'a.js'] },
    { argv: ['node', 'a.js'], there: ['node'], used: ['node', 'a.js'] },
    { argv: ['python', '-m', 'x'], there: ['python3'], used: ['python3', '-m', 'x'] },
    { argv: ['python', '-m', 'x'], there: ['python', 'python3'], used: ['python', '-m', 'x'] },
    { argv: ['python', '-m', 'x'], there: [], used: ['python', '-m', 'x'] },
    { argv: ['ruby', 'node'], there: [], used: ['ruby', 'node'] },
  ])('for $argv where there is $there is $used', ({ argv, there, used }) => {
    expect(withInterpreter(argv, searchWith(...there))).toEqual(used);
  });
});
