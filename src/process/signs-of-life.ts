import type { Readable } from 'node:stream';
import { cpuUseOf, type CpuMeter } from './cpu-use.ts';

/** Less than this part of one CPU is what a program uses that only waits. */
const WAITING_SHARE = 0.01;

export interface SignsOfLifeOptions {
  /** The process that is watched, with all that comes from it. */
  readonly pid: number;
  readonly meter: CpuMeter;
  /** What it writes to; somebody else reads them. */
  readonly outputs: readonly Readable[];
  /** Told after every look for how many milliseconds there was no sign of life. */
  readonly looked: (idleMs: number) => void;
}

/** Tells a program that is busy from one that only waits, by the CPU it uses and by what it writes. */
export class SignsOfLife {
  readonly #options: SignsOfLifeOptions;
  /** When there was a sign of life last, on the performance clock, and what CPU time had been used by then. */
  #last = performance.now();
  #usedByThen = 0;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;
  readonly #wrote = (): void => {
    this.#last = performance.now();
  };

  constructor(options: SignsOfLifeOptions) {
    this.#options = options;
    for (const output of options.outputs) output.on('data', this.#wrote);
    this.#lookLater();
  }

  get idleMs(): number {
    return performance.now() - this.#last;
  }

  stop(): void {
    this.#stopped = true;
    for (const output of this.#options.outputs) output.off('data', this.#wrote);
    clearTimeout(this.#timer);
  }

  #lookLater(): void {
    this.#timer = setTimeout(() => void this.#look(), this.#options.meter.everyMs);
  }

  async #look(): Promise<void> {
    const { pid, meter, looked } = this.#options;
    const use = cpuUseOf(pid, await meter.look());
    if (this.#stopped) return;
    // What cannot be seen is not taken for idle.
    if (use === undefined || use.working || this.#isMore(use.cpuMs)) {
      this.#last = performance.now();
      this.#usedByThen = use?.cpuMs ?? this.#usedByThen;
    }
    looked(this.idleMs);
    this.#lookLater();
  }

  /** Less than before is a sign of life too: a descendant has ended. */
  #isMore(cpuMs: number): boolean {
    const used = cpuMs - this.#usedByThen;
    return used < 0 || (used > 0 && used >= this.idleMs * WAITING_SHARE);
  }
}
