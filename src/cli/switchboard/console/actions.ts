import type {
  ActionName,
  Actions,
  CommandResult,
  ConsoleEvent,
  ConsoleModel,
  FeedMethods,
  GatewayAction,
  ServerToAdd,
} from '../../../console/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import type { CliVariant } from '../variants.ts';
import { runForGateway, type CommandRunner } from './gateway-commands.ts';
import type { GatewayLinks } from './gateway-links.ts';
import { changeHost, listHosts } from './hosts.ts';
import { checkParams } from './params.ts';
import { parseServers } from './parse-servers.ts';
import { checkoutBranch, holdersOf, listProjects, runServices, serviceLogs } from './projects.ts';
import { entrySchema } from './entry-schema.ts';

export interface ConsoleActionsOptions extends CommandRunner {
  readonly variant: CliVariant;
  readonly readOnly: boolean;
  readonly model: ConsoleModel;
  readonly links: () => GatewayLinks;
  /** Sends events to all pages. */
  readonly tell: (events: readonly ConsoleEvent[]) => void;
  /** Called when a service or a checkout has changed. */
  readonly projectsChanged: () => void;
}

/** The actions that only read, and so also work in a read-only console. */
const READS: ReadonlySet<ActionName> = new Set<ActionName>([
  'stream.topics',
  'servers.parse',
  'servers.entry',
  'servers.schema',
  'servers.trust',
  'calls.list',
  'calls.get',
  'tools.list',
  'lists.get',
  'hosts.list',
  'hosts.preview',
  'projects.list',
  'services.logs',
  'ports.holder',
  'logs.search',
]);

/** The actions that run here, not in a gateway. */
type OwnAction = Exclude<ActionName, GatewayAction | 'stream.topics'>;
type Handlers = {
  readonly [M in OwnAction]: (
    params: Actions[M]['params'],
  ) => Actions[M]['result'] | Promise<Actions[M]['result']>;
};

/** A tool that is being tried: at which gateway, and by which page. */
interface RunningTrial {
  readonly gateway: string;
  readonly page: string;
}

/** Carries out the actions of pages: each one is an operation of a gateway or a command of the command line. */
export class ConsoleActions {
  readonly #options: ConsoleActionsOptions;
  readonly #trials = new Map<string, RunningTrial>();
  readonly #handlers: Handlers;

  constructor(options: ConsoleActionsOptions) {
    this.#options = options;
    const { env, runQuietly, variant, model } = options;
    const runner = { env, runQuietly };
    const command = (
      params: { gateway: string; server: string },
      ...argv: string[]
    ): Promise<CommandResult> => this.#command(params, argv);
    const changed = async <T>(work: Promise<T>): Promise<T> => work.finally(options.projectsChanged);
    this.#handlers = {
      'servers.enable': (params) => command(params, 'enable', '--', params.server),
      'servers.disable': (params) => command(params, 'disable', '--', params.server),
      'servers.remove': (params) => command(params, 'remove', '--', params.server),
      'servers.parse': async ({ text }) => ({ servers: await parseServers(text, { env, variant }) }),
      'servers.add': async ({ gateway, server }) => {
        const { name, entry } = readServer(server);
        const argv = ['edit', '--new', '--entry', JSON.stringify(entry), '--', name];
        return runForGateway(this.#file(gateway), argv, runner);
      },
      'servers.entry': async (params) => {
        const { file, entry } = await command(params, 'edit', '--', params.server);
        return { file: String(file), entry: isObject(entry) ? entry : {} };
      },
      'servers.edit': (params) =>
        command(params, 'edit', '--entry', JSON.stringify(params.entry), '--', params.server),
      'servers.expose': (params) =>
        command(params, 'edit', '--exposure', params.exposure, '--', params.server),
      'servers.schema': () => entrySchema(),
      'servers.login': (params) => this.#logIn(params),
      'servers.logout': (params) =>
        command(params, 'auth', '--logout', '--', params.server).then((done) =>
          this.#restarted(params, done),
        ),
      'calls.list': (filter) => model.listCalls(filter),
      'logs.search': (search) => model.searchLog(search),
      'hosts.list': () => ({ hosts: listHosts({ env }) }),
      'hosts.preview': (request) => changeHost(request, { ...runner, variant }, true),
      'hosts.change': (request) => changeHost(request, { ...runner, variant }, false),
      'projects.list': async () => ({ projects: await listProjects(env) }),
      'services.start': (params) => changed(runServices('start', params, env)),
      'services.stop': (params) => changed(runServices('stop', params, env)),
      'services.restart': (params) => changed(runServices('restart', params, env)),
      'projects.checkout': (params) => changed(checkoutBranch(params, env)),
      'services.logs': (params) => serviceLogs(params, env),
      'ports.holder': ({ port }) => ({ holders: holdersOf(port) }),
    };
  }

  /** Runs an action for a page. Rejects with the error of the action. */
  async run(method: ActionName, params: Record<string, unknown>, page: string): Promise<unknown> {
    checkParams(method, params);
    if (this.#options.readOnly && !READS.has(method))
      throw new SwitchboardError('CONSOLE_READ_ONLY', 'This console is read-only.', {
        hint: 'To change something, start it without --read-only.',
      });
    if (Object.hasOwn(this.#handlers, method))
      return (this.#handlers[method as OwnAction] as (params: object) => unknown)(params);
    if (method === 'tools.call') return this.#try(params as unknown as Actions['tools.call']['params'], page);
    if (method === 'tools.cancel' || method === 'tools.answer') return this.#ofTrial(method, params);
    const { gateway, ...rest } = params;
    return this.#options
      .links()
      .request(String(gateway), method as GatewayAction, rest as FeedMethods[GatewayAction]);
  }

  /** A page was closed: the tools it tries are cancelled. */
  left(page: string): void {
    for (const [trial, running] of this.#trials)
      if (running.page === page) this.#ofTrial('tools.cancel', { trial }).catch(() => undefined);
  }

  async #try(params: Actions['tools.call']['params'], page: string): Promise<unknown> {
    const { gateway, trial } = params;
    if (this.#trials.has(trial))
      throw new SwitchboardError('ARGS_INVALID', 'A trial with this name is running.', {
        hint: 'Choose another name.',
      });
    this.#trials.set(trial, { gateway, page });
    try {
      return await this.#options.links().request(gateway, 'tools.call', params);
    } finally {
      this.#trials.delete(trial);
    }
  }

  async #ofTrial(method: 'tools.cancel' | 'tools.answer', params: Record<string, unknown>): Promise<unknown> {
    const running = this.#trials.get(String(params.trial));
    // It has ended meanwhile.
    if (running === undefined) return null;
    return this.#options.links().request(running.gateway, method, params as FeedMethods[typeof method]);
  }

  /** The page shows where to log in, because its browser is on the user's machine, wherever the console runs. */
  async #logIn({ gateway, server }: Actions['servers.login']['params']): Promise<CommandResult> {
    const { tell } = this.#options;
    const about = { type: 'login-page', gateway, server } as const;
    return this.#command({ gateway, server }, ['auth', '--', server], (url, returnPort) =>
      tell([{ ...about, page: { url, returnPort } }]),
    )
      .finally(() => tell([{ ...about, page: null }]))
      .then((done) => this.#restarted({ gateway, server }, done));
  }

  /**
   * Restarts the server to show whether the login works. Done here because the page may have been reloaded meanwhile.
   */
  async #restarted<T>({ gateway, server }: Actions['servers.login']['params'], done: T): Promise<T> {
    const links = this.#options.links();
    // If it does not start, its state says why.
    await links
      .request(gateway, 'servers.stop', { gateway, server })
      .then(() => links.request(gateway, 'servers.start', { gateway, server }))
      .catch(() => undefined);
    return done;
  }

  #file(gateway: string) {
    return this.#options.links().file(gateway);
  }

  #command(
    { gateway, server }: { gateway: string; server: string },
    argv: readonly string[],
    showPage?: CommandRunner['showPage'],
  ): Promise<CommandResult> {
    const { env, runQuietly, model } = this.#options;
    const known = [...model.servers].find((each) => each.gateway === gateway && each.name === server);
    // A login is not stored in a configuration file.
    const file = argv[0] === 'auth' ? null : (known?.file ?? null);
    const runner = { env, runQuietly, ...(showPage === undefined ? {} : { showPage }) };
    return runForGateway(this.#file(gateway), argv, { ...runner, file });
  }
}

function readServer({ name, entry }: Partial<ServerToAdd>): ServerToAdd {
  if (typeof name === 'string' && isObject(entry)) return { name, entry };
  throw new SwitchboardError('ARGS_INVALID', 'servers.add needs a server with a name and an entry.');
}
