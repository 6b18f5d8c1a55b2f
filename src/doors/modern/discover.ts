import { isObject } from '../../shared/is-object.ts';
import type { CatalogEntry } from '../../gateway/index.ts';
import { LEGACY_VERSIONS, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import { serverCapabilities } from '../server-identity.ts';
import type { Attempt, AttemptHandler } from './attempt.ts';
import type { ModernEndpoint } from './endpoint.ts';
import { modernResult } from './modern-meta.ts';

/** How long server/discover waits for servers that have never run, and how often it checks, in milliseconds. */
const SERVER_INFO_WAIT_MS = 1500;
const RECHECK_MS = 25;

/** How long a client may cache the result, in milliseconds. */
const TTL_MS = 60_000;

/** A `server/discover` of a modern client. */
export class DiscoverRequest implements AttemptHandler {
  readonly listens = false;
  readonly #endpoint: ModernEndpoint;
  readonly #attempt: Attempt;
  #over = false;

  constructor(endpoint: ModernEndpoint, attempt: Attempt) {
    this.#endpoint = endpoint;
    this.#attempt = attempt;
  }

  /**
   * Only the servers themselves know their extensions. Waits a moment for those that have never run and start with the
   * first request anyway.
   */
  async run(): Promise<void> {
    const { entries } = this.#endpoint.gateway.catalog;
    const until = performance.now() + SERVER_INFO_WAIT_MS;
    const isUnknown = ({ source, exposure }: CatalogEntry): boolean =>
      exposure.needsTools && source.about() === undefined && source.problem === undefined;
    while (!this.#over && entries.some(isUnknown) && performance.now() < until)
      await new Promise((resolve) => setTimeout(resolve, RECHECK_MS));
    this.stop();
  }

  cancel(): void {
    this.#over = true;
  }

  stop(): void {
    if (this.#over) return;
    this.#over = true;
    this.#endpoint.answer(this.#attempt, discoverResult(this.#endpoint));
  }
}

function discoverResult({ identity, gateway, serverInfo }: ModernEndpoint): string {
  const instructions = identity.instructions();
  return modernResult(
    {
      supportedVersions: [MODERN_VERSION, ...LEGACY_VERSIONS],
      capabilities: serverCapabilities(identity, gateway.kinds, extensionsOf(gateway.catalog.entries)),
      ...(instructions === '' ? {} : { instructions }),
      ttlMs: TTL_MS,
      cacheScope: 'private',
    },
    'server/discover',
    serverInfo,
  );
}

/** The capability with the extensions of all servers, which we relay. */
function extensionsOf(entries: readonly CatalogEntry[]): JsonObject {
  const all: JsonObject = {};
  for (const { source } of entries) {
    const extensions = source.about()?.capabilities.extensions;
    if (isObject(extensions)) Object.assign(all, extensions);
  }
  return Object.keys(all).length > 0 ? { extensions: all } : {};
}
