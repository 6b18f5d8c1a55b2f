import type { HostEnvironment } from '../../hosts/index.ts';
import { homeDirectory } from '../../shared/paths.ts';

/** What hosts and their files are looked for in. */
export function hostEnvironment({ cwd, env }: Pick<HostEnvironment, 'cwd' | 'env'>): HostEnvironment {
  return { platform: process.platform, home: homeDirectory(), env, cwd };
}
