import type { Writable } from 'node:stream';
import { until } from './until.ts';

/** Writes to a stream for as long as it accepts data, up to 200 MB. */
export class Flood {
  #written = 0;

  into(stream: Writable): void {
    const chunk = Buffer.alloc(64 * 1024);
    const more = (): void => {
      do this.#written += chunk.length;
      while (this.#written < 200e6 && stream.write(chunk));
    };
    stream.on('drain', more);
    more();
  }

  /** Resolves with the number of bytes written, once no more are accepted. */
  async stopped(): Promise<number> {
    let before = -1;
    await until(
      () => {
        const isSame = before === this.#written && before > 0;
        before = this.#written;
        return isSame;
      },
      { every: 300 },
    );
    return before;
  }
}
