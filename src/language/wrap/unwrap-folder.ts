import { readdirSync, readFileSync, rmSync, unlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { parseJsonc } from '../../shared/jsonc.ts';
import { isFile, isSame, isThere, move, removeDirectory, removeFile, settle, type Step } from './disk.ts';
import { readFolderState, type FolderState } from './folder-state.ts';
import { INSTRUCTIONS_FILE, SCRIPT_ENDING } from './names.ts';
import { outerConfigChanges } from './outer-config.ts';
import { digest } from './record.ts';

/** Files that unwrapping left in the folder because they were edited. */
export interface Unwrapped {
  readonly kept: readonly string[];
}

export interface UnwrapOptions {
  /** Whether what was changed since is thrown away. Default false. */
  readonly force?: boolean | undefined;
}

/**
 * Puts a wrapped folder back to what it was, to the byte, also where wrapping or unwrapping was interrupted. Throws a
 * SwitchboardError if that would discard changes (UNWRAP_REFUSED), with the folder as it was, or if it fails
 * (UNWRAP_FAILED); then it can be tried again.
 */
export function unwrapFolder(folder: string, options: UnwrapOptions = {}): Unwrapped {
  if (options.force !== true) refuseToUnwrap(folder);
  const kept: string[] = [];
  try {
    for (const step of unwrapSteps(folder, options, (file) => void kept.push(file))) step.run();
  } catch (cause) {
    throw new SwitchboardError('UNWRAP_FAILED', `Could not restore ${folder}: ${messageOf(cause)}`, {
      hint: 'Check the permissions of the folder, then unwrap it again.',
      cause,
    });
  }
  return { kept };
}

/** Throws where something was changed that unwrapping takes away. Changes nothing. */
export function refuseToUnwrap(folder: string): void {
  const { kind, script, places } = readFolderState(folder);
  const refuse = (message: string, hint: string): never => {
    throw new SwitchboardError('UNWRAP_REFUSED', message, { hint });
  };
  if (kind !== 'wrapped') return;
  if (script!.isChanged)
    refuse(
      `${script!.file} was changed after it was written; the changes would be lost.`,
      'Keep a copy of it, or unwrap with --force.',
    );
  const changes = isThere(places.config)
    ? outerConfigChanges(definitionIn(places.config), script!.record.config)
    : [];
  if (changes.length > 0)
    refuse(
      `${places.config} was changed after it was written: ${changes.join(', ')}. These changes would be lost.`,
      `Make the same change in ${places.originalConfig}, which replaces it, then unwrap with --force.`,
    );
}

function definitionIn(file: string): unknown {
  try {
    return parseJsonc(readFileSync(file, 'utf8'));
  } catch {
    return undefined;
  }
}

/** What is done, in this order. The script goes last: its record says what the other files are. */
export function unwrapSteps(
  folder: string,
  { force = false }: UnwrapOptions = {},
  keep: (file: string) => void = () => undefined,
): Step[] {
  const state = readFolderState(folder);
  const { places, script, ownsOriginal } = state;
  const step = (text: string, run: () => void): Step => ({ text, run });
  return [
    ...(ownsOriginal
      ? [
          step(`restore original/${basename(places.config)}`, () => {
            if (isFile(places.originalConfig)) putBack(places.originalConfig, places.config);
          }),
          step(`restore ${INSTRUCTIONS_FILE}`, () => restoreInstructions(state, force, keep)),
          step(`remove ${places.original}`, () => {
            if (!removeDirectory(places.original)) keep(places.original);
          }),
        ]
      : []),
    step(`remove ${places.staging}`, () => removeStaging(places.staging)),
    ...(script === undefined
      ? []
      : [
          step(`remove ${basename(script.file)}`, () => {
            removeFile(script.file);
            settle(folder);
          }),
        ]),
  ];
}

/** A rename does nothing where both names are of one file: then the second name goes. */
function putBack(kept: string, file: string): void {
  if (isSame(kept, file)) unlinkSync(kept);
  else move(kept, file);
}

/** Restores the folder's own instructions, if it had some, or removes ours. Edited ones stay. */
function restoreInstructions(
  { places, script, kind }: FolderState,
  force: boolean,
  keep: (file: string) => void,
): void {
  const { instructions: written, setAside: hadOwn } = script!.record;
  // Until ours are in place, the existing file is the folder's own; the same once it is restored.
  const isPlaced = written !== undefined && !isThere(join(places.staging, INSTRUCTIONS_FILE));
  const isSetAside = isThere(places.originalInstructions);
  if (isPlaced && isThere(places.instructions) && (isSetAside || hadOwn !== true)) {
    const isOurs = isFile(places.instructions) && digest(readFileSync(places.instructions)) === written;
    // After an unwrap that was interrupted, it may be a new file, which we did not write.
    const mayGo = isOurs || (force && kind === 'wrapped');
    if (mayGo && !isSetAside) removeFile(places.instructions);
    if (!mayGo) keep(isSetAside ? moveAside(places) : places.instructions);
  }
  if (isSetAside) move(places.originalInstructions, places.instructions);
}

function moveAside({ folder, instructions }: FolderState['places']): string {
  const names = ['CLAUDE.edited.md', ...Array.from({ length: 99 }, (_, at) => `CLAUDE.edited.${at + 2}.md`)];
  const free = names.map((name) => join(folder, name)).find((file) => !isThere(file));
  if (free === undefined) throw new Error(`there is no free name for ${instructions}`);
  move(instructions, free);
  return free;
}

function removeStaging(staging: string): void {
  if (!isThere(staging)) return;
  // The record first: without it nothing else in the folder is taken for ours.
  for (const name of readdirSync(staging)) if (name.endsWith(SCRIPT_ENDING)) removeFile(join(staging, name));
  rmSync(staging, { recursive: true, force: true });
  settle(dirname(staging));
}
