import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../../shared/paths.ts';

/**
 * Lets Node cache compiled code for the next start. The cache is in the state directory: anyone who can write to it can
 * change what the program does, and Node's default is in a directory that all users share.
 */
export function cacheCompiledCode(): void {
  // Exists in Node 22.8 and later.
  if (!('enableCompileCache' in nodeModule)) return;
  try {
    const state = stateDirectory();
    // Code that needs the directory creates it. A command run as another user, for example with sudo, must not.
    if (!existsSync(state)) return;
    const directory = join(state, 'compiled-code');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if ([state, directory].every(isOurs))
      (nodeModule.enableCompileCache as (directory: string) => void)(directory);
  } catch {
    // Without a writable directory, the next start compiles again.
  }
}

/** Whether a path is a directory of this user to which nobody else can write. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  const owner = process.getuid?.();
  return found.isDirectory() && (owner === undefined || (found.uid === owner && (found.mode & 0o022) === 0));
}
