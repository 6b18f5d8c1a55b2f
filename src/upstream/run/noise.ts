import type { Logger } from '../../shared/log.ts';

/** So much that is no message, within so long, and the server counts as broken. */
const FLOOD_BYTES = 10 * 1024 * 1024;
const FLOOD_WINDOW = 10_000;
/** Lines of noise that are logged one by one; after that only every hundredth. */
const LOGGED_SINGLY = 5;

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
  #windowStart = 0;
  #windowBytes = 0;

  constructor(server: string, log: Logger, mask: (text: string) => string) {
    this.#server = server;
    this.#log = log;
    this.#mask = mask;
  }

  /** True when it has become a flood. */
  hear(what: string, bytes: { readonly length: number; readonly text: () => string }): boolean {
    this.#lines++;
    const logged = this.#lines <= LOGGED_SINGLY || this.#lines % 100 === 0;
    const kept = this.printed.length < MAX_PRINTED;
    if (logged || kept) {
      const said = proseOf(this.#mask(bytes.text()));
      if (kept && said !== undefined && said.trim() !== '') this.printed.push(said);
      if (logged)
        this.#log.warn('not a protocol message on stdout', {
          server: this.#server,
          what,
          count: this.#lines,
          said,
        });
    }
    const now = performance.now();
    if (now - this.#windowStart > FLOOD_WINDOW) {
      this.#windowStart = now;
      this.#windowBytes = 0;
    }
    this.#windowBytes += bytes.length;
    return this.#windowBytes > FLOOD_BYTES;
  }
}

/** The beginning of a line for people. What looks like JSON may be a damaged answer, and answers are nobody's business. */
function proseOf(text: string): string | undefined {
  return /^\s*(?:[{"]|\[\s*[{["])/.test(text) ? undefined : text.slice(0, 120);
}
