import { join } from 'node:path';
import { portHolders } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { withLock } from '../../../shared/lock.ts';
import { VERSION } from '../../../shared/version.ts';
import { connectHost } from '../../records/config/loopback.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { Home } from '../../records/state/home.ts';
import type { DaemonRecord } from '../../records/state/records.ts';
import { isDaemonAlive, stopDaemon } from '../../runtime/daemon/daemon.ts';
import { isDaemonOutdated, startDaemon, untilReady } from '../../runtime/daemon/start.ts';
import { proxyPortTaken } from '../../runtime/ports/port-taken.ts';
import { checkProxyHealth } from './health.ts';

export interface EnsuredProxy {
  /** A message. */
  readonly text: string;
  readonly started: boolean;
}

/** How long a new proxy may take to respond, in milliseconds. */
const START_TIME = 5000;

/**
 * Ensures that the proxy of this home listens where the project expects it, and is not an older version. `program` is
 * ours by default.
 */
export async function ensureProxy(
  context: YardContext,
  { program }: { readonly program?: readonly string[] } = {},
): Promise<EnsuredProxy> {
  const { home, config, registry } = context;
  const { port } = config.proxy;
  const host = connectHost(config.proxy.host);
  const outdated = (): DaemonRecord | undefined => {
    const record = registry.read().proxies[String(port)];
    return isDaemonOutdated(record, program) && isDaemonAlive(record) ? record : undefined;
  };
  if ((await checkProxyHealth(host, port, home)) === 'ours' && outdated() === undefined) return RUNNING;
  const isThere = async (): Promise<boolean> => {
    const health = await checkProxyHealth(host, port, home);
    if (health === 'another home') throw taken(port, health);
    if (health === 'stranger' && !(await endSilentProxy(context))) throw taken(port, health);
    return health === 'ours';
  };
  return withLock(
    home.lockName(`proxy-${port}`),
    async () => {
      let text = `started proxy on ${host}:${port}`;
      if (await isThere()) {
        const old = outdated();
        // Another command may have started it in the meantime.
        if (old === undefined) return RUNNING;
        if (!(await stopDaemon('proxy', old))) return notReplaced(old);
        text = `replaced ${releaseText(old)} on ${host}:${port}`;
      }
      const logFile = proxyLog(home, port);
      const started = await startDaemon({
        registry,
        name: 'proxy',
        args: ['proxy', 'serve', '--host', host, '--port', String(port), '--home', home.root],
        logFile,
        host,
        port,
        program,
        note: (state, record) => (state.proxies[String(port)] = record),
      });
      const outcome = await untilReady(started, isThere, START_TIME);
      if (outcome === 'ready') return { text, started: true };
      if (outcome === 'late') {
        return { text: `proxy start requested on ${host}:${port}; check ${logFile}`, started: true };
      }
      throw new SwitchboardError(
        'PROXY_START',
        `The proxy on ${host}:${port} exited right after it was started.`,
        {
          hint: `See ${logFile}.`,
        },
      );
    },
    { what: `starting the proxy on port ${port}` },
  );
}

/** Stops a proxy of ours that runs but does not respond. Returns whether there was one. */
async function endSilentProxy({ registry, config }: YardContext): Promise<boolean> {
  const { port } = config.proxy;
  const record = registry.read().proxies[String(port)];
  const holds = portHolders([port]).some(({ pid }) => pid === record?.pid);
  if (record === undefined || !holds || !isDaemonAlive(record)) return false;
  return stopDaemon('proxy', record);
}

export function proxyLog(home: Home, port: number): string {
  return join(home.logs, 'proxy', `${port}.log`);
}

const RUNNING: EnsuredProxy = { text: 'proxy already running', started: false };

/** The addresses still work, so this is not an error. */
function notReplaced(old: DaemonRecord): EnsuredProxy {
  const pid = old.pid ?? 'unknown';
  return { text: `${releaseText(old)} still runs: could not stop pid ${pid}`, started: false };
}

function releaseText({ version }: DaemonRecord): string {
  if (version === VERSION) return 'proxy of another build';
  return version ? `proxy of version ${version}` : 'proxy of an older version';
}

function taken(port: number, by: 'another home' | 'stranger'): SwitchboardError {
  const { message, hint } = proxyPortTaken(port, by);
  return new SwitchboardError('PROXY_PORT', message, { hint });
}
