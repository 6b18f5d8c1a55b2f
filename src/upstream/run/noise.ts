import type { Logger } from '../../shared/log.ts';
import { Flood, LEAST_LINE } from '../flood.ts';

/** How many lines of noise are logged at once; after that, one per interval in milliseconds. */
const LOGGED_AT_ONCE = 5;
const LOG_INTERVAL = 10_000;

/** How many lines are kept for an error message. */
const MAX_PRINTED = 3;

/** Counts what a server writes to stdout that is not a protocol message. Many print a banner; few print megabytes. */
export class NoiseMeter {
  readonly #server: string;
  readonly #log: Logger;
  /** Hides secrets. */
  readonly #mask: (text: string) => string;
  /** The beginnings of the first lines that were not messages. */
  readonly printed: string[] = [];
  #lines = 0;
  #loggedAt = 0;
  readonly #flood = new Flood();

  constructor(server: string, log: Logger, mask: (text: string) => string) {
    this.#server = server;
    this.#log = log;
    this.#mask = mask;
  }

  /** Returns whether it has become a flood. */
  hear(what: string, bytes: { readonly length: number; readonly text: () => string }): boolean {
    this.#lines++;
    const now = performance.now();
    const logged = this.#lines <= LOGGED_AT_ONCE || now - this.#loggedAt > LOG_INTERVAL;
    const kept = this.printed.length < MAX_PRINTED;
    if (logged || kept) {
      const said = proseOf(this.#mask(bytes.text()));
      if (kept && said !== undefined && said.trim() !== '') this.printed.push(said);
      if (logged) {
        this.#loggedAt = now;
        this.#log.warn('not a protocol message on stdout', {
          server: this.#server,
          what,
          count: this.#lines,
          said,
        });
      }
    }
    return this.#flood.add(Math.max(bytes.length, LEAST_LINE), now);
  }
}

/**
 * The beginning of a line, for people. A line that looks like JSON may be a damaged response, which must not be shown.
 */
function proseOf(text: string): string | undefined {
  return /^\s*(?:[{"]|\[\s*[{["])/.test(text) ? undefined : text.slice(0, 120);
}
