import type { BuiltinDefinition } from '../../../config/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { openBoundProject, bindProject } from '../../../switchyard/index.ts';
import type { ServerProblem } from './check-server.ts';

/** The project of a built-in server, and what is wrong with it. */
export function projectOf(
  { directory, project }: BuiltinDefinition,
  env: NodeJS.ProcessEnv,
): { readonly root: string | null; readonly problems: readonly ServerProblem[] } {
  try {
    const { config } = openBoundProject(bindProject({ directory, project }, env), env);
    return { root: config.root, problems: [] };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return { root: null, problems: [{ message: error.message, hint: error.hint ?? 'Correct "project".' }] };
  }
}
