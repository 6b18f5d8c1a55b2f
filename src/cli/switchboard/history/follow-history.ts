import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditRecord, HistoryReader } from '../../../audit/index.ts';

interface FollowOptions {
  readonly json: boolean;
  /** Formats a record for people, without a line break. */
  readonly text: (record: AuditRecord) => string;
}

/** How often the log is checked, in milliseconds. */
const POLL_MS = 250;

/** Prints records, and then new ones as they are added, until stdout is closed. Ctrl-C ends the program as usual. */
export async function followHistory(
  reader: HistoryReader,
  before: readonly AuditRecord[],
  { json, text }: FollowOptions,
): Promise<void> {
  const { stdout } = process;
  let closed = false;
  stdout.on('error', () => (closed = true));
  const print = (record: AuditRecord): Promise<void> =>
    // Waits for slow readers, so that output does not pile up in memory.
    new Promise(
      (resolve) => void stdout.write(`${json ? JSON.stringify(record) : text(record)}\n`, () => resolve()),
    );
  for (const record of before) await print(record);
  while (!isClosed()) {
    for (const record of reader.more()) await print(record);
    await sleep(POLL_MS);
  }

  /** A function, because the compiler would assume that a variable that was false stays false. */
  function isClosed(): boolean {
    return closed;
  }
}
