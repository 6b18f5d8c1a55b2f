import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { checkState } from '../state/check.ts';
import { configFileFor } from './find.ts';

const findConfig = (from: string): string | undefined => configFileFor(checkState({}).state, from);

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'yard-find-')));
});

afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

it('finds the nearest file upwards, from a directory or from a file', () => {
  mkdirSync(join(root, 'a/b'), { recursive: true });
  writeFileSync(join(root, 'switchyard.toml'), '');
  writeFileSync(join(root, 'a/b/main.js'), '');
  expect(findConfig(join(root, 'a/b'))).toBe(join(root, 'switchyard.toml'));
  expect(findConfig(join(root, 'a/b/main.js'))).toBe(join(root, 'switchyard.toml'));
  writeFileSync(join(root, 'a/switchyard.toml'), '');
  expect(findConfig(join(root, 'a/b'))).toBe(join(root, 'a/switchyard.toml'));
});

it('goes by where a directory really is', () => {
  mkdirSync(join(root, 'real/inside'), { recursive: true });
  writeFileSync(join(root, 'real/switchyard.toml'), '');
  mkdirSync(join(root, 'other'));
  symlinkSync(join(root, 'real/inside'), join(root, 'other/link'));
  expect(findConfig(join(root, 'other/link'))).toBe(join(root, 'real/switchyard.toml'));
});

it('does not take a directory for the file', () => {
  mkdirSync(join(root, 'a/switchyard.toml'), { recursive: true });
  expect(findConfig(join(root, 'a'))).toBeUndefined();
});

it('looks above a directory that has been deleted', () => {
  writeFileSync(join(root, 'switchyard.toml'), '');
  expect(findConfig(join(root, 'gone/deeper'))).toBe(join(root, 'switchyard.toml'));
});
