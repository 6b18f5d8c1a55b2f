import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isThere } from '../../shared/is-there.ts';
import { readRegularFile } from '../../shared/regular-file.ts';
import { wrapPathsIn, SCRIPT_ENDING, type WrapPaths } from './names.ts';
import { recordIn, type WrapRecord } from './record.ts';

/** The current state of a folder. */
export interface FolderState {
  readonly places: WrapPaths;
  /**
   * `wrapped`: the script has replaced the server. `unfinished`: the server itself is in use, and there are leftovers
   * of an interrupted wrap or unwrap.
   */
  readonly kind: 'plain' | 'wrapped' | 'unfinished';
  /** Our script, if there is one. */
  readonly script?: FoundScript | undefined;
  /** Whether the folder has instructions that were not written by a wrap. */
  readonly hasOwn: boolean;
  /** Whether `original` was created by a wrap: a folder may have its own. */
  readonly ownsOriginal: boolean;
}

export interface FoundScript {
  readonly file: string;
  readonly record: WrapRecord;
  readonly isChanged: boolean;
}

/** Throws a SwitchboardError (WRAP_UNREADABLE) if it cannot be determined. */
export function readFolderState(folder: string): FolderState {
  try {
    return stateOf(folder);
  } catch (cause) {
    throw new SwitchboardError('WRAP_UNREADABLE', `Cannot read ${folder}: ${messageOf(cause)}`, {
      hint: 'Check the permissions of the folder and its contents.',
      cause,
    });
  }
}

function stateOf(folder: string): FolderState {
  const places = wrapPathsIn(folder);
  const script = findScript(folder);
  // The staging folder becomes `original` right after the script is written.
  const ownsOriginal = script !== undefined && !isThere(places.staging);
  const isMoved = ownsOriginal && isFile(places.originalConfig);
  const isWrapped = isMoved && !isSame(places.config, places.originalConfig);
  const hasRest = script !== undefined || isThere(places.staging);
  const kind = isWrapped ? 'wrapped' : hasRest ? 'unfinished' : 'plain';
  const hasOwn =
    script?.record.instructions === undefined
      ? isThere(places.instructions)
      : script.record.setAside === true;
  return { places, kind, script, hasOwn, ownsOriginal };
}

function findScript(folder: string): FoundScript | undefined {
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith(SCRIPT_ENDING)) continue;
    const file = join(folder, name);
    const found = isFile(file) ? recordIn(readRegularFile(file).toString('utf8')) : undefined;
    if (found !== undefined) return { file, ...found };
  }
  return undefined;
}

export function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** Whether two files have the same content, which includes two names of one file. */
export function isSame(one: string, other: string): boolean {
  return isFile(one) && isFile(other) && readRegularFile(one).equals(readRegularFile(other));
}
