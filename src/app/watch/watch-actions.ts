import { inConfigOrder, type LoadedConfig, type ServerDefinition } from '../../config/index.ts';
import type { ActionName, Actions, GatewayAction, ToolInfo, TrialEvent } from '../../console/index.ts';
import type { Call, Source } from '../../gateway/index.ts';
import type { JsonObject } from '../../protocol/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import type { Logger } from '../../shared/log.ts';
import { unknownServer } from '../../shared/unknown-server.ts';
import type { TrustReview } from '../trust.ts';
import type { Workspace } from '../workspace.ts';
import type { Workspaces } from '../workspaces.ts';
import type { CallRecorder } from './call-recorder.ts';
import { maskFor } from './definition-secrets.ts';
import { seenLists, type SeenListsContext } from './seen-lists.ts';
import { approveTool, serverTrust } from './server-trust.ts';
import { TrialClient } from './trial-client.ts';
import type { WatchSubscriber } from './watch.ts';

export interface WatchActionsOptions {
  readonly program: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  readonly volatile: boolean;
  readonly workspaces: Workspaces;
  readonly results: SeenListsContext['results'];
  readonly reload: () => Promise<void>;
  readonly trust: TrustReview;
  /** Called after an action that changes what consoles show. */
  readonly changed: () => void;
  /** The recorder of calls, while they are recorded. */
  readonly calls: () => CallRecorder | undefined;
  /** The workspace that consoles use. */
  readonly workspace: () => Workspace;
  /** The workspace of a client; null: any client. */
  readonly clientWorkspace: (client: string | null) => Workspace;
}

type Params<M extends GatewayAction & ActionName> = Actions[M]['params'];
type Result<M extends GatewayAction & ActionName> = Actions[M]['result'] | Promise<Actions[M]['result']>;
type ActionTable = {
  readonly [M in GatewayAction]: (params: Params<M>, subscriber: WatchSubscriber) => Result<M>;
};

interface Trial {
  readonly client: TrialClient;
  readonly call: Call;
  readonly subscriber: WatchSubscriber;
}

/** The actions that consoles may request from a gateway. */
export class WatchActions {
  readonly #options: WatchActionsOptions;
  readonly #trials = new Map<string, Trial>();
  readonly #table: ActionTable = {
    'servers.start': async ({ server }) => {
      const sources = this.#sources(server);
      await Promise.all(sources.map((source) => source.start()));
      // A suite lists its tools only when a model asks, but people want to see how many there are.
      for (const source of sources) source.list('tools').catch(() => undefined);
      return null;
    },
    'servers.stop': async ({ server }) => {
      await Promise.all(this.#sources(server).map(async (source) => source.stop?.()));
      return null;
    },
    'servers.reload': async ({ server }) => {
      await Promise.all(this.#workspacesWith(server).map(({ manager }) => manager.reload(server)));
      return null;
    },
    'servers.trust': ({ server }) => serverTrust(this.#definition(server), this.#options.trust),
    'servers.approve': async ({ server, tool, hash }) => {
      await approveTool(this.#definition(server), { tool, hash }, this.#options.trust);
      this.#options.changed();
      return null;
    },
    'gateways.reload': async () => {
      await this.#options.reload();
      return null;
    },
    'calls.get': ({ call }) => this.#calls().detail(call),
    'calls.cancel': ({ call }) => {
      this.#calls().cancel(call);
      return null;
    },
    'tools.list': async ({ server }) => {
      const { components } = await this.#source(server).list('tools');
      return { tools: components.map(({ value }) => toolInfo(value)) };
    },
    'tools.call': (params, subscriber) => this.#callTool(params, subscriber),
    'tools.cancel': ({ trial }) => {
      const running = this.#trials.get(trial);
      running?.client.cancel(running.call);
      return null;
    },
    'tools.answer': ({ trial, request, result, error }) => {
      const given = error === undefined ? { result: result ?? {} } : { error };
      this.#trials.get(trial)?.client.answerRequest(request, given);
      return null;
    },
    'resources.read': (params) => this.#readResource(params),
    'lists.get': ({
      client,
      exposure,
    }: {
      client?: string | null;
      exposure?: Params<'lists.get'>['exposure'];
    }) => {
      const { program, volatile, results, workspaces } = this.#options;
      const context = { program, volatile, results, config: workspaces.current.config, mask: this.mask };
      return seenLists(this.#options.clientWorkspace(client ?? null), exposure, context);
    },
  };

  constructor(options: WatchActionsOptions) {
    this.#options = options;
  }

  /** Hides the secrets of all servers in a text. */
  readonly mask = (text: string): string =>
    inConfigOrder(this.#config).reduce((rest, server) => maskFor(server, this.#options.env)(rest), text);

  run(method: string, params: object, subscriber: WatchSubscriber): unknown {
    if (!Object.hasOwn(this.#table, method))
      throw new SwitchboardError('METHOD_UNKNOWN', `This gateway does not know the action ${method}.`, {
        hint: 'It may be of another version than the console: restart its host.',
      });
    // The console has checked the parameters, so a wrong one here just fails.
    const action = this.#table[method as GatewayAction] as (params: object, from: WatchSubscriber) => unknown;
    return action(params, subscriber);
  }

  /** A console has disconnected: cancels the tools it is trying. */
  left(subscriber: WatchSubscriber): void {
    for (const trial of this.#trials.values()) if (trial.subscriber === subscriber) trial.client.leave();
  }

  get #config(): LoadedConfig {
    return this.#options.workspaces.current.config;
  }

  #calls(): CallRecorder {
    const calls = this.#options.calls();
    if (calls !== undefined) return calls;
    throw new SwitchboardError('CALL_UNKNOWN', 'Calls are not being recorded.', {
      hint: 'They are recorded while a console shows them.',
    });
  }

  /** The workspaces of clients that have a server of this name; if there are no clients, the one that consoles use. */
  #workspacesWith(server: string): Workspace[] {
    const { main, all, shared } = this.#options.workspaces;
    const used = [...all].filter((each) => shared === undefined || each !== main);
    const found = (used.length > 0 ? used : [this.#options.workspace()]).filter(
      ({ manager }) => manager.find(server) !== undefined,
    );
    if (found.length > 0) return found;
    throw unknownServer(server, this.#names());
  }

  #definition(server: string): ServerDefinition {
    const [definition] = this.#workspacesWith(server).map(({ manager }) => manager.find(server));
    if (definition !== undefined && definition.kind !== 'unusable') return definition;
    throw unknownServer(server, this.#names());
  }

  #sources(server: string): Source[] {
    return this.#workspacesWith(server).map((workspace) => sourceIn(workspace, server, this.#names()));
  }

  #source(server: string): Source {
    return sourceIn(this.#options.workspace(), server, this.#names());
  }

  #names(): string[] {
    return [...this.#options.workspaces.main.gateway.catalog.entries].map(({ source }) => source.name);
  }

  async #readResource({
    server,
    uri,
  }: Params<'resources.read'>): Promise<Actions['resources.read']['result']> {
    const source = this.#source(server);
    const client = new TrialClient({
      // There is nobody to ask while a resource is read.
      tell: (event) => {
        if (event.kind === 'request') client.answerRequest(event.request, { error: NOBODY_ASKED });
      },
    });
    const { call, done } = client.open('resources/read', { uri });
    call.assign(source, () => `Resource '${uri}' of server '${server}'`);
    this.#options.calls()?.begin(call);
    source.request([], call);
    const { contents } = await done;
    return { contents: Array.isArray(contents) ? (contents as unknown[]) : [] };
  }

  async #callTool(
    { server, trial, tool, arguments: args }: Params<'tools.call'>,
    subscriber: WatchSubscriber,
  ): Promise<Actions['tools.call']['result']> {
    if (this.#trials.has(trial))
      throw new SwitchboardError('ARGS_INVALID', 'A trial with this name is running.', {
        hint: 'Choose another name.',
      });
    const { gateway } = this.#options.workspace();
    const source = this.#source(server);
    const tell = (event: TrialEvent): void =>
      subscriber.link.send({ events: [{ type: 'trial', trial, event }] });
    const client = new TrialClient({ tell });
    // A server requests only what its clients supported when it started. While it is running, the trial must not count
    // as another client: messages that the server sends unprompted must still reach the real clients.
    const joins = source.state.kind !== 'running';
    if (joins) gateway.join(client.session);
    const { call, done } = client.open('tools/call', { name: tool, arguments: args });
    this.#trials.set(trial, { client, call, subscriber });
    const since = performance.now();
    try {
      call.assign(source, () => `Tool '${tool}' of server '${server}'`);
      this.#options.calls()?.begin(call);
      source.request([], call);
      return { result: await done, ms: Math.round(performance.now() - since) };
    } finally {
      this.#trials.delete(trial);
      if (joins) gateway.leave(client.session);
    }
  }
}

/** The code for a request that a user declined. */
const NOBODY_ASKED = { code: -1, message: 'Nobody can be asked while a resource is read' };

function sourceIn({ gateway }: Workspace, server: string, names: readonly string[]): Source {
  const found = gateway.catalog.entries.find(({ source }) => source.name === server);
  if (found === undefined) throw unknownServer(server, names);
  return found.source;
}

function toolInfo(value: JsonObject): ToolInfo {
  const text = (member: unknown): string | null => (typeof member === 'string' ? member : null);
  const object = (member: unknown): JsonObject | null => (isObject(member) ? member : null);
  const annotations = object(value.annotations);
  return {
    name: text(value.name) ?? '',
    title: text(value.title) ?? text(annotations?.title),
    description: text(value.description),
    inputSchema: object(value.inputSchema) ?? { type: 'object' },
    outputSchema: object(value.outputSchema),
    annotations,
  };
}
