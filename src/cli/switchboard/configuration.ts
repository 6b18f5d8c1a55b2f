import { resolve } from 'node:path';
import { loadConfig, type LoadedConfig } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { userConfigDirectory } from '../../shared/paths.ts';
import type { CliVariant } from './variants.ts';

interface ConfigurationContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface ReadOptions {
  /** Whether all files must be usable. Default false. */
  readonly strict?: boolean;
  /** Whether a broken file found by looking is left out with a warning, even if it is the only one. Default false. */
  readonly keepGoing?: boolean;
  /** Whether the files of a project are used without having been allowed. Default: as the environment says. */
  readonly allowProject?: boolean | undefined;
}

/** Reads the configuration of a program: the file of the flag, else of its variable, else the usual ones. */
export async function readConfiguration(
  flag: string | undefined,
  { cwd, env }: ConfigurationContext,
  { configVariant: variant, variables }: CliVariant,
  { strict = false, keepGoing = false, allowProject }: ReadOptions = {},
): Promise<LoadedConfig> {
  const userDirectory = userConfigDirectory(env);
  const options = { cwd, env, variant, userDirectory, strict, keepGoing, allowProject };
  if (flag !== undefined || variables === undefined || !env[variables.config])
    return loadConfig({ ...options, configPath: flag });
  try {
    return await loadConfig({ ...options, configPath: env[variables.config] });
  } catch (error) {
    if (!(error instanceof SwitchboardError) || error.code !== 'CONFIG_NOT_FOUND') throw error;
    // The reader may not know that the variable is set.
    const hint = `${variables.config} names it. ${error.hint ?? ''}`.trimEnd();
    throw new SwitchboardError(error.code, error.message, { hint, cause: error });
  }
}

/** Where a log file is wanted, absolute: where the program's variable says, else the configuration; undefined: nowhere. */
export function logDirectoryOf(
  { logDirectory }: Pick<LoadedConfig, 'logDirectory'>,
  { cwd, env }: ConfigurationContext,
  { variables }: CliVariant,
): string | undefined {
  const named = variables && env[variables.logDirectory];
  return named ? resolve(cwd, named) : logDirectory;
}
