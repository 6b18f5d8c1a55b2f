/**
 * The protocol between the page of the console and its server. Types only: both sides are compiled against them.
 *
 * - `GET /console/events` is a stream of server-sent events. The `data` of each is a JSON array of `ConsoleEvent`. The
 *   first event of every connection is a `snapshot` that replaces everything; a page that reconnects needs to do no more.
 * - `POST /console/actions` takes an `ActionRequest` and returns an `ActionResponse`, both JSON. It requires the header
 *   `switchboard-console: 1`, which a page of another origin cannot send. The status is 200 for every response to an
 *   action; 401 means that the cookie is missing or no longer valid.
 *
 * Times are milliseconds since the epoch, sizes are bytes, and tokens are estimates. Null means not known (yet).
 */

// --- The stream ------------------------------------------------------------------------------------------------------

export type ConsoleEvent =
  | { readonly type: 'snapshot'; readonly state: ConsoleState }
  /** A gateway has appeared, or anything but its servers and clients has changed. */
  | { readonly type: 'gateway'; readonly gateway: GatewayInfo }
  | { readonly type: 'gateway-ended'; readonly gateway: GatewayId }
  | { readonly type: 'server'; readonly server: ServerInfo }
  | { readonly type: 'server-removed'; readonly gateway: GatewayId; readonly server: string }
  | { readonly type: 'client'; readonly client: ClientInfo }
  | { readonly type: 'client-left'; readonly gateway: GatewayId; readonly client: string }
  /** A call has begun or ended: replaces the one with the same gateway and id. */
  | { readonly type: 'call'; readonly call: CallInfo }
  /** New lines, the oldest first. */
  | { readonly type: 'log'; readonly lines: readonly LogLine[] }
  /** From a tool that this page tries. */
  | { readonly type: 'trial'; readonly trial: string; readonly event: TrialEvent }
  /** Where to log in to a server, while a login started by this console is waiting; null when it no longer is. */
  | {
      readonly type: 'login-page';
      readonly gateway: GatewayId;
      readonly server: string;
      readonly page: LoginPage | null;
    }
  | { readonly type: 'projects'; readonly projects: readonly YardProject[] }
  /** Too many events came at once, so some calls or log lines were left out. */
  | { readonly type: 'left-out'; readonly calls: number; readonly lines: number };

/** A page of an authorization server. It redirects to a port of the machine on which the console runs. */
export interface LoginPage {
  readonly url: string;
  readonly returnPort: number;
}

export interface WaitingLogin {
  readonly gateway: GatewayId;
  readonly server: string;
  readonly page: LoginPage;
}

export interface ConsoleState {
  /** Identifies this stream; actions about the stream itself include it. */
  readonly stream: string;
  readonly version: string;
  /** Whether actions that change something are refused. */
  readonly readOnly: boolean;
  readonly gateways: readonly GatewayInfo[];
  readonly servers: readonly ServerInfo[];
  readonly clients: readonly ClientInfo[];
  /** The latest calls, the oldest first, at most 1,000; `calls.list` has more. */
  readonly calls: readonly CallInfo[];
  /** The latest lines, the oldest first, at most 1,000; `logs.search` has more. */
  readonly log: readonly LogLine[];
  /** Where to log in, while logins started by this console are waiting. */
  readonly logins: readonly WaitingLogin[];
  /** Empty until the topic `projects` is chosen with `stream.topics`. */
  readonly projects: readonly YardProject[];
}

export type GatewayId = string;

export interface GatewayInfo {
  readonly id: GatewayId;
  readonly program: string;
  readonly pid: number;
  readonly since: number;
  /** The configuration file, or the directory if there is none. */
  readonly config: string;
  readonly directory: string | null;
  readonly files: readonly string[];
  /** Where clients connect over HTTP; null if a host started it. */
  readonly url: string | null;
  readonly memory: number | null;
  /** False for a gateway of an older version: only its servers are known, and no action works on it. */
  readonly live: boolean;
  /** Whether it serves this page, so that the page ends with it. */
  readonly serving: boolean;
}

export type ServerInfoState =
  | { readonly kind: 'disabled' }
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting'; readonly since: number | null }
  | {
      readonly kind: 'running';
      readonly since: number;
      readonly pid: number | null;
      /** Why it exposes nothing, or does not use its latest configuration. */
      readonly problem: Problem | null;
    }
  | { readonly kind: 'failed'; readonly at: number; readonly problem: Problem }
  | { readonly kind: 'needs-login'; readonly problem: Problem }
  /** Its entry is invalid, or its project is not allowed yet. */
  | { readonly kind: 'unusable'; readonly problem: Problem }
  | { readonly kind: 'stopped' };

export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly nextStep: string | null;
}

export type ServerExposure = 'suite' | 'flat' | 'search' | 'code' | 'hidden';

/** Identified by `gateway` and `name` together. */
export interface ServerInfo {
  readonly gateway: GatewayId;
  readonly name: string;
  readonly state: ServerInfoState;
  readonly kind: 'stdio' | 'remote' | 'builtin' | 'unusable';
  /** Its command line or address, without secrets. */
  readonly command: string;
  /** The file that defines it; null if it was added at run time. */
  readonly file: string | null;
  readonly exposure: ServerExposure;
  /** Memory of all its processes. */
  readonly memory: number | null;
  readonly protocolVersion: string | null;
  /** The name and version that the server reports. */
  readonly title: string | null;
  /** How many it offers of each kind. */
  readonly offers: {
    readonly tools: number | null;
    readonly resources: number | null;
    readonly resourceTemplates: number | null;
    readonly prompts: number | null;
  };
  /** What its tools cost each client: each under its own name, and as currently exposed. */
  readonly tokens: { readonly flat: number; readonly exposed: number } | null;
  /** How many of its tools have changed, are new or hide something, and are not approved. */
  readonly toReview: number;
  /** Since this console has been watching. */
  readonly calls: { readonly total: number; readonly failed: number; readonly running: number };
}

/** Identified by `gateway` and `id` together. */
export interface ClientInfo {
  readonly gateway: GatewayId;
  readonly id: string;
  /** The name that it reports, such as `claude-code`. */
  readonly name: string | null;
  readonly version: string | null;
  readonly protocolVersion: string | null;
  readonly transport: 'stdio' | 'http' | 'console';
  /** The name of its token. */
  readonly principal: string | null;
  readonly capabilities: readonly string[];
  readonly runningCalls: number;
}

/** Identified by `gateway` and `id` together. */
export interface CallInfo {
  readonly gateway: GatewayId;
  readonly id: string;
  readonly client: string;
  readonly clientName: string | null;
  /** The server that handles it; null if the gateway itself does. */
  readonly server: string | null;
  /** `tools/call`, `resources/read`, … */
  readonly method: string;
  /** The tool, prompt or URI, by the name the client used. */
  readonly name: string | null;
  /** The tool of the server behind a suite. */
  readonly subtool: string | null;
  readonly at: number;
  readonly requestBytes: number;
  /** Null while it is running. */
  readonly ms: number | null;
  /**
   * `ok`, `tool error`, `error`, `cancelled` (by its client) or an error code, such as `CANCELLED` (by a console); null
   * while it is running.
   */
  readonly outcome: string | null;
  readonly bytes: number | null;
}

export interface CallDetail extends CallInfo {
  /** JSON text without secrets; null if it is too long or was not recorded. */
  readonly arguments: KeptText | null;
  readonly result: KeptText | null;
}

export interface KeptText {
  readonly text: string;
  /** Its length before it was cut. */
  readonly length: number;
}

export interface LogLine {
  readonly gateway: GatewayId;
  /** Increases within a gateway. */
  readonly seq: number;
  readonly at: number;
  /** The server whose stderr contained it; null for the gateway itself. */
  readonly server: string | null;
  readonly level: 'debug' | 'info' | 'warn' | 'error' | null;
  readonly text: string;
}

export type TrialEvent =
  | {
      readonly kind: 'progress';
      readonly progress: number;
      readonly total: number | null;
      readonly message: string | null;
    }
  /**
   * The server has sent a request: answer it with `tools.answer`. `params` are those of the request
   * (`elicitation/create`, `sampling/createMessage`).
   */
  | {
      readonly kind: 'request';
      readonly request: string;
      readonly method: string;
      readonly params: Readonly<Record<string, unknown>>;
    }
  /** The server no longer waits for an answer. */
  | { readonly kind: 'request-withdrawn'; readonly request: string }
  | { readonly kind: 'log'; readonly level: string; readonly data: unknown };

export interface YardProject {
  readonly name: string;
  readonly directory: string;
  readonly status: 'ok' | 'missing' | 'unreadable';
  readonly branches: readonly YardBranch[];
  /** The names of the services that its file defines. */
  readonly defined: readonly string[];
  /** Services that are running or have exited by themselves. */
  readonly services: readonly YardService[];
  /** The canonical ports, and the branch that each leads to. */
  readonly checkouts: readonly {
    readonly service: string;
    readonly branch: string;
    readonly port: number;
    readonly status: string;
  }[];
}

export interface YardBranch {
  readonly branch: string;
  /** Its worktree. */
  readonly directory: string | null;
}

export interface YardService {
  readonly branch: string;
  readonly service: string;
  /** healthy, ready, running, unhealthy, not-listening, wrong-port, exited or unverified. */
  readonly state: string;
  readonly note: string | null;
  readonly pid: number | null;
  readonly port: number | null;
  /** Its named address. */
  readonly url: string | null;
  readonly since: number | null;
  readonly errors: readonly string[];
  /** The process that listens on its port instead of it. */
  readonly holder: { readonly pid: number | null; readonly address: string } | null;
}

// --- Actions ---------------------------------------------------------------------------------------------------------

export interface ActionRequest<M extends ActionName = ActionName> {
  readonly method: M;
  readonly params: Actions[M]['params'];
}

export type ActionResponse<M extends ActionName = ActionName> =
  | { readonly ok: true; readonly result: Actions[M]['result'] }
  | { readonly ok: false; readonly error: Problem };

export type ActionName = keyof Actions;

/** A server of a gateway. */
interface OfServer {
  readonly gateway: GatewayId;
  readonly server: string;
}

/** What a command prints with `--json`. */
export type CommandResult = Readonly<Record<string, unknown>>;

interface Action<P, R> {
  readonly params: P;
  readonly result: R;
}

/** By name; actions marked (reads) also work with `--read-only`. */
export interface Actions {
  /** (reads) What this stream carries besides gateways, servers and clients. Default: nothing. */
  readonly 'stream.topics': Action<{ readonly stream: string; readonly topics: readonly Topic[] }, null>;

  readonly 'servers.start': Action<OfServer, null>;
  /** Stops a server; its next call starts it again. */
  readonly 'servers.stop': Action<OfServer, null>;
  /** Restarts a server with the same definition. */
  readonly 'servers.reload': Action<OfServer, null>;
  readonly 'servers.enable': Action<OfServer, CommandResult>;
  readonly 'servers.disable': Action<OfServer, CommandResult>;
  readonly 'servers.remove': Action<OfServer, CommandResult>;
  /** (reads) The servers in a text: a command line, a package name, an address or JSON of any host. */
  readonly 'servers.parse': Action<{ readonly text: string }, { readonly servers: readonly ServerToAdd[] }>;
  readonly 'servers.add': Action<
    { readonly gateway: GatewayId; readonly server: ServerToAdd },
    CommandResult
  >;
  /**
   * (reads) The entry as it is in its file. Secrets are replaced by `HiddenSecret`, which `servers.edit` leaves
   * unchanged.
   */
  readonly 'servers.entry': Action<OfServer, { readonly file: string; readonly entry: EntryJson }>;
  /** Replaces the entry. */
  readonly 'servers.edit': Action<OfServer & { readonly entry: EntryJson }, CommandResult>;
  /** (reads) The JSON Schema of an entry, with descriptions. */
  readonly 'servers.schema': Action<Empty, Readonly<Record<string, unknown>>>;
  /** Logs in and resolves when that is done; the stream says at which page. */
  readonly 'servers.login': Action<OfServer, CommandResult>;
  readonly 'servers.logout': Action<OfServer, CommandResult>;
  /** (reads) The tools that have changed since their first use. Starts nothing. */
  readonly 'servers.trust': Action<OfServer, ServerTrust>;
  /** Approves the current definition of a tool, if `hash` still matches it. */
  readonly 'servers.approve': Action<OfServer & { readonly tool: string; readonly hash: string }, null>;
  /** Reloads the configuration of a gateway. */
  readonly 'gateways.reload': Action<{ readonly gateway: GatewayId }, null>;

  /** (reads) Older calls, the newest first: those before `before`, the last call of the previous page. */
  readonly 'calls.list': Action<CallFilter, { readonly calls: readonly CallInfo[]; readonly more: boolean }>;
  /** (reads) */
  readonly 'calls.get': Action<OfCall, CallDetail>;
  readonly 'calls.cancel': Action<OfCall, null>;

  /** (reads) The tools of a server under their own names, with schemas. Starts the server. */
  readonly 'tools.list': Action<OfServer, { readonly tools: readonly ToolInfo[] }>;
  /**
   * Runs a tool and resolves with its result. `trial` is a name that the page chooses, used in events and
   * `tools.cancel`.
   */
  readonly 'tools.call': Action<
    OfServer & {
      readonly stream: string;
      readonly trial: string;
      readonly tool: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    },
    { readonly result: Readonly<Record<string, unknown>>; readonly ms: number }
  >;
  readonly 'tools.cancel': Action<{ readonly trial: string }, null>;
  /** Answers a request of the server: `result` as MCP defines it for the method, or `error` to refuse. */
  readonly 'tools.answer': Action<
    {
      readonly trial: string;
      readonly request: string;
      readonly result?: Readonly<Record<string, unknown>>;
      readonly error?: { readonly code: number; readonly message: string };
    },
    null
  >;

  /** Reads a resource of a server, such as one that a result links to. */
  readonly 'resources.read': Action<
    OfServer & { readonly uri: string },
    { readonly contents: readonly unknown[] }
  >;

  /** (reads) What a client sees, or would see if these servers were exposed differently. `client` null: any client. */
  readonly 'lists.get': Action<
    {
      readonly gateway: GatewayId;
      readonly client: string | null;
      /** All servers, or each by name. Default: as configured. */
      readonly exposure?: ServerExposure | Readonly<Record<string, ServerExposure>>;
    },
    SeenLists
  >;
  /** Writes the exposure of a server to its entry. */
  readonly 'servers.expose': Action<OfServer & { readonly exposure: ServerExposure }, CommandResult>;

  /** (reads) */
  readonly 'hosts.list': Action<Empty, { readonly hosts: readonly HostInfo[] }>;
  /** (reads) How a change would modify the files of a host. */
  readonly 'hosts.preview': Action<HostChangeRequest, HostChangeResult>;
  readonly 'hosts.change': Action<HostChangeRequest, HostChangeResult>;

  /** (reads) */
  readonly 'projects.list': Action<Empty, { readonly projects: readonly YardProject[] }>;
  readonly 'services.start': Action<OfServices, CommandResult>;
  readonly 'services.stop': Action<OfServices, CommandResult>;
  readonly 'services.restart': Action<OfServices, CommandResult>;
  /** Makes the canonical ports lead to a branch. */
  readonly 'projects.checkout': Action<
    { readonly directory: string; readonly branch: string },
    CommandResult
  >;
  /** (reads) The end of the logs of services, the oldest line first. */
  readonly 'services.logs': Action<
    OfServices & { readonly lines?: number; readonly search?: string },
    {
      readonly lines: readonly { readonly branch: string; readonly service: string; readonly text: string }[];
    }
  >;
  /** (reads) Which process listens on a port of this machine. */
  readonly 'ports.holder': Action<{ readonly port: number }, { readonly holders: readonly PortHolderInfo[] }>;

  /** (reads) Lines that contain `text`, ignoring case, the newest first. */
  readonly 'logs.search': Action<
    {
      readonly gateway?: GatewayId;
      /** null: the gateway itself. Default: all. */
      readonly server?: string | null;
      readonly text?: string;
      readonly limit?: number;
    },
    { readonly lines: readonly LogLine[]; readonly more: boolean }
  >;
}

type Empty = Readonly<Record<string, never>>;

/**
 * Calls are recorded only while a page has chosen `calls`. So is the log, except for its last 200 lines, which are
 * always available when a page chooses `logs`.
 */
export type Topic = 'calls' | 'logs' | 'projects';

interface OfCall {
  readonly gateway: GatewayId;
  readonly call: string;
}

export interface CallFilter {
  readonly gateway?: GatewayId;
  readonly client?: string;
  readonly server?: string;
  /** Part of the name, ignoring case. */
  readonly name?: string;
  readonly failed?: boolean;
  readonly before?: { readonly gateway: GatewayId; readonly call: string };
  readonly limit?: number;
}

export interface ServerToAdd {
  readonly name: string;
  readonly entry: EntryJson;
}

/** An entry of `mcpServers` in a configuration file. */
export type EntryJson = Readonly<Record<string, unknown>>;

/** Replaces a secret in an entry. */
export type HiddenSecret = '••••••••';

export interface ToolInfo {
  readonly name: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema: Readonly<Record<string, unknown>> | null;
  readonly annotations: Readonly<Record<string, unknown>> | null;
}

export interface ServerTrust {
  /** What happens to changed tools. */
  readonly pin: 'warn' | 'block' | 'off';
  /** When its tools were first used, as an ISO date; null if they never were. */
  readonly since: string | null;
  /** Why its tools cannot be compared. */
  readonly problem: string | null;
  /** Whether it has more tools than can be remembered. */
  readonly overflow: boolean;
  readonly tools: readonly ToolToReview[];
}

/** A tool to review, with all invisible characters made visible. */
export interface ToolToReview {
  readonly name: string;
  /** Its exact name, for `servers.approve`. */
  readonly id: string;
  readonly state: 'changed' | 'restored' | 'new' | 'suspicious';
  /** The hash of its current definition. */
  readonly hash: string;
  /** How often it has changed. */
  readonly changes: number;
  /** ISO date. */
  readonly since: string | null;
  /** What is suspicious about it, as the ends of sentences. */
  readonly findings: readonly string[];
  /** A unified diff from the approved to the current definition; null if they are not stored. */
  readonly diff: string | null;
}

export interface SeenLists {
  readonly instructions: SeenText;
  readonly tools: readonly SeenItem[];
  readonly resources: readonly SeenItem[];
  readonly resourceTemplates: readonly SeenItem[];
  readonly prompts: readonly SeenItem[];
  /** The tokens that a host puts into its prompt: instructions and tools. */
  readonly tokens: number;
  /** Servers whose lists are unknown, because they have never run. */
  readonly unknown: readonly string[];
}

export interface SeenText {
  readonly text: string;
  readonly tokens: number;
}

export interface SeenItem {
  readonly name: string;
  /** Null for tools of the gateway itself. */
  readonly server: string | null;
  /** The exact JSON text that is sent. */
  readonly definition: string;
  readonly tokens: number;
}

export interface HostInfo {
  readonly id: string;
  readonly title: string;
  readonly files: readonly HostFileInfo[];
}

export interface HostFileInfo {
  readonly path: string;
  readonly scope: 'user' | 'project';
  readonly exists: boolean;
  /** The names of the servers it loads. */
  readonly servers: readonly string[];
  /** Whether it loads Switchboard. */
  readonly installed: boolean;
  /** Whether `eject` can restore what it had. */
  readonly takenOver: boolean;
  /** Why it cannot be read. */
  readonly problem: string | null;
}

export interface HostChangeRequest {
  readonly host: string;
  readonly change: 'install' | 'uninstall' | 'takeover' | 'eject';
}

export interface HostChangeResult {
  /** The changes to each file, as a unified diff without secrets. */
  readonly files: readonly { readonly path: string; readonly diff: string }[];
  readonly notes: readonly string[];
  /** Whether the change was made. */
  readonly done: boolean;
}

/** Applies to all services or branches if they are not named. */
interface OfServices {
  readonly directory: string;
  readonly branch?: string;
  readonly service?: string;
}

export interface PortHolderInfo {
  readonly pid: number | null;
  readonly address: string;
  readonly command: string | null;
}
