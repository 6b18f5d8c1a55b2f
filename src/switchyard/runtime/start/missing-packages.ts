import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { packageManagerOf } from '../../records/project/package-manager.ts';
import { filesOf } from '../../records/project/project-files.ts';

/**
 * A common reason why one branch does not start although another one does: its worktree is new, and the packages of its
 * package.json are not installed. At most one sentence, with the next step.
 */
export function missingPackages(worktree: string): readonly string[] {
  const files = filesOf(worktree);
  const manifest = files.text('package.json');
  if (!/"(?:dev)?dependencies"\s*:\s*\{\s*"/i.test(manifest)) return [];
  if (files.has('.pnp.cjs') || isInstalled(worktree)) return [];
  const requested = /"packageManager"\s*:\s*"([^"]*)"/.exec(manifest)?.[1];
  const install = `${packageManagerOf(files, requested)} install`;
  return [`${worktree} has no node_modules; run \`${install}\` there, then run this command again.`];
}

/** Packages in a parent directory count too. */
function isInstalled(directory: string): boolean {
  if (existsSync(join(directory, 'node_modules'))) return true;
  const above = dirname(directory);
  return above !== directory && isInstalled(above);
}
