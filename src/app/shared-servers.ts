import { compareServers, type ServerDefinition } from '../config/index.ts';
import { SharedSource, type Source } from '../gateway/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';

/** The servers that all clients of an HTTP door use together, by name. */
export class SharedServers {
  readonly #byName = new Map<string, { definition: ServerDefinition; shared: SharedSource }>();
  readonly #log: Logger;
  readonly #make: (definition: ServerDefinition, after: Promise<unknown> | undefined) => Source;

  constructor(
    make: (definition: ServerDefinition, after: Promise<unknown> | undefined) => Source,
    log: Logger,
  ) {
    this.#make = make;
    this.#log = log;
  }

  /** A source for one client. If its definition has changed, or with `restart`, it is restarted for all of them. */
  join(definition: ServerDefinition, restart: boolean): Source {
    const { name } = definition;
    const known = this.#byName.get(name);
    if (known === undefined) {
      const shared = new SharedSource(this.#make(definition, undefined));
      this.#byName.set(name, { definition, shared });
      return shared.join();
    }
    if (restart || compareServers(known.definition, definition) === 'process') {
      const reason = `Server '${name}' is being ${restart ? 'reloaded' : 'changed'}.`;
      known.shared
        .replace((after) => this.#make(definition, after), { reason, drainMs: DRAIN_MS })
        .catch((error: unknown) =>
          this.#log.error('could not stop', { server: name, reason: messageOf(error) }),
        );
    }
    known.definition = definition;
    return known.shared.join();
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
