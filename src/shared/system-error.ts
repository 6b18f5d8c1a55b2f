import { SwitchboardError } from './errors.ts';
import { nodeErrorCode, failedCall } from './node-error-code.ts';

/**
 * Returns the error with system errors turned into sentences: a full disk or a missing permission is not a bug of ours.
 */
export function explained(error: unknown): unknown {
  const code = nodeErrorCode(error);
  const syscall = failedCall(error);
  if (error instanceof SwitchboardError || code === undefined || syscall === undefined) return error;
  const { path } = error as NodeJS.ErrnoException;
  const where = path === undefined ? '' : ` ${path}`;
  return new SwitchboardError('SYSTEM', `${syscall}${where} failed: ${reasonOf(code)}.`, {
    hint: 'Check the free disk space and the permissions of that path, then try again.',
    cause: error,
  });
}

function reasonOf(code: string): string {
  const reason = REASONS[code];
  return reason === undefined ? code : `${reason} (${code})`;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'your disk quota is used up',
  EROFS: 'the file system is read-only',
  EFBIG: 'the file would be larger than allowed',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EBUSY: 'another program has it open',
  EEXIST: 'something else has that name',
  ENOTDIR: 'a file is in the place of a directory',
  EISDIR: 'a directory is in the place of a file',
  ELOOP: 'a symbolic link leads to itself',
  EMFILE: 'too many files are open',
  ENFILE: 'too many files are open',
};
