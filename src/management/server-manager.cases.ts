import { beforeAll } from 'vitest';
import { createProject } from '../../test/helpers/temp-project.ts';
import {
  defineRuntimeServer,
  loadConfig,
  type ConfiguredServer,
  type Settings,
  type StdioDefinition,
} from '../config/index.ts';
import {
  Component,
  Gateway,
  Session,
  type CatalogEntry,
  type CloseOptions,
  type Exposure,
  type Listing,
  type Source,
  type SourceListener,
  type SourceState,
} from '../gateway/index.ts';
import { silentLogger } from '../shared/log.ts';
import { ServerManager, type BuildOptions } from './server-manager.ts';

let settings: Settings;

beforeAll(async () => {
  const project = createProject();
  settings = (await loadConfig({ cwd: project.dir, env: {} })).settings;
  await project.remove();
});

/** A definition as a client sends it; `more` is what distinguishes it from others of the same name. */
export function define(name: string, more: Partial<StdioDefinition> = {}): ConfiguredServer {
  const definition = defineRuntimeServer(name, { command: 'program' }, { settings, directory: '/' });
  return { ...definition, exposure: 'flat', ...more };
}

/** Something that waits until the test lets it continue. */
interface Hold {
  readonly passed: Promise<void>;
  release(): void;
}

export function hold(): Hold {
  let release = (): void => undefined;
  const passed = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { passed, release };
}

/** The behavior of sources of one name that start from now on. */
interface SourceBehavior {
  /** Its start waits for this. */
  readonly start?: Promise<void>;
  /** Its start fails with this. */
  readonly fails?: Error;
  /** How many times; default: always. */
  failures?: number;
  /** Its end waits for this. */
  readonly stop?: Promise<void>;
  /** Reading its tools fails with this: a bug of ours. */
  readonly breaks?: Error;
}

/** A server inside this process. It starts when it is listed; its `SourceBehavior` says how starting and ending go. */
export class TestSource implements Source {
  readonly name: string;
  /** The name and the number of this life: `a1`. */
  readonly life: string;
  state: SourceState = { kind: 'idle' };
  ending: CloseOptions | undefined;
  readonly definition: ConfiguredServer;
  readonly #harness: ManagerHarness;
  readonly #after: Promise<unknown> | undefined;
  #listener: SourceListener | undefined;
  #started: Promise<void> | undefined;
  #closing: Promise<void> | undefined;

  constructor(
    definition: ConfiguredServer,
    life: number,
    harness: ManagerHarness,
    after: Promise<unknown> | undefined,
  ) {
    this.name = definition.name;
    this.life = `${definition.name}${life}`;
    this.definition = definition;
    this.#harness = harness;
    this.#after = after;
  }

  /** Whether a real server would have a process. */
  get alive(): boolean {
    return this.#alive;
  }
  #alive = false;

  about(): undefined {
    return undefined;
  }

  async list(kind: string): Promise<Listing> {
    await this.start();
    return kind === 'tools' ? TOOLS : NOTHING;
  }

  start(): Promise<void> {
    return (this.#started ??= this.#start());
  }

  known(): undefined {
    return undefined;
  }

  remembered(): undefined {
    return undefined;
  }

  request(): void {
    throw new Error('called nothing');
  }

  ask(): Promise<never> {
    return Promise.reject(new Error('asked nothing'));
  }

  notify(): void {
    // It has no listeners.
  }

  listen(listener: SourceListener): void {
    this.#listener = listener;
  }

  setIdleTimeout(): void {
    // It is never idle.
  }

  fail(): Promise<void> {
    return Promise.resolve();
  }

  close(ending?: CloseOptions): Promise<void> {
    this.ending ??= ending;
    return (this.#closing ??= this.#close());
  }

  async #start(): Promise<void> {
    await this.#after;
    if (this.state.kind === 'stopped') throw new Error(`${this.life} was stopped`);
    const behavior = this.#harness.behaviorOf(this.name);
    const { start, failures = Infinity } = behavior;
    const fails = failures > 0 ? behavior.fails : undefined;
    behavior.failures = failures - 1;
    this.#note('starts');
    this.#alive = true;
    const alive = this.#harness.sources.filter((each) => each.name === this.name && each.alive);
    if (alive.length > 1) this.#harness.doubles.push(alive.map(({ life: each }) => each));
    this.state = { kind: 'starting' };
    await start;
    if ((this.state as SourceState).kind === 'stopped') throw new Error(`${this.life} was stopped`);
    if (fails) {
      this.#alive = false;
      this.state = { kind: 'crashed', error: fails, at: 0 };
      throw fails;
    }
    this.state = { kind: 'running', pid: 1, since: 0 };
    this.#listener?.started();
  }

  async #close(): Promise<void> {
    this.#note('stops');
    this.state = { kind: 'stopped' };
    // Like the real one, it lets a start that is under way or waiting finish first.
    await this.#started?.catch(() => undefined);
    if (!this.#alive) return;
    await this.#harness.behaviorOf(this.name).stop;
    this.#alive = false;
    this.#note('is gone');
    this.#listener?.stopped();
  }

  #note(what: string): void {
    this.#harness.events.push(`${this.life} ${what}`);
  }
}

function listing(names: readonly string[]): Listing {
  const components = names.map((name) => new Component(name, JSON.stringify({ name, inputSchema: {} })));
  return { components, byKey: new Map(components.map((each) => [each.key, each])), incomplete: undefined };
}

const TOOLS = listing(['tool']);
const NOTHING = listing([]);

/** A gateway with one client, its server manager, and a record of everything its sources did. */
export class ManagerHarness {
  readonly events: string[] = [];
  readonly sources: TestSource[] = [];
  /** Servers of the same name that ran at the same time. */
  readonly doubles: string[][] = [];
  readonly gateway: Gateway;
  readonly manager: ServerManager;
  readonly #behaviors = new Map<string, SourceBehavior>();

  constructor(...definitions: ConfiguredServer[]) {
    const build = (definition: ConfiguredServer, { after }: BuildOptions = {}): CatalogEntry =>
      this.#build(definition, after);
    this.gateway = new Gateway({ entries: definitions.map((each) => build(each)) });
    this.manager = new ServerManager({
      gateway: this.gateway,
      log: silentLogger,
      build,
      withPresentation: (definition, source) => ({ ...build(definition), source }),
      definitions,
      drainMs: 1234,
    });
    this.gateway.join(silentSession());
  }

  behaviorOf(name: string): SourceBehavior {
    return this.#behaviors.get(name) ?? {};
  }

  setBehavior(name: string, behavior: SourceBehavior): void {
    this.#behaviors.set(name, behavior);
  }

  /** The names in the catalog, in order. */
  names(): string[] {
    return this.manager.list().map(({ definition }) => definition.name);
  }

  /** The lives in the catalog, in order. */
  lives(): string[] {
    return this.gateway.catalog.entries.map(({ source }) => (source as TestSource).life);
  }

  tools(): string[] {
    return this.gateway.tools.map((tool) => tool.name);
  }

  /** Everything that happened since the last call. */
  takeEvents(): string[] {
    return this.events.splice(0);
  }

  #build(definition: ConfiguredServer, after: Promise<unknown> | undefined): CatalogEntry {
    const life = this.sources.filter(({ name }) => name === definition.name).length + 1;
    const source = new TestSource(definition, life, this, after);
    this.sources.push(source);
    return {
      source,
      rules: { allows: () => true, overrides: new Map() },
      offers: new Set(['tools']),
      naming: 'prefixed',
      exposure: this.#exposure(definition),
    };
  }

  #exposure({ name, description, exposure }: ConfiguredServer): Exposure {
    return {
      // A suite sleeps until it is called.
      needsTools: exposure === 'flat',
      present: (_entry, filtered) => {
        const { breaks } = this.behaviorOf(name);
        if (breaks) throw breaks;
        return (filtered?.tools ?? []).map((tool) => ({
          names: [`${name}__${tool.name}${description === undefined ? '' : `-${description}`}`],
          definition: (shown) => JSON.stringify({ name: shown }),
          run: (call) => call.succeed({}),
        }));
      },
    };
  }
}

function silentSession(): Session {
  return new Session({
    congested: false,
    capabilities: {},
    whenDrained: () => undefined,
    forwardAnswer: () => undefined,
    forwardNotification: () => undefined,
    answer: () => undefined,
    answerText: () => undefined,
    fail: () => undefined,
    notify: () => undefined,
    ask: () => 0,
    withdraw: () => undefined,
  });
}

/** Waits until everything has happened that does not depend on a held operation. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** The code of the error that `work` rejects with or throws. */
export async function refusal(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return (error as { code?: string }).code ?? error;
  }
  return undefined;
}

/** Starts a manager with servers that are already running. */
export async function startManager(...definitions: ConfiguredServer[]): Promise<ManagerHarness> {
  const harness = new ManagerHarness(...definitions);
  await settled();
  harness.takeEvents();
  return harness;
}
