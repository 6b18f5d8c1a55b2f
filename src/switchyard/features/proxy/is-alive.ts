import { portHolders } from '../../../process/index.ts';
import { projectRecord, type YardContext } from '../../records/project/context.ts';
import { isDaemonAlive, isDaemonOf } from '../../runtime/daemon/daemon.ts';

/** Whether the proxy of this project runs: a process of this home listens. Sends no request. */
export function isProxyAlive(context: YardContext): boolean {
  const { home, registry, config } = context;
  const { port } = config.proxy;
  const record = registry.read().proxies[String(port)];
  if (record !== undefined && isDaemonAlive(record)) return true;
  if (record === undefined && projectRecord(context) === undefined) return false;
  // The record may have been lost while it runs.
  return portHolders([port]).some(({ pid }) => pid !== undefined && isDaemonOf(home, pid, record));
}
