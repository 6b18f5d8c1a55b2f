import { openContext, openProject, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';

export interface InYardOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether what the records know of the project will do. Default false. */
  readonly orRecorded?: boolean;
  /** A project by its name or its path. Default: the one of the directory. */
  readonly project?: string | undefined;
}

/** Does something for the project of a directory, or one that is named. What was wrong with the records is said on stderr. */
export async function inYard(
  options: InYardOptions,
  work: (yard: YardContext) => Promise<CommandOutcome>,
): Promise<CommandOutcome> {
  const { project } = options;
  const yard = project === undefined ? openContext(options) : await openProject({ ...options, project });
  const outcome = await work(yard);
  const { problem, registry } = yard;
  const warnings = [
    ...(problem === undefined ? [] : [`${problem.message} The last known records are used instead.`]),
    ...registry.warnings,
  ];
  if (warnings.length === 0) return outcome;
  const told = warnings.map((warning) => `warning: ${printableLine(warning)}\n`).join('');
  return { ...outcome, complaint: told + (outcome.complaint ?? '') };
}
