import { Worker } from 'node:worker_threads';
import source from './thread/main.thread';

/** How long an idle thread waits for the next script, in milliseconds. */
const SPARE_MS = 60_000;
/** Heap for responses of tools on their way into the interpreter, in MiB. */
const HEAP_MB = 256;
/** Enough for the deepest recursion that the interpreter allows, in MiB. */
const STACK_MB = 8;

/**
 * Threads with an interpreter, one for each script. The next thread is started right after a script: starting one takes
 * longer than most scripts, and a client that has run one script will soon run another.
 */
export class Threads {
  #spare: { readonly worker: Worker; readonly memoryMb: number } | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** Returns a thread for one script; the caller terminates it. */
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
    // The thread needs no environment from us, and our stdout carries the protocol.
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
