import { portHolders } from '../../../process/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { Home } from '../../records/state/home.ts';
import type { DaemonRecord } from '../../records/state/records.ts';
import { isDaemonAlive, recordOfDaemon, stopDaemon } from '../../runtime/daemon/daemon.ts';
import { proxyLog } from './ensure.ts';

/** Stops the proxy of this home, if it runs and is proven to be ours. Returns a message. */
export async function stopProxy({ registry, config }: YardContext): Promise<{ readonly text: string }> {
  const { port } = config.proxy;
  const noted = registry.read().proxies[String(port)];
  const record = noted ?? unrecorded(registry.home, port);
  if (record === undefined) return { text: 'proxy is not running' };
  const alive = isDaemonAlive(record);
  if (alive && !(await stopDaemon('proxy', record))) {
    throw new SwitchboardError('PROXY_STUCK', `Could not stop the proxy (pid ${record.pid ?? 'unknown'}).`, {
      hint: `See ${record.log_file}.`,
    });
  }
  if (noted !== undefined) {
    await registry.change((state) => {
      // Another command may have started a new one in the meantime.
      if (state.proxies[String(port)]?.cookie === noted.cookie)
        Reflect.deleteProperty(state.proxies, String(port));
    });
  }
  return { text: alive ? 'proxy stopped' : 'proxy is not running' };
}

/** If the records were lost while the proxy runs, the listener is recognized by the cookie of this home. */
function unrecorded(home: Home, port: number): DaemonRecord | undefined {
  for (const { pid, address } of portHolders([port])) {
    const endpoint = { host: address, port, log_file: proxyLog(home, port) };
    const record = pid === undefined ? undefined : recordOfDaemon(home, pid, endpoint);
    if (record !== undefined) return record;
  }
  return undefined;
}
