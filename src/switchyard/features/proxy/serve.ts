import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { asLoopback, connectHost } from '../../records/config/loopback.ts';
import { openRegistry } from '../../records/state/registry.ts';
import { daemonLifetime, type DaemonLifetimeOptions } from '../../runtime/daemon/lifetime.ts';
import { openRoutes } from './routes.ts';
import { createProxyServer } from './server.ts';
import { keepUpLogs } from './log-upkeep.ts';

export interface ServeProxyOptions extends DaemonLifetimeOptions {
  readonly host: string;
  readonly port: number;
}

/** The process behind the named addresses of a home. */
export async function serveProxy(options: ServeProxyOptions): Promise<void> {
  const { host, port, home } = options;
  const loopback = asLoopback(host);
  if (loopback === undefined) {
    throw new SwitchboardError('NOT_LOOPBACK', `--host ${host} is not a loopback host.`, {
      hint: 'Use 127.0.0.1, localhost or ::1.',
    });
  }
  const { log, end } = daemonLifetime(options);
  const proxy = createProxyServer(openRoutes(openRegistry(home)), home.root);
  const address = connectHost(loopback);
  await listen(proxy.http, address, port);
  // Listens on the other loopback address too: names below localhost may resolve to it, and another process could take
  // it.
  const twin = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
    proxy.http.emit('connection', socket),
  );
  const other = address === '::1' ? '127.0.0.1' : '::1';
  const both = await listen(twin, other, port).then(
    () => true,
    () => false,
  );
  log(`proxy ready on ${address}${both ? ` and ${other}` : ''}, port ${port} (pid ${process.pid})`);
  const stopUpkeep = keepUpLogs(home, log);
  const why = await end;
  stopUpkeep();
  twin.close();
  proxy.close();
  log(`proxy ended: ${why}`);
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port, ipv6Only: host === '::1' });
    await once(server, 'listening');
  } catch (cause) {
    const message = `The proxy cannot listen on ${host}:${port}: ${messageOf(cause)}.`;
    const hint = 'Choose another [proxy].port in switchyard.toml.';
    throw new SwitchboardError('PROXY_PORT', message, { hint, cause });
  }
  // For example too many open files: the next connection may succeed.
  server.on('error', () => undefined);
}
