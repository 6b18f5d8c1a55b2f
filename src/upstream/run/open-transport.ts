import type { OutputFraming } from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import type { Transport, TransportEvents } from '../transport.ts';
import { openProcessTransport } from './process-transport.ts';

/** The way to a server for one run: a program is started here, a remote server is reached with the first message. */
export function openTransport(
  setup: ServerSetup,
  framing: OutputFraming,
  mask: (text: string) => string,
  events: TransportEvents,
): Transport | Promise<Transport> {
  const { server, context, learned } = setup;
  const { name, target, limits } = server;
  if (target.kind === 'process') return openProcessTransport(setup, target, framing, mask, events);
  // Loaded when the first remote server is used: most configurations have none.
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
