import { join } from 'node:path';

/** The paths of everything in a wrapped folder. */
export interface WrapPaths {
  readonly folder: string;
  /** The definition: before, that of the server itself; wrapped, that of the script. */
  readonly config: string;
  /** Instructions for the model. */
  readonly instructions: string;
  /** Contains the folder's previous files. */
  readonly original: string;
  readonly originalConfig: string;
  /** The folder's own instructions, if others were wanted. */
  readonly originalInstructions: string;
  /** Becomes `original`; exists only while a folder is being wrapped, or if that was interrupted. */
  readonly staging: string;
}

export const WRAP_CONFIG_FILE = '.mcp.json';
export const INSTRUCTIONS_FILE = 'CLAUDE.md';
export const SCRIPT_ENDING = '-claude-wrapper.mjs';

export function wrapPathsIn(folder: string): WrapPaths {
  const original = join(folder, 'original');
  return {
    folder,
    config: join(folder, WRAP_CONFIG_FILE),
    instructions: join(folder, INSTRUCTIONS_FILE),
    original,
    originalConfig: join(original, WRAP_CONFIG_FILE),
    originalInstructions: join(original, INSTRUCTIONS_FILE),
    // Hidden, so that no pattern with ** finds a definition in it.
    staging: join(folder, '.switchboard-wrap'),
  };
}

/** The file name of a server's script. A server's name may contain anything; a file name may not. */
export function scriptName(server: string): string {
  const plain = server.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return `${plain === '' ? 'server' : plain}${SCRIPT_ENDING}`;
}

/** Whether the arguments start the script of a wrapped folder. */
export function isWrapper(args: readonly string[]): boolean {
  return args[0]?.endsWith(SCRIPT_ENDING) === true;
}
