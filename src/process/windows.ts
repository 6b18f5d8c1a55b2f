import type * as Windows from './windows/index.ts';

let loaded: typeof Windows | undefined;

/** Loads what only Windows needs. Call it before a process is started; elsewhere it does nothing. */
export async function loadWindows(): Promise<void> {
  if (process.platform === 'win32') loaded ??= await import('./windows/index.ts');
}

/** What only Windows needs; undefined elsewhere. */
export function windows(): typeof Windows | undefined {
  if (process.platform === 'win32' && loaded === undefined) {
    throw new Error('loadWindows() comes before the first process.');
  }
  return loaded;
}
