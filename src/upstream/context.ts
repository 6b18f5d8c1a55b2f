import type { Deadlines } from '../shared/deadline.ts';
import type { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Call, LimitedStart, Listing, SourceInfo, SourceState } from '../gateway/index.ts';
import type { ChildProcesses } from '../process/index.ts';
import type { Era, ListKind } from '../protocol/index.ts';
import type { Edit, Framing } from '../wire/index.ts';
import type { ClientIdentity } from './handshake/handshake.ts';
import type { ServerCacheEntry } from './lists/server-cache.ts';
import type { ToolHeaders } from './modern/tool-headers.ts';
import type { UpstreamServer } from './server.ts';

/** What the upstream side needs of the program around it. */
export interface UpstreamContext {
  /** Loads what starts processes. */
  readonly children: () => Promise<ChildProcesses>;
  readonly log: Logger;
  /** What to do about a server that does not start, as a sentence. */
  readonly startHint: string;
  /** How we introduce ourselves to a server; asked for when it starts. */
  readonly identity: () => ClientIdentity;
  /** The era of the clients that use the server; asked for when it starts. Undefined: none of them is there yet. */
  readonly era: () => Era | undefined;
  /** How calls reach another connection that speaks the other era; undefined: this one may speak either. */
  readonly other: () => ((edits: Edit[], call: Call) => void) | undefined;
  /** Takes each line a server writes to stderr, already prefixed and safe to print. */
  readonly stderr: (line: string) => void;
  /** Why no further process may be started now; undefined where one may. */
  readonly mayNotStart: () => SwitchboardError | undefined;
  /** Starts a process when it is its turn, so that not all start at the same moment. */
  readonly inTurn: <T>(start: LimitedStart<T>) => Promise<T>;
  /** How long somebody waits for a server to start before being told to come back, in milliseconds. */
  readonly callerMs: number;
  /** What is remembered of the server, across runs of this program. */
  readonly cache: ServerCacheEntry;
  /** The state of a connection to a server has changed. */
  readonly stateChanged: (server: string, from: SourceState['kind'], to: SourceState['kind']) => void;
  /** A server has listed what it offers. */
  readonly listed: (server: string, kind: ListKind, listing: Listing) => void;
}

/** A server with all that its connection and its runs need. */
export interface ServerSetup {
  readonly server: UpstreamServer;
  readonly context: UpstreamContext;
  readonly children: ChildProcesses;
  readonly deadlines: Deadlines;
  readonly learned: LearnedFacts;
}

/** What was found out about a server in one run and holds for the next. */
export interface LearnedFacts {
  /** What it said of itself last. */
  about?: SourceInfo | undefined;
  /** The framing that worked. */
  framing?: Framing;
  /** The transport that answered. */
  transport?: 'http' | 'sse';
  /** It ended when it was asked the modern way first. */
  endsOnDiscover?: boolean;
  /** What its tools want to see in headers; only asked over HTTP. */
  readonly headers: ToolHeaders;
}
