import type { LogLimit } from '../../../process/index.ts';
import { earlierPart } from './run-files.ts';

/** The maximum size of a run's log, including its earlier part, in bytes. */
export const LOG_LIMIT = 10 * 1024 * 1024;

/** The limit for the process that writes a log. */
export function logLimit(file: string): LogLimit {
  return { earlierLog: earlierPart(file), bytes: LOG_LIMIT };
}
