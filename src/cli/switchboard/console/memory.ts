import type { ConsoleEvent, ConsoleModel } from '../../../console/index.ts';
import { memoryOf, privateMemory } from '../../../process/index.ts';

/** How often memory is measured, in milliseconds, if that is cheap. */
const PAUSE_MS = 3000;
/** The largest share of time that measuring may take. */
const SHARE = 0.001;
/** Smaller changes are not reported, as a share of the previous value. */
const LEAST_CHANGE = 0.02;

/** Measures the memory of gateways and servers while a page is open. */
export class MemorySampler {
  readonly #model: ConsoleModel;
  readonly #tell: (events: readonly ConsoleEvent[]) => void;
  #timer: NodeJS.Timeout | undefined;
  #running = false;

  constructor(model: ConsoleModel, tell: (events: readonly ConsoleEvent[]) => void) {
    this.#model = model;
    this.#tell = tell;
  }

  start(): void {
    if (this.#running) return;
    this.#running = true;
    this.#look();
  }

  stop(): void {
    this.#running = false;
    clearTimeout(this.#timer);
  }

  #look(): void {
    const since = performance.now();
    const events: ConsoleEvent[] = [];
    for (const gateway of this.#model.gateways) {
      const memory = privateMemory(gateway.pid);
      if (memory > 0 && differs(gateway.memory, memory))
        events.push({ type: 'gateway', gateway: { ...gateway, memory } });
    }
    for (const server of this.#model.servers) {
      const { state } = server;
      if (state.kind !== 'running' || state.pid === null) continue;
      const memory = memoryOf(state.pid);
      if (memory !== undefined && differs(server.memory, memory))
        events.push({ type: 'server', server: { ...server, memory } });
    }
    if (events.length > 0) this.#tell(events);
    const pause = Math.max(PAUSE_MS, (performance.now() - since) / SHARE);
    this.#timer = setTimeout(() => this.#look(), pause).unref();
  }
}

function differs(before: number | null, now: number): boolean {
  return before === null || Math.abs(now - before) > before * LEAST_CHANGE;
}
