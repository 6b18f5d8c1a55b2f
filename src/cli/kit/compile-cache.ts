import { existsSync, lstatSync, mkdirSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { join } from 'node:path';
import { stateDirectory } from '../../shared/paths.ts';

/**
 * Loads the code a program starts with. Node 22.8 and later cache it, compiled, for the next start. They do so before any
 * function has run, when V8 has compiled none of them, so V8 is told to compile all of them.
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
 * Enables the cache; returns whether it is enabled. The cache is in the state directory: anyone who can write to it can
 * change what the program does, and Node's default is in a directory that all users share.
 */
function cacheCompiledCode(): boolean {
  if (!('enableCompileCache' in nodeModule)) return false;
  try {
    const state = stateDirectory();
    // Code that needs the directory creates it. A command run as another user, for example with sudo, must not.
    if (!existsSync(state)) return false;
    const directory = join(state, 'compiled-code');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (![state, directory].every(isOurs)) return false;
    const { enableCompileCache } = nodeModule as unknown as NewerModule;
    return enableCompileCache(directory).directory !== undefined;
  } catch {
    // Without a writable directory, the next start compiles again.
    return false;
  }
}

/** Missing in the types of the oldest Node version we support. */
interface NewerModule {
  /** `directory` is undefined if the cache is not enabled. */
  readonly enableCompileCache: (directory: string) => { readonly directory?: string };
}

/** Whether a path is a directory of this user to which nobody else can write. */
function isOurs(path: string): boolean {
  const found = lstatSync(path);
  const owner = process.getuid?.();
  return found.isDirectory() && (owner === undefined || (found.uid === owner && (found.mode & 0o022) === 0));
}
