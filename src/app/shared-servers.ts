import { compareServers, type ServerDefinition } from '../config/index.ts';
import { SharedSource, type SharedSourceRole, type Source } from '../gateway/index.ts';
import type { Era, EraSupport } from '../protocol/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';

interface SharedServer {
  definition: ServerDefinition;
  readonly shared: SharedSource;
  /** The replacement in progress, and its new definition. */
  replacing?: { readonly definition: ServerDefinition; readonly done: Promise<void> } | undefined;
}

export interface SharedServersOptions {
  readonly make: (
    definition: ServerDefinition,
    role: SharedSourceRole,
    after: Promise<unknown> | undefined,
  ) => Source;
  /** The eras that a server supports. */
  readonly support: (definition: ServerDefinition) => EraSupport;
  readonly log: Logger;
}

/** The servers that all clients of an HTTP door share, by name. */
export class SharedServers {
  readonly #byName = new Map<string, SharedServer>();
  readonly #options: SharedServersOptions;

  constructor(options: SharedServersOptions) {
    this.#options = options;
  }

  /**
   * A source for one client of this era. If the server's definition has changed, or with `restart`, the server is
   * replaced for all clients. The old one stays until the new one runs, unless it has to be stopped first.
   */
  join(definition: ServerDefinition, era: Era, how: { restart: boolean; stopFirst: boolean }): Source {
    const known = this.#byName.get(definition.name);
    if (known === undefined) return this.#open(definition).join(era);
    const isOther = compareServers(known.replacing?.definition ?? known.definition, definition) === 'process';
    if (how.restart || isOther) this.#replace(known, definition, how);
    else if (known.replacing === undefined) known.definition = definition;
    return known.shared.join(era, known.replacing?.done);
  }

  /** Ends all other servers that no client uses, each after its running calls. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#byName].filter(([name, { shared }]) => !names.has(name) && !shared.inUse);
    for (const [name] of gone) this.#byName.delete(name);
    await Promise.all(
      gone.map(([name, { shared }]) =>
        shared
          .close({ reason: `Server '${name}' was removed.`, drainMs: DRAIN_MS })
          .catch((error: unknown) => this.#failedToStop(name, error)),
      ),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map(({ shared }) => shared.close()));
  }

  #open(definition: ServerDefinition): SharedSource {
    const { make, support } = this.#options;
    const { name } = definition;
    const shared: SharedSource = new SharedSource({
      make: (role, after) => make(server.definition, role, after),
      support: () => support(server.definition),
      failedToStop: (error) => this.#failedToStop(name, error),
    });
    const server: SharedServer = { definition, shared };
    this.#byName.set(name, server);
    return shared;
  }

  #replace(
    server: SharedServer,
    definition: ServerDefinition,
    { restart, stopFirst }: { restart: boolean; stopFirst: boolean },
  ): void {
    const reason = `Server '${definition.name}' is being ${restart ? 'reloaded' : 'changed'}.`;
    const replace = async (): Promise<void> => {
      await server.shared.replace(
        { reason, drainMs: DRAIN_MS },
        { make: (role, after) => this.#options.make(definition, role, after), stopFirst },
      );
      server.definition = definition;
    };
    const done = server.replacing?.done.then(replace, replace) ?? replace();
    const replacing = { definition, done };
    server.replacing = replacing;
    const over = (): void => {
      if (server.replacing === replacing) server.replacing = undefined;
    };
    done.then(over, over);
  }

  #failedToStop(server: string, error: unknown): void {
    this.#options.log.error('could not stop', { server, reason: messageOf(error) });
  }
}

/** How long running calls of a replaced or removed server may take to finish, in milliseconds. */
const DRAIN_MS = 2000;
