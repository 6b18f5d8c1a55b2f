import type { Settings } from '../config/index.ts';
import type { SourceState } from '../gateway/index.ts';
import type { GatewayMetrics, MetricsServer, ProcessMetrics } from '../metrics/index.ts';
import type { Logger } from '../shared/log.ts';
import { VERSION } from '../shared/version.ts';
import type { Watchers } from './watchers.ts';

export interface OperationsOptions {
  readonly watchers: Watchers;
  /** The number of connected clients. */
  readonly sessions: () => number;
  /** The number of running server processes. */
  readonly processes: () => number;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

/** Metrics and traces for operators. Their code is loaded only if the configuration asks for them. */
export class Operations {
  readonly #options: OperationsOptions;
  #metrics: GatewayMetrics | undefined;
  #closing: (() => unknown)[] = [];

  constructor(options: OperationsOptions) {
    this.#options = options;
  }

  /** Starts them, before the first client connects. Throws ADDRESS_UNUSABLE. */
  async open({ metrics, telemetry }: Pick<Settings, 'metrics' | 'telemetry'>): Promise<void> {
    if (telemetry !== false) await this.#openTelemetry(telemetry);
    if (metrics !== false) await this.#openMetrics(metrics);
  }

  /** The state of a connection to a server has changed. */
  serverChanged(server: string, from: SourceState['kind'], to: SourceState['kind']): void {
    this.#metrics?.serverChanged(server, from, to);
  }

  async close(): Promise<void> {
    for (const close of this.#closing.splice(0)) await close();
  }

  async #openTelemetry(settings: Exclude<Settings['telemetry'], false>): Promise<void> {
    const { watchers, env, log } = this.#options;
    const { openTelemetry } = await import('../telemetry/index.ts');
    const telemetry = openTelemetry({ ...settings, version: VERSION, env, log });
    if (telemetry === undefined) return;
    this.#closing.push(() => telemetry.close());
    watchers.add(telemetry.watcher);
  }

  async #openMetrics(at: { readonly host: string; readonly port: number }): Promise<void> {
    const { watchers, log, sessions, processes } = this.#options;
    const parts = await import('../metrics/index.ts');
    const metrics = new parts.GatewayMetrics({ version: VERSION, sessions, processes });
    const own: ProcessMetrics = new parts.ProcessMetrics();
    this.#closing.push(() => own.close());
    const server: MetricsServer = await parts.openMetricsServer({
      ...at,
      text: () => metrics.text() + own.text(),
    });
    this.#closing.push(() => server.close());
    this.#metrics = metrics;
    watchers.add(metrics);
    log.info('serving metrics', { url: server.url });
  }
}
