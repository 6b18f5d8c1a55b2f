import { nodeErrorCode } from './node-error-code.ts';

/** The first pause, in milliseconds; each further pause is twice as long. */
const FIRST_PAUSE = 1;
/** With ten attempts, all pauses together take half a second. Nothing else runs in the meantime. */
const ATTEMPTS = 10;
const HELD = new Set(['EPERM', 'EACCES', 'EBUSY']);

/**
 * Renames or removes a file, repeatedly if necessary: on Windows, that fails while another program (a reader, an
 * editor, a virus scanner) has the file open, usually for a moment. Then throws EBUSY. On other systems it never fails
 * for that reason.
 */
export function retryWhileHeld(
  file: string,
  act: () => void,
  platform: NodeJS.Platform = process.platform,
): void {
  for (let attempt = 1; ; attempt++) {
    try {
      act();
      return;
    } catch (error) {
      if (platform !== 'win32' || !HELD.has(nodeErrorCode(error) ?? '')) throw error;
      if (attempt === ATTEMPTS) throw heldError(file, error);
      pause(FIRST_PAUSE * 2 ** (attempt - 1));
    }
  }
}

function pause(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** The system does not distinguish the two reasons. */
function heldError(file: string, cause: unknown): NodeJS.ErrnoException {
  const error = new Error('another program has it open, or it is read-only', { cause });
  return Object.assign(error, { code: 'EBUSY', syscall: 'rename', path: file });
}
