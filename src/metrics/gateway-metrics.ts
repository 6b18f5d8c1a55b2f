import { isRoutedMethod } from '../protocol/index.ts';
import type { Call, CallFollower, GatewayWatcher, SourceState } from '../gateway/index.ts';
import { BoundedNames } from './bounded-names.ts';
import { Exposition } from './exposition.ts';

/** How many servers and tools have a series of their own; the others share one. */
const MOST_SERVERS = 200;
const MOST_TOOLS = 500;
/** Upper bounds in seconds: a relayed call takes less than a millisecond, a slow tool minutes. */
const SECONDS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];

export interface GatewayMetricsOptions {
  readonly version: string;
  /** Clients that are connected now. */
  readonly sessions: () => number;
  /** Server processes that run now. */
  readonly processes: () => number;
}

/**
 * Counts what happens in the gateways of this process. Never counts by caller: people's names are not used as labels.
 */
export class GatewayMetrics implements GatewayWatcher {
  readonly #exposition = new Exposition();
  readonly #servers = new BoundedNames(MOST_SERVERS);
  readonly #tools = new BoundedNames(MOST_TOOLS);
  readonly #followed = new WeakSet<Call>();
  readonly #running = new Map<string, number>();
  readonly #ended;
  readonly #durations;
  readonly #waits;
  readonly #starts;
  readonly #restarts;
  readonly #crashes;
  #open = 0;
  #waiting = 0;

  constructor({ version, sessions, processes }: GatewayMetricsOptions) {
    const all = this.#exposition;
    all.gauge('switchboard_info', 'Version of Switchboard.', ['version'], (set) => set(1, version));
    this.#ended = all.counter(
      'switchboard_calls_total',
      'Requests of clients that have ended, by outcome: ok, tool_error, error, cancelled or the code of an error.',
      ['method', 'server', 'tool', 'outcome'],
    );
    this.#durations = all.histogram(
      'switchboard_call_duration_seconds',
      'Time from a request to its answer, with the time its server took to start.',
      ['server', 'tool'],
      SECONDS,
    );
    this.#waits = all.histogram(
      'switchboard_call_wait_seconds',
      'Time that a request waited until its server had started or had room.',
      ['server'],
      SECONDS,
    );
    all.gauge('switchboard_calls_running', 'Requests that are being answered now.', [], (set) =>
      set(this.#open),
    );
    all.gauge(
      'switchboard_calls_queued',
      'Of these, those that wait until their server has started or has room.',
      [],
      (set) => set(this.#waiting),
    );
    this.#starts = all.counter('switchboard_server_starts_total', 'Starts of servers, by result.', [
      'server',
      'result',
    ]);
    this.#restarts = all.counter('switchboard_server_restarts_total', 'Of these, those after a failure.', [
      'server',
    ]);
    this.#crashes = all.counter(
      'switchboard_server_crashes_total',
      'Servers that were lost while they were running.',
      ['server'],
    );
    all.gauge('switchboard_servers_running', 'Connections to servers that are up.', ['server'], (set) => {
      for (const [server, running] of this.#running) set(running, server);
    });
    all.gauge('switchboard_sessions', 'Clients that are connected.', [], (set) => set(sessions()));
    all.gauge('switchboard_processes', 'Server processes that are running.', [], (set) => set(processes()));
  }

  /** All metrics, in the format that Prometheus reads. */
  text(): string {
    return this.#exposition.text();
  }

  called(call: Call): void {
    // This runs again for a call that a user had to approve first.
    if (this.#followed.has(call)) return;
    this.#followed.add(call);
    const since = performance.now();
    const queue = new QueueWatch({
      nested: (inner) => this.called(inner),
      waits: (change) => (this.#waiting += change),
      waited: (ms) => this.#waits.observe(ms / 1000, this.#serverOf(call)),
    });
    this.#open++;
    call.followBy(queue);
    const { onEnd } = call;
    call.onEnd = (outcome, bytes, answer) => {
      onEnd?.(outcome, bytes, answer);
      this.#open--;
      queue.left();
      const [server, tool] = [this.#serverOf(call), this.#toolOf(call)];
      this.#ended.add(1, methodOf(call), server, tool, outcomeOf(outcome));
      this.#durations.observe((performance.now() - since) / 1000, server, tool);
    };
  }

  clientsChanged(): void {
    // Sessions are counted at the time of a scrape.
  }

  /** The state of one connection to a server has changed. */
  serverChanged(name: string, from: SourceState['kind'], to: SourceState['kind']): void {
    if (from === to) return;
    const server = this.#servers.of(name);
    if (to === 'running' || from === 'running')
      this.#running.set(server, (this.#running.get(server) ?? 0) + (to === 'running' ? 1 : -1));
    if (to === 'starting' && from === 'crashed') this.#restarts.add(1, server);
    if (from === 'starting' && to === 'running') this.#starts.add(1, server, 'ok');
    if (from === 'starting' && to === 'crashed') this.#starts.add(1, server, 'failed');
    if (from === 'running' && to === 'crashed') this.#crashes.add(1, server);
  }

  #serverOf({ source }: Call): string {
    return source === undefined ? '' : this.#servers.of(source.name);
  }

  /** Only tools that a server has listed get a label of their own; clients can send any name. */
  #toolOf(call: Call): string {
    const { source, subtool } = call;
    if (source === undefined || subtool === undefined) return '';
    const listing = source.known('tools') ?? source.remembered('tools');
    return listing?.byKey.has(subtool) === true ? this.#tools.of(subtool) : 'other';
  }
}

interface QueueEvents {
  readonly nested: (call: Call) => void;
  /** One more call is waiting, or one fewer. */
  readonly waits: (change: 1 | -1) => void;
  /** A call was sent after waiting for this many milliseconds. */
  readonly waited: (ms: number) => void;
}

/** Follows a call while it waits for its server. */
class QueueWatch implements CallFollower {
  readonly #events: QueueEvents;
  #since: number | undefined;

  constructor(events: QueueEvents) {
    this.#events = events;
  }

  nested(call: Call): void {
    this.#events.nested(call);
  }

  waits(): void {
    if (this.#since !== undefined) return;
    this.#since = performance.now();
    this.#events.waits(1);
  }

  sent(): void {
    if (this.#since !== undefined) this.#events.waited(performance.now() - this.#since);
    this.left();
  }

  returned(): void {
    // Counted when the call ends.
  }

  left(): void {
    if (this.#since === undefined) return;
    this.#since = undefined;
    this.#events.waits(-1);
  }
}

/** Clients can send any method. */
function methodOf({ method }: Call): string {
  return isRoutedMethod(method) ? method : 'other';
}

/** `tool error` becomes `tool_error`, and `TOOL_UNKNOWN` stays the code that the guide explains. */
function outcomeOf(outcome: string): string {
  return outcome.replace(' ', '_');
}
