import { isObject } from './is-object.ts';

/** The code of a Node error, such as `ENOENT`; undefined for anything else. */
export function nodeErrorCode(error: unknown): string | undefined {
  return isObject(error) && typeof error.code === 'string' ? error.code : undefined;
}

/** The system call that failed, such as `connect`; undefined for anything but a Node error. */
export function failedCall(error: unknown): string | undefined {
  return isObject(error) && typeof error.syscall === 'string' ? error.syscall : undefined;
}
