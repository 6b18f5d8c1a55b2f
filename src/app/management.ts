import { defineRuntimeServer, type RuntimeEntry, type Settings } from '../config/index.ts';
import type { RemovalReason, OverallExposure } from '../gateway/index.ts';
import { managementTools, type ServerManager } from '../management/index.ts';
import type { WorkspaceOptions } from './workspace.ts';

/** The tools that manage servers, according to the configuration. */
export function createManagementTools(
  options: Pick<WorkspaceOptions, 'config' | 'volatile' | 'callerMs' | 'persisted' | 'alone'> & {
    readonly manager: ServerManager;
    readonly management: Settings['management'];
  },
): OverallExposure {
  const { manager, management, config, volatile, callerMs, persisted, alone } = options;
  return managementTools({
    manager,
    approval: management.approval,
    alwaysOn: volatile,
    callerMs,
    define: (name: string, entry: RuntimeEntry) => {
      const { settings, directory, secrets } = config();
      return defineRuntimeServer(name, entry, { settings, directory, secrets });
    },
    ...(management.persist
      ? {
          persist: {
            alone,
            check: async (name) => (await loadEdits()).refuseTaken(config(), name),
            added: async (name, entry) => {
              await (await loadEdits()).addToConfig(config(), name, entry);
              persisted(name, manager.find(name));
            },
            removed: async (name, definition) => {
              await (await loadEdits()).removeFromConfig(config(), name, definition);
              persisted(name, undefined);
            },
          },
        }
      : {}),
  });
}

/** Loads the code that adds servers to the configuration and removes them. Most clients never need it. */
const loadEdits = () => import('./edit-servers.ts');

/** What a client can do after calling a tool that no longer exists. */
export function adviceOnRemoval(server: string, why: RemovalReason): string {
  const named = `{"name":${JSON.stringify(server)}}`;
  switch (why) {
    case 'removed':
      return 'add_server can add it again. Call tools/list to see the available tools.';
    case 'crashed':
      return `reload_server ${named} restores it.`;
    case 'changed':
      return 'Call tools/list to see the available tools.';
  }
}
