import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { didYouMean } from '../../../shared/nearest.ts';
import { shellWord } from '../../../shared/shell-word.ts';
import { readConfig } from '../config/read.ts';
import { slug } from '../names.ts';
import { expandHome, realPath } from '../paths.ts';
import { homeOf } from '../state/home.ts';
import { namedHere } from '../state/project-name.ts';
import { recordedConfig } from '../state/recorded-config.ts';
import type { ProjectRecord, State } from '../state/records.ts';
import { openRegistry, type Registry } from '../state/registry.ts';
import { projectRecordAt, type YardContext } from './context.ts';

export interface NamedProject {
  /** The name of a project, or a path in it, relative to `cwd`. A path contains a slash or starts with `.` or `~`. */
  readonly project: string;
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Opens a project of this machine from any directory, even if its directory is gone. Only reads. */
export function openProject({ project, cwd, env }: NamedProject): YardContext {
  const registry = openRegistry(homeOf(env));
  return contextOf(findProject(registry.read(), project, cwd), registry, env);
}

/** The context of a recorded project, as if a command was called at its root. */
export function contextOf(record: ProjectRecord, registry: Registry, env: NodeJS.ProcessEnv): YardContext {
  const base = { home: registry.home, registry, cwd: record.root, env };
  // A missing directory is no problem to report: the caller named this project in spite of it.
  if (!existsSync(record.root)) return { ...base, config: recordedConfig(record) };
  try {
    return { ...base, config: namedHere(registry.read(), readConfig(record.config)) };
  } catch (problem) {
    if (!(problem instanceof SwitchboardError)) throw problem;
    return { ...base, config: recordedConfig(record), problem };
  }
}

function findProject(state: State, given: string, cwd: string): ProjectRecord {
  const all = Object.values(state.projects);
  if (isPath(given)) {
    const path = realPath(resolve(cwd, expandHome(given)));
    const found = state.projects[path] ?? (existsSync(path) ? projectRecordAt(state, path) : undefined);
    if (found !== undefined) return found;
    throw unknown(`No recorded project contains ${path}.`, undefined);
  }
  const [found, ...others] = all.filter((each) => slug(each.name) === slug(given));
  // Only records of an earlier version contain duplicate names.
  if (found !== undefined && others.length > 0) {
    const roots = [found, ...others].map(({ root }) => root);
    throw new SwitchboardError(
      'PROJECT_AMBIGUOUS',
      `Several projects are called ${given}: ${roots.join(', ')}.`,
      {
        hint: `Use its path, for example: --project ${shellWord(found.root)}`,
      },
    );
  }
  if (found !== undefined) return found;
  const names = all.map(({ name }) => name);
  throw unknown(`Project ${JSON.stringify(given)} not found.`, didYouMean(given, names));
}

function isPath(given: string): boolean {
  return given.includes('/') || /^[.~]/.test(given);
}

function unknown(message: string, guess: string | undefined): SwitchboardError {
  const hint = `${guess ?? ''} \`switchyard status --all\` lists all projects on this machine.`.trim();
  return new SwitchboardError('PROJECT_UNKNOWN', message, { hint });
}
