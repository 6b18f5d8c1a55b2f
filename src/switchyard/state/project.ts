import type { ProjectConfig } from '../config/definition.ts';
import type { ProjectRecord, State } from './records.ts';
import { timestamp } from './timestamp.ts';

/** The entry of the project in the state, made or brought up to date; to be called inside `change`. */
export function ensureProject(
  state: State,
  config: Pick<ProjectConfig, 'name' | 'slug' | 'root' | 'file'>,
): ProjectRecord {
  const now = timestamp();
  const facts = { name: config.name, slug: config.slug, root: config.root, config: config.file };
  const known = state.projects[config.root];
  if (known === undefined) {
    const made = { ...facts, created_at: now, updated_at: now };
    const maps = { worktrees: emptyMap<never>(), services: emptyMap<never>(), checkouts: emptyMap<never>() };
    return (state.projects[config.root] = { ...made, ...maps });
  }
  const same = known.name === facts.name && known.slug === facts.slug && known.config === facts.config;
  // A time that changes at every command would have the file written at every command.
  return same ? known : Object.assign(known, facts, { updated_at: now });
}

/** Takes the worktree of a path out of the records, under whatever branch it stands there. */
export function forgetWorktree(project: ProjectRecord | undefined, path: string): void {
  const worktrees = project?.worktrees ?? {};
  for (const [key, record] of Object.entries(worktrees)) {
    if (record.path === path) Reflect.deleteProperty(worktrees, key);
  }
}

/** Without a prototype, so that a branch called "constructor" finds nothing. */
function emptyMap<T>(): Record<string, T> {
  return Object.create(null) as Record<string, T>;
}
