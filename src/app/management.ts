import { dirname, resolve } from 'node:path';
import {
  defineRuntimeServer,
  editConfig,
  entryForConfig,
  withoutServer,
  withServer,
  type LoadedConfig,
  type RuntimeEntry,
  type Settings,
} from '../config/index.ts';
import type { RemovalReason, OverallExposure } from '../gateway/index.ts';
import { managementTools, type ServerManager } from '../management/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { WorkspaceOptions } from './workspace.ts';

/** The tools that manage servers, as the configuration wants them. */
export function createManagementTools(
  options: Pick<WorkspaceOptions, 'config' | 'volatile' | 'callerMs' | 'persisted' | 'alone'> & {
    readonly manager: ServerManager;
    readonly management: Settings['management'];
  },
): OverallExposure {
  const { manager, management, config, volatile, callerMs, persisted, alone } = options;
  const edit = async (change: (text: string) => string, dryRun = false): Promise<void> => {
    const { file, directory } = config();
    await editConfig({ file, directory, change, dryRun });
  };
  return managementTools({
    manager,
    approval: management.approval,
    alwaysOn: volatile,
    callerMs,
    define: (name: string, entry: RuntimeEntry) => {
      const { settings, directory } = config();
      return defineRuntimeServer(name, entry, { settings, directory });
    },
    ...(management.persist
      ? {
          persist: {
            alone,
            // One that is turned off or cannot be used is the user's all the same.
            check: (name) => edit((text) => withoutTaken(text, name), true),
            added: async (name, entry) => {
              const written = entryForConfig(inItsDirectory(entry, config()));
              await edit((text) => withServer(withoutTaken(text, name), name, written));
              persisted(name, manager.find(name));
            },
            removed: async (name, { origin }) => {
              const { file } = config();
              if (origin.file !== '' && origin.file !== file)
                throw new SwitchboardError('CONFIG_NOT_EDITABLE', `It is defined in ${origin.file}.`, {
                  hint: 'Remove it there, or it returns when the configuration is reloaded.',
                });
              await edit((text) => withoutServer(text, name));
              persisted(name, undefined);
            },
          },
        }
      : {}),
  });
}

/** A relative directory was meant from the project; the user file counts from another place. */
function inItsDirectory(entry: RuntimeEntry, { file, directory }: LoadedConfig): RuntimeEntry {
  const { cwd = '' } = entry;
  if (cwd.trim() === '' || file === undefined || dirname(file) === directory) return entry;
  return { ...entry, cwd: resolve(directory, cwd) };
}

/** The text, if it has no server of that name. */
function withoutTaken(text: string, name: string): string {
  if (withoutServer(text, name) === text) return text;
  throw new SwitchboardError(
    'SERVER_EXISTS',
    `The configuration already has a server named ${JSON.stringify(name)}, which is disabled or not available.`,
    { hint: 'Choose another name.' },
  );
}

/** What a client can do that calls a tool which is no longer there. */
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
