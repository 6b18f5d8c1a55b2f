import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const DEPTH = 3000;
const nested = (inside: string): string => `${'{"a":'.repeat(DEPTH)}${inside}${'}'.repeat(DEPTH)}`;

/** What a stranger may put in place of a file that is read. Each function creates one at a path. */
export const BAD_FILES: Readonly<Record<string, (path: string) => void>> = {
  'nested 3000 levels deep': (path) => writeFileSync(path, `{"mcpServers":{"deep":${nested('1')}}}`),
  'with lists 3000 levels deep': (path) =>
    writeFileSync(path, `{"mcpServers":{},"list":${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}}`),
  'that is a link to itself': (path) => symlinkSync(path, path),
  'that is a link to /dev/zero': (path) => symlinkSync('/dev/zero', path),
  'that is a pipe': (path) => void execFileSync('mkfifo', [path]),
  'that is a directory': (path) => mkdirSync(path),
  'of 5 MB': (path) => writeFileSync(path, `{"mcpServers":{}${' '.repeat(5 * 1024 * 1024)}}`),
};

/** Replaces whatever is at the path by one of them. */
export function putBadFile(kind: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  rmSync(path, { recursive: true, force: true });
  BAD_FILES[kind]?.(path);
}
