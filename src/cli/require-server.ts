import type { LoadedConfig, ServerDefinition } from '../config/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import { selectServers } from './probe-servers.ts';

/** The server of a name; where there is none, the error also says what can be done about that here. */
export function requireServer(config: LoadedConfig, name: string, otherwise: string): ServerDefinition {
  try {
    return selectServers(config, [name])[0]!;
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== 'SERVER_UNKNOWN') throw error;
    const hint = [error.hint, otherwise].filter((text) => text !== undefined).join(' ');
    throw new SwitchboardError(error.code, error.message, { hint });
  }
}
