import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import {
  composeEnv,
  defineRuntimeServer,
  describeWarning,
  editConfig,
  entryForConfig,
  MANAGEMENT_TOOLS,
  withoutServer,
  withServer,
  type LoadedConfig,
  type RuntimeEntry,
  type ServerDefinition,
  type Settings,
} from './config/index.ts';
import { openStdioDoor, type ServerIdentity, type StdioDoor } from './doors/index.ts';
import { compound, flat, hidden, redacted, suite, toolRules, unmatched } from './exposure/index.ts';
import {
  combineInstructions,
  Gateway,
  LocalClient,
  type Call,
  type CatalogEntry,
  type Exposure,
  type Listing,
  type Loss,
  type OverallExposure,
  type LocalCallOptions,
  type Source,
  type SourceState,
} from './gateway/index.ts';
import { Control, managementTools, type Applied } from './management/index.ts';
import { createFamily, type Family } from './process/index.ts';
import { Client, type JsonObject, type KeptKind } from './protocol/index.ts';
import { Deadlines } from './shared/deadline.ts';
import { SwitchboardError } from './shared/errors.ts';
import type { Logger } from './shared/log.ts';
import { didYouMean } from './shared/nearest.ts';
import { stateDirectory } from './shared/paths.ts';
import { isSecretName } from './shared/secrets.ts';
import { VERSION } from './shared/version.ts';
import { createMemory, createServerSource, memoryKey, type Surroundings } from './upstream/index.ts';

export interface AppOptions {
  readonly config: LoadedConfig;
  readonly log: Logger;
  /** Takes each line a server writes to stderr. */
  readonly stderr: (line: string) => void;
  /** What the program calls itself towards clients. Default switchboard. */
  readonly program?: string;
  /**
   * Whether servers are there only while they run: what they offer goes when they crash, and only a reload brings them
   * back. Default false.
   */
  readonly volatile?: boolean;
  /** Called when the state of a server has changed. */
  readonly onStateChange?: () => void;
  /** What servers inherit from. Default the program's own environment. */
  readonly env?: NodeJS.ProcessEnv;
}

export interface ServerState {
  readonly name: string;
  readonly state: SourceState;
  /** Why it runs and shows nothing, where that is so. */
  readonly problem?: string | undefined;
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
  /** How each server is doing now, in the order of the configuration. */
  states(): readonly ServerState[];
  /** Makes the servers those of a configuration that was read again; what did not change goes on running. */
  reconfigure(config: LoadedConfig): Promise<Applied>;
  openStdio(input: Readable, output: Writable): StdioDoor;
  /** Ends every server; `already` is how many milliseconds the exit has taken so far, which the servers get less. */
  close(already?: number): Promise<void>;
  /** Ends every process within this turn, for exits that cannot wait. */
  killNow(): void;
}

export function createApp(options: AppOptions): App {
  const {
    config,
    log,
    stderr,
    program = 'switchboard',
    volatile = false,
    onStateChange = () => undefined,
    env = process.env,
  } = options;
  const family: Family = createFamily({ log });
  const memory = createMemory(join(stateDirectory(env), 'servers.json'), log);
  const surroundings: Surroundings = {
    family,
    log,
    stderr,
    startHint:
      program === 'mcpmux'
        ? 'Run its command by hand to see what it does.'
        : `${program} doctor --start shows how it is started and all it writes.`,
    greeting: () => ({
      clientInfo: { name: program, version: VERSION },
      capabilities: capabilitiesOfClients(gateway),
    }),
    recall: (server) => memory.recall(() => keyOf(server)),
    remember: (server, info) => memory.remember(keyOf(server), info),
    stateChanged: onStateChange,
    listed: warnAboutSlips((name) => control.find(name), log),
  };
  const deadlines = new Deadlines();
  let current = config;
  let { limits } = config.settings;
  const build = (server: ServerDefinition, after?: Promise<unknown>): CatalogEntry =>
    entryOf(server, { limits, surroundings, deadlines, env, volatile, after });
  const gateway: Gateway = new Gateway({
    entries: config.servers.map((server) => build(server)),
    log,
    mayGrow: config.settings.management.enabled,
    onProblem: onStateChange,
    adviseOnLoss: (server, why) =>
      current.settings.management.enabled ? adviceOnLoss(server, why) : undefined,
    loggedArguments: (call, server) =>
      current.settings.logArguments ? argumentsForLog(call, server, control) : undefined,
  });
  const control = new Control({ gateway, log, build, definitions: config.servers });
  const overallOf = ({ compounds, settings }: LoadedConfig): OverallExposure[] => [
    ...(settings.management.enabled
      ? [managementOf(control, settings.management, () => current, volatile)]
      : []),
    ...compounds.map((each) =>
      compound({ ...each, summaryMaxChars: settings.introspection.summaryMaxChars }),
    ),
  ];
  gateway.swap(gateway.catalog.entries, { overall: overallOf(config), quiet: true });
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
    callTool: async (server, tool, args, callOptions) =>
      local.request(source(server), 'tools/call', { name: tool, arguments: args }, callOptions),
    states: () =>
      gateway.catalog.entries.map(({ source: { name, state } }, at) => ({
        name,
        state,
        problem: gateway.problemOf(gateway.catalog.entries[at]!.source)?.message,
      })),
    async reconfigure(next) {
      ({ limits } = next.settings);
      const applied = await control.apply(keptDefinitions(next, control, log), overallOf(next));
      current = next;
      return applied;
    },
    openStdio: (input, output) =>
      openStdioDoor({
        gateway,
        identity: identityOf(program, gateway, () => current),
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
      memory.save();
      const closed = gateway.close();
      await family.stopAll(stages);
      await closed;
    },
    killNow: () => family.killAllNow(),
  };
}

/** The tools that manage servers, as the configuration wants them. */
function managementOf(
  control: Control,
  management: Settings['management'],
  config: () => LoadedConfig,
  volatile: boolean,
): OverallExposure {
  const edit = async (change: (text: string) => string, dryRun = false): Promise<void> => {
    const { file, directory } = config();
    await editConfig({ file, directory, change, dryRun });
  };
  return managementTools({
    control,
    approval: management.approval,
    alwaysOn: volatile,
    define: (name: string, entry: RuntimeEntry) => {
      const { settings, directory } = config();
      return defineRuntimeServer(name, entry, { settings, directory });
    },
    ...(management.persist
      ? {
          persist: {
            // One that is turned off or cannot be used is the user's all the same.
            check: (name) => edit((text) => withoutTaken(text, name), true),
            added: (name, entry) =>
              edit((text) => withServer(withoutTaken(text, name), name, entryForConfig(entry))),
            removed: async (name, { origin }) => {
              const { file } = config();
              if (origin.file !== '' && origin.file !== file)
                throw new SwitchboardError('CONFIG_NOT_EDITABLE', `It is defined in ${origin.file}.`, {
                  hint: 'Take it out there, or it comes back when the configuration is read again.',
                });
              await edit((text) => withoutServer(text, name));
            },
          },
        }
      : {}),
  });
}

/** The text, if it has no server of that name. */
function withoutTaken(text: string, name: string): string {
  if (withoutServer(text, name) === text) return text;
  throw new SwitchboardError(
    'SERVER_EXISTS',
    `The configuration has a server named ${JSON.stringify(name)} already, which is turned off or cannot be used.`,
    { hint: 'Choose another name.' },
  );
}

/** The servers of a configuration; one that runs and cannot be used as it is written now stays as it was. */
function keptDefinitions(next: LoadedConfig, control: Control, log: Logger): readonly ServerDefinition[] {
  const kept = next.unusable.flatMap((name) => control.find(name) ?? []);
  for (const { name } of kept) log.warn('goes on as it was: its definition cannot be used', { server: name });
  return kept.length === 0 ? next.servers : [...next.servers, ...kept];
}

function adviceOnLoss(server: string, why: Loss): string {
  const named = `{"name":${JSON.stringify(server)}}`;
  switch (why) {
    case 'removed':
      return 'add_server can add it again; tools/list names the tools there are now.';
    case 'crashed':
      return `reload_server ${named} brings it back.`;
    case 'changed':
      return 'tools/list names the tools there are now.';
  }
}

function identityOf(program: string, gateway: Gateway, config: () => LoadedConfig): ServerIdentity {
  return {
    name: program,
    title: 'Switchboard',
    version: VERSION,
    instructions: () => {
      const { servers, settings } = config();
      const own = [
        servers.some((server) => server.exposure === 'suite') ? SUITE_INSTRUCTIONS : '',
        settings.management.enabled ? MANAGEMENT_INSTRUCTIONS : '',
      ];
      return combineInstructions(
        own.filter((text) => text !== '').join(' '),
        gateway.catalog.entries.flatMap(({ source, offers }) => {
          // What is hidden does not speak either.
          if (offers.size === 0) return [];
          const instructions = source.about()?.instructions;
          return instructions === undefined ? [] : [{ server: source.name, instructions }];
        }),
        settings.instructions.maxChars,
      );
    },
  };
}

const SUITE_INSTRUCTIONS =
  'Each *_suite tool stands for one MCP server. {"action":"introspect"} lists its subtools (add "subtool" for one in ' +
  'full, or "verbosity":"full"|"redacted"); {"action":"call","subtool":"…","args":{…}} runs one.';

const MANAGEMENT_INSTRUCTIONS =
  'add_server starts an MCP server while this runs, reload_server starts one anew, list_servers says how they are doing.';

/** What servers are told that their client can do: what the one client there is can do. Several are not mixed up. */
function capabilitiesOfClients({ sessions }: Gateway): JsonObject {
  const [only, another] = sessions;
  return only !== undefined && another === undefined ? only.client.capabilities : {};
}

function keyOf({ name, shown, args }: Parameters<Surroundings['recall']>[0]): string {
  return memoryKey(name, shown.command, args, shown.cwd);
}

interface EntryContext {
  readonly limits: Settings['limits'];
  readonly surroundings: Surroundings;
  readonly deadlines: Deadlines;
  readonly env: NodeJS.ProcessEnv;
  readonly volatile: boolean;
  /** The source does not start before this. */
  readonly after: Promise<unknown> | undefined;
}

function entryOf(server: ServerDefinition, context: EntryContext): CatalogEntry {
  const { limits, surroundings, deadlines, env, volatile, after } = context;
  return {
    source: createServerSource(
      {
        name: server.name,
        command: server.command,
        args: server.args,
        cwd: server.cwd,
        shown: server.written,
        secrets: () => secretsOf(server, env),
        env: () => ({ ...composeEnv(server, env), [DEPTH]: String(nestingDepth(env) + 1) }),
        framing: server.framing,
        timeouts: server.timeouts,
        limits,
        comesBack: !volatile,
        ...(after === undefined ? {} : { startsAfter: after }),
      },
      surroundings,
      deadlines,
    ),
    rules: toolRules(server.tools),
    exposure: exposureOf(server),
    // What is hidden is there for compound tools only.
    offers: new Set(server.exposure === 'hidden' ? [] : server.offer.flatMap((what) => KINDS_OFFERED[what])),
    naming: server.naming,
    volatile,
  };
}

/** Tells a gateway among the servers how many gateways stand before it. */
const DEPTH = 'SWITCHBOARD_DEPTH';

/** How many gateways this one runs behind; 0 where a host started it. */
export function nestingDepth(env: NodeJS.ProcessEnv): number {
  const depth = Number(env[DEPTH]);
  return Number.isInteger(depth) && depth > 0 ? depth : 0;
}

const KINDS_OFFERED: Readonly<Record<ServerDefinition['offer'][number], readonly KeptKind[]>> = {
  tools: ['tools'],
  resources: ['resources', 'resourceTemplates'],
  prompts: ['prompts'],
};

function exposureOf(server: ServerDefinition): Exposure {
  switch (server.exposure) {
    case 'flat':
      return flat(server.naming);
    case 'hidden':
      return hidden;
    case 'suite':
      return suite({
        name: server.suite.name,
        description: server.suite.description,
        purpose: server.description,
        summaryMaxChars: server.suite.summaryMaxChars,
        introspection: server.suite.mode,
      });
  }
}

/** Warns once of each setting about tools that a server turns out not to have. */
function warnAboutSlips(
  find: (server: string) => ServerDefinition | undefined,
  log: Logger,
): Surroundings['listed'] {
  const told = new Set<string>();
  return (name, kind, listing) => {
    const server = kind === 'tools' ? find(name) : undefined;
    if (server === undefined) return;
    for (const slip of unmatched(server.tools, listing)) {
      const text = describeWarning(slip);
      if (told.has(text)) continue;
      told.add(text);
      log.warn(text, { server: name });
    }
  };
}

/** The arguments of a call without the fields that are named as secret. What starts a program is never shown. */
function argumentsForLog(call: Call, server: string | undefined, control: Control): string | undefined {
  const name = call.request.string(Client.name);
  if (server === undefined && MANAGEMENT_TOOLS.some((tool) => tool === name)) return undefined;
  const fields = control
    .list()
    // A tool of several servers may be about any of them.
    .filter(({ definition }) => server === undefined || definition.name === server)
    .flatMap(({ definition }) =>
      [...definition.tools.shapes.values()].flatMap((shape) => shape.redact ?? []),
    );
  return redacted(call.request.value(Client.arguments), new Set(fields));
}

/** What a server must not be heard saying: what its definition gives it, and what else it inherits that looks like a secret. */
function secretsOf(server: ServerDefinition, env: NodeJS.ProcessEnv): string[] {
  const inherited = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && isSecretName(name) ? [value] : [],
  );
  return [...Object.values(server.env), ...inherited];
}

export { introspection, matches, unmatched } from './exposure/index.ts';
export { select, ServerError, type Component, type Listing, type OfferedTool } from './gateway/index.ts';
export { fateOf, ownMark, type ProcessMark } from './process/index.ts';
