import type * as Windows from './windows/index.ts';

let loaded: typeof Windows | undefined;

/** Loads the code that only Windows needs. Call this before a process is started; on other systems it does nothing. */
export async function loadWindows(): Promise<void> {
  if (process.platform === 'win32') loaded ??= await import('./windows/index.ts');
}

/** The code that only Windows needs; undefined on other systems. */
export function windows(): typeof Windows | undefined {
  if (process.platform === 'win32' && loaded === undefined) {
    throw new Error('loadWindows() comes before the first process.');
  }
  return loaded;
}
