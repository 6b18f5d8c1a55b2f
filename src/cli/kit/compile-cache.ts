import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../../shared/paths.ts';

/**
 * Lets Node keep compiled code for the next start. It is kept in the state directory: anyone who can write there can change
 * what the program does, and Node's own default is a folder in one that all users share.
 */
export function cacheCompiledCode(): void {
  // Node 22.8 and newer.
  if (!('enableCompileCache' in nodeModule)) return;
  try {
    const state = stateDirectory();
    // Whatever needs it makes it; a command run as another user, by sudo for example, must not.
    if (!existsSync(state)) return;
    const directory = join(state, 'compiled-code');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if ([state, directory].every(isOurs))
      (nodeModule.enableCompileCache as (directory: string) => void)(directory);
  } catch {
    // Without a writable folder, the next start compiles again.
  }
}

/** Whether a path is a directory of this user that nobody else can write to. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  const owner = process.getuid?.();
  return found.isDirectory() && (owner === undefined || (found.uid === owner && (found.mode & 0o022) === 0));
}
