import { renameSync, rmdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isThere } from '../../shared/is-there.ts';
import { parseJsonc } from '../../shared/jsonc.ts';
import { nodeErrorCode } from '../../shared/node-error-code.ts';
import { readRegularFile } from '../../shared/regular-file.ts';
import { draftsIn } from '../../shared/write-file.ts';
import { isFile, isSame, readFolderState, type FolderState } from './folder-state.ts';
import { SCRIPT_ENDING, type WrapPaths } from './names.ts';
import { outerConfigChanges } from './outer-config.ts';
import { digest } from './record.ts';

/** Files that were left in the folder because they had been edited. */
export interface Unwrapped {
  readonly kept: readonly string[];
}

export interface UnwrapOptions {
  /** Whether later changes are discarded. Default false. */
  readonly force?: boolean | undefined;
}

/**
 * Restores a wrapped folder exactly, even if wrapping or unwrapping was interrupted. Throws a SwitchboardError:
 * UNWRAP_REFUSED, without changing anything, if that would discard changes, or UNWRAP_FAILED, after which it can be
 * tried again.
 */
export function unwrapFolder(folder: string, { force = false }: UnwrapOptions = {}): Unwrapped {
  refuseToUnwrap(folder, force);
  try {
    return { kept: restore(readFolderState(folder), force) };
  } catch (cause) {
    throw new SwitchboardError('UNWRAP_FAILED', `Could not restore ${folder}: ${messageOf(cause)}`, {
      hint: 'Check the permissions of the folder, then unwrap it again.',
      cause,
    });
  }
}

/** Throws if the definition is lost, or if unwrapping would discard changes. Changes nothing itself. */
export function refuseToUnwrap(folder: string, force: boolean): void {
  const state = readFolderState(folder);
  const { kind, script, places } = state;
  const refuse = (message: string, hint: string): never => {
    throw new SwitchboardError('UNWRAP_REFUSED', message, { hint });
  };
  if (isLost(state))
    refuse(
      `${places.originalConfig} is missing, so the definition of the server cannot be restored.`,
      `Put the definition there, or in ${places.config}, then unwrap again.`,
    );
  if (force || kind !== 'wrapped' || script === undefined) return;
  if (script.isChanged)
    refuse(
      `${script.file} was changed after it was written; the changes would be lost.`,
      'Keep a copy of it, or unwrap with --force.',
    );
  const changes = isThere(places.config)
    ? outerConfigChanges(definitionIn(places.config), script.record.config)
    : [];
  if (changes.length > 0)
    refuse(
      `${places.config} was changed after it was written: ${changes.join(', ')}. These changes would be lost.`,
      `Make the same change in ${places.originalConfig}, which replaces it, then unwrap with --force.`,
    );
}

/** Whether only the wrapper is left: nothing defines how the server itself is started. */
function isLost({ places, script, ownsOriginal }: FolderState): boolean {
  if (script === undefined || !ownsOriginal || isThere(places.originalConfig)) return false;
  return !isThere(places.config) || readRegularFile(places.config).includes(basename(script.file));
}

function definitionIn(file: string): unknown {
  try {
    return parseJsonc(readRegularFile(file).toString('utf8'));
  } catch {
    return undefined;
  }
}

/**
 * Returns what is kept because it was edited. The script is removed last, because its record identifies the other
 * files.
 */
function restore(state: FolderState, force: boolean): string[] {
  const { places, script, kind, ownsOriginal } = state;
  if (kind === 'plain') return [];
  const kept: string[] = [];
  for (const draft of draftsIn(places.folder)) if (isOurs(draft.file, places)) rmSync(draft.path);
  if (ownsOriginal) {
    restoreConfig(places);
    kept.push(...restoreInstructions(state, force));
    if (!removeIfEmpty(places.original)) kept.push(places.original);
  }
  if (script !== undefined) rmSync(script.file);
  rmSync(places.staging, { recursive: true, force: true });
  return kept;
}

function isOurs(file: string, { config, instructions }: WrapPaths): boolean {
  return file === config || file === instructions || file.endsWith(SCRIPT_ENDING);
}

function restoreConfig({ config, originalConfig }: WrapPaths): void {
  if (!isFile(originalConfig)) return;
  // A rename does nothing if both are names of the same file.
  if (isSame(originalConfig, config)) rmSync(originalConfig);
  else renameSync(originalConfig, config);
}

/** Restores the folder's own instructions, if it had any, or removes ours. Edited ones stay and are returned. */
function restoreInstructions({ places, script, kind }: FolderState, force: boolean): string[] {
  const { instructions: written, setAside } = script?.record ?? {};
  const isSetAside = isThere(places.originalInstructions);
  // The file is the folder's own: not yet moved, or already restored.
  if (written === undefined || (setAside === true && !isSetAside)) return [];
  const kept: string[] = [];
  if (isThere(places.instructions)) {
    const isAsWritten =
      isFile(places.instructions) && digest(readRegularFile(places.instructions)) === written;
    // After an interrupted unwrap, it may be a new file that we did not write.
    const mayGo = isAsWritten || (force && kind === 'wrapped');
    if (!mayGo) kept.push(isSetAside ? moveAside(places) : places.instructions);
    else if (!isSetAside) rmSync(places.instructions);
  }
  if (isSetAside) renameSync(places.originalInstructions, places.instructions);
  return kept;
}

function moveAside({ folder, instructions }: WrapPaths): string {
  const names = ['CLAUDE.edited.md', ...Array.from({ length: 99 }, (_, at) => `CLAUDE.edited.${at + 2}.md`)];
  const free = names.map((name) => join(folder, name)).find((file) => !isThere(file));
  if (free === undefined) throw new Error(`there is no free name for ${instructions}`);
  renameSync(instructions, free);
  return free;
}

/** Returns false if the directory is not empty. */
function removeIfEmpty(directory: string): boolean {
  try {
    rmdirSync(directory);
  } catch (error) {
    const code = nodeErrorCode(error) ?? '';
    if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(code)) return false;
    if (code !== 'ENOENT') throw error;
  }
  return true;
}
