import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** How many are kept of one file. */
const KEPT = 5;

/** Where the text that a file has now is kept: beside it, under the time. */
export function backupName(file: string, now = Date.now()): string {
  const name = `${file}${MARK}${new Date(now).toISOString().replaceAll(/[:.]/g, '-')}`;
  return existsSync(name) ? backupName(file, now + 1) : name;
}

/** The texts that were kept of a file, the newest first. */
export function keptTexts(file: string): string[] {
  return backupsOf(file)
    .toReversed()
    .map((path) => readFileSync(path, 'utf8'));
}

/** Takes the oldest away. Never throws: the file has been changed, and one too many harms nobody. */
export function pruneBackups(file: string): void {
  try {
    for (const path of backupsOf(file).slice(0, -KEPT)) rmSync(path, { force: true });
  } catch {
    // They can go the next time.
  }
}

const MARK = '.switchboard-backup-';

/** The oldest first: the times sort as text. */
function backupsOf(file: string): string[] {
  const front = basename(file) + MARK;
  let names: string[];
  try {
    names = readdirSync(dirname(file));
  } catch {
    return [];
  }
  return names
    .filter((name) => name.startsWith(front))
    .sort()
    .map((name) => join(dirname(file), name));
}
