import {
  closeSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { draftMark } from '../names.ts';
import type { Home } from './home.ts';
import type { State } from './records.ts';

/** Replaces the file in one step: a reader sees the old or the new content, never a mixture. */
export function writeState(file: string, text: string): void {
  clearDrafts(file);
  const draft = `${file}.${process.pid}-${draftMark()}${DRAFT}`;
  try {
    const descriptor = openSync(draft, 'wx', 0o600);
    try {
      writeFileSync(descriptor, text);
      // Otherwise the rename may reach the disk before the content does.
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** The text of a state: two spaces, sorted keys, so that equal states have equal texts. */
export function serialise(state: State): string {
  return `${JSON.stringify(sorted(state), undefined, 2)}\n`;
}

/** Keeps a copy of an unreadable state under a new name; returns its path. */
export function quarantineState({ stateFile, corruptFile }: Home): string {
  let target = corruptFile;
  for (let number = 2; existsSync(target); number++) {
    target = corruptFile.replace(/\.json$/, `.${number}.json`);
  }
  copyFileSync(stateFile, target, constants.COPYFILE_EXCL);
  chmodSync(target, 0o600);
  return target;
}

const DRAFT = '.draft';
/** No write takes this long, in milliseconds. */
const DRAFT_AGE = 60_000;

/** Removes drafts of writers that were killed. */
function clearDrafts(file: string): void {
  const directory = dirname(file);
  for (const name of readdirSync(directory)) {
    if (!name.startsWith(`${basename(file)}.`) || !name.endsWith(DRAFT)) continue;
    const draft = join(directory, name);
    const written = statSync(draft, { throwIfNoEntry: false })?.mtimeMs;
    if (written !== undefined && Date.now() - written > DRAFT_AGE) rmSync(draft, { force: true });
  }
}

export function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  // fromEntries creates own members for all names, including `__proto__`.
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
