import { portHolders } from '../../../process/index.ts';
import type { YardContext } from '../../records/project/context.ts';
import type { CheckoutRecord } from '../../records/state/records.ts';
import { isDaemonOf } from '../../runtime/daemon/daemon.ts';

export interface ObservedCheckout extends CheckoutRecord {
  /** `running` if our forwarder listens on its port, according to the kernel. */
  readonly status: 'running' | 'stale';
}

/** The checkouts of this project, and whether they work. */
export function observeCheckouts({ home, registry, config }: YardContext): readonly ObservedCheckout[] {
  const { projects, forwarder } = registry.read();
  const checkouts = Object.values(projects[config.root]?.checkouts ?? {});
  const ports = checkouts.map((checkout) => checkout.listen_port);
  const likely = typeof forwarder?.pid === 'number' ? [forwarder.pid] : [];
  const running = new Set(
    portHolders(ports, likely)
      .filter(({ pid }) => pid !== undefined && isDaemonOf(home, pid, forwarder))
      .map(({ port }) => port),
  );
  return checkouts.map((checkout) => ({
    ...checkout,
    status: running.has(checkout.listen_port) ? 'running' : 'stale',
  }));
}
