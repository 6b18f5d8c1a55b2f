import { Worker } from 'node:worker_threads';
import source from './thread/main.thread';

/** How long a thread waits for the next script, in milliseconds. */
const SPARE_MS = 60_000;
/** For the responses of tools on their way into the interpreter, in MiB. */
const HEAP_MB = 256;
/** Enough for the deepest recursion that the interpreter allows, in MiB. */
const STACK_MB = 8;

/**
 * Threads with an interpreter for one script each. After a script, the next thread is started ahead: that takes longer than
 * most scripts, and a client that has run one will soon run another.
 */
export class Threads {
  #spare: { readonly worker: Worker; readonly memoryMb: number } | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** A thread of its own for a script; the caller ends it. */
  take(memoryMb: number): Worker {
    const spare = this.#spare;
    this.#spare = undefined;
    clearTimeout(this.#idle);
    if (spare === undefined) return startThread(memoryMb);
    spare.worker.removeAllListeners();
    spare.worker.ref();
    if (spare.memoryMb === memoryMb) return spare.worker;
    void spare.worker.terminate();
    return startThread(memoryMb);
  }

  /** Starts a thread for the next script, unless there is one. */
  prepare(memoryMb: number): void {
    if (this.#spare !== undefined) return;
    const worker = startThread(memoryMb);
    this.#spare = { worker, memoryMb };
    worker.unref();
    const gone = (): void => {
      if (this.#spare?.worker === worker) this.#spare = undefined;
    };
    worker.on('error', gone).on('exit', gone);
    this.#idle = setTimeout(() => void worker.terminate(), SPARE_MS).unref();
  }
}

export function startThread(memoryMb: number): Worker {
  return new Worker(source, {
    eval: true,
    workerData: { memoryMb },
    // It needs nothing of us, and our output is the protocol's.
    env: {},
    argv: [],
    execArgv: [],
    stdin: false,
    stdout: true,
    stderr: true,
    trackUnmanagedFds: true,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 16, stackSizeMb: STACK_MB },
  });
}
