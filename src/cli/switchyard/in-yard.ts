import { openContext, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { Outcome } from '../command.ts';
import type { Place } from './command.ts';

/** Does something for the project that we stand in. What was wrong with the records is said on stderr. */
export async function inYard(
  { cwd, env }: Place,
  work: (yard: YardContext) => Promise<Outcome>,
): Promise<Outcome> {
  const yard = openContext({ cwd, env });
  const outcome = await work(yard);
  const { warnings } = yard.registry;
  if (warnings.length === 0) return outcome;
  const told = warnings.map((warning) => `warning: ${printableLine(warning)}\n`).join('');
  return { ...outcome, complaint: told + (outcome.complaint ?? '') };
}
