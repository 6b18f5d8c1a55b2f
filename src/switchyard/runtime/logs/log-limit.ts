import type { LogLimit } from '../../../process/index.ts';
import { earlierPart } from './run-files.ts';

/** The longest the log of a run may be, with its earlier part, in bytes. */
export const LOG_LIMIT = 10 * 1024 * 1024;

/** The same for the process that writes a log. */
export function logLimit(file: string): LogLimit {
  return { earlierLog: earlierPart(file), bytes: LOG_LIMIT };
}
