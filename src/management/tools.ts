import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { explained } from '../shared/system-error.ts';
import { isObject } from '../shared/is-object.ts';
import { didYouMean } from '../shared/nearest.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import type { ConfiguredServer, MANAGEMENT_TOOLS, RuntimeEntry, StdioDefinition } from '../config/index.ts';
import type { Call, OverallExposure, PresentedTool } from '../gateway/index.ts';
import { Client, type JsonObject } from '../protocol/index.ts';
import { requestApproval } from './approval.ts';
import type { ServerManager, ManagedServer } from './server-manager.ts';

export interface ManagementToolsOptions {
  readonly manager: ServerManager;
  /** Whether a person must approve a program that no configuration names before it starts. */
  readonly approval: 'ask' | 'auto';
  /** Makes a definition from a client's arguments. Throws SERVER_INVALID. */
  readonly define: (name: string, entry: RuntimeEntry) => StdioDefinition;
  /** Writes changes to the configuration; undefined: they last until the program ends. */
  readonly persist?: {
    /**
     * Runs work while the configuration is not being reloaded: a reload must not apply what it read before the change.
     */
    alone<T>(work: () => Promise<T>): Promise<T>;
    /** Rejects if the configuration already has a server of that name, valid or not. */
    check(name: string): Promise<void>;
    added(name: string, entry: RuntimeEntry): Promise<void>;
    removed(name: string, definition: ConfiguredServer): Promise<void>;
  };
  /** How long a caller waits for a server before it gets a progress report instead, in milliseconds. */
  readonly callerMs: number;
  /** True if every server runs from the moment it is added, so that none is ever idle. */
  readonly alwaysOn: boolean;
}

/** The tools with which a client adds, removes, reloads and lists servers. */
export function managementTools(options: ManagementToolsOptions): OverallExposure {
  const tools = [addServer(options), removeServer(options), reloadServer(options), listServers(options)];
  return { present: () => tools };
}

function addServer(options: ManagementToolsOptions): PresentedTool {
  const { manager, approval, define, persist, alwaysOn, callerMs } = options;
  return tool({
    name: 'add_server',
    title: 'Add a server',
    description:
      `Start a program as an MCP server and offer its tools${alwaysOn ? ', named server__tool' : ''}. It runs with ` +
      'the permissions of this program. Fails if the name is taken or the server does not start.',
    annotations: { destructiveHint: true, openWorldHint: true, idempotentHint: false, readOnlyHint: false },
    inputSchema: {
      type: 'object',
      properties: {
        name: {
          type: 'string',
          description: "Name of the server: unique, without '__', not ending in '_'.",
        },
        command: { type: 'string', description: 'The program to start.' },
        args: { type: 'array', items: { type: 'string' }, description: 'Its arguments.' },
        env: {
          type: 'object',
          additionalProperties: { type: 'string' },
          description: 'Additional environment variables.',
        },
        cwd: {
          type: 'string',
          description:
            'Working directory. Default: the directory of the configuration or, without one, of this program.',
        },
        timeout_ms: {
          type: 'integer',
          minimum: 1,
          description:
            'Time limit for the start, in milliseconds (default 60000). After 50 seconds the response says that it is still starting.',
        },
      },
      required: ['name', 'command'],
    },
    outputSchema: {
      type: 'object',
      properties: { server: serverSchema(alwaysOn) },
      required: ['server'],
    },
    run: async (args, call) => {
      const { name } = args;
      if (typeof name !== 'string') throw invalid('name is required, as a string.');
      const entry = readEntry(args);
      const definition = define(name, entry);
      manager.checkFree(name);
      if (approval === 'ask') {
        await requestApproval(
          {
            name,
            command: definition.command,
            args: definition.args,
            cwd: definition.cwd,
            envNames: Object.keys(entry.env ?? {}),
          },
          call,
        );
      }
      // A client that cancels no longer wants the server.
      call.runBy({ cancelled: () => manager.cancelAdd(name) });
      await persist?.check(name);
      if (isGivenUp(call)) throw givenUp(name);
      const since = performance.now();
      const adding = manager.add(definition);
      const added = await withTimeout(adding, callerMs, () => {
        const starting = manager.leaveStarting(name);
        if (starting === undefined) throw stillStarting(name, since);
        return starting;
      });
      if (isGivenUp(call)) {
        await manager.remove(name);
        throw givenUp(name);
      }
      await persist?.alone(async () => {
        await written(persist.added(name, entry), `${name} was added`);
        manager.markConfigured(name);
      });
      return { said: `Added ${name}. ${toolsOf(added)}`, structured: { server: report(added, alwaysOn) } };
    },
  });
}

function removeServer({ manager, persist }: ManagementToolsOptions): PresentedTool {
  return tool({
    name: 'remove_server',
    title: 'Remove a server',
    description: 'Remove a server and its tools and stop its process. Running calls get a moment to finish.',
    annotations: { destructiveHint: true, openWorldHint: false, idempotentHint: false, readOnlyHint: false },
    inputSchema: NAME_ONLY,
    outputSchema: {
      type: 'object',
      properties: { removed: { type: 'string' } },
      required: ['removed'],
    },
    run: async (args) => {
      const name = text(args, 'name');
      const remove = async (): Promise<void> => {
        const definition = manager.definition(name);
        // A server that only this client has added may have the same name as a configured one.
        const ours = manager.isAddedAtRuntime(name);
        await manager.remove(name);
        if (persist && !ours)
          await written(persist.removed(name, definition), `${name} was removed until the next start`);
      };
      await (persist === undefined ? remove() : persist.alone(remove));
      return { said: `Removed ${name}.`, structured: { removed: name } };
    },
  });
}

function reloadServer({ manager, alwaysOn, callerMs }: ManagementToolsOptions): PresentedTool {
  return tool({
    name: 'reload_server',
    title: 'Reload a server',
    description:
      'Start a server again with the same command, or reconnect to it, for example after a rebuild or a crash. The old ' +
      'process stops when the new one has started; if it does not start, the old one stays.',
    annotations: { destructiveHint: true, openWorldHint: true, idempotentHint: true, readOnlyHint: false },
    inputSchema: {
      ...NAME_ONLY,
      properties: {
        ...NAME_PROPERTY,
        stop_first: {
          type: 'boolean',
          description: 'Stop the old process first, for a server that cannot run twice. Default false.',
        },
      },
    },
    outputSchema: {
      type: 'object',
      properties: { server: serverSchema(alwaysOn) },
      required: ['server'],
    },
    run: async (args) => {
      const name = text(args, 'name');
      const { stop_first: stopFirst = false } = args;
      if (typeof stopFirst !== 'boolean')
        throw new SwitchboardError('ARGS_INVALID', 'stop_first must be true or false.');
      const since = performance.now();
      const reloaded = await withTimeout(manager.reload(name, { stopFirst }), callerMs, () => {
        throw stillStarting(name, since);
      });
      return {
        said: `Reloaded ${name}. ${toolsOf(reloaded)}`,
        structured: { server: report(reloaded, alwaysOn) },
      };
    },
  });
}

function listServers({ manager, alwaysOn }: ManagementToolsOptions): PresentedTool {
  return tool({
    name: 'list_servers',
    title: 'List the servers',
    description: 'List the servers: command or address, status, process, tools, and why one crashed.',
    annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: {} },
    outputSchema: {
      type: 'object',
      properties: { servers: { type: 'array', items: serverSchema(alwaysOn) } },
      required: ['servers'],
    },
    run: () => {
      const servers = manager.list().map((server) => report(server, alwaysOn));
      return Promise.resolve({ said: undefined, structured: { servers } });
    },
  });
}

interface ToolSpec {
  readonly name: (typeof MANAGEMENT_TOOLS)[number];
  readonly title: string;
  readonly description: string;
  readonly annotations: JsonObject;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** Returns what it did, in words (default: the structured content as JSON) and as structured content. */
  readonly run: (args: JsonObject, call: Call) => Promise<Done>;
}

interface Done {
  readonly said: string | undefined;
  readonly structured: JsonObject;
}

function tool({ run, ...definition }: ToolSpec): PresentedTool {
  return {
    names: [definition.name],
    definition: (name) => JSON.stringify({ ...definition, name }),
    run: (call) => {
      call.assign(undefined, () => definition.name);
      const args = call.request.value(Client.arguments);
      done(run, isObject(args) ? args : {}, call)
        .then(({ said, structured }) => {
          const json = JSON.stringify(structured);
          const content = said === undefined ? [json] : [said, json];
          call.succeed({
            content: content.map((each) => ({ type: 'text', text: each })),
            structuredContent: structured,
          });
        })
        .catch((thrown: unknown) => {
          const error = explained(thrown);
          call.fail(
            error instanceof SwitchboardError
              ? error
              : new SwitchboardError('INTERNAL', `${definition.name} failed.`, { cause: error }),
          );
        });
    },
  };
}

/** Starts immediately; a throw becomes a rejection. */
async function done(run: ToolSpec['run'], args: JsonObject, call: Call): Promise<Done> {
  return run(args, call);
}

/** A change that could not be written lasts until the program ends; the error says so. */
async function written(writing: Promise<void>, done: string): Promise<void> {
  try {
    await writing;
  } catch (error) {
    const failure = error instanceof SwitchboardError ? error : undefined;
    throw new SwitchboardError(
      failure?.code ?? 'CONFIG_NOT_WRITABLE',
      `${done}, but the configuration was not changed: ${messageOf(error)}`,
      { hint: failure?.hint, cause: error },
    );
  }
}

const NAME_PROPERTY: JsonObject = { name: { type: 'string', description: 'The name of the server.' } };

const NAME_ONLY: JsonObject = {
  type: 'object',
  properties: NAME_PROPERTY,
  required: ['name'],
};

function serverSchema(alwaysOn: boolean): JsonObject {
  return {
    type: 'object',
    properties: {
      name: { type: 'string' },
      command: { type: 'string', description: 'Empty if the server is not a local program.' },
      args: { type: 'array', items: { type: 'string' } },
      url: { type: 'string', description: 'The address of a remote server.' },
      builtin: { type: 'string', description: 'Type of a built-in server.' },
      status: {
        type: 'string',
        enum: ['starting', 'running', 'crashed', 'unusable', ...(alwaysOn ? [] : ['idle'])],
      },
      tools: { type: 'array', items: { type: 'string' } },
      pid: { type: 'integer', description: '0 if it is not running.' },
      uptime_seconds: { type: 'integer' },
      error: {
        type: 'string',
        description: 'Why it crashed, cannot be listed, was not replaced or is not available.',
      },
    },
    required: ['name', 'command', 'args', 'status', 'tools', 'pid', 'uptime_seconds'],
  };
}

function report({ definition, state, tools, problem }: ManagedServer, alwaysOn: boolean): JsonObject {
  const running = state.kind === 'running' ? state : undefined;
  return {
    name: definition.name,
    // As written in the configuration, because the value of a reference may be a secret.
    ...reachedBy(definition),
    status: status(state.kind, alwaysOn),
    tools,
    pid: running?.pid ?? 0,
    uptime_seconds: running === undefined ? 0 : Math.max(0, Math.floor((Date.now() - running.since) / 1000)),
    ...(state.kind === 'crashed' || state.kind === 'unusable'
      ? { error: messageOf(state.error) }
      : problem
        ? { error: messageOf(problem) }
        : {}),
  };
}

/** A server without a command has neither; both members are always present for clients that expect them. */
function reachedBy(definition: ConfiguredServer): JsonObject {
  if (definition.kind === 'unusable') return { command: '', args: [] };
  const { written } = definition;
  if ('command' in written) return { command: written.command, args: written.args };
  return {
    command: '',
    args: [],
    ...('url' in written ? { url: written.url } : { builtin: written.builtin }),
  };
}

function status(kind: ManagedServer['state']['kind'], alwaysOn: boolean): string {
  if (kind === 'running' || kind === 'crashed' || kind === 'unusable') return kind;
  // A server that waits for its predecessor to end counts as starting. One that is being removed is no longer listed.
  return kind === 'starting' || alwaysOn ? 'starting' : 'idle';
}

function readEntry(args: JsonObject): RuntimeEntry {
  const { args: list, env, cwd, timeout_ms: timeout } = args;
  if (args.command === undefined && (args.url !== undefined || args.type !== undefined))
    throw invalid(
      'Only programs can be added: pass the command of one. To add a remote server, edit the configuration.',
    );
  if (typeof args.command !== 'string') throw invalid('command is required, as a string.');
  const unknown = Object.keys(args).find((key) => !ENTRY_KEYS.includes(key));
  if (unknown !== undefined) {
    const guess = didYouMean(unknown, ['name', 'command', 'args', 'env', 'cwd', 'timeout_ms']);
    throw invalid(
      `${JSON.stringify(unknown.slice(0, 100))} is not an argument of add_server.${guess ? ` ${guess}` : ''}`,
    );
  }
  if (list !== undefined && list !== null && !isTexts(list))
    throw invalid('args must be an array of strings.');
  if (env !== undefined && env !== null && !(isObject(env) && isTexts(Object.values(env))))
    throw invalid('env must be an object of strings.');
  if (cwd !== undefined && cwd !== null && typeof cwd !== 'string') throw invalid('cwd must be a string.');
  if (timeout !== undefined && timeout !== null && !isTimeout(timeout))
    throw invalid('timeout_ms must be a whole number of milliseconds, 1 or more.');
  return {
    command: args.command,
    ...(list ? { args: list } : {}),
    ...(env ? { env: env as Record<string, string> } : {}),
    ...(cwd ? { cwd } : {}),
    ...(timeout ? { timeouts: { childSpawnMs: timeout } } : {}),
  };
}

const ENTRY_KEYS = ['name', 'command', 'args', 'env', 'cwd', 'timeout_ms', 'type', 'url'];

function isTimeout(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 0x7fffffff;
}

function toolsOf({ tools, state }: ManagedServer): string {
  if (state.kind !== 'running')
    return 'It is still starting: its tools are announced when it runs, and calls to them wait. list_servers shows its status.';
  return tools.length === 0 ? 'It has no tools.' : `Its tools: ${tools.join(', ')}.`;
}

/** The timer may fire late, so the message gives the time that has really passed. */
function stillStarting(name: string, since: number): SwitchboardError {
  const seconds = ((performance.now() - since) / 1000).toFixed(1);
  return new SwitchboardError('STILL_STARTING', `Server '${name}' is still starting after ${seconds} s.`, {
    hint: 'It continues to start: list_servers shows when it is running.',
  });
}

/** May have changed since it was last asked. */
function isGivenUp(call: Call): boolean {
  return !call.open;
}

function givenUp(name: string): SwitchboardError {
  return new SwitchboardError(
    'CANCELLED',
    `${JSON.stringify(name)} was not added: the request was cancelled.`,
  );
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function text(args: JsonObject, key: string): string {
  const value = args[key];
  if (typeof value === 'string') return value;
  throw new SwitchboardError('ARGS_INVALID', `${key} is required, as a string.`, {
    hint: key === 'name' ? 'Call list_servers to see the available servers.' : undefined,
  });
}

function invalid(message: string): SwitchboardError {
  return new SwitchboardError('ARGS_INVALID', message, {
    hint: 'For example {"name":"files","command":"npx","args":["-y","@modelcontextprotocol/server-filesystem","."]}.',
  });
}
