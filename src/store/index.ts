import type { Store as StoreClass, StoreOptions } from './store.ts';

export type Store = StoreClass;

/** Connects to the store. Its client library is loaded on first use. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { Store: Opened } = await import('./store.ts');
  return Opened.open(options);
}
export type { SharedCallCounts } from './call-counts.ts';
export { Sequence } from './sequence.ts';
