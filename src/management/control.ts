import { SwitchboardError } from '../shared/errors.ts';
import { didYouMean } from '../shared/nearest.ts';
import type { Logger } from '../shared/log.ts';
import { compareServers, type ServerDefinition } from '../config/index.ts';
import type { CatalogEntry, Gateway, OverallExposure, SourceState } from '../gateway/index.ts';

export interface ControlOptions {
  readonly gateway: Gateway;
  readonly log: Logger;
  /** Makes the entry of a server; nothing of it may start before `after`. */
  readonly build: (definition: ServerDefinition, after?: Promise<unknown>) => CatalogEntry;
  /** The servers that are there already, as they were defined. */
  readonly definitions: readonly ServerDefinition[];
  /** How long running calls of a server that is taken out may still finish, in milliseconds. Default 2000. */
  readonly drainMs?: number;
}

/** A server as somebody who manages servers sees it. */
export interface ManagedServer {
  readonly definition: ServerDefinition;
  readonly state: SourceState;
  /** The names of its tools as clients know them. */
  readonly tools: readonly string[];
}

/** What became of the servers when a configuration was read again, by name. */
export interface Applied {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** With a new process. */
  readonly restarted: readonly string[];
  /** Shown in another way, by the same process. */
  readonly reshown: readonly string[];
  readonly kept: readonly string[];
}

/**
 * Adds, removes and reloads servers while calls are running. What is done to one server is done in order; different
 * servers do not wait for each other. Every change is one swap of the catalog.
 */
export class Control {
  readonly #gateway: Gateway;
  readonly #log: Logger;
  readonly #build: ControlOptions['build'];
  readonly #drainMs: number;
  readonly #definitions: Map<string, ServerDefinition>;
  /** The last thing that is done, or waits to be done, to the server of a name. */
  readonly #turns = new Map<string, Promise<unknown>>();

  constructor({ gateway, log, build, definitions, drainMs = 2000 }: ControlOptions) {
    this.#gateway = gateway;
    this.#log = log;
    this.#build = build;
    this.#drainMs = drainMs;
    this.#definitions = new Map(definitions.map((each) => [each.name, each]));
  }

  list(): ManagedServer[] {
    return this.#gateway.catalog.entries.map((entry) => this.#report(entry));
  }

  /** The definition of a server; throws SERVER_UNKNOWN, with the nearest names. */
  definition(name: string): ServerDefinition {
    const found = this.#definitions.get(name);
    if (found) return found;
    const names = [...this.#definitions.keys()];
    const hint =
      didYouMean(name, names) ?? (names.length === 0 ? 'There are none.' : `There are: ${names.join(', ')}.`);
    throw new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
  }

  /** Throws where the name is taken. */
  checkFree(name: string): void {
    if (!this.#definitions.has(name)) return;
    throw new SwitchboardError('SERVER_EXISTS', `There is a server named ${JSON.stringify(name)} already.`, {
      hint: 'remove_server takes it out, reload_server starts it anew; or choose another name.',
    });
  }

  /** Adds a server and starts it. Where it does not start, nothing has changed. */
  add(definition: ServerDefinition): Promise<ManagedServer> {
    const { name } = definition;
    // Asked before its turn too: who adds a name twice at the same time is told at once.
    this.checkFree(name);
    return this.#turn([name], async () => {
      this.checkFree(name);
      this.#definitions.set(name, definition);
      const entry = this.#build(definition);
      this.#gateway.swap([...this.#entries(), entry], { quiet: true });
      try {
        await this.#gateway.listNow(entry.source);
      } catch (error) {
        this.#definitions.delete(name);
        this.#gateway.swap(this.#without(name), { quiet: true });
        await entry.source.close({ reason: `It could not be added.` });
        throw error;
      }
      this.#gateway.announceTools();
      this.#log.info('added', { server: name, tools: this.#tools(name).length });
      return this.#report(entry);
    });
  }

  /** Takes a server out at once; resolves when its process is gone. */
  remove(name: string): Promise<void> {
    this.definition(name);
    return this.#turn([name], async () => {
      this.definition(name);
      const entry = this.#entry(name);
      this.#definitions.delete(name);
      this.#gateway.swap(this.#without(name), { quiet: true });
      this.#gateway.announceTools();
      this.#log.info('removed', { server: name });
      await entry?.source.close({ reason: `Server '${name}' was removed.`, drainMs: this.#drainMs });
    });
  }

  /** Stops a server and starts it again from the same definition. Where that fails it stays, crashed, and can be tried again. */
  reload(name: string): Promise<ManagedServer> {
    this.definition(name);
    return this.#turn([name], async () => {
      const entry = this.#replace(this.definition(name));
      try {
        await this.#gateway.listNow(entry.source);
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
    definitions: readonly ServerDefinition[],
    { before, overall }: { before: readonly ServerDefinition[]; overall: readonly OverallExposure[] },
  ): Promise<Applied> {
    const configured = new Set(before.map((each) => each.name));
    const names = new Set([...this.#definitions.keys(), ...definitions.map((each) => each.name)]);
    return this.#turn([...names], () => {
      const applied = { added: [], removed: [], restarted: [], reshown: [], kept: [] } as Record<
        keyof Applied,
        string[]
      >;
      const leaving: Leaving[] = [];
      const wanted = new Set(definitions.map((each) => each.name));
      const entries = definitions.map((definition) => {
        const { what, entry, leaves } = this.#entryFor(definition);
        applied[what].push(definition.name);
        if (leaves) leaving.push(leaves);
        return entry;
      });
      for (const entry of this.#entries()) {
        const { name } = entry.source;
        if (wanted.has(name)) continue;
        if (configured.has(name)) {
          leaving.push({ entry, why: 'removed from', gone: () => undefined });
          applied.removed.push(name);
        } else entries.push(entry);
      }
      this.#gateway.swap(entries, { overall });
      for (const name of applied.removed) this.#definitions.delete(name);
      for (const definition of definitions) this.#definitions.set(definition.name, definition);
      for (const { entry, why, gone } of leaving) {
        const reason = `Server '${entry.source.name}' was ${why} the configuration.`;
        void entry.source.close({ reason, drainMs: this.#drainMs }).finally(gone);
      }
      return Promise.resolve(applied);
    });
  }

  #entryFor(definition: ServerDefinition): Fitted {
    const known = this.#definitions.get(definition.name);
    const entry = this.#entry(definition.name);
    if (known === undefined || entry === undefined) return { what: 'added', entry: this.#build(definition) };
    switch (compareServers(known, definition)) {
      case 'same':
        return { what: 'kept', entry };
      case 'shown':
        return { what: 'reshown', entry: { ...this.#build(definition), source: entry.source } };
      case 'process': {
        // The old one goes first: two of them might want the same port or file.
        let gone = (): void => undefined;
        const after = new Promise<void>((resolve) => {
          gone = resolve;
        });
        return {
          what: 'restarted',
          entry: this.#build(definition, after),
          leaves: { entry, why: 'changed in', gone },
        };
      }
    }
  }

  /** Puts a new entry in the place of the old one, which goes first. */
  #replace(definition: ServerDefinition): CatalogEntry {
    const { name } = definition;
    const old = this.#entry(name);
    // Only after the swap, so that no call finds a server that is being stopped.
    const closed = Promise.resolve().then(() =>
      old?.source.close({ reason: `Server '${name}' is being reloaded.`, drainMs: this.#drainMs }),
    );
    const entry = this.#build(definition, closed);
    this.#gateway.swap(
      this.#entries().map((each) => (each === old ? entry : each)),
      { quiet: true },
    );
    return entry;
  }

  /** Runs what is done to these servers when it is their turn. */
  #turn<T>(names: readonly string[], run: () => Promise<T>): Promise<T> {
    const before = names.flatMap((name) => this.#turns.get(name) ?? []);
    const turn = Promise.allSettled(before).then(run);
    for (const name of names) this.#turns.set(name, turn);
    const over = (): void => {
      for (const name of names) if (this.#turns.get(name) === turn) this.#turns.delete(name);
    };
    turn.then(over, over);
    return turn;
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
    return {
      definition: this.#definitions.get(source.name)!,
      state: source.state,
      tools: this.#tools(source.name),
    };
  }
}

/** How a definition that was read again fits what is there. */
interface Fitted {
  readonly what: 'added' | 'kept' | 'reshown' | 'restarted';
  readonly entry: CatalogEntry;
  /** What goes for it. */
  readonly leaves?: Leaving;
}

interface Leaving {
  readonly entry: CatalogEntry;
  readonly why: string;
  /** Called when nothing of it is left. */
  readonly gone: () => void;
}
