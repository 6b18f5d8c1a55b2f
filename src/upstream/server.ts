import type { Framing } from '../wire/index.ts';

/** A server that is started as a process and spoken to over its stdin and stdout. */
export interface StdioServer {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** Makes the complete environment it gets; asked for when it starts, since most configured servers never do. */
  readonly env: () => Readonly<Record<string, string>>;
  /** Values that must not be shown, whoever says them; asked for when it starts. Default none. */
  readonly secrets?: () => Iterable<string>;
  /** Command and directory as they may be shown. */
  readonly shown: { readonly command: string; readonly cwd: string };
  readonly framing: 'auto' | Framing;
  readonly timeouts: ServerTimeouts;
  readonly limits: ServerLimits;
  /** Whether a call brings it back after a crash. Default true. */
  readonly comesBack?: boolean;
  /** It is not started before this; whatever it replaces must be gone first. */
  readonly startsAfter?: Promise<unknown>;
}

/** All in milliseconds. */
export interface ServerTimeouts {
  /** From spawn to the answer to `initialize`. */
  readonly childSpawnMs: number;
  /** From a request to its answer; progress starts it anew. */
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

/** Programs that may first download what they run. */
const RUNNERS = new Set([
  'npx',
  'pnpx',
  'bunx',
  'uvx',
  'pipx',
  'docker',
  'podman',
  'uv',
  'npm',
  'pnpm',
  'yarn',
  'bun',
  'deno',
]);

/** How long a server may take until it has answered `initialize`: longer when it may have to be downloaded first. */
export function startPatience({ command, timeouts }: StdioServer): number {
  const program = command
    .split(/[\\/]/)
    .at(-1)!
    .replace(/\.(cmd|exe|ps1)$/i, '');
  return RUNNERS.has(program) ? Math.max(timeouts.childSpawnMs, timeouts.rpcMs) : timeouts.childSpawnMs;
}
