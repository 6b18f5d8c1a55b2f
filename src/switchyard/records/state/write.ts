import { chmodSync, constants, copyFileSync, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeOldDrafts, writeFileAtomic } from '../../../shared/write-file.ts';
import type { Home } from './home.ts';
import type { State } from './records.ts';

/** Replaces the file in one step: a reader sees the old or the new content, never a mixture. */
export function writeState(file: string, text: string): void {
  removeOldDrafts(dirname(file));
  writeFileAtomic(file, text);
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
