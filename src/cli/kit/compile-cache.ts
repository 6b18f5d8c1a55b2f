import { mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../../shared/paths.ts';

/**
 * Lets Node keep compiled code for the next start. It is kept in the state directory, which belongs to this user alone:
 * whoever can write there can change what the program does, and Node's own default is a folder that all users share.
 */
export function cacheCompiledCode(): void {
  // Node 22.8 and newer.
  if (!('enableCompileCache' in nodeModule)) return;
  try {
    const directory = join(stateDirectory(), 'compiled-code');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    (nodeModule.enableCompileCache as (directory: string) => void)(directory);
  } catch {
    // Without a writable folder, the next start compiles again.
  }
}
