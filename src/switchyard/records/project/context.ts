import { dirname, join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import type { ProjectConfig } from '../config/definition.ts';
import { readConfig } from '../config/read.ts';
import { prefixOf } from '../git/repository.ts';
import { realPath } from '../paths.ts';
import { innermost } from '../state/current-worktree.ts';
import { findYardConfig } from '../state/find-config.ts';
import { homeOf, type Home } from '../state/home.ts';
import { namedHere } from '../state/project-name.ts';
import { ensureProject } from '../state/project-record.ts';
import { recordedConfig } from '../state/recorded-config.ts';
import type { CheckoutRecord, ServiceRecord, ProjectRecord, State } from '../state/records.ts';
import { openRegistry, type Registry } from '../state/registry.ts';

/** Where a command was called, and for which project. */
export interface YardContext {
  readonly home: Home;
  readonly registry: Registry;
  readonly config: ProjectConfig;
  /** Without symbolic links. */
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Why the records were used instead of the project's file. Default: the file was used. */
  readonly problem?: SwitchboardError;
}

export interface ContextOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /**
   * Whether to fall back to the records if the file is broken or gone, so that running services can still be stopped.
   * Default false.
   */
  readonly orRecorded?: boolean;
}

/** Finds the project of a directory. Only reads. */
export function openContext(options: ContextOptions): YardContext {
  const { env } = options;
  const cwd = realPath(options.cwd);
  const home = homeOf(env);
  const registry = openRegistry(home);
  const base = { home, registry, cwd, env };
  const state = registry.read();
  const file = findYardConfig(state, cwd);
  try {
    if (file === undefined) throw noProject(cwd);
    return { ...base, config: namedHere(state, readConfig(file)) };
  } catch (problem) {
    const record = options.orRecorded === true ? recordFor(state, cwd, file) : undefined;
    if (record === undefined || !(problem instanceof SwitchboardError)) throw problem;
    return { ...base, config: recordedConfig(record), problem };
  }
}

function noProject(cwd: string): SwitchboardError {
  return new SwitchboardError(
    'NO_PROJECT',
    `No switchyard.toml was found in ${cwd} or its parent directories.`,
    {
      hint: 'Run `switchyard init` in your project, or change to a directory that has one.',
    },
  );
}

function recordFor(state: State, cwd: string, file: string | undefined): ProjectRecord | undefined {
  return file === undefined ? recordedProjectAt(state, cwd) : state.projects[realPath(dirname(file))];
}

/** The recorded project of a directory, given without symbolic links. */
export function projectRecordAt(state: State, directory: string): ProjectRecord | undefined {
  return recordFor(state, directory, findYardConfig(state, directory));
}

/** The recorded project of a directory, or of one of its worktrees. */
function recordedProjectAt({ projects }: State, directory: string): ProjectRecord | undefined {
  const candidates = Object.values(projects).flatMap((project) => [
    { path: project.root, project },
    ...Object.values(project.worktrees).flatMap(({ path }) =>
      [join(path, prefixOf(project.root)), path].map((location) => ({ path: location, project })),
    ),
  ]);
  return innermost(candidates, directory)?.project;
}

/**
 * Ensures that the project has a record and a name, and returns the context with that name: another project may have
 * taken it since, or the user may have chosen one. Call it under the lock of the project.
 */
export async function claimName(context: YardContext): Promise<YardContext> {
  const { registry, config } = context;
  const state = registry.read();
  const record = state.projects[config.root];
  const isClaimed = record !== undefined && record.name === namedHere(state, config).name;
  const named = isClaimed
    ? namedHere(state, config)
    : await registry.change((changed) => {
        ensureProject(changed, config);
        return namedHere(changed, config);
      });
  return named === config ? context : { ...context, config: named };
}

export function projectRecord(context: YardContext): ProjectRecord | undefined {
  return context.registry.read().projects[context.config.root];
}

/** The recorded services of the project, of all branches. */
export function recordedServices(context: YardContext): ServiceRecord[] {
  return Object.values(projectRecord(context)?.services ?? {});
}

export function recordedCheckouts(context: YardContext): CheckoutRecord[] {
  return Object.values(projectRecord(context)?.checkouts ?? {});
}

/** Problems with the file or the records that did not prevent a command, as sentences. */
export function contextWarnings({ problem, registry }: YardContext): readonly string[] {
  const broken = problem === undefined ? [] : [`${problem.message} The last known records are used instead.`];
  return [...broken, ...registry.warnings];
}
