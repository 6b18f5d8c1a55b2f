import { isTooDeep, TOO_DEEP } from '../../../shared/depth.ts';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { readRegularFile } from '../../../shared/regular-file.ts';
import { checkState } from './check.ts';
import type { State } from './records.ts';

export interface LoadedState {
  readonly state: State;
  /** The content of the file; undefined if it does not exist. */
  readonly text: string | undefined;
  /** Whether a part of it was invalid. */
  readonly damaged: boolean;
  readonly warnings: readonly string[];
}

/**
 * Loads a state file, as far as it is valid. Only reads. If the content is unchanged, returns the same object as
 * before, so it must not be modified.
 */
export function loadState(file: string, before?: LoadedState): LoadedState {
  const text = readText(file);
  if (before !== undefined && before.text === text) return before;
  if (text === undefined) return { state: checkState({}).state, text, damaged: false, warnings: [] };
  try {
    const value: unknown = JSON.parse(text);
    if (isTooDeep(value)) throw new Error(`it is ${TOO_DEEP}`);
    const { state, warnings } = checkState(value);
    const newer =
      state.version > 1
        ? [
            `${file} was written by a newer Switchyard: only the parts that this version understands are shown.`,
          ]
        : [];
    const prefixed = warnings.map((warning) => `${file}: ${warning}`);
    return { state, text, damaged: warnings.length > 0, warnings: [...newer, ...prefixed] };
  } catch (error) {
    const warning = `${file} cannot be read (${(error as Error).message}); it is treated as empty.`;
    return { state: checkState({}).state, text, damaged: true, warnings: [warning] };
  }
}

/** A record of every service of every project. */
const MAX_BYTES = 64 * 1024 * 1024;

function readText(file: string): string | undefined {
  try {
    return readRegularFile(file, { maxBytes: MAX_BYTES }).toString('utf8');
  } catch (cause) {
    const code = nodeErrorCode(cause);
    // If a part of the path is a file, there is no state either; creating the home will report that.
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new SwitchboardError('STATE_UNREADABLE', `The state ${file} cannot be read: ${messageOf(cause)}.`, {
      hint: 'Make it readable, or move it away.',
      cause,
    });
  }
}
