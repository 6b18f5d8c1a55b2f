import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ProjectConfig } from '../../records/config/definition.ts';

/** How a worktree gets a file of the project. */
export type EnvKind = 'link' | 'copy';

/** Configured files that are missing, links first. */
export function envWarnings({ root, env }: Pick<ProjectConfig, 'root' | 'env'>): string[] {
  const absent = (item: string): boolean => !existsSync(join(root, item));
  return [
    ...env.link.filter(absent).map((item) => missingSource('link', item)),
    ...env.copy.filter(absent).map((item) => missingSource('copy', item)),
  ];
}

export function missingSource(kind: EnvKind, item: string): string {
  return `missing ${kind} source ${item}`;
}
