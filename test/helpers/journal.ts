import { existsSync, readFileSync } from 'node:fs';

/** One event of a test server that was started with TEST_SERVER_JOURNAL=file (or --journal=file). */
export interface JournalEntry {
  readonly pid: number;
  readonly event: 'start' | 'message' | 'unreadable' | 'stdin-end' | 'ignored' | 'exit';
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly method?: string;
  readonly id?: string | number;
  readonly argv?: string[];
  readonly cwd?: string;
  readonly signal?: string;
  readonly code?: number;
}

/**
 * Everything that the servers writing to this journal have done: how often each was started, and the requests that
 * arrived.
 */
export function readJournal(file: string): JournalEntry[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEntry);
}
