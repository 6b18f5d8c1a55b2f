import { mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { atTestEnd } from './cleanup.ts';
import type { TestScope } from './cleanup.ts';

/** A folder for one test, with files in it. */
export interface Project {
  readonly dir: string;
  /** The absolute path of something in the folder. */
  path(...parts: string[]): string;
  /** Writes a file and creates its folders; anything but a string is written as JSON. Returns its path. */
  write(file: string, content: unknown): string;
  read(file: string): string;
  /** Removes the folder; runs by itself at the end of the test. */
  remove(): Promise<void>;
}

/** A command with its arguments, as an `mcpServers` entry takes it. */
export interface ServerCommand {
  readonly command: string;
  readonly args: string[];
}

/** The root of this repository. */
export const ROOT = resolve(import.meta.dirname, '../..');

/** `createProject({ 'switchboard.config.json': { … }, 'mcps/a/.mcp.json': { … } })` */
export function createProject(
  files: Readonly<Record<string, string | object>> = {},
  scope?: TestScope,
): Project {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'switchboard-test-')));
  const project: Project = {
    dir,
    path: (...parts) => join(dir, ...parts),
    write(file, content) {
      const path = join(dir, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof content === 'string' ? content : `${JSON.stringify(content, null, 2)}\n`);
      return path;
    },
    read: (file) => readFileSync(join(dir, file), 'utf8'),
    // A process that is just ending may still write to it; on Windows, its working directory is in use until then.
    remove: () => {
      const maxRetries = process.platform === 'win32' ? 30 : 5;
      return rm(dir, { recursive: true, force: true, maxRetries, retryDelay: 50 });
    },
  };
  for (const [file, content] of Object.entries(files)) project.write(file, content);
  atTestEnd(() => project.remove(), scope);
  return project;
}

/** The path of one of our test servers: `serverPath('echo')`. */
export function serverPath(name: string): string {
  return join(ROOT, 'test/servers', `${name}.mjs`);
}

/** How to start one of our test servers: `nodeServer('slow', '--start-ms=500')`. */
export function nodeServer(name: string, ...args: string[]): ServerCommand {
  return { command: process.execPath, args: [serverPath(name), ...args] };
}

/** How to start one of the official servers from node_modules: `npmServer('filesystem', dir)`. */
export function npmServer(name: 'everything' | 'filesystem' | 'memory', ...args: string[]): ServerCommand {
  const require = createRequire(import.meta.url);
  const manifest = require.resolve(`@modelcontextprotocol/server-${name}/package.json`);
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
  const program = bin[`mcp-server-${name}`];
  if (program === undefined) throw new Error(`${manifest} has no bin "mcp-server-${name}"`);
  return { command: process.execPath, args: [join(dirname(manifest), program), ...args] };
}
