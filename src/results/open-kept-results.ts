import type { Logger } from '../shared/log.ts';
import { KeptResults } from './kept-results.ts';
import { ResultStore, type StoreLimits } from './result-store.ts';

/** The chunk that is loaded when a result may be too long. */
export function openKeptResults(directory: string, log: Logger, limits?: StoreLimits): KeptResults {
  return new KeptResults(new ResultStore(directory, log, limits), log);
}
