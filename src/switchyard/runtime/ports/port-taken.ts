import { describeListeners } from './listeners.ts';

/** The message about a port that is in use. */
export interface PortTaken {
  readonly message: string;
  /** The next step. */
  readonly hint: string;
}

/** `by` says what responds there: the proxy of another home, or anything else. */
export function proxyPortTaken(port: number, by: 'another home' | 'stranger'): PortTaken {
  const who = describeListeners(port) ?? 'an unknown process';
  return {
    message:
      by === 'another home'
        ? `Port ${port} is occupied by a Switchyard proxy for a different or unknown registry: ${who}.`
        : `The proxy port ${port} is already in use by ${who}.`,
    hint: 'End that process, or choose another [proxy].port in switchyard.toml.',
  };
}

/** `holder` describes the process that has the port. */
export function canonicalPortTaken(service: string, port: number, holder: string): PortTaken {
  return {
    message: `Port ${port}, the canonical port of ${service}, is already in use: ${holder}.`,
    hint: `End that process before \`switchyard checkout\`; until then ${service} is reachable only at its address.`,
  };
}

/** The message about a port that the forwarder cannot open. */
export function cannotBind(service: string, port: number): string {
  return `${service} cannot bind canonical port ${port}; ${ownerOf(port)}`;
}

/** Describes the process that keeps the forwarder from opening a port. */
export function ownerOf(port: number): string {
  const who = describeListeners(port);
  return who === undefined ? 'the forwarder could not open the port' : `${who} owns it`;
}

/** Describes the process on the port of a service that has ended; undefined if the port is free. */
export function holderOf(port: number): string | undefined {
  const who = describeListeners(port);
  return who === undefined ? undefined : `port ${port} is held by ${who}`;
}

/**
 * Describes the process that listens on the port of a running service instead of its own processes; undefined if there
 * is none.
 */
export function listensInstead(port: number, pids: readonly number[]): string | undefined {
  const who = describeListeners(port, pids);
  return who === undefined ? undefined : `${who} listens on its port ${port}`;
}
