import { SwitchboardError } from './errors.ts';
import { didYouMean } from './nearest.ts';

/** The error for a name that no server has, with the nearest of those there are. */
export function unknownServer(name: string, known: readonly string[]): SwitchboardError {
  const all = known.length === 0 ? 'No server is configured.' : `Available: ${known.join(', ')}.`;
  const hint = didYouMean(name, known) ?? all;
  return new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
}
