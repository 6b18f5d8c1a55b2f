import { SwitchboardError } from '../shared/errors.ts';
import type { ServerCandidate } from './candidate.ts';
import type { RemoteDefinition } from './definition.ts';
import { describeRemote } from './describe-remote.ts';
import { joinedWarnings, type ConfigWarning } from './problem.ts';
import { defineRemote } from './resolve.ts';
import type { RuntimeContext } from './runtime-server.ts';
import type { RemoteServer } from './schema/config.ts';

/** How to reach a remote server, as written in a configuration: references will be filled in. */
export type RemoteEntry = Pick<RemoteServer, 'type' | 'url' | 'headers' | 'isolation' | 'timeouts'>;

/**
 * Creates the definition of a server before it is written to a file. Throws a SwitchboardError SERVER_INVALID if it
 * cannot be used now, most likely because a variable is not set.
 */
export function defineRemoteServer(
  name: string,
  entry: RemoteEntry,
  context: Pick<RuntimeContext, 'settings' | 'directory' | 'suiteFiles' | 'env' | 'secrets'>,
): RemoteDefinition {
  const server = describeRemote(entry);
  const candidate: ServerCandidate = {
    name,
    file: '',
    path: [],
    directory: context.directory,
    definition: { kind: 'remote', server },
  };
  const warnings: ConfigWarning[] = [];
  const definition = defineRemote(candidate, server, {
    settings: context.settings,
    suiteFiles: context.suiteFiles ?? new Map(),
    env: context.env ?? process.env,
    secrets: context.secrets,
    warn: (warning) => void warnings.push(warning),
  });
  if (definition !== undefined) return definition;
  const reasons = joinedWarnings(warnings.filter(({ level }) => level === 'warn'));
  throw new SwitchboardError('SERVER_INVALID', `${reasons}.`, {
    hint: 'Set what is missing, or correct the entry.',
  });
}
