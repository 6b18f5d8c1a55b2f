import type { Framing } from '../wire/index.ts';
import type { Login } from './login.ts';

/** A server as the upstream side needs it: how to reach it, and its limits. */
export interface UpstreamServer {
  readonly name: string;
  readonly target: ProcessTarget | RemoteTarget;
  /** Values to mask in all output, read when the server starts. Default none. */
  readonly secrets?: () => Iterable<string>;
  readonly timeouts: CallTimeouts;
  readonly limits: ServerLimits;
  /** Whether a call restarts it after a crash. Default true. */
  readonly comesBack?: boolean;
  /** Whether several clients use it at the same time, so that none may delay the others. Default false. */
  readonly shared?: boolean;
  /** The start waits for this: whatever the server replaces must be gone first. */
  readonly startsAfter?: Promise<unknown>;
}

/** A program that is started and reached over its stdin and stdout. */
export interface ProcessTarget {
  readonly kind: 'process';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /**
   * Returns the complete environment for the process. Called when it starts, since most configured servers never do.
   */
  readonly env: () => Readonly<Record<string, string>>;
  /** Command and directory in a form that may be shown. */
  readonly shown: { readonly command: string; readonly cwd: string };
  readonly framing: 'auto' | Framing;
}

/** A remote server, reached over HTTP. */
export interface RemoteTarget {
  readonly kind: 'remote';
  /** `http`: Streamable HTTP. `sse`: its predecessor. `auto`: the first one that answers. */
  readonly transport: 'auto' | 'http' | 'sse';
  readonly url: string;
  /** The address in a form that may be shown: without the values of references. */
  readonly shown: { readonly url: string };
  /** Sent with every request. Contains none of the headers that HTTP or the protocol set themselves. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: there is none. */
  readonly login?: Login;
  /** How a person logs in, as a complete sentence. Default: `Run: switchboard auth` with the server's name. */
  readonly loginHint?: string;
}

/** All in milliseconds. */
export interface CallTimeouts {
  /** From spawn to the answer to `initialize`, without the time it waits for its turn to start. */
  readonly childSpawnMs: number;
  /** From a request to its response; progress restarts it. */
  readonly rpcMs: number;
  /** The longest a call may take, however much progress it reports. */
  readonly callMaxMs: number;
  /** A server that has not been used for this long is stopped. */
  readonly idleMs: number | 'never';
}

export interface ServerLimits {
  /** The largest message accepted, in bytes. */
  readonly messageBytes: number;
  /** How many calls are sent to the server at one time; more wait here. */
  readonly callsInFlight: number;
  /** How many calls may wait; more are refused. */
  readonly callsQueued: number;
}
