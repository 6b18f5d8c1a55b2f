import type { Worker } from 'node:worker_threads';
import { messageOf } from '../shared/errors.ts';
import type { TimeLimit } from '../shared/time-limit.ts';
import type {
  CallEnd,
  ScriptLimits,
  ScriptOutcome,
  ScriptServer,
  ThreadData,
  ThreadMessage,
} from './messages.ts';

export interface ScriptOptions {
  /** A thread that has run nothing yet; it has exited by the time the script has ended. */
  readonly thread: Worker;
  /** TypeScript or JavaScript. */
  readonly code: string;
  /** The servers it can call. */
  readonly servers: readonly ScriptServer[];
  readonly limits: ScriptLimits;
  /** Expires when the script has run for too long. */
  readonly time: TimeLimit;
  /**
   * Runs a tool; resolves with the response as JSON text, with `result` or `error`. `args` is the text of a JSON
   * object.
   */
  readonly call: (call: ScriptCall, signal: AbortSignal) => Promise<string>;
  /** Aborts the script. */
  readonly signal: AbortSignal;
}

export interface ScriptCall {
  readonly server: string;
  readonly tool: string;
  readonly args: string;
}

/** Runs a script in its thread and resolves once the thread has exited. Rejects only with the signal's reason. */
export async function runScript(options: ScriptOptions): Promise<ScriptOutcome> {
  const run = new ScriptThread(options);
  try {
    return await run.outcome;
  } finally {
    await run.end();
  }
}

/** The thread of one script, and the script's running calls. */
class ScriptThread {
  readonly outcome: Promise<ScriptOutcome>;
  readonly #options: ScriptOptions;
  readonly #worker: Worker;
  readonly #running = new Map<number, string>();
  readonly #over = new AbortController();
  #calls = 0;
  #watchdog: NodeJS.Timeout | undefined;
  #settle: (outcome: ScriptOutcome) => void = () => undefined;
  #reject: (reason: unknown) => void = () => undefined;

  constructor(options: ScriptOptions) {
    const { thread, code, servers, limits, signal, time } = options;
    this.#options = options;
    this.outcome = new Promise((resolve, reject) => {
      this.#settle = resolve;
      this.#reject = reject;
    });
    this.#worker = thread;
    this.#worker.on('message', (message: ThreadMessage) => this.#hear(message));
    this.#worker.on('error', (error) => this.#fail(`The script broke its interpreter: ${messageOf(error)}`));
    this.#worker.on('exit', () => this.#fail('The thread of the script ended.'));
    if (signal.aborted) this.#stopped();
    if (time.signal.aborted) this.#tooSlow();
    signal.addEventListener('abort', this.#stopped);
    time.signal.addEventListener('abort', this.#tooSlow);
    const data: ThreadData = { code, servers, limits };
    this.#worker.postMessage(data);
  }

  /** Terminates the thread, whatever it is doing, and cancels its calls. */
  async end(): Promise<void> {
    const { signal, time } = this.#options;
    signal.removeEventListener('abort', this.#stopped);
    time.signal.removeEventListener('abort', this.#tooSlow);
    clearTimeout(this.#watchdog);
    this.#over.abort(new Error('The script has ended.'));
    await this.#worker.terminate();
  }

  readonly #stopped = (): void => this.#reject(this.#options.signal.reason);

  readonly #tooSlow = (): void => {
    const names = [...this.#running.values()];
    const waited = names.length === 0 ? '' : ` It was waiting for ${[...new Set(names)].join(', ')}.`;
    this.#fail(`The script took longer than ${this.#options.limits.timeoutMs} ms.${waited}`);
  };

  #hear(message: ThreadMessage): void {
    switch (message.kind) {
      case 'computing':
        this.#watch();
        break;
      case 'waiting':
        clearTimeout(this.#watchdog);
        break;
      case 'call':
        void this.#call(message);
        break;
      case 'ended':
        this.#settle(message.outcome);
    }
  }

  /** Some operations of the interpreter cannot be interrupted. */
  #watch(): void {
    const { cpuMs } = this.#options.limits;
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(
      () => this.#fail(`The script computed for more than ${cpuMs} ms.`),
      cpuMs + INTERRUPT_MS,
    );
  }

  async #call({ id, server, tool, args }: ThreadMessage & { readonly kind: 'call' }): Promise<void> {
    this.#calls++;
    this.#running.set(id, `${server}.${tool}`);
    let end: CallEnd;
    try {
      end = { id, response: await this.#options.call({ server, tool, args }, this.#over.signal) };
    } catch (error) {
      end = { id, failure: messageOf(error), code: codeOf(error) };
    }
    this.#running.delete(id);
    if (!this.#over.signal.aborted) this.#worker.postMessage(end);
  }

  #fail(text: string): void {
    this.#settle({ ok: false, text, calls: this.#calls, cpuMs: 0 });
  }
}

/** How long an interrupted script may take to stop, in milliseconds. */
const INTERRUPT_MS = 2000;

function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : 'INTERNAL';
}
