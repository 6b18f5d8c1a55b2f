import { Buffer } from 'node:buffer';
import { closeSync, openSync, readSync } from 'node:fs';

let scratch = Buffer.allocUnsafe(16 * 1024);

/**
 * A file of /proc, valid until the next call; empty when it is gone or not ours to read. One buffer for all
 * reads: listing processes reads hundreds of these files in a row, and `readFileSync` costs twice as much for each.
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
    // It ended while we looked, or belongs to another user: then it is none of ours.
    length = 0;
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return scratch.subarray(0, length);
}

/** What a variable is set to in an environment as /proc shows it; `wanted` is its name with the sign behind it. */
export function valueIn(environment: Buffer, wanted: Buffer): string | undefined {
  for (let at = environment.indexOf(wanted); at !== -1; at = environment.indexOf(wanted, at + 1)) {
    // The variable itself, not its text inside the value of another one.
    if (at > 0 && environment[at - 1] !== 0) continue;
    const end = environment.indexOf(0, at);
    return environment.toString('latin1', at + wanted.length, end === -1 ? environment.length : end);
  }
  return undefined;
}
