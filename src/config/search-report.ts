import { join } from 'node:path';
import { isAnyFile } from '../shared/regular-file.ts';
import { ALWAYS_EXCLUDED } from './defaults.ts';
import { SWITCHBOARD, type ProgramVariant } from './program-variant.ts';
import { findFiles } from './find-files.ts';
import { USUAL_CONFIG_NAME, type ConfigScope } from './find.ts';
import type { LoadedConfig } from './load.ts';

/** Where servers were searched for and what was found, one line per location. For a configuration without any. */
export function searchReport(
  { files, search, directory, settings }: Pick<LoadedConfig, 'files' | 'search' | 'directory' | 'settings'>,
  variant: ProgramVariant = SWITCHBOARD,
): string[] {
  const lines: string[] = [];
  const has = (scope: ConfigScope): boolean => files.some((file) => file.scope === scope);
  if (search !== undefined && !has('project'))
    lines.push(`${join(search.cwd, USUAL_CONFIG_NAME)} and parent directories: not found`);
  for (const { path } of files) lines.push(`${path}: no usable server`);
  if (search?.userDirectory !== undefined && !has('user'))
    lines.push(`${join(search.userDirectory, USUAL_CONFIG_NAME)}: not found`);
  for (const glob of settings.discoverGlobs.filter((pattern) => !pattern.startsWith('!'))) {
    const { length } = findFiles([glob], { directory, exclude: ALWAYS_EXCLUDED });
    const found = length === 0 ? 'matches no file' : `${length} found, no usable server`;
    lines.push(`${join(directory, glob)}: ${found}`);
  }
  if (variant.discovers !== false) {
    const rootFile = join(directory, '.mcp.json');
    lines.push(`${rootFile}: ${isAnyFile(rootFile) ? 'no usable server' : 'not found'}`);
  }
  return lines;
}
