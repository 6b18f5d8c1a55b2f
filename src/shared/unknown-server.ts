import { SwitchboardError } from './errors.ts';
import { didYouMean } from './nearest.ts';

/** The error for an unknown server name, with the most similar known ones. */
export function unknownServer(name: string, known: readonly string[]): SwitchboardError {
  const all = known.length === 0 ? 'No server is configured.' : `Available: ${known.join(', ')}.`;
  const hint = didYouMean(name, known) ?? all;
  return new SwitchboardError('SERVER_UNKNOWN', `No server named ${JSON.stringify(name)}.`, { hint });
}
