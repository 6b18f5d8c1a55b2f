import { openContext, openProject, type YardContext } from '../../switchyard/index.ts';
import { printableLine } from '../../shared/printable.ts';
import type { CommandOutcome } from '../command.ts';

export interface InYardOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Whether the records are enough if the file is unreadable. Default false. */
  readonly orRecorded?: boolean;
  /** A project by name or path. Default: the project of the directory. */
  readonly project?: string | undefined;
}

/** Runs `work` for the project of a directory, or a named one. Prints problems with the records to stderr. */
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
  const prefixed = warnings.map((warning) => `warning: ${printableLine(warning)}\n`).join('');
  return { ...outcome, complaint: prefixed + (outcome.complaint ?? '') };
}
