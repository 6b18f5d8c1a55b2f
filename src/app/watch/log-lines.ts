import type { LogLine } from '../../console/index.ts';

/** How many lines are remembered, and the longest one, in UTF-16 code units. */
const MOST = 2000;
const LONGEST = 4096;

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

/** The lines of the log, as consoles show them. */
export class WatchedLog {
  readonly #gateway: string;
  readonly #lines: LogLine[] = [];
  #lastSeq = 0;

  constructor(gateway: string) {
    this.#gateway = gateway;
  }

  get lines(): readonly LogLine[] {
    return this.#lines;
  }

  /** Adds a line in the format of the log: `switchboard warn  text` for our own, or `[server] text`. */
  add(line: string, at: number): LogLine {
    const text = line.replace(/\r?\n$/, '');
    const ofServer = /^\[([^\]]*)\] ?(.*)$/s.exec(text);
    const [, level, own] = /^[\w-]+ (debug|info|warn|error) +(.*)$/s.exec(text) ?? [];
    const added: LogLine = {
      gateway: this.#gateway,
      seq: ++this.#lastSeq,
      at,
      server: ofServer?.[1] ?? null,
      level: LEVELS.find((each) => each === level) ?? null,
      text: (ofServer?.[2] ?? own ?? text).slice(0, LONGEST),
    };
    this.#lines.push(added);
    if (this.#lines.length > MOST) this.#lines.shift();
    return added;
  }
}
