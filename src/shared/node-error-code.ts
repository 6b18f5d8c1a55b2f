import { isObject } from './is-object.ts';

/** The code of an error that Node reports, such as `ENOENT`; undefined for anything else. */
export function nodeErrorCode(error: unknown): string | undefined {
  return isObject(error) && typeof error.code === 'string' ? error.code : undefined;
}

/** The system call that failed, such as `connect`; undefined for anything else than an error of Node. */
export function failedCall(error: unknown): string | undefined {
  return isObject(error) && typeof error.syscall === 'string' ? error.syscall : undefined;
}
