import { homeOf, openRegistry } from '../../switchyard/index.ts';
import { candidates, type Completion } from '../completion/candidates.ts';
import { YARD_TOP_FLAGS, YARD_FLAGS } from './command.ts';
import { YARD_COMMANDS } from './commands.ts';

export interface CandidateOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Completions for the last word of a `switchyard` command line. */
export function yardCandidates(
  typed: readonly string[],
  options: CandidateOptions,
): Promise<readonly string[]> {
  return candidates(typed, {
    commands: YARD_COMMANDS,
    topFlags: YARD_TOP_FLAGS,
    commonFlags: YARD_FLAGS,
    names: (kind, { command }) => names(KINDS.get(`${command} ${kind}`) ?? kind, options),
  });
}

/** Arguments with a different meaning in one command. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['create branch', 'ref'],
  ['mcp unregister name', 'alias'],
]);

function recordsOf({ env }: CandidateOptions): ReturnType<ReturnType<typeof openRegistry>['read']> {
  return openRegistry(homeOf(env)).read();
}

async function names(kind: string, options: CandidateOptions): Promise<readonly Completion[]> {
  switch (kind) {
    case 'branch':
    case 'service':
    case 'profile':
    case 'ref': {
      const { projectNames } = await import('./project-names.ts');
      return projectNames(kind, options);
    }
    case 'project':
      return Object.values(recordsOf(options).projects).map(({ name, root }) => [name, root]);
    case 'alias':
      return Object.entries(recordsOf(options).project_aliases);
    default:
      return [];
  }
}
