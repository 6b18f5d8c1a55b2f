import { storeUrlOf, type LoadedConfig } from '../../config/index.ts';
import type { Logger } from '../../shared/log.ts';
import type { Store } from '../../store/index.ts';

/** Connects to the store of a configuration; undefined where it has none. */
export async function openConfiguredStore(
  config: LoadedConfig,
  env: NodeJS.ProcessEnv,
  log: Logger,
): Promise<Store | undefined> {
  const url = storeUrlOf(config, env);
  if (url === undefined) return undefined;
  const { openStore } = await import('../../store/index.ts');
  return openStore({ url, group: config.settings.replica.group, log });
}
