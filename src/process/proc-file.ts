import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';

let scratch = Buffer.allocUnsafe(16 * 1024);

/**
 * Reads a file of /proc; valid until the next call, empty if it is gone or not readable. One buffer serves all reads:
 * listing processes reads hundreds of these files in a row, and `readFileSync` takes twice as long for each.
 */
export function readProcFile(path: string): Buffer {
  let file: number | undefined;
  let length = 0;
  try {
    file = openSync(path, 'r');
    for (;;) {
      if (length === scratch.length) scratch = Buffer.concat([scratch, Buffer.allocUnsafe(scratch.length)]);
      const count = readSync(file, scratch, length, scratch.length - length, null);
      if (count === 0) break;
      length += count;
    }
  } catch {
    // The process ended meanwhile or belongs to another user, so it is not ours.
    length = 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return scratch.subarray(0, length);
}

/** The value of a variable in an environment as /proc shows it. `wanted` is its name followed by `=`. */
export function valueIn(environment: Buffer, wanted: Buffer): string | undefined {
  for (let at = environment.indexOf(wanted); at !== -1; at = environment.indexOf(wanted, at + 1)) {
    // Must be the variable itself, not its text inside another value.
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('latin1', at + wanted.length, end === -1 ? environment.length : end);
  }
  return undefined;
}
