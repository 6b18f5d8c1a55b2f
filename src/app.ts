import type { Readable, Writable } from 'node:stream';
import { composeEnv, type LoadedConfig, type ServerDefinition } from './config/index.ts';
import { openStdioDoor, type ServerIdentity, type StdioDoor } from './doors/index.ts';
import { suite } from './exposure/index.ts';
import {
  Gateway,
  LocalClient,
  type CatalogEntry,
  type Listing,
  type LocalCallOptions,
  type Source,
} from './gateway/index.ts';
import { createFamily, type Family } from './process/index.ts';
import type { JsonObject } from './protocol/index.ts';
import { Deadlines } from './shared/deadline.ts';
import { SwitchboardError } from './shared/errors.ts';
import { matchGlob } from './shared/glob.ts';
import type { Logger } from './shared/log.ts';
import { didYouMean } from './shared/nearest.ts';
import { VERSION } from './shared/version.ts';
import { createServerSource, type Surroundings } from './upstream/index.ts';

export interface AppOptions {
  readonly config: LoadedConfig;
  readonly log: Logger;
  /** Takes each line a server writes to stderr. */
  readonly stderr: (line: string) => void;
  /** What servers inherit from. Default the program's own environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** The gateway with everything it needs, wired together. The only place that knows every part. */
export interface App {
  readonly gateway: Gateway;
  /** The source of a configured server; throws SERVER_UNKNOWN, with the nearest names. */
  source(server: string): Source;
  /** Everything a server offers, whatever the configuration shows of it. Starts it. */
  listTools(server: string): Promise<Listing>;
  /** Runs a tool of a server and resolves with its result; rejects with a ServerError where the server refuses. */
  callTool(server: string, tool: string, args: JsonObject, options?: LocalCallOptions): Promise<JsonObject>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Ends every server; `already` is how many milliseconds the exit has taken so far, which the servers get less. */
  close(already?: number): Promise<void>;
  /** Ends every process within this turn, for exits that cannot wait. */
  killNow(): void;
}

export function createApp({ config, log, stderr, env = process.env }: AppOptions): App {
  const family: Family = createFamily({ log });
  const surroundings: Surroundings = {
    family,
    log,
    stderr,
    greeting: { clientInfo: { name: IDENTITY.name, version: VERSION } },
  };
  const deadlines = new Deadlines();
  const entries = config.servers.map((server) => entryOf(server, config, surroundings, deadlines, env));
  const gateway = new Gateway(entries);
  const local = new LocalClient();
  const source = (name: string): Source => {
    const sources = gateway.catalog.entries.map((entry) => entry.source);
    const found = sources.find((each) => each.name === name);
    if (found) return found;
    const names = sources.map((each) => each.name);
    const hint =
      didYouMean(name, names) ??
      (names.length === 0 ? 'No server is configured.' : `There are: ${names.join(', ')}.`);
    throw new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
  };
  return {
    gateway,
    source,
    listTools: async (server) => source(server).list('tools'),
    callTool: async (server, tool, args, options) =>
      local.request(source(server), 'tools/call', { name: tool, arguments: args }, options),
    openStdio: (input, output) =>
      openStdioDoor({
        gateway,
        identity: IDENTITY,
        input,
        output,
        log,
        messageBytes: config.settings.limits.messageBytes,
      }),
    async close(already = 0) {
      const stages = {
        closeStdin: 0,
        term: Math.max(2000 - already, 0),
        kill: Math.max(5000 - already, 500),
      };
      const closed = gateway.close();
      await family.stopAll(stages);
      await closed;
    },
    killNow: () => family.killAllNow(),
  };
}

const IDENTITY: ServerIdentity = {
  name: 'switchboard',
  title: 'Switchboard',
  version: VERSION,
  instructions:
    'Each *_suite tool stands for one MCP server. {"action":"introspect"} lists its subtools (add "subtool" for one in ' +
    'full, or "verbosity":"full"|"redacted"); {"action":"call","subtool":"…","args":{…}} runs one.',
};

function entryOf(
  server: ServerDefinition,
  { settings }: LoadedConfig,
  surroundings: Surroundings,
  deadlines: Deadlines,
  env: NodeJS.ProcessEnv,
): CatalogEntry {
  return {
    source: createServerSource(
      {
        name: server.name,
        command: server.command,
        args: server.args,
        cwd: server.cwd,
        shown: server.written,
        env: () => composeEnv(server, env),
        framing: server.framing,
        timeouts: server.timeouts,
        limits: settings.limits,
      },
      surroundings,
      deadlines,
    ),
    admits: filterOf(server.suite.allow, server.suite.deny),
    exposure: suite({
      name: server.suite.name,
      description: server.suite.description,
      purpose: server.description,
      summaryMaxChars: server.suite.summaryMaxChars,
      introspection: server.suite.mode,
    }),
  };
}

/** Allowed where no list is given or one of its patterns matches, and no pattern denies it. */
function filterOf(
  allow: readonly string[] | undefined,
  deny: readonly string[] = [],
): (tool: string) => boolean {
  if (allow === undefined && deny.length === 0) return () => true;
  return (tool) =>
    (allow === undefined || allow.some((pattern) => matchGlob(pattern, tool))) &&
    !deny.some((pattern) => matchGlob(pattern, tool));
}

export { ServerError } from './gateway/index.ts';
export { introspection } from './exposure/index.ts';
