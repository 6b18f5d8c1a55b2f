import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Exposition } from './exposition.ts';

/** How often the event loop is measured, in milliseconds. */
const RESOLUTION_MS = 20;
const NANOSECONDS = 1e9;

/** Memory, CPU time and event loop of this process, under the names that dashboards for Node expect. */
export class ProcessMetrics {
  readonly #exposition = new Exposition();
  readonly #delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  constructor() {
    const gauge = (name: string, help: string, read: () => number): void =>
      this.#exposition.gauge(name, help, [], (set) => set(read()));
    gauge('process_start_time_seconds', 'Start of the process, since the epoch.', () =>
      Math.round(performance.timeOrigin / 1000),
    );
    gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
    gauge('nodejs_heap_size_used_bytes', 'Heap in use.', () => process.memoryUsage().heapUsed);
    gauge('nodejs_eventloop_lag_mean_seconds', 'Mean delay of the event loop since the last scrape.', () =>
      this.#seconds(this.#delay.mean),
    );
    gauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of the same.', () =>
      this.#seconds(this.#delay.percentile(99)),
    );
    gauge('nodejs_eventloop_lag_max_seconds', 'Longest delay of the same.', () =>
      this.#seconds(this.#delay.max),
    );
    this.#delay.enable();
  }

  text(): string {
    const { user, system } = process.cpuUsage();
    const cpu = (user + system) / 1e6;
    const text =
      '# HELP process_cpu_seconds_total User and system CPU time.\n# TYPE process_cpu_seconds_total counter\n' +
      `process_cpu_seconds_total ${cpu}\n${this.#exposition.text()}`;
    this.#delay.reset();
    return text;
  }

  close(): void {
    this.#delay.disable();
  }

  /** Subtracts the interval between two measurements. There is no value before the first one. */
  #seconds(nanoseconds: number): number {
    const delay = nanoseconds / NANOSECONDS - RESOLUTION_MS / 1000;
    return Number.isFinite(delay) ? Math.max(0, delay) : 0;
  }
}
