import { join } from 'node:path';
import { connectionSettings, type LoadedConfig, type ServerDefinition } from '../config/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { stateDirectory } from '../shared/paths.ts';
import type { Store } from '../store/index.ts';
import { addServerRecord, serverCacheKey } from '../upstream/index.ts';

/** Lists that no gateway has confirmed for this long are forgotten, in milliseconds. */
const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** The directory where the lists of servers are kept between runs. */
export function listsDirectory(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), 'servers');
}

/** Identifies a server and how it is reached. */
export function listsKey(server: ServerDefinition): string {
  return serverCacheKey(server.kind, connectionSettings(server));
}

/** Loads what other replicas remember about servers that this machine does not know. */
export async function recallLists(
  store: Store,
  { servers }: LoadedConfig,
  env: NodeJS.ProcessEnv,
  log: Logger,
): Promise<void> {
  try {
    for (const server of servers) {
      const key = listsKey(server);
      const record = await store.get(keyOf(key));
      if (record !== undefined) addServerRecord(listsDirectory(env), key, record);
    }
  } catch (error) {
    log.debug('the lists of other replicas are not used', { reason: messageOf(error) });
  }
}

/** Shares what was learnt about a server. */
export function shareLists(store: Store, key: string, record: string, log: Logger): void {
  store
    .set(keyOf(key), record, KEPT_MS)
    .catch((error: unknown) => log.debug('lists are not shared', { reason: messageOf(error) }));
}

function keyOf(key: string): string {
  return `lists:${key}`;
}
