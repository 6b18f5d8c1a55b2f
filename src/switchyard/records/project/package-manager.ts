import type { ProjectFiles } from './project-files.ts';

export type PackageManager = 'npm' | 'pnpm' | 'yarn' | 'bun';

/** The one requested in package.json, otherwise the one whose lockfile exists. */
export function packageManagerOf(files: ProjectFiles, requested: unknown): PackageManager {
  const name = typeof requested === 'string' ? requested.split('@', 1)[0] : undefined;
  const known = (['npm', 'pnpm', 'yarn', 'bun'] as const).find((each) => each === name);
  if (known !== undefined) return known;
  if (files.has('pnpm-lock.yaml')) return 'pnpm';
  if (files.has('yarn.lock')) return 'yarn';
  return files.has('bun.lock') || files.has('bun.lockb') ? 'bun' : 'npm';
}

/** The command line that runs a script. npm keeps flags for itself unless `--` comes first; pnpm would pass that on. */
export function scriptCommand(manager: PackageManager, script: string, flags: string): string {
  const command = `${manager} run ${script}`;
  if (flags === '') return command;
  return manager === 'npm' ? `${command} -- ${flags}` : `${command} ${flags}`;
}

/** The command line that runs a program of an installed package. */
export function programCommand(manager: PackageManager, line: string): string {
  const front = { npm: 'npx', pnpm: 'pnpm exec', yarn: 'yarn run', bun: 'bunx' }[manager];
  return `${front} ${line}`;
}
