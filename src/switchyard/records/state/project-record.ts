import type { ProjectConfig } from '../config/definition.ts';
import { slug } from '../names.ts';
import { isProjectGone, localNameIn } from './project-name.ts';
import { timestamp, type LocalName, type ProjectRecord, type State } from './records.ts';

type Known = Pick<ProjectConfig, 'name' | 'writtenName' | 'root' | 'file'>;

/** Creates or updates the record of the project. Call it inside `change`. */
export function ensureProject(state: State, config: Known): ProjectRecord {
  const { name, writtenName = name, root, file } = config;
  const local = localNameIn(state, config);
  const now = timestamp();
  const here = local?.name ?? writtenName;
  const facts = { name: here, slug: slug(here), root, config: file };
  const known = state.projects[root];
  if (known === undefined) {
    forgetGone(state, here);
    const made = { ...facts, created_at: now, updated_at: now };
    const maps = { worktrees: emptyMap<never>(), services: emptyMap<never>(), checkouts: emptyMap<never>() };
    return (state.projects[root] = called({ ...made, ...maps }, local));
  }
  const same = known.name === facts.name && known.slug === facts.slug && known.config === facts.config;
  // A timestamp that changes with every command would cause a write with every command.
  if (same && known.local_name === local) return known;
  if (known.name !== here) forgetGone(state, here);
  return called(Object.assign(known, facts, { updated_at: now }), local);
}

function called(project: ProjectRecord, local: LocalName | undefined): ProjectRecord {
  if (local === undefined) delete project.local_name;
  else project.local_name = local;
  return project;
}

/** Forgets projects of this name that are gone, so that they do not claim it if they come back. */
function forgetGone(state: State, name: string): void {
  for (const [root, project] of Object.entries(state.projects)) {
    if (isProjectGone(project) && slug(project.name) === slug(name))
      Reflect.deleteProperty(state.projects, root);
  }
}

/** Removes the worktree with this path from the records, whatever its branch. */
export function forgetWorktree({ worktrees }: ProjectRecord, path: string): void {
  for (const [key, record] of Object.entries(worktrees)) {
    if (record.path === path) Reflect.deleteProperty(worktrees, key);
  }
}

/** The same for a worktree that was deleted. Projects of one repository share their worktrees. */
export function forgetDeletedWorktree(state: State, path: string): void {
  for (const project of Object.values(state.projects)) forgetWorktree(project, path);
}

/** Without a prototype, so that a branch called "constructor" is not found. */
function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
