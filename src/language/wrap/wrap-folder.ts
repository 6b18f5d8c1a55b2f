import { lstatSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../protocol/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import {
  isFile,
  isSame,
  isThere,
  makeDirectory,
  move,
  nameAlso,
  removeDirectory,
  writeNew,
  type Step,
} from './disk.ts';
import { readFolderState } from './folder-state.ts';
import { WRAP_CONFIG_FILE, INSTRUCTIONS_FILE, wrapPathsIn, scriptName } from './names.ts';
import { digest, withRecord } from './record.ts';
import { unwrapFolder } from './unwrap-folder.ts';

export interface WrapPlan {
  /** The folder of the server, absolute. */
  readonly folder: string;
  readonly server: string;
  /** Its definition as it was read; where it is another one by now, nothing is changed. */
  readonly original: Buffer;
  /** The definition that takes its place. */
  readonly config: JsonObject;
  /** The script, without its record. */
  readonly script: string;
  /** Instructions for the model. Default: the folder's own CLAUDE.md, which is left alone. */
  readonly instructions?: string | undefined;
}

/**
 * Puts a script in the place of a server, all at once or not at all: until the last rename but one the folder is the
 * server's, and from then on the script's. What an interrupted attempt has left is taken away first. Throws a
 * SwitchboardError, with the folder as it was, where something is in the way (WRAP_REFUSED) or fails (WRAP_FAILED).
 */
export function wrapFolder(plan: WrapPlan): void {
  clearLeftovers(plan.folder);
  refuseToWrap(plan.folder, plan.server);
  try {
    for (const step of wrapSteps(plan)) step.run();
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

/** Takes away what an attempt that did not come to its end has left, or does nothing. Throws like unwrapFolder. */
export function clearLeftovers(folder: string): void {
  const { kind, places } = readFolderState(folder);
  if (kind === 'unfinished') unwrapFolder(folder);
  else if (kind === 'wrapped') removeEmpty(places.staging);
}

/** By now everything is in place: an empty folder that cannot be removed is no failure. */
function removeEmpty(directory: string): void {
  try {
    removeDirectory(directory);
  } catch {
    // The next wrap or unwrap removes it.
  }
}

/** Throws where the folder holds something that the script's files would take the place of. Changes nothing. */
export function refuseToWrap(folder: string, server: string): void {
  const { config, original, instructions } = wrapPathsIn(folder);
  const state = readFolderState(folder);
  const refuse = (message: string, hint: string): never => {
    throw new SwitchboardError('WRAP_REFUSED', message, { hint });
  };
  if (state.kind === 'wrapped') refuse(`${folder} is already wrapped.`, 'Unwrap it first.');
  if (lstatSync(config, { throwIfNoEntry: false })?.isSymbolicLink() === true)
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
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** What is done, in this order. After any number of them, the folder is either the server's or the script's. */
export function wrapSteps(plan: WrapPlan): Step[] {
  const { folder, server, instructions } = plan;
  const places = wrapPathsIn(folder);
  const name = scriptName(server);
  const staged = (file: string): string => join(places.staging, file);
  const step = (text: string, run: () => void): Step => ({ text, run });
  const isOwn = instructions === undefined;
  const hadOwn = isThere(places.instructions);
  return [
    step(`make ${places.staging}`, () => makeDirectory(places.staging)),
    step(`make ${staged('original')}`, () => makeDirectory(staged('original'))),
    step(`keep ${WRAP_CONFIG_FILE} in it`, () =>
      nameAlso(places.config, join(staged('original'), WRAP_CONFIG_FILE)),
    ),
    ...(isOwn
      ? []
      : [step(`write ${INSTRUCTIONS_FILE}`, () => writeNew(staged(INSTRUCTIONS_FILE), instructions, 0o644))]),
    step(`write the new ${WRAP_CONFIG_FILE}`, () =>
      writeNew(staged('mcp.json'), `${JSON.stringify(plan.config, null, 2)}\n`, rightsOf(places.config)),
    ),
    // From here on there is a record of what is ours.
    step(`write ${name}`, () => writeNew(staged(name), recorded(plan, hadOwn), 0o644)),
    step(`put original/${WRAP_CONFIG_FILE} in place`, () => move(staged('original'), places.original)),
    ...(isOwn
      ? []
      : [
          step(`set an own ${INSTRUCTIONS_FILE} aside`, () => {
            if (isThere(staged(INSTRUCTIONS_FILE))) move(places.instructions, places.originalInstructions);
          }),
          step(`put ${INSTRUCTIONS_FILE} in place`, () =>
            move(staged(INSTRUCTIONS_FILE), places.instructions),
          ),
        ]),
    step(`put ${name} in place`, () => move(staged(name), join(folder, name))),
    step(`put ${WRAP_CONFIG_FILE} in place`, () => {
      if (!isThere(staged('mcp.json'))) return;
      refuseChanged(plan, places.config, places.originalConfig);
      move(staged('mcp.json'), places.config);
    }),
    step(`remove ${places.staging}`, () => removeEmpty(places.staging)),
  ];
}

function recorded({ server, config, script, instructions }: WrapPlan, setAside: boolean): string {
  const told = instructions === undefined ? {} : { instructions: digest(instructions), setAside };
  return withRecord(script, { server, config, ...told });
}

function rightsOf(file: string): number {
  return statSync(file).mode & 0o777;
}

/** Somebody may have written another definition since ours was read; it must not be lost. */
function refuseChanged({ original }: WrapPlan, config: string, kept: string): void {
  if (isSame(config, kept) && readFileSync(config).equals(original)) return;
  throw new SwitchboardError('WRAP_FAILED', `${config} is being changed by another program.`, {
    hint: 'Nothing was changed. Try again later.',
  });
}
