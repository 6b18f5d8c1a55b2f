import type { ScriptOutcome } from './messages.ts';
import type { ScriptOptions } from './run-script.ts';
import { ScriptSlots } from './script-slots.ts';
import type { Threads } from './threads.ts';

/** Runs the scripts of all clients. The code for that is loaded with the first script. */
export class Scripts {
  readonly #slots = new ScriptSlots();
  #loading: Promise<LoadedParts> | undefined;

  /** `client` is the client the script belongs to. */
  async run(client: object, options: Omit<ScriptOptions, 'thread'>): Promise<ScriptOutcome> {
    const { runScript, threads } = await this.load();
    const { memoryMb } = options.limits;
    const leave = await this.#slots.enter(client, options.signal);
    try {
      return await runScript({ ...options, thread: threads.take(memoryMb) });
    } finally {
      leave();
      threads.prepare(memoryMb);
    }
  }

  load(): Promise<LoadedParts> {
    return (this.#loading ??= this.#load());
  }

  async #load(): Promise<LoadedParts> {
    const [{ runScript }, { Threads }] = await Promise.all([
      import('./run-script.ts'),
      import('./threads.ts'),
    ]);
    return { runScript, threads: new Threads() };
  }
}

interface LoadedParts {
  readonly runScript: (options: ScriptOptions) => Promise<ScriptOutcome>;
  readonly threads: Threads;
}
