import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { unknownServer } from '../shared/unknown-server.ts';
import { compareServers, type ConfiguredServer } from '../config/index.ts';
import type { CatalogEntry, Gateway, OverallExposure, Source, SourceState } from '../gateway/index.ts';

export interface ServerManagerOptions {
  readonly gateway: Gateway;
  readonly log: Logger;
  /**
   * Makes the entry of a server, which must not start before `after`. `restart` restarts it even if other clients use it
   * as well.
   */
  readonly build: (
    definition: ConfiguredServer,
    after: Promise<unknown> | undefined,
    restart?: boolean,
  ) => CatalogEntry;
  /** The entry for an existing source that is to be exposed in another way. */
  readonly withPresentation: (definition: ConfiguredServer, source: Source) => CatalogEntry;
  /** The servers that are there already, as they were defined. */
  readonly definitions: readonly ConfiguredServer[];
  /** How long running calls of a server that is taken out may still finish, in milliseconds. Default 2000. */
  readonly drainMs?: number;
}

/** A server as the management tools report it. */
export interface ManagedServer {
  readonly definition: ConfiguredServer;
  readonly state: SourceState;
  /** The names of its tools as clients know them. */
  readonly tools: readonly string[];
  /** Why it runs and shows nothing, where that is so. */
  readonly problem: Error | undefined;
}

/** What a reload of the configuration did to the servers, by name. */
export interface AppliedChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** With a new process. */
  readonly restarted: readonly string[];
  /** Exposed in another way, by the same process. */
  readonly reshown: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Adds, removes and reloads servers while calls are running. Operations on one server run in order; different servers do
 * not wait for each other. Every change is one swap of the catalog.
 */
export class ServerManager {
  readonly #gateway: Gateway;
  readonly #log: Logger;
  readonly #build: ServerManagerOptions['build'];
  readonly #withPresentation: ServerManagerOptions['withPresentation'];
  readonly #drainMs: number;
  readonly #definitions: Map<string, ConfiguredServer>;
  /** Servers that are in no configuration. */
  readonly #addedAtRuntime = new Set<string>();
  /** The adds under way, by name. */
  readonly #adding = new Map<string, Promise<unknown>>();
  /** Those of them whose caller was answered before they were done. */
  readonly #leftStarting = new Set<string>();
  /** Resolves when the replaced or removed sources of a name have ended. */
  readonly #closing = new Map<string, Promise<unknown>>();
  /** The last queued operation on each server. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor({ gateway, log, build, withPresentation, definitions, drainMs = 2000 }: ServerManagerOptions) {
    this.#gateway = gateway;
    this.#log = log;
    this.#build = build;
    this.#withPresentation = withPresentation;
    this.#drainMs = drainMs;
    this.#definitions = new Map(definitions.map((each) => [each.name, each]));
  }

  list(): ManagedServer[] {
    return this.#gateway.catalog.entries.map((entry) => this.#report(entry));
  }

  /** The definition of a server, if there is one. */
  find(name: string): ConfiguredServer | undefined {
    return this.#definitions.get(name);
  }

  /** The definition of a server; throws SERVER_UNKNOWN, with the nearest names. */
  definition(name: string): ConfiguredServer {
    const found = this.#definitions.get(name);
    if (found) return found;
    throw unknownServer(name, [...this.#definitions.keys()]);
  }

  /** Throws where the name is taken. */
  checkFree(name: string): void {
    if (!this.#definitions.has(name)) return;
    throw new SwitchboardError('SERVER_EXISTS', `A server named ${JSON.stringify(name)} already exists.`, {
      hint: 'Remove it with remove_server, restart it with reload_server, or choose another name.',
    });
  }

  /** Adds a server and starts it. Where it does not start, nothing has changed, unless it was left starting. */
  add(definition: ConfiguredServer): Promise<ManagedServer> {
    const { name } = definition;
    // Checked before it is queued too: a second add of the same name fails at once.
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
          // The caller was told that the server exists; it stays to report its state.
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
   * Answers the caller of an add that takes long: the server goes on starting, and stays in the list if it fails. Returns
   * undefined while it waits for a server that had the same name.
   */
  leaveStarting(name: string): ManagedServer | undefined {
    this.#leftStarting.add(name);
    const entry = this.#entry(name);
    return entry && this.#report(entry);
  }

  /** Stops a server that is just being added. */
  cancelAdd(name: string): void {
    if (this.#adding.has(name)) void this.#entry(name)?.source.close({ reason: 'It is no longer needed.' });
  }

  /** Whether no configuration has this server. */
  isAddedAtRuntime(name: string): boolean {
    return this.#addedAtRuntime.has(name);
  }

  /** A server that was added at runtime is now in the configuration, and goes when it is removed from there. */
  markConfigured(name: string): void {
    this.#addedAtRuntime.delete(name);
  }

  /** Takes a server out at once; resolves when its process is gone. */
  remove(name: string): Promise<void> {
    this.definition(name);
    if (this.#leftStarting.has(name)) this.cancelAdd(name);
    return this.#serialize([name], async () => {
      const entry = this.#entry(name);
      // The add that was under way has cleaned up after itself.
      if (entry === undefined) return;
      this.#forget(name);
      this.#gateway.swap(this.#without(name), { quiet: true });
      this.#gateway.announceTools();
      this.#log.info('removed', { server: name });
      await this.#end(entry, `Server '${name}' was removed.`);
    });
  }

  /** Stops a server and starts it again from the same definition. Where that fails it stays, crashed, and can be tried again. */
  reload(name: string): Promise<ManagedServer> {
    this.definition(name);
    return this.#serialize([name], async () => {
      const old = this.#entry(name);
      const { entry, replaces } = this.#buildReplacement(this.definition(name), true);
      this.#gateway.swap(
        this.#entries().map((each) => (each === old ? entry : each)),
        { quiet: true },
      );
      if (old) replaces(old, `Server '${name}' is being reloaded.`);
      try {
        await this.#gateway.listNow(entry.source);
      } catch (error) {
        // One that runs and cannot be listed is of no more use than one that does not start.
        await entry.source.fail(error instanceof Error ? error : new Error(String(error)));
        throw error;
      } finally {
        this.#gateway.announceTools();
      }
      this.#log.info('reloaded', { server: name, tools: this.#tools(name).length });
      return this.#report(entry);
    });
  }

  /**
   * Makes the servers those of a configuration that was read again, in its order and all at once. A server that is
   * defined as before keeps its process and its running calls; one that was added by hand stays.
   */
  apply(
    definitions: readonly ConfiguredServer[],
    overall: readonly OverallExposure[],
  ): Promise<AppliedChanges> {
    const wanted = new Set(definitions.map((each) => each.name));
    const known = [...this.#definitions.keys()].filter((name) => !this.#addedAtRuntime.has(name));
    return this.#serialize([...new Set([...known, ...wanted])], () => {
      const applied = { added: [], removed: [], restarted: [], reshown: [], kept: [] } as Record<
        keyof AppliedChanges,
        string[]
      >;
      // Runs after the new catalog is in place, and not at all if that fails.
      const then: (() => void)[] = [];
      const entries = definitions.map((definition) => {
        const { what, entry } = this.#reconcile(definition, then);
        applied[what].push(definition.name);
        return entry;
      });
      for (const entry of this.#entries()) {
        const { name } = entry.source;
        if (wanted.has(name)) continue;
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
        this.#definitions.set(definition.name, definition);
        this.#addedAtRuntime.delete(definition.name);
      }
      for (const step of then) step();
      return Promise.resolve(applied);
    });
  }

  /** The entry for a definition that was read again: the one there is, the same source shown in another way, or a new one. */
  #reconcile(
    definition: ConfiguredServer,
    then: (() => void)[],
  ): { what: 'added' | 'kept' | 'reshown' | 'restarted'; entry: CatalogEntry } {
    const { name, timeouts } = definition;
    const known = this.#definitions.get(name);
    const old = this.#entry(name);
    if (known === undefined || old === undefined)
      return { what: 'added', entry: this.#buildEntry(definition) };
    switch (compareServers(known, definition)) {
      case 'same':
        return { what: 'kept', entry: old };
      case 'presentation':
        then.push(() => old.source.setIdleTimeout(timeouts.idleMs));
        return { what: 'reshown', entry: this.#withPresentation(definition, old.source) };
      case 'process': {
        const { entry, replaces } = this.#buildReplacement(definition);
        then.push(() => replaces(old, `Server '${name}' was changed in the configuration.`));
        return { what: 'restarted', entry };
      }
    }
  }

  /** An entry for a server that is still there, and the way to end that one; the new process starts when it is gone. */
  #buildReplacement(
    definition: ConfiguredServer,
    restart = false,
  ): {
    entry: CatalogEntry;
    replaces: (old: CatalogEntry, reason: string) => void;
  } {
    let gone = (): void => undefined;
    const after = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const before = this.#closing.get(definition.name);
    const entry = this.#build(definition, Promise.allSettled([before, after]), restart);
    return { entry, replaces: (old, reason) => void this.#end(old, reason).finally(gone) };
  }

  /** An entry whose process starts when those that had its name are gone: two might want the same port or file. */
  #buildEntry(definition: ConfiguredServer): CatalogEntry {
    return this.#build(definition, this.#closing.get(definition.name));
  }

  /** Ends a server that is shown no more; its running calls get a moment to finish. */
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
  }

  /** Runs an operation on these servers after the earlier ones on any of them. */
  #serialize<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    const before = names.flatMap((name) => this.#queues.get(name) ?? []);
    // Synchronously if nothing is queued: a list requested right after a removal must not contain the server.
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
      problem: this.#gateway.problemOf(source),
    };
  }
}

/** Turns a throw into a rejection. */
async function asPromise<T>(run: () => Promise<T>): Promise<T> {
  return run();
}
