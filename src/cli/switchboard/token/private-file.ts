import { readFileSync } from 'node:fs';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { nodeErrorCode } from '../../../shared/node-error-code.ts';
import { withRegularFile } from '../../../shared/regular-file.ts';

/** Says why a file is not trusted, and what to do about it where that is special. */
type PrivateFileProblem = (why: string, hint?: string) => SwitchboardError;

/**
 * The text of a file that only its owner may read or change; undefined where there is none. Throws what `problem` makes
 * where it is a link, not a regular file, or open to others.
 */
export function readPrivateFile(file: string, problem: PrivateFileProblem): string | undefined {
  try {
    return withRegularFile(file, (descriptor, { mode, size }) => {
      if (process.platform !== 'win32' && (mode & 0o077) !== 0)
        throw problem(
          'other users can read or change it',
          `Run: chmod 600 ${file}. If someone may have read or changed it, delete it instead.`,
        );
      if (size > MAX_BYTES) throw problem('it is too large');
      return readFileSync(descriptor, 'utf8');
    });
  } catch (error) {
    const code = nodeErrorCode(error);
    if (code === 'ENOENT') return undefined;
    if (error instanceof SwitchboardError) throw error;
    throw problem(code === 'ELOOP' ? 'it is a symbolic link' : messageOf(error));
  }
}

const MAX_BYTES = 4 * 1024 * 1024;
