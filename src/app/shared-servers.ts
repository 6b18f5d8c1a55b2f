import { compareServers, type ServerDefinition } from '../config/index.ts';
import { SharedSource, type SharedSourceRole, type Source } from '../gateway/index.ts';
import type { Era, EraSupport } from '../protocol/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';

interface SharedServer {
  definition: ServerDefinition;
  readonly shared: SharedSource;
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

/** The servers that all clients of an HTTP door use together, by name. */
export class SharedServers {
  readonly #byName = new Map<string, SharedServer>();
  readonly #options: SharedServersOptions;

  constructor(options: SharedServersOptions) {
    this.#options = options;
  }

  /**
   * A source for one client, which speaks this era. If its definition has changed, or with `restart`, the server is
   * restarted for all of them.
   */
  join(definition: ServerDefinition, restart: boolean, era: Era): Source {
    const { make, support, log } = this.#options;
    const { name } = definition;
    const known = this.#byName.get(name);
    if (known === undefined) {
      const shared: SharedSource = new SharedSource({
        make: (role, after) => make(entry.definition, role, after),
        support: () => support(entry.definition),
      });
      const entry: SharedServer = { definition, shared };
      this.#byName.set(name, entry);
      return shared.join(era);
    }
    const isOther = compareServers(known.definition, definition) === 'process';
    known.definition = definition;
    if (restart || isOther) {
      const reason = `Server '${name}' is being ${restart ? 'reloaded' : 'changed'}.`;
      known.shared
        .replace({ reason, drainMs: DRAIN_MS })
        .catch((error: unknown) => log.error('could not stop', { server: name, reason: messageOf(error) }));
    }
    return known.shared.join(era);
  }

  /** Those that a configuration does not have any more end, each after its running calls. */
  async keepOnly(names: ReadonlySet<string>): Promise<void> {
    const gone = [...this.#byName].filter(([name]) => !names.has(name));
    for (const [name] of gone) this.#byName.delete(name);
    await Promise.all(
      gone.map(([name, { shared }]) =>
        shared.close({ reason: `Server '${name}' was removed.`, drainMs: DRAIN_MS }),
      ),
    );
  }

  async close(): Promise<void> {
    await Promise.all([...this.#byName.values()].map(({ shared }) => shared.close()));
  }
}

/** How long running calls of a server that is replaced or removed may still finish, in milliseconds. */
const DRAIN_MS = 2000;
