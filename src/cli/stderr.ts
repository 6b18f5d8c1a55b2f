import type { Writable } from 'node:stream';

/** Beyond this, in bytes, a reader of our stderr is not reading, and what comes is lost instead of kept. */
const UNREAD_LIMIT = 1024 * 1024;

let stream: Writable | undefined;

/** Writes to stderr. Never throws, never grows: whoever started us may have closed it, or never looks at it. */
export function writeStderr(text: string): void {
  if (stream === undefined) {
    stream = process.stderr;
    stream.on('error', () => undefined);
  }
  if (stream.writable && stream.writableLength < UNREAD_LIMIT) stream.write(text);
}
