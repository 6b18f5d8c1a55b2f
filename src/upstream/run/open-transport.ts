import type { Transport, TransportEvents } from '../transport.ts';
import { openProcessTransport, type TransportOptions } from './process-transport.ts';

/**
 * Opens the transport to a server for one run: a program is started now, a remote server is contacted with the first
 * message.
 */
export function openTransport(
  options: TransportOptions,
  events: TransportEvents,
): Transport | Promise<Transport> {
  const { server, context, learned } = options.setup;
  const { name, target, limits } = server;
  if (target.kind === 'process') return openProcessTransport(target, options, events);
  // Loaded when the first remote server is used, because most configurations have none.
  return import('../http/remote-transport.ts').then(
    ({ RemoteTransport }) =>
      new RemoteTransport(
        {
          server: name,
          target,
          messageBytes: limits.messageBytes,
          log: context.log,
          learned,
          headers: learned.headers,
        },
        events,
      ),
  );
}
