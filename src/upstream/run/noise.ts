import type { Logger } from '../../shared/log.ts';
import { Flood, LEAST_LINE } from '../flood.ts';

/** Lines of noise that are logged at once; after that only one in so many milliseconds. */
const LOGGED_AT_ONCE = 5;
const LOG_INTERVAL = 10_000;

/** Lines that are kept for an error. */
const MAX_PRINTED = 3;

/** Counts what a server writes to stdout that is no protocol message. Many print a banner; few print megabytes. */
export class NoiseMeter {
  readonly #server: string;
  readonly #log: Logger;
  /** Hides what must not be shown. */
  readonly #mask: (text: string) => string;
  /** The beginnings of the first lines that were no messages. */
  readonly printed: string[] = [];
  #lines = 0;
  #loggedAt = 0;
  readonly #flood = new Flood();

  constructor(server: string, log: Logger, mask: (text: string) => string) {
    this.#server = server;
    this.#log = log;
    this.#mask = mask;
  }

  /** True when it has become a flood. */
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

/** The beginning of a line for people. What looks like JSON may be a damaged answer, and answers are nobody's business. */
function proseOf(text: string): string | undefined {
  return /^\s*(?:[{"]|\[\s*[{["])/.test(text) ? undefined : text.slice(0, 120);
}
