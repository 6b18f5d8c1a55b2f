import { join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withLock } from '../../../shared/lock.ts';
import type { Home } from '../../records/state/home.ts';
import type { Registry } from '../../records/state/registry.ts';
import { isDaemonAlive, recordOfDaemon, stopDaemon } from '../../runtime/daemon/daemon.ts';
import { isDaemonOutdated, startDaemon, untilReady } from '../../runtime/daemon/start.ts';
import { callForwarder, type ForwarderLine } from './control-client.ts';
import { PROTOCOL } from './protocol.ts';

export interface EnsureForwarderOptions {
  readonly registry: Registry;
  /** The first port it is needed for. */
  readonly port: number;
  /** Default: this program. */
  readonly program?: readonly string[] | undefined;
}

/** How long a new forwarder may take to respond, in milliseconds. */
const START_TIME = 10_000;

export function forwarderLog(home: Home): string {
  return join(home.logs, 'forward.log');
}

/**
 * Connects to the forwarder of this home. Starts it if it does not respond, and replaces it if it is older than this
 * program. Call it under the forwarder's lock.
 */
export async function ensureForwarder({
  registry,
  port,
  program,
}: EnsureForwarderOptions): Promise<ForwarderLine> {
  const { home } = registry;
  const line = callForwarder(home);
  const found = await line.ping();
  if (found !== undefined) {
    await adopt(registry, found.pid, port);
    const isOld = isDaemonOutdated(registry.read().forwarder, program);
    if (!isOld && (found.protocol ?? 1) >= PROTOCOL) return line;
  }
  // It does not respond, or is older than this command. Its mappings are restored from the records.
  await endForwarder(registry);
  const logFile = forwarderLog(home);
  const started = await startDaemon({
    registry,
    name: 'forwarder',
    args: ['forward', 'serve', '--home', home.root],
    logFile,
    host: '127.0.0.1',
    port,
    program,
    note: (state, record) => (state.forwarder = record),
  });
  const outcome = await untilReady(started, async () => (await line.ping()) !== undefined, START_TIME);
  if (outcome === 'ready') return line;
  throw new SwitchboardError(
    'FORWARDER_START',
    outcome === 'ended'
      ? 'The forwarder exited right after it was started.'
      : 'The forwarder did not respond.',
    { hint: `See ${logFile}.` },
  );
}

/** The records may have been lost while it ran. */
async function adopt(registry: Registry, pid: number, port: number): Promise<void> {
  const { home } = registry;
  if (registry.read().forwarder?.pid === pid) return;
  const record = recordOfDaemon(home, pid, { host: '127.0.0.1', port, log_file: forwarderLog(home) });
  if (record !== undefined) await registry.change((state) => (state.forwarder = record));
}

/** Stops the recorded forwarder. Returns whether there was one. */
export async function endForwarder(registry: Registry): Promise<boolean> {
  const record = registry.read().forwarder;
  if (record === undefined || !isDaemonAlive(record)) return false;
  if (await stopDaemon('forwarder', record)) return true;
  throw new SwitchboardError(
    'FORWARDER_STUCK',
    `Could not stop the forwarder (pid ${record.pid ?? 'unknown'}).`,
    {
      hint: `Stop it yourself; see ${record.log_file}.`,
    },
  );
}

/**
 * Commands of several projects share the forwarder of their home. They take turns, so that no command requests a port
 * while the forwarder exits with its last one. Taken inside the lock of a project, outside that of the state.
 */
export function withForwarder<T>(home: Home, what: string, work: () => Promise<T>): Promise<T> {
  return withLock(home.lockName('forward'), work, { what, timeoutMs: 60_000 });
}
