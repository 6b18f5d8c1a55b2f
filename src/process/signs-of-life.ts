import type { Readable } from 'node:stream';
import { cpuUseOf, type CpuMeter } from './cpu-use.ts';

/** A program that is only waiting uses less than this share of one CPU. */
const WAITING_SHARE = 0.01;

export interface SignsOfLifeOptions {
  /** The watched process; its descendants count too. */
  readonly pid: number;
  readonly meter: CpuMeter;
  /** Its outputs, which something else reads. */
  readonly outputs: readonly Readable[];
  /** Called after every check with the milliseconds since the last sign of life. */
  readonly looked: (idleMs: number) => void;
}

/** Distinguishes a busy program from one that is only waiting, by its CPU use and output. */
export class SignsOfLife {
  readonly #options: SignsOfLifeOptions;
  /** The time of the last sign of life, on the performance clock, and the CPU time used up to then. */
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
    // A process that is not visible does not count as idle.
    if (use === undefined || use.working || this.#isMore(use.cpuMs)) {
      this.#last = performance.now();
      this.#usedByThen = use?.cpuMs ?? this.#usedByThen;
    }
    looked(this.idleMs);
    this.#lookLater();
  }

  /** Whether the CPU time shows activity. A lower total is a sign of life too: a descendant has ended. */
  #isMore(cpuMs: number): boolean {
    const used = cpuMs - this.#usedByThen;
    return used < 0 || (used > 0 && used >= this.idleMs * WAITING_SHARE);
  }
}
