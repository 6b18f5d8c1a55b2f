import { plainLine } from '../../shared/printable.ts';
import { writeStderr } from './stderr.ts';

/** One line at the bottom of a terminal that says what is going on. Elsewhere it shows nothing. */
export interface StatusLine {
  readonly visible: boolean;
  show(text: string): void;
  /** Before anything else is written, and at the end. */
  clear(): void;
}

/** Faster changes nobody can read, in milliseconds. */
const PAUSE = 50;

export function createStatusLine(): StatusLine {
  const visible = process.stderr.isTTY && process.env.TERM !== 'dumb';
  let shown = false;
  let last = -Infinity;
  return {
    visible,
    show(text) {
      if (!visible || performance.now() - last < PAUSE) return;
      last = performance.now();
      shown = true;
      writeStderr(`\r\x1b[2K${plainLine(text).slice(0, (process.stderr.columns || 80) - 1)}`);
    },
    clear() {
      if (shown) writeStderr('\r\x1b[2K');
      shown = false;
      last = -Infinity;
    },
  };
}
