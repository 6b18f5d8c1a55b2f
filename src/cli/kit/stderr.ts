import { visible } from './visible.ts';

/** Beyond this many unread bytes, the reader of our stderr is not reading, and further output is dropped. */
const UNREAD_LIMIT = 1024 * 1024;

let stream: typeof process.stderr | undefined;

/** Writes a text to stderr with every character made visible. */
export function writeStderr(text: string): void {
  drawOnStderr(visible(text));
}

/**
 * Also writes control sequences, so texts must have been made visible before. Never throws, and never buffers without
 * limit: the program that started us may have closed stderr, or never reads it.
 */
export function drawOnStderr(text: string): void {
  const stderr = open();
  if (stderr.writable && stderr.writableLength < UNREAD_LIMIT) stderr.write(text);
}

/**
 * Writes a log line to stderr. Adds the time, since nobody may look at it before tomorrow, except on a terminal without
 * `always`.
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
