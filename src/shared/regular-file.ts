import * as fs from 'node:fs';

/** Windows has neither flag. */
const FLAGS =
  fs.constants.O_RDONLY |
  ((fs.constants.O_NOFOLLOW as number | undefined) ?? 0) |
  ((fs.constants.O_NONBLOCK as number | undefined) ?? 0);

/**
 * Opens a file of our own for reading, for as long as `use` takes. No link is followed, a pipe is not waited for, and
 * anything but a regular file is an error.
 */
export function withRegularFile<T>(file: string, use: (descriptor: number, stats: fs.Stats) => T): T {
  const descriptor = fs.openSync(file, FLAGS);
  try {
    const stats = fs.fstatSync(descriptor);
    if (!stats.isFile()) throw new Error('it is not a regular file');
    return use(descriptor, stats);
  } finally {
    fs.closeSync(descriptor);
  }
}
