import { chmodSync, constants, copyFileSync, existsSync } from 'node:fs';
import { sortKeys } from '../../../shared/sort-keys.ts';
import type { Home } from './home.ts';
import type { State } from './records.ts';

/** The text of a state: with sorted keys, so that equal states have equal texts. */
export function serialise(state: State): string {
  return `${sortedText(state)}\n`;
}

/** JSON for a reader: two spaces, sorted keys, as the command line prints it. */
export function sortedText(data: object): string {
  return JSON.stringify(sortKeys(data), undefined, 2);
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
