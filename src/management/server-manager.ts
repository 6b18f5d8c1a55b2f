import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { unknownServer } from '../shared/unknown-server.ts';
import { compareServers, type ConfiguredServer, type UnusableServer } from '../config/index.ts';
import type { CatalogEntry, Gateway, OverallExposure, Source, SourceState } from '../gateway/index.ts';

export interface ServerManagerOptions {
  readonly gateway: Gateway;
  readonly log: Logger;
  /** Makes the entry of a server. */
  readonly build: (definition: ConfiguredServer, how: BuildOptions) => CatalogEntry;
  /** The entry for an existing source that is to be exposed in another way. */
  readonly withPresentation: (definition: ConfiguredServer, source: Source) => CatalogEntry;
  /** The definitions of the servers that exist already. */
  readonly definitions: readonly ConfiguredServer[];
  /** How long running calls of a removed server may take to finish, in milliseconds. Default 2000. */
  readonly drainMs?: number;
  /** Called when a server could not be replaced. */
  readonly onProblem?: () => void;
}

export interface BuildOptions {
  /** The server does not start before this settles. */
  readonly after?: Promise<unknown> | undefined;
  /** Restart it even if other clients use it as well. Default false. */
  readonly restart?: boolean;
  /** If other clients use it as well: stop the old one before the new one starts. Default false. */
  readonly stopFirst?: boolean;
}

/** A server as the management tools report it. */
export interface ManagedServer {
  readonly definition: ConfiguredServer;
  readonly state: SourceState;
  /** The names of its tools as clients see them. */
  readonly tools: readonly string[];
  /** Why it is running but exposes nothing, or why its latest definition is not in use; otherwise undefined. */
  readonly problem: Error | undefined;
}

/** What a reload of the configuration changed, by server name. */
export interface AppliedChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** Restarted with a new process, which may still be starting beside the old one. */
  readonly restarted: readonly string[];
  /** Exposed in another way, by the same process. */
  readonly reshown: readonly string[];
  readonly kept: readonly string[];
  /** Resolves with the restarted servers that keep their old process because the new one did not start. */
  readonly failed: Promise<readonly string[]>;
}

/** A server that starts beside the one it replaces. */
interface Replacement {
  readonly definition: ConfiguredServer;
  readonly entry: CatalogEntry;
}

interface Reconciled {
  readonly what: 'added' | 'kept' | 'reshown' | 'restarted';
  readonly entry: CatalogEntry;
}

interface ReplaceOptions {
  /** Why the old one ends, as a sentence. */
  readonly reason: string;
  readonly stopFirst?: boolean;
  /** Whether it is replaced for all clients. Default false. */
  readonly restart?: boolean;
}

const CANNOT_RUN_TWICE = 'If it cannot run twice at the same time, for example because of a fixed port,';
const RELOAD_HINT = `${CANNOT_RUN_TWICE} pass "stop_first": true to reload_server.`;
const CHANGE_HINT = `Correct its entry and reload the configuration. ${CANNOT_RUN_TWICE} set "stopFirst": true in its entry.`;

/**
 * Adds, removes and reloads servers while calls are running. Operations on one server run in order; different servers
 * do not wait for each other. Every change swaps the catalog once.
 */
export class ServerManager {
  readonly #gateway: Gateway;
  readonly #log: Logger;
  readonly #build: ServerManagerOptions['build'];
  readonly #withPresentation: ServerManagerOptions['withPresentation'];
  readonly #drainMs: number;
  readonly #definitions: Map<string, ConfiguredServer>;
  /** Servers that are in no configuration file. */
  readonly #addedAtRuntime = new Set<string>();
  /** The pending adds, by name. */
  readonly #adding = new Map<string, Promise<unknown>>();
  /** Pending adds whose callers have already been answered. */
  readonly #leftStarting = new Set<string>();
  /** Servers that are starting with a new definition, beside the running one of the same name. */
  readonly #starting = new Map<string, Replacement>();
  /** New definitions of running servers, which are to start beside the old ones. */
  readonly #changed = new Map<string, ConfiguredServer>();
  /** Why a server does not use its latest definition, or was not reloaded. */
  readonly #problems = new Map<string, SwitchboardError>();
  readonly #onProblem: () => void;
  /** Resolves when the replaced or removed sources of a name have ended. */
  readonly #closing = new Map<string, Promise<unknown>>();
  /** The last queued operation on each server. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor({ gateway, log, build, withPresentation, definitions, ...options }: ServerManagerOptions) {
    this.#gateway = gateway;
    this.#log = log;
    this.#build = build;
    this.#withPresentation = withPresentation;
    this.#drainMs = options.drainMs ?? 2000;
    this.#onProblem = options.onProblem ?? (() => undefined);
    this.#definitions = new Map(definitions.map((each) => [each.name, each]));
  }

  list(): ManagedServer[] {
    return this.#gateway.catalog.entries.map((entry) => this.#report(entry));
  }

  /** The definition of a server; undefined if it does not exist. */
  find(name: string): ConfiguredServer | undefined {
    return this.#definitions.get(name);
  }

  /** The definition of a server; throws SERVER_UNKNOWN, suggesting similar names. */
  definition(name: string): ConfiguredServer {
    const found = this.#definitions.get(name);
    if (found) return found;
    throw unknownServer(name, [...this.#definitions.keys()]);
  }

  /** Why a server is running but exposes nothing, or why its latest definition is not in use. */
  problemOf(source: Source): Error | undefined {
    return this.#problems.get(source.name) ?? this.#gateway.problemOf(source);
  }

  /** Throws if the name is taken. */
  checkFree(name: string): void {
    if (!this.#definitions.has(name)) return;
    throw new SwitchboardError('SERVER_EXISTS', `A server named ${JSON.stringify(name)} already exists.`, {
      hint: 'Remove it with remove_server, restart it with reload_server, or choose another name.',
    });
  }

  /** Adds a server and starts it. If it fails to start, nothing has changed, unless `leaveStarting` was called. */
  add(definition: ConfiguredServer): Promise<ManagedServer> {
    const { name } = definition;
    // Also checked before it is queued: a second add of the same name fails immediately.
    this.checkFree(name);
    const adding = this.#serialize([name], async () => {
      this.checkFree(name);
      let entry: CatalogEntry | undefined;
      try {
        entry = this.#buildEntry(definition);
        this.#definitions.set(name, definition);
        this.#addedAtRuntime.add(name);
        this.#gateway.swap([...this.#entries(), entry], { quiet: true });
        await this.#gateway.listNow(entry.source);
      } catch (error) {
        if (entry && this.#leftStarting.has(name)) {
          // The caller was told that the server exists, so it stays to report its state.
          await entry.source.fail(error instanceof Error ? error : new Error(String(error)));
          this.#gateway.announceTools();
          throw error;
        }
        this.#forget(name);
        if (this.#entry(name)) this.#gateway.swap(this.#without(name), { quiet: true });
        if (entry) await this.#end(entry, 'It could not be added.');
        throw error;
      }
      this.#gateway.announceTools();
      this.#log.info('added', { server: name, tools: this.#tools(name).length });
      return this.#report(entry);
    });
    this.#adding.set(name, adding);
    const over = (): void => {
      if (this.#adding.get(name) !== adding) return;
      this.#adding.delete(name);
      this.#leftStarting.delete(name);
    };
    adding.then(over, over);
    return adding;
  }

  /**
   * Answers the caller of an add that takes long: the server continues to start, and stays in the list if it fails.
   * Returns undefined while it waits for a server that had the same name.
   */
  leaveStarting(name: string): ManagedServer | undefined {
    this.#leftStarting.add(name);
    const entry = this.#entry(name);
    return entry && this.#report(entry);
  }

  /** Stops a server whose add is pending. */
  cancelAdd(name: string): void {
    if (this.#adding.has(name)) void this.#entry(name)?.source.close({ reason: 'It is no longer needed.' });
  }

  /** Whether no configuration file defines this server. */
  isAddedAtRuntime(name: string): boolean {
    return this.#addedAtRuntime.has(name);
  }

  /** A server that was added at run time is in the configuration now, and will end when it is removed from there. */
  markConfigured(name: string): void {
    this.#addedAtRuntime.delete(name);
  }

  /** Removes a server immediately; resolves when its process has ended, and that of any server it replaced. */
  remove(name: string): Promise<void> {
    this.definition(name);
    if (this.#leftStarting.has(name)) this.cancelAdd(name);
    this.#cancelReplacement(name);
    return this.#serialize([name], async () => {
      const entry = this.#entry(name);
      // The pending add has cleaned up after itself.
      if (entry === undefined) return;
      this.#forget(name);
      this.#gateway.swap(this.#without(name), { quiet: true });
      this.#gateway.announceTools();
      this.#log.info('removed', { server: name });
      await this.#end(entry, `Server '${name}' was removed.`);
      await this.#closing.get(name);
    });
  }

  /**
   * Starts a server again with the same definition. A running server is replaced once the new process has started; if
   * that fails, the old process stays. If it is not running, or `stopFirst` is set, and the start fails, the server
   * stays in the list as crashed and can be tried again.
   */
  reload(name: string, { stopFirst = false } = {}): Promise<ManagedServer> {
    this.definition(name);
    return this.#serialize([name], async () => {
      const definition = this.definition(name);
      const old = this.#entry(name);
      if (old === undefined) throw new Error(`The server ${name} has no entry.`);
      const reason = `Server '${name}' is being reloaded.`;
      let entry = old;
      try {
        entry = await this.#replace(old, definition, { reason, stopFirst, restart: true });
        await this.#gateway.listNow(entry.source);
      } catch (error) {
        if (entry === old) {
          const what = `Server '${name}' was not reloaded, and its old process keeps running.`;
          throw this.#noteProblem(name, what, error, RELOAD_HINT);
        }
        // A server that runs but cannot be listed is as useless as one that does not start.
        await entry.source.fail(error instanceof Error ? error : new Error(String(error)));
        throw error;
      } finally {
        if (entry !== old) this.#gateway.announceTools();
      }
      this.#log.info('reloaded', { server: name, tools: this.#tools(name).length });
      return this.#report(entry);
    });
  }

  /**
   * Makes the servers match a configuration that was reloaded, in its order and all at once. A server with an unchanged
   * definition keeps its process and its running calls; so does one that was added at run time. A running server with a
   * new definition continues as it is until its new process has started.
   */
  async apply(
    definitions: readonly ConfiguredServer[],
    overall: readonly OverallExposure[],
  ): Promise<AppliedChanges> {
    const wanted = new Map(definitions.map((each) => [each.name, each]));
    const known = [...this.#definitions.keys()].filter((name) => !this.#addedAtRuntime.has(name));
    const names = new Set([...known, ...wanted.keys()]);
    for (const name of this.#starting.keys()) {
      // A slow server must not hold up the others.
      if (this.#isStartingAs(wanted.get(name))) names.delete(name);
      else this.#cancelReplacement(name);
    }
    const applied = await this.#serialize([...names], () =>
      Promise.resolve(this.#applyNow(definitions, overall)),
    );
    const { restarted } = applied;
    const failed = restarted.map((name) => this.#serialize([name], () => this.#replaceChanged(name)));
    return { ...applied, failed: Promise.all(failed).then((names) => names.flat()) };
  }

  #applyNow(
    definitions: readonly ConfiguredServer[],
    overall: readonly OverallExposure[],
  ): Omit<AppliedChanges, 'failed'> {
    const applied = { added: [], removed: [], restarted: [], reshown: [], kept: [] } as Record<
      Reconciled['what'] | 'removed',
      string[]
    >;
    const names = new Set(definitions.map((each) => each.name));
    // Runs once the new catalog is in place, and not at all if that fails.
    const then: (() => void)[] = [];
    const entries = definitions.map((definition) => {
      const { what, entry } = this.#reconcile(definition, then);
      applied[what].push(definition.name);
      return entry;
    });
    for (const entry of this.#entries()) {
      const { name } = entry.source;
      if (names.has(name)) continue;
      if (this.#addedAtRuntime.has(name)) entries.push(entry);
      else {
        const reason = `Server '${name}' was removed from the configuration.`;
        then.push(() => void this.#end(entry, reason));
        applied.removed.push(name);
      }
    }
    this.#gateway.swap(entries, { overall });
    for (const name of applied.removed) this.#forget(name);
    for (const definition of definitions) {
      this.#addedAtRuntime.delete(definition.name);
      this.#problems.delete(definition.name);
      this.#changed.delete(definition.name);
      this.#definitions.set(definition.name, definition);
    }
    for (const step of then) step();
    return applied;
  }

  /**
   * The entry for a definition that was reloaded: the existing one, the same source exposed in another way, or a new
   * one.
   */
  #reconcile(definition: ConfiguredServer, then: (() => void)[]): Reconciled {
    const { name, timeouts } = definition;
    const known = this.#definitions.get(name);
    const old = this.#entry(name);
    if (known === undefined || old === undefined)
      return { what: 'added', entry: this.#buildEntry(definition) };
    if (definition.kind === 'unusable' && definition.notAllowed !== true && known.kind !== 'unusable') {
      then.push(() => this.#keepOld(known, definition));
      return { what: 'kept', entry: old };
    }
    if (this.#isStartingAs(definition)) {
      then.push(() => this.#definitions.set(name, known));
      return { what: 'kept', entry: old };
    }
    switch (compareServers(known, definition)) {
      case 'same':
        return { what: 'kept', entry: old };
      case 'presentation':
        then.push(() => old.source.setIdleTimeout(timeouts.idleMs));
        return { what: 'reshown', entry: this.#withPresentation(definition, old.source) };
      case 'process': {
        if (startsBeside(old, definition)) {
          then.push(() => {
            this.#definitions.set(name, known);
            this.#changed.set(name, definition);
          });
          return { what: 'restarted', entry: old };
        }
        const { entry, replaces } = this.#buildReplacement(old, definition);
        then.push(() => replaces(changedReason(name)));
        return { what: 'restarted', entry };
      }
    }
  }

  /** A server whose new definition is invalid continues with the old one. */
  #keepOld(known: ConfiguredServer, { name, reason, nextStep }: UnusableServer): void {
    this.#definitions.set(name, known);
    this.#log.warn('keeping the old definition: the new one is not valid', { server: name });
    const error = new SwitchboardError('SERVER_UNUSABLE', `It is not valid: ${reason}.`, { hint: nextStep });
    this.#noteProblem(name, `Server '${name}' keeps its old definition.`, error);
  }

  /**
   * Starts a server with its new definition and replaces the running one. Resolves with its name if the old one stays.
   */
  async #replaceChanged(name: string): Promise<string[]> {
    const old = this.#entry(name);
    const definition = this.#changed.get(name);
    this.#changed.delete(name);
    if (old === undefined || definition === undefined) return [];
    try {
      await this.#replace(old, definition, { reason: changedReason(name) });
      return [];
    } catch (error) {
      // A later reload or a removal has ended it.
      if (error instanceof SwitchboardError && error.code === 'STOPPING') return [name];
      const what = `Server '${name}' does not start with its new definition and keeps the old one.`;
      const problem = this.#noteProblem(name, what, error, CHANGE_HINT);
      this.#log.warn('keeping the old definition: the new one does not start', {
        server: name,
        reason: messageOf(problem.cause),
      });
      return [name];
    }
  }

  /**
   * Replaces the process of a server. If it is running, it continues until the new one has started, and stays if that
   * fails. Otherwise, or if it is to be stopped first, the new one starts when the old one has ended.
   */
  async #replace(
    old: CatalogEntry,
    definition: ConfiguredServer,
    { reason, stopFirst = false, restart = false }: ReplaceOptions,
  ): Promise<CatalogEntry> {
    const { name } = definition;
    const replaced = (entry: CatalogEntry): CatalogEntry => {
      this.#definitions.set(name, definition);
      this.#problems.delete(name);
      return entry;
    };
    if (!stopFirst && startsBeside(old, definition)) {
      try {
        const entry = await this.#startBeside(old, definition, restart);
        void this.#end(old, reason);
        return replaced(entry);
      } catch (error) {
        if (!isForLackOfRoom(error)) throw error;
      }
    }
    const { entry, replaces } = this.#buildReplacement(old, definition, restart);
    this.#gateway.swap(
      this.#entries().map((each) => (each === old ? entry : each)),
      // The caller lists the tools after a restart, and announces both together.
      { quiet: restart },
    );
    replaces(reason);
    return replaced(entry);
  }

  async #startBeside(
    old: CatalogEntry,
    definition: ConfiguredServer,
    restart: boolean,
  ): Promise<CatalogEntry> {
    const { name } = definition;
    const entry = this.#build(definition, { after: this.#closing.get(name), restart });
    if (!restart) this.#starting.set(name, { definition, entry });
    try {
      await this.#gateway.replace(old, entry);
    } catch (error) {
      void this.#end(entry, 'It is not needed.');
      throw error;
    } finally {
      this.#starting.delete(name);
    }
    return entry;
  }

  /** Whether a server is starting with this very definition, beside the one it replaces. */
  #isStartingAs(definition: ConfiguredServer | undefined): boolean {
    if (definition === undefined) return false;
    const starting = this.#starting.get(definition.name);
    return starting !== undefined && compareServers(starting.definition, definition) === 'same';
  }

  #cancelReplacement(name: string): void {
    void this.#starting.get(name)?.entry.source.close({ reason: 'It is no longer needed.' });
  }

  /** Records and returns why a server was not replaced. */
  #noteProblem(name: string, what: string, cause: unknown, advice?: string): SwitchboardError {
    const known = cause instanceof SwitchboardError ? cause : undefined;
    const why = known?.message ?? messageOf(cause);
    const hint = [known?.hint, advice].filter((each) => each !== undefined).join(' ');
    const problem = new SwitchboardError(known?.code ?? 'START_FAILED', `${what} ${why}`, { hint, cause });
    this.#problems.set(name, problem);
    this.#onProblem();
    return problem;
  }

  /**
   * An entry for a server that is still running, and a function that ends the running one; the new process starts after
   * that.
   */
  #buildReplacement(
    old: CatalogEntry,
    definition: ConfiguredServer,
    restart = false,
  ): { entry: CatalogEntry; replaces: (reason: string) => void } {
    let gone = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const before = this.#closing.get(definition.name);
    const entry = this.#build(definition, {
      after: Promise.allSettled([before, after]),
      restart,
      stopFirst: old.source.state.kind === 'running',
    });
    return { entry, replaces: (reason) => void this.#end(old, reason).finally(gone) };
  }

  /**
   * An entry whose process starts when earlier ones of the same name have ended: they might need the same port or file.
   */
  #buildEntry(definition: ConfiguredServer): CatalogEntry {
    return this.#build(definition, { after: this.#closing.get(definition.name) });
  }

  /** Ends a server that is no longer exposed; its running calls get a moment to finish. */
  #end({ source }: CatalogEntry, reason: string): Promise<void> {
    const closed = source.close({ reason, drainMs: this.#drainMs });
    const all = Promise.allSettled([this.#closing.get(source.name), closed]);
    this.#closing.set(source.name, all);
    void all.then(() => {
      if (this.#closing.get(source.name) === all) this.#closing.delete(source.name);
    });
    return closed;
  }

  #forget(name: string): void {
    this.#definitions.delete(name);
    this.#addedAtRuntime.delete(name);
    this.#problems.delete(name);
    this.#changed.delete(name);
  }

  /** Runs an operation on these servers after all earlier ones on any of them. */
  #serialize<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    const before = names.flatMap((name) => this.#queues.get(name) ?? []);
    // Runs synchronously if nothing is queued: a list requested right after a removal must not contain the server.
    const task = before.length === 0 ? asPromise(run) : Promise.allSettled(before).then(run);
    for (const name of names) this.#queues.set(name, task);
    const over = (): void => {
      for (const name of names) if (this.#queues.get(name) === task) this.#queues.delete(name);
    };
    task.then(over, over);
    return task;
  }

  #entries(): readonly CatalogEntry[] {
    return this.#gateway.catalog.entries;
  }

  #entry(name: string): CatalogEntry | undefined {
    return this.#entries().find((entry) => entry.source.name === name);
  }

  #without(name: string): CatalogEntry[] {
    return this.#entries().filter((entry) => entry.source.name !== name);
  }

  #tools(name: string): string[] {
    return this.#gateway.tools.filter((tool) => tool.source === name).map((tool) => tool.name);
  }

  #report({ source }: CatalogEntry): ManagedServer {
    const definition = this.#definitions.get(source.name);
    if (definition === undefined) throw new Error(`The server ${source.name} has no definition.`);
    return {
      definition,
      state: source.state,
      tools: this.#tools(source.name),
      problem: this.problemOf(source),
    };
  }
}

/** Turns a throw into a rejection. */
async function asPromise<T>(run: () => Promise<T>): Promise<T> {
  return run();
}

/** Whether a running server continues until its successor has started. */
function startsBeside({ source }: CatalogEntry, next: ConfiguredServer): boolean {
  if (source.state.kind !== 'running' || next.kind === 'unusable') return false;
  return !(next.kind === 'stdio' && next.stopFirst === true);
}

/** Whether so many processes are running that another one must end first. */
function isForLackOfRoom(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === 'TOO_MANY_PROCESSES';
}

function changedReason(name: string): string {
  return `Server '${name}' was changed in the configuration.`;
}
