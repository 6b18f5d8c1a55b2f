import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { isFile, isSame, isThere } from './disk.ts';
import { wrapPathsIn, SCRIPT_ENDING, type WrapPaths } from './names.ts';
import { recordIn, type WrapRecord } from './record.ts';

/** What became of a folder so far. */
export interface FolderState {
  readonly places: WrapPaths;
  /**
   * `wrapped`: the script has replaced the server. `unfinished`: the server itself is used, and something is
   * left of a wrap or unwrap that was interrupted.
   */
  readonly kind: 'plain' | 'wrapped' | 'unfinished';
  /** The script, where there is one of ours. */
  readonly script?: FoundScript | undefined;
  /** Whether the folder has instructions that no wrap has written. */
  readonly hasOwn: boolean;
  /** Whether `original` was made by a wrap: a folder may have one of its own. */
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
  const script = findScript(folder) ?? findScript(places.staging);
  // It is made in the staging folder before the record is, and moved as the first thing after it.
  const ownsOriginal = script !== undefined && !isThere(join(places.staging, 'original'));
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

function findScript(directory: string): FoundScript | undefined {
  for (const name of namesIn(directory)) {
    if (!name.endsWith(SCRIPT_ENDING)) continue;
    const file = join(directory, name);
    const found = isFile(file) ? recordIn(readFileSync(file, 'utf8')) : undefined;
    if (found !== undefined) return { file, ...found };
  }
  return undefined;
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory).sort();
  } catch (error) {
    const code = nodeErrorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
