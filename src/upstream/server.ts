import type { Framing } from '../wire/index.ts';
import type { Login } from './login.ts';

/** A server as the upstream side needs it: how it is reached, and within which bounds. */
export interface UpstreamServer {
  readonly name: string;
  readonly target: ProcessTarget | RemoteTarget;
  /** Values to mask in all output, read when the server starts. Default none. */
  readonly secrets?: () => Iterable<string>;
  readonly timeouts: CallTimeouts;
  readonly limits: ServerLimits;
  /** Whether a call brings it back after a crash. Default true. */
  readonly comesBack?: boolean;
  /** Whether several clients use it at one time, so that none of them may hold up the others. Default false. */
  readonly shared?: boolean;
  /** It is not started before this; whatever it replaces must be gone first. */
  readonly startsAfter?: Promise<unknown>;
}

/** A program that is started and spoken to over its stdin and stdout. */
export interface ProcessTarget {
  readonly kind: 'process';
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Makes the complete environment it gets; asked for when it starts, since most configured servers never do. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Command and directory as they may be shown. */
  readonly shown: { readonly command: string; readonly cwd: string };
  readonly framing: 'auto' | Framing;
}

/** A server that runs elsewhere and is spoken to over HTTP. */
export interface RemoteTarget {
  readonly kind: 'remote';
  /** `http`: Streamable HTTP. `sse`: its forerunner. `auto`: the first that answers. */
  readonly transport: 'auto' | 'http' | 'sse';
  readonly url: string;
  /** The address as it may be shown: without what was filled in. */
  readonly shown: { readonly url: string };
  /** Sent with every request; none of those that HTTP or the protocol set themselves. Never shown. */
  readonly headers: Readonly<Record<string, string>>;
  /** Default: there is none. */
  readonly login?: Login;
  /** How a person logs in, as a whole sentence. Default `Run: switchboard auth` with the server's name. */
  readonly loginHint?: string;
}

/** All in milliseconds. */
export interface CallTimeouts {
  /** From spawn to the answer to `initialize`; the time it waits for its turn to start does not count. */
  readonly childSpawnMs: number;
  /** From a request to its answer; progress restarts it. */
  readonly rpcMs: number;
  /** The longest a call may take, however much progress it reports. */
  readonly callMaxMs: number;
  /** A server that nobody used for so long is stopped. */
  readonly idleMs: number | 'never';
}

export interface ServerLimits {
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  /** Calls sent to the server at one time; more wait here. */
  readonly callsInFlight: number;
  /** Calls that may wait; more are refused. */
  readonly callsQueued: number;
}
