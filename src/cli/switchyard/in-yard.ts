import { openContext, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { Outcome } from '../command.ts';

export interface InYardOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether what the records know of the project will do. Default false. */
  readonly orRecorded?: boolean;
}

/** Does something for the project of a directory. What was wrong with the records is said on stderr. */
export async function inYard(
  options: InYardOptions,
  work: (yard: YardContext) => Promise<Outcome>,
): Promise<Outcome> {
  const yard = openContext(options);
  const outcome = await work(yard);
  const { problem, registry } = yard;
  const warnings = [
    ...(problem === undefined ? [] : [`${problem.message} What is known from before is used.`]),
    ...registry.warnings,
  ];
  if (warnings.length === 0) return outcome;
  const told = warnings.map((warning) => `warning: ${printableLine(warning)}\n`).join('');
  return { ...outcome, complaint: told + (outcome.complaint ?? '') };
}
