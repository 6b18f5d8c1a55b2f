import * as fs from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { isThere } from '../../shared/is-there.ts';
import { replaceFile } from '../../shared/replace-file.ts';
import { writeFileAtomic } from '../../shared/write-file.ts';
import { isFile, readFolderState } from './folder-state.ts';
import { WRAP_CONFIG_FILE, wrapPathsIn, scriptName } from './names.ts';
import { digest, withRecord } from './record.ts';
import { unwrapFolder } from './unwrap-folder.ts';

export interface WrapPlan {
  /** The folder of the server, absolute. */
  readonly folder: string;
  readonly server: string;
  /** The definition as it was read. If it has changed since, nothing is changed. */
  readonly original: Buffer;
  /** The definition that replaces it. */
  readonly config: JsonObject;
  /** The script, without its record. */
  readonly script: string;
  /** Instructions for the model. Default: the folder's own CLAUDE.md, which is not changed. */
  readonly instructions?: string | undefined;
}

/**
 * Replaces a server with a script, completely or not at all. Leftovers of an interrupted attempt are removed first.
 * Throws a SwitchboardError and leaves the folder as it was if something is in the way (WRAP_REFUSED) or fails
 * (WRAP_FAILED).
 */
export function wrapFolder(plan: WrapPlan): void {
  clearLeftovers(plan.folder);
  refuseToWrap(plan.folder, plan.server);
  try {
    replaceServer(plan);
  } catch (cause) {
    const isTidy = triesToClear(plan.folder);
    if (cause instanceof SwitchboardError && isTidy) throw cause;
    throw new SwitchboardError('WRAP_FAILED', `${plan.folder} could not be changed: ${messageOf(cause)}`, {
      hint: isTidy
        ? 'The folder is unchanged. Check its permissions and the free disk space.'
        : 'The server works as before, but parts of the wrapper are left. Check the permissions of the folder, then unwrap it.',
      cause,
    });
  }
}

function triesToClear(folder: string): boolean {
  try {
    clearLeftovers(folder);
    return true;
  } catch {
    return false;
  }
}

/** Removes the leftovers of an interrupted attempt, if any. Throws like unwrapFolder. */
export function clearLeftovers(folder: string): void {
  if (readFolderState(folder).kind === 'unfinished') unwrapFolder(folder);
}

/** Throws if the folder contains something that the script's files would replace. Changes nothing. */
export function refuseToWrap(folder: string, server: string): void {
  const { config, original, instructions } = wrapPathsIn(folder);
  const state = readFolderState(folder);
  const refuse = (message: string, hint: string): never => {
    throw new SwitchboardError('WRAP_REFUSED', message, { hint });
  };
  if (state.kind === 'wrapped') refuse(`${folder} is already wrapped.`, 'Unwrap it first.');
  if (fs.lstatSync(config, { throwIfNoEntry: false })?.isSymbolicLink() === true)
    refuse(
      `${config} is a link to another file.`,
      'Put the file itself there, or wrap the server where it is.',
    );
  if (!isFile(config)) refuse(`${config} is not a regular file.`, 'Only a regular file can be wrapped.');
  if (isThere(original) && !state.ownsOriginal)
    refuse(`${original} already exists.`, 'Rename it: the definition of the server is kept there.');
  if (isThere(instructions) && !leadsToFile(instructions))
    refuse(
      `${instructions} is not a file, nor a link to one.`,
      'Put a file there or remove it: it holds the instructions for the model.',
    );
  const script = join(folder, scriptName(server));
  if (isThere(script) && state.script?.file !== script)
    refuse(`${script} already exists.`, 'Rename it: the wrapper of the server goes there.');
}

function leadsToFile(path: string): boolean {
  try {
    return fs.statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Until the last step, the folder still starts the server; the record in the script determines what to undo. */
function replaceServer(plan: WrapPlan): void {
  const { folder, server, original, instructions } = plan;
  const places = wrapPathsIn(folder);
  const setAside = instructions !== undefined && isThere(places.instructions);
  fs.mkdirSync(places.staging);
  keepFile(places.config, join(places.staging, WRAP_CONFIG_FILE));
  writeFileAtomic(join(folder, scriptName(server)), recorded(plan, setAside), { mode: 0o644 });
  fs.renameSync(places.staging, places.original);
  if (instructions !== undefined) {
    if (setAside) fs.renameSync(places.instructions, places.originalInstructions);
    writeFileAtomic(places.instructions, instructions, { mode: 0o644 });
  }
  const found = { path: places.config, bytes: original, stats: fs.statSync(places.config) };
  const config = Buffer.from(`${JSON.stringify(plan.config, null, 2)}\n`);
  if (replaceFile(places.config, found, config)) return;
  // Another program has written a new definition since ours was read; it must not be lost.
  throw new SwitchboardError('WRAP_FAILED', `${places.config} is being changed by another program.`, {
    hint: 'Nothing was changed. Try again later.',
  });
}

function recorded({ server, config, script, instructions }: WrapPlan, setAside: boolean): string {
  const told = instructions === undefined ? {} : { instructions: digest(instructions), setAside };
  return withRecord(script, { server, config, ...told });
}

/** Gives a file a second name, so that it remains the same file with its permissions, times and identity. */
function keepFile(file: string, name: string): void {
  try {
    fs.linkSync(file, name);
  } catch {
    // Some file systems have no hard links.
    fs.copyFileSync(file, name, fs.constants.COPYFILE_EXCL);
    const { atime, mtime } = fs.statSync(file);
    fs.utimesSync(name, atime, mtime);
  }
}
