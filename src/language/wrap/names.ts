import { join } from 'node:path';

/** Where everything of a wrapped folder is. */
export interface WrapPaths {
  readonly folder: string;
  /** What says how the server is started: before, the server itself; wrapped, the script. */
  readonly config: string;
  /** Instructions for the model. */
  readonly instructions: string;
  /** Keeps what stood in the folder before. */
  readonly original: string;
  readonly originalConfig: string;
  /** The folder's own instructions, where others were wanted. */
  readonly originalInstructions: string;
  /** What becomes `original`; there only while a folder is wrapped, or if that was interrupted. */
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

/** The script of a server. Its name may be anything; that of a file may not. */
export function scriptName(server: string): string {
  const plain = server.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '');
  return `${plain === '' ? 'server' : plain}${SCRIPT_ENDING}`;
}

/** Whether what is started is the script of a wrapped folder. */
export function isWrapper(args: readonly string[]): boolean {
  return args[0]?.endsWith(SCRIPT_ENDING) === true;
}
