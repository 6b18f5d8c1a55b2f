import { withLock } from '../../../shared/lock.ts';
import type { Home } from '../../records/state/home.ts';
import { daemonLifetime, type DaemonLifetimeOptions } from '../../runtime/daemon/lifetime.ts';
import { listenForControl } from './control-server.ts';
import { createForwarder } from './forwarder.ts';

/** A command that starts a forwarder and dies before it maps a port must not leave it behind. In milliseconds. */
const IDLE_TIME = 20_000;

/** The process behind all canonical ports of a home. It exits with its last mapping. */
export async function serveForward(options: DaemonLifetimeOptions): Promise<void> {
  const { home } = options;
  const { log, end } = daemonLifetime(options);
  // Held for its lifetime, so that each home has only one.
  await withLock(home.lockName('forwarder'), () => serve(home, log, end), {
    what: 'forwarding canonical ports',
    timeoutMs: 10_000,
  });
}

async function serve(home: Home, log: (text: string) => void, end: Promise<string>): Promise<void> {
  const forwarder = createForwarder(log);
  let emptied!: (why: string) => void;
  const empty = new Promise<string>((resolve) => (emptied = resolve));
  let idle = setTimeout(emptied, IDLE_TIME, 'no port was requested');
  const control = await listenForControl(home, async (request) => {
    const answer = await forwarder.handle(request);
    clearTimeout(idle);
    if (forwarder.size === 0) {
      const wait = request.op === 'unmap' ? 0 : IDLE_TIME;
      idle = setTimeout(emptied, wait, 'no port is mapped any more');
    }
    return answer;
  });
  log(`forwarder ready (pid ${process.pid})`);
  const why = await Promise.race([end, empty]);
  clearTimeout(idle);
  await control.close();
  await forwarder.close();
  log(`forwarder ended: ${why}`);
}
