import type { LoadedConfig } from '../config/index.ts';
import type { AppliedChanges } from '../management/index.ts';
import { messageOf } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import type { Workspaces } from './workspaces.ts';

/** Applies a reloaded configuration to the servers of all workspaces. */
export async function reconfigure(
  workspaces: Workspaces,
  next: LoadedConfig,
  log: Logger,
): Promise<AppliedChanges> {
  const { main, current } = workspaces;
  const before = current.config;
  current.config = next;
  const applied = await main.apply().catch((error: unknown) => {
    current.config = before;
    throw error;
  });
  // A client that is just leaving must not keep the others from the new configuration.
  const others = [...workspaces.all].filter((each) => each !== main);
  const failed = [applied.failed];
  for (const result of await Promise.allSettled(others.map((each) => each.apply()))) {
    if (result.status === 'fulfilled') failed.push(result.value.failed);
    else log.warn('a client keeps the old configuration', { reason: messageOf(result.reason) });
  }
  await workspaces.endUnusedShared();
  const settled = Promise.all(failed).then(async (names) => {
    await workspaces.endUnusedShared();
    return [...new Set(names.flat())];
  });
  return { ...applied, failed: settled };
}
