import type { WriteStream } from 'node:tty';
import { truncateLine, displayWidth } from './yard-table.ts';

/** Some lines at the bottom of a terminal that are drawn again in their place. */
export interface LiveBlock {
  draw(lines: readonly string[]): void;
  /** Takes it away; what is written then stands in its place. */
  clear(): void;
}

export function createLiveBlock(
  stream: Pick<WriteStream, 'columns' | 'rows'>,
  write: (text: string) => void,
): LiveBlock {
  let shown: readonly string[] = [];
  const width = (): number => Math.max(stream.columns || 80, 10);
  /**
   * Up to where the block begins. A terminal that has become narrower since has broken our lines into several.
   */
  const back = (): string => {
    if (shown.length === 0) return '';
    const rows = shown.reduce((sum, line) => sum + Math.max(1, Math.ceil(displayWidth(line) / width())), 0);
    return `\r${rows > 1 ? `\x1b[${rows - 1}A` : ''}\x1b[J`;
  };
  return {
    draw(lines) {
      // A line more than the terminal has would scroll the first one out of reach.
      const most = Math.max((stream.rows || 24) - 1, 2);
      const kept =
        lines.length <= most
          ? lines
          : [...lines.slice(0, most - 1), `… and ${lines.length - most + 1} more lines`];
      const next = kept.map((line) => truncateLine(line, width() - 1));
      write(back() + next.join('\n'));
      shown = next;
    },
    clear() {
      write(back());
      shown = [];
    },
  };
}
