import {
  recordedServices,
  gitIn,
  homeOf,
  listWorktrees,
  openContext,
  openRegistry,
  resolveBranch,
} from '../../switchyard/index.ts';
import type { CompletedProgram, Completion } from '../kit/completion/candidates.ts';

export interface NamesOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The names that completion offers for an argument of `switchyard`. */
export function yardNames(options: NamesOptions): CompletedProgram['names'] {
  return (kind, { command }) => names(KINDS.get(`${command} ${kind}`) ?? kind, options);
}

/** Arguments with a different meaning in one command. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ['create branch', 'ref'],
  ['mcp unregister name', 'alias'],
]);

async function names(kind: string, options: NamesOptions): Promise<readonly Completion[]> {
  const records = () => openRegistry(homeOf(options.env)).read();
  switch (kind) {
    case 'project':
      return Object.values(records().projects).map(({ name, root }) => [name, root]);
    case 'alias':
      return Object.entries(records().project_aliases);
    case 'service':
      return openContext(options).config.services.map(({ name, command }) => [name, command]);
    case 'profile':
      return openContext(options).config.profiles.map(({ name, services }) => [name, services.join(', ')]);
    case 'ref': {
      const { config, env } = openContext(options);
      const git = gitIn(config.root, env);
      const found = await git(['for-each-ref', '--format=%(refname:short)', 'refs/heads', 'refs/tags']);
      return found
        .split('\n')
        .filter((name) => name !== '')
        .map((name) => [name, '']);
    }
    case 'branch': {
      const yard = openContext(options);
      const services = recordedServices(yard);
      const found = new Map([
        ...services.map(({ branch, worktree }) => [branch, worktree] as const),
        ...(await listWorktrees(yard)).map(({ branch, path }) => [branch, path] as const),
      ]);
      const here = await resolveBranch(yard);
      return [...found.set(here.branch, here.worktree)];
    }
    default:
      return [];
  }
}
