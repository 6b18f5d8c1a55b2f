import { watch, type FSWatcher } from 'node:fs';
import type {
  ConsoleEvent,
  GatewayInfo,
  ServerInfo,
  ServerInfoState,
  Topic,
} from '../../../console/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { plainLine } from '../../../shared/printable.ts';
import { allGateways } from '../gateway/running-gateways.ts';
import { makeRunDirectory, type GatewayStateFile, type StoredServerState } from '../gateway/state-file.ts';
import { watchGateway, type GatewayFeed } from '../gateway/watch-gateway.ts';

/**
 * How long after a change the state files are read, how often they are read while the system reports changes, and how
 * often if it does not, in milliseconds.
 */
const SETTLE_MS = 200;
const WATCHED_LOOK_MS = 60_000;
const LOOK_MS = 5000;

export interface GatewayLinksOptions {
  readonly stateDirectory: string;
  /** Receives what the gateways report. */
  readonly events: (events: readonly ConsoleEvent[]) => void;
  /** Whether a gateway is this very process. Default: none is. */
  readonly own?: boolean;
}

interface GatewayLink {
  readonly file: GatewayStateFile;
  /** Undefined for a gateway that cannot be watched. */
  readonly feed: GatewayFeed | undefined;
  readonly id: string;
}

/** The connections to all running gateways of this user: new gateways are connected, ended ones are dropped. */
export class GatewayLinks {
  readonly #options: GatewayLinksOptions;
  /** By pid and start time of the gateway. */
  readonly #links = new Map<string, Promise<GatewayLink | undefined>>();
  readonly #byId = new Map<string, GatewayLink>();
  #topics: readonly Topic[] = [];
  #watcher: FSWatcher | undefined;
  #looking: NodeJS.Timeout | undefined;
  #settling: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: GatewayLinksOptions) {
    this.#options = options;
  }

  /** Connects to the running gateways; resolves when each of them has reported, or cannot. */
  async open(): Promise<void> {
    // Before the first scan: a gateway that starts in between would be missed.
    try {
      const directory = await makeRunDirectory(this.#options.stateDirectory);
      if (this.#closed) return;
      this.#watcher = watch(directory, () => this.#lookSoon()).unref();
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      // Polling still finds them.
    }
    await this.#look();
    if (this.#closed) return;
    const pause = this.#watcher === undefined ? LOOK_MS : WATCHED_LOOK_MS;
    this.#looking = setInterval(() => void this.#look(), pause).unref();
  }

  /** Chooses what all gateways send besides their servers and clients. */
  async choose(topics: readonly Topic[]): Promise<void> {
    this.#topics = topics.filter((topic) => topic !== 'projects');
    await Promise.all([...this.#byId.values()].map((link) => this.#tellTopics(link)));
  }

  /** The gateway with this id; throws GATEWAY_UNKNOWN. */
  file(gateway: string): GatewayStateFile {
    return this.#find(gateway).file;
  }

  /** Sends a request to a gateway. */
  async request(gateway: string, ...asked: Parameters<GatewayFeed['request']>): Promise<unknown> {
    const { feed, file } = this.#find(gateway);
    if (feed !== undefined) return feed.request(...asked);
    throw new SwitchboardError('GATEWAY_TOO_OLD', `The gateway with pid ${file.pid} cannot be controlled.`, {
      hint: 'It is an earlier version, or does not accept requests: restart its host.',
    });
  }

  close(): void {
    this.#closed = true;
    this.#watcher?.close();
    clearInterval(this.#looking);
    clearTimeout(this.#settling);
    for (const { feed } of this.#byId.values()) feed?.close();
    this.#byId.clear();
    this.#links.clear();
  }

  #find(gateway: string): GatewayLink {
    const link = this.#byId.get(gateway);
    if (link !== undefined) return link;
    throw new SwitchboardError('GATEWAY_UNKNOWN', 'The gateway has ended.', {
      hint: '`switchboard status` shows the gateways that run.',
    });
  }

  #lookSoon(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      void this.#look();
    }, SETTLE_MS).unref();
  }

  async #look(): Promise<void> {
    const files = new Map(allGateways(this.#options.stateDirectory).map((file) => [keyOf(file), file]));
    for (const link of [...this.#byId.values()])
      if (!files.has(keyOf(link.file)) && link.feed === undefined) this.#ended(link);
    for (const [key, file] of files) {
      const known = this.#links.get(key);
      if (known === undefined) this.#links.set(key, this.#connect(key, file));
      else await this.#renew(known, file);
    }
    await Promise.all(this.#links.values());
  }

  /** A gateway that cannot be watched is known only by its state file, which may have changed. */
  async #renew(known: Promise<GatewayLink | undefined>, file: GatewayStateFile): Promise<void> {
    const link = await known;
    if (link === undefined || link.feed !== undefined) return;
    if (JSON.stringify(link.file) === JSON.stringify(file)) return;
    this.#links.delete(keyOf(link.file));
    this.#links.set(keyOf(file), this.#connect(keyOf(file), file));
  }

  async #connect(key: string, file: GatewayStateFile): Promise<GatewayLink | undefined> {
    const { control } = file;
    const known: { link?: GatewayLink } = {};
    const early: ConsoleEvent[] = [];
    const feed =
      control === undefined
        ? undefined
        : await watchGateway(control, {
            events: (events) => {
              if (known.link === undefined) early.push(...events);
              else this.#tell(events);
            },
            ended: () => {
              if (known.link !== undefined) this.#ended(known.link);
              else this.#links.delete(key);
            },
          }).catch(() => undefined);
    if (this.#closed) {
      feed?.close();
      return undefined;
    }
    const link = { file, feed, id: feed?.id ?? `${file.pid}-${Date.parse(file.since).toString(36)}` };
    known.link = link;
    this.#byId.set(link.id, link);
    this.#tell(feed === undefined ? eventsOfFile(file, link.id) : early);
    await this.#tellTopics(link);
    return link;
  }

  #ended(link: GatewayLink): void {
    this.#links.delete(keyOf(link.file));
    if (this.#byId.get(link.id) !== link) return;
    this.#byId.delete(link.id);
    this.#options.events([{ type: 'gateway-ended', gateway: link.id }]);
    // A gateway that closed the connection may still be running.
    if (!this.#closed) this.#lookSoon();
  }

  #tell(events: readonly ConsoleEvent[]): void {
    const { own = false } = this.#options;
    this.#options.events(
      own
        ? events.map((event) =>
            event.type === 'gateway'
              ? { ...event, gateway: { ...event.gateway, serving: event.gateway.pid === process.pid } }
              : event,
          )
        : events,
    );
  }

  async #tellTopics({ feed }: GatewayLink): Promise<void> {
    if (feed !== undefined) await feed.request('topics', { topics: this.#topics }).catch(() => undefined);
  }
}

function keyOf({ pid, since }: GatewayStateFile): string {
  return `${pid} ${since}`;
}

/** What the state file of an older version's gateway says. */
function eventsOfFile(file: GatewayStateFile, id: string): ConsoleEvent[] {
  const gateway: GatewayInfo = {
    id,
    program: plainLine(file.program),
    pid: file.pid,
    since: Date.parse(file.since),
    config: file.config,
    directory: file.directory ?? null,
    files: file.files ?? [],
    url: file.url ?? null,
    memory: null,
    live: false,
    serving: false,
  };
  const servers = Object.entries(file.servers).map(([name, state]): ConsoleEvent => ({
    type: 'server',
    server: serverOfFile(id, name, state),
  }));
  return [{ type: 'gateway', gateway }, ...servers];
}

function serverOfFile(gateway: string, name: string, state: StoredServerState): ServerInfo {
  return {
    gateway,
    name,
    state: stateOfFile(state),
    kind: 'stdio',
    command: '',
    file: null,
    exposure: 'suite',
    memory: null,
    protocolVersion: null,
    title: null,
    offers: { tools: null, resources: null, resourceTemplates: null, prompts: null },
    tokens: null,
    toReview: 0,
    calls: { total: 0, failed: 0, running: 0 },
  };
}

function stateOfFile(state: StoredServerState): ServerInfoState {
  const problem = (message: string) => ({
    code: 'START_FAILED',
    message: plainLine(message),
    nextStep: null,
  });
  switch (state.kind) {
    case 'running':
      return {
        kind: 'running',
        since: Date.parse(state.since),
        pid: state.pid,
        problem: state.problem === undefined ? null : problem(state.problem),
      };
    case 'crashed':
      return { kind: 'failed', at: Date.parse(state.at), problem: problem(state.reason) };
    case 'unusable':
      return { kind: 'unusable', problem: problem(state.reason) };
    case 'starting':
      return { kind: 'starting', since: null };
    default:
      return { kind: state.kind };
  }
}
