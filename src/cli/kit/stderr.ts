import { visible } from './visible.ts';

/** Beyond this, in bytes, a reader of our stderr is not reading, and what comes is lost instead of kept. */
const UNREAD_LIMIT = 1024 * 1024;

let stream: typeof process.stderr | undefined;

/** Writes a text for a person to stderr, with every character of it visible. */
export function writeStderr(text: string): void {
  drawOnStderr(visible(text));
}

/**
 * Writes what moves the cursor, too; its texts must be visible already. Never throws, never grows: the program that started
 * us may have closed stderr, or never reads it.
 */
export function drawOnStderr(text: string): void {
  const stderr = open();
  if (stderr.writable && stderr.writableLength < UNREAD_LIMIT) stderr.write(text);
}

/**
 * Writes a line of the log to stderr: with the time in front, because nobody may look at it before tomorrow, unless it is
 * a terminal and `always` is not set.
 */
export function writeLogLine(line: string, always: boolean): void {
  writeStderr(always || !open().isTTY ? `${new Date().toISOString()} ${line}` : line);
}

function open(): typeof process.stderr {
  if (stream === undefined) {
    stream = process.stderr;
    stream.on('error', () => undefined);
  }
  return stream;
}
