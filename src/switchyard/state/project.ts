import type { ProjectConfig } from '../config/definition.ts';
import { slug } from '../names.ts';
import { isProjectGone, localNameIn } from './project-name.ts';
import type { LocalName, ProjectRecord, State } from './records.ts';
import { timestamp } from './timestamp.ts';

type Known = Pick<ProjectConfig, 'name' | 'writtenName' | 'root' | 'file'>;

/** The entry of the project in the state, made or brought up to date; to be called inside `change`. */
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
  // A time that changes at every command would have the file written at every command.
  if (same && known.local_name === local) return known;
  if (known.name !== here) forgetGone(state, here);
  return called(Object.assign(known, facts, { updated_at: now }), local);
}

function called(project: ProjectRecord, local: LocalName | undefined): ProjectRecord {
  if (local === undefined) delete project.local_name;
  else project.local_name = local;
  return project;
}

/** Forgets projects of this name of which nothing is left, so that they do not claim it when they come back. */
function forgetGone(state: State, name: string): void {
  for (const [root, project] of Object.entries(state.projects)) {
    if (isProjectGone(project) && slug(project.name) === slug(name))
      Reflect.deleteProperty(state.projects, root);
  }
}

/** Takes the worktree of a path out of the records, under whatever branch it stands there. */
export function forgetWorktree({ worktrees }: ProjectRecord, path: string): void {
  for (const [key, record] of Object.entries(worktrees)) {
    if (record.path === path) Reflect.deleteProperty(worktrees, key);
  }
}

/** The same for one that is no more. Projects of one repository share their worktrees. */
export function forgetDeletedWorktree(state: State, path: string): void {
  for (const project of Object.values(state.projects)) forgetWorktree(project, path);
}

/** Without a prototype, so that a branch called "constructor" finds nothing. */
function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
