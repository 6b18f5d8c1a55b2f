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

/** What the upstream side needs from the rest of the program. */
export interface UpstreamContext {
  /** Loads the code that starts processes. */
  readonly children: () => Promise<ChildProcesses>;
  readonly log: Logger;
  /** What to do about a server that does not start, as a sentence. */
  readonly startHint: string;
  /** How we identify ourselves to a server; called when it starts. */
  readonly identity: () => ClientIdentity;
  /** The era of the clients that use the server; called when it starts. Undefined if there are none yet. */
  readonly era: () => Era | undefined;
  /** Passes calls to another connection that uses the other era; undefined if this connection may use either. */
  readonly other: () => ((edits: Edit[], call: Call) => void) | undefined;
  /** Receives each line that a server writes to stderr, already prefixed and safe to print. */
  readonly stderr: (line: string) => void;
  /** Why no more processes may be started now; undefined if they may. */
  readonly mayNotStart: () => SwitchboardError | undefined;
  /** Starts a process when it is its turn, so that not all of them start at the same moment. */
  readonly inTurn: <T>(start: LimitedStart<T>) => Promise<T>;
  /** How long a caller waits for a server to start before being asked to come back, in milliseconds. */
  readonly callerMs: number;
  /** What is remembered about the server across runs of this program. */
  readonly cache: ServerCacheEntry;
  /** Called when the state of a connection to a server has changed. */
  readonly stateChanged: (server: string, from: SourceState['kind'], to: SourceState['kind']) => void;
  /** Called when a server has listed what it offers. */
  readonly listed: (server: string, kind: ListKind, listing: Listing) => void;
}

/** A server with everything that its connection and its runs need. */
export interface ServerSetup {
  readonly server: UpstreamServer;
  readonly context: UpstreamContext;
  readonly children: ChildProcesses;
  readonly deadlines: Deadlines;
  readonly learned: LearnedFacts;
}

/** What one run found out about a server that is useful to the next. */
export interface LearnedFacts {
  /** What the server last reported about itself. */
  about?: SourceInfo | undefined;
  /** The framing that worked. */
  framing?: Framing;
  /** The transport that answered. */
  transport?: 'http' | 'sse';
  /** Whether it exited when it was sent `server/discover` first. */
  endsOnDiscover?: boolean;
  /** The tool parameters that it requires in headers; used only over HTTP. */
  readonly headers: ToolHeaders;
}
