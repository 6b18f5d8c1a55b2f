import type { WriteStream } from 'node:tty';
import { truncateLine, width } from './table.ts';
import { plainLine } from '../../shared/printable.ts';
import { drawOnStderr } from './stderr.ts';
import { visible } from './visible.ts';

/** Lines at the bottom of a terminal that are redrawn in place. */
export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Removes the block; further output starts where it began. */
  clear(): void;
}

export function createLiveBlock(
  stream: Pick<WriteStream, 'columns' | 'rows'>,
  write: (text: string) => void,
): LiveBlock {
  let shown: readonly string[] = [];
  const columns = (): number => Math.max(stream.columns || 80, 10);
  /** Moves back to the start of the block. A terminal that was made narrower has wrapped our lines. */
  const back = (): string => {
    if (shown.length === 0) return '';
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(width(line) / columns())), 0);
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
  };
  return {
    draw(lines) {
      // One line more than the terminal has would scroll the first one out of view.
      const most = Math.max((stream.rows || 24) - 1, 2);
      const kept =
        lines.length <= most
          ? lines
          : [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more lines`];
      const next = kept.map((line) => truncateLine(visible(line), columns() - 1));
      write(back() + next.join('\n'));
      shown = next;
    },
    clear() {
      write(back());
      shown = [];
    },
  };
}

/** One line at the bottom of a terminal that shows the current activity. Shows nothing if stderr is not a terminal. */
export interface StatusLine {
  readonly visible: boolean;
  show(text: string): void;
  /** Call this before anything else is written, and at the end. */
  clear(): void;
}

/** Nobody can read faster changes. In milliseconds. */
const PAUSE = 50;

export function createStatusLine(): StatusLine {
  const isShown = process.stderr.isTTY && process.env.TERM !== 'dumb';
  const block = createLiveBlock(process.stderr, drawOnStderr);
  let last = -Infinity;
  return {
    visible: isShown,
    show(text) {
      if (!isShown || performance.now() - last < PAUSE) return;
      last = performance.now();
      block.draw([plainLine(text)]);
    },
    clear() {
      if (last > -Infinity) block.clear();
      last = -Infinity;
    },
  };
}
