import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../../shared/paths.ts';

/**
 * Loads what a program starts with. Node 22.8 and newer keep its compiled code for the next start. They store it before
 * any function has run, when V8 has compiled none of them, so V8 is told to compile all of them meanwhile.
 */
export async function loadFromCache<T>(load: () => Promise<T>): Promise<T> {
  if (!cacheCompiledCode()) return load();
  const { setFlagsFromString } = await import('node:v8');
  setFlagsFromString('--no-lazy');
  try {
    return await load();
  } finally {
    setFlagsFromString('--lazy');
  }
}

/**
 * Enables the cache; returns whether it is. It is kept in the state directory: anyone who can write there can change what
 * the program does, and Node's own default is a folder in one that all users share.
 */
function cacheCompiledCode(): boolean {
  if (!('enableCompileCache' in nodeModule)) return false;
  try {
    const state = stateDirectory();
    // Whatever needs it makes it; a command run as another user, by sudo for example, must not.
    if (!existsSync(state)) return false;
    const directory = join(state, 'compiled-code');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (![state, directory].every(isOurs)) return false;
    const { enableCompileCache } = nodeModule as unknown as NewerModule;
    return enableCompileCache(directory).directory !== undefined;
  } catch {
    // Without a writable folder, the next start compiles again.
    return false;
  }
}

/** What the types of the oldest Node that we support do not have. */
interface NewerModule {
  /** The directory is where the cache is, if it is enabled. */
  readonly enableCompileCache: (directory: string) => { readonly directory?: string };
}

/** Whether a path is a directory of this user that nobody else can write to. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  const owner = process.getuid?.();
  return found.isDirectory() && (owner === undefined || (found.uid === owner && (found.mode & 0o022) === 0));
}
