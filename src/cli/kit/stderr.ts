/** Beyond this, in bytes, a reader of our stderr is not reading, and what comes is lost instead of kept. */
const UNREAD_LIMIT = 1024 * 1024;

let stream: typeof process.stderr | undefined;

/** Writes to stderr. Never throws, never grows: the program that started us may have closed it, or never reads it. */
export function writeStderr(text: string): void {
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
