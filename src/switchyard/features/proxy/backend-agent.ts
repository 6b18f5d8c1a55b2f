import { Agent, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { dial } from '../../runtime/sockets/dial.ts';

/** Connections to services, over either loopback address. */
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
 * An idle connection that the service ends would stay half open, because ours allow that, and a request on it would
 * hang. So it is closed immediately.
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

/** Sends `keep-alive`, so that the service does not close the connection before it has read the body. */
class FreshAgent extends BackendAgent {
  override keepSocketAlive(): boolean {
    return false;
  }
}

export interface BackendAgents {
  /** Reuses connections. The service may close one at the same moment, so only for requests that can be repeated. */
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
