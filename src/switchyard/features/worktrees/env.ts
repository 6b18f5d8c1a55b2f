import { existsSync, mkdirSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isThere } from '../../../shared/is-there.ts';
import type { ProjectConfig } from '../../records/config/definition.ts';
import { isInside, realPath } from '../../records/paths.ts';
import { copyWhole } from './copy.ts';
import { missingSource, type EnvKind } from './env-warnings.ts';

export interface EnvSync {
  readonly root: string;
  /** The directory in the worktree that corresponds to the root. */
  readonly worktree: string;
  readonly env: ProjectConfig['env'];
  /** Whether to replace existing files. Default false. */
  readonly force?: boolean | undefined;
}

/**
 * Links and copies the configured files of the project into a worktree; returns what was done for each. Validates all
 * of them first: if one would leave the project or the worktree, nothing is changed.
 */
export async function syncEnv({ root, worktree, env, force = false }: EnvSync): Promise<string[]> {
  const plans = [
    ...env.link.map((item) => plan('link', item, root, worktree)),
    ...env.copy.map((item) => plan('copy', item, root, worktree)),
  ];
  const actions: string[] = [];
  for (const { kind, item, source, target } of plans) {
    if (source === undefined) actions.push(missingSource(kind, item));
    else if (source === target || (isThere(target) && !force)) actions.push(`kept existing ${item}`);
    else {
      mkdirSync(dirname(target), { recursive: true });
      rmSync(target, { recursive: true, force: true });
      if (kind === 'copy') await copyWhole(source, target);
      else symlinkSync(source, target, statSync(source).isDirectory() ? 'junction' : 'file');
      actions.push(`${kind === 'copy' ? 'copied' : 'linked'} ${item}`);
    }
  }
  return actions;
}

/** Rejects files outside the project, before anything is created. */
export function checkEnvSources({ root, env }: Pick<ProjectConfig, 'root' | 'env'>): void {
  for (const item of [...env.link, ...env.copy]) sourceOf(root, item);
}

/** Files that the project has and a worktree does not. */
export function lackingEnv({ root, worktree, env }: Pick<EnvSync, 'root' | 'worktree' | 'env'>): string[] {
  return [...env.link, ...env.copy].filter(
    (item) => existsSync(join(root, item)) && !isThere(join(worktree, item)),
  );
}

interface Plan {
  readonly kind: EnvKind;
  readonly item: string;
  /** Undefined if it does not exist. */
  readonly source: string | undefined;
  readonly target: string;
}

function plan(kind: EnvKind, item: string, root: string, worktree: string): Plan {
  const source = sourceOf(root, item);
  // The target itself is kept or replaced, never followed, so only its directory must be inside.
  const wanted = join(worktree, item);
  const target = join(realPath(dirname(wanted)), basename(wanted));
  if (!isInside(realPath(worktree), target)) {
    throw escapes(
      `env target escapes worktree: ${item}`,
      'A directory in the path is a symbolic link that points elsewhere.',
    );
  }
  return { kind, item, source, target };
}

/** Undefined if it does not exist. */
function sourceOf(root: string, item: string): string | undefined {
  const source = realPath(join(root, item));
  if (!isInside(realPath(root), source)) {
    throw escapes(
      `env source escapes project root: ${item}`,
      'Name files inside the project, after following links.',
    );
  }
  return existsSync(source) ? source : undefined;
}

function escapes(message: string, hint: string): SwitchboardError {
  return new SwitchboardError('ENV_ESCAPES', message, { hint });
}
