import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { afterAll } from 'vitest';
import { describeWarning, loadConfig, type LoadedConfig } from './index.ts';

const made: string[] = [];
afterAll(() => made.forEach((path) => rmSync(path, { recursive: true, force: true })));

/** A directory with these files. Anything but text is written as JSON. */
export function project(files: Record<string, unknown> = {}): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'load-config-')));
  made.push(directory);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return directory;
}

export function load(directory: string, env: Record<string, string> = {}): Promise<LoadedConfig> {
  return loadConfig({ cwd: directory, env });
}

export function names(loaded: LoadedConfig): string[] {
  return loaded.servers.map((server) => server.name);
}

export function warningText(loaded: LoadedConfig, level?: 'warn' | 'info'): string {
  return loaded.warnings
    .filter((warning) => level === undefined || warning.level === level)
    .map(describeWarning)
    .join('\n')
    .replaceAll(sep, '/');
}

export const echo = { command: 'echo' };
