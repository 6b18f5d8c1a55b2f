import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { dial } from '../sockets/dial.ts';

/** Connections to services, by either loopback address. */
class BackendAgent extends Agent {
  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    dial(String(options.host), Number(options.port)).then(
      (socket) => callback?.(null, socket),
      (error: unknown) => callback?.(error as Error, undefined as unknown as Duplex),
    );
    return undefined;
  }
}

/**
 * A connection that the service ends while nobody uses it stays half open, since ours may; a request on it would wait
 * forever. So it goes at once.
 */
class KeptAgent extends BackendAgent {
  override keepSocketAlive(socket: Duplex): boolean {
    if (socket.readableEnded) return false;
    super.keepSocketAlive(socket);
    socket.once('end', destroyIt);
    return true;
  }

  override reuseSocket(socket: Duplex, request: ClientRequest): void {
    socket.off('end', destroyIt);
    super.reuseSocket(socket, request);
  }
}

function destroyIt(this: Duplex): void {
  this.destroy();
}

/** Says that it would keep the connection, so that the service does not close it over a body it has not read. */
class FreshAgent extends BackendAgent {
  override keepSocketAlive(): boolean {
    return false;
  }
}

export interface BackendAgents {
  /** Uses a connection again. The service may close it at the very moment we do, so only for what can be repeated. */
  readonly kept: Agent;
  /** A new connection for each request. */
  readonly fresh: Agent;
}

export function createBackendAgents(): BackendAgents {
  return {
    kept: new KeptAgent({ keepAlive: true, maxFreeSockets: 32, timeout: 10_000 }),
    fresh: new FreshAgent({ keepAlive: true }),
  };
}
