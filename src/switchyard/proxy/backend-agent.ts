import { Agent, type AgentOptions, type ClientRequestArgs } from 'node:http';
import type { Duplex } from 'node:stream';
import { dial } from '../forward/dial.ts';

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

const KEPT: AgentOptions = {
  keepAlive: true,
  maxFreeSockets: 32,
  maxTotalSockets: Infinity,
  timeout: 10_000,
};

export interface BackendAgents {
  /** Uses a connection again. The service may close it at the very moment we do, so only for what can be repeated. */
  readonly kept: Agent;
  /** A new connection for each request. */
  readonly fresh: Agent;
}

export function createBackendAgents(): BackendAgents {
  return { kept: new BackendAgent(KEPT), fresh: new BackendAgent({ keepAlive: false }) };
}
