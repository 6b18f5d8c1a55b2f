import { resolve } from 'node:path';
import { loadConfig, type LoadedConfig } from '../../config/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { userConfigDirectory } from '../../shared/paths.ts';
import type { CliVariant } from './variants.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../../shared/log.ts';
import { usage } from '../kit/arguments.ts';
import { writeStderr } from '../kit/stderr.ts';

interface ConfigurationContext {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

interface ReadOptions {
  /** Whether all files must be usable. Default false. */
  readonly strict?: boolean;
  /** Whether a broken file is left out with a warning, even if it is the only one or was named. Default false. */
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

/** The level from the flag, else from SWITCHBOARD_LOG_LEVEL, else from the program's own variable, else undefined. */
export function chosenLogLevel(
  flag: string | undefined,
  env: NodeJS.ProcessEnv,
  { program, variables }: CliVariant,
): LogLevel | undefined {
  if (flag !== undefined) {
    if (isLogLevel(flag)) return flag;
    throw usage(`Unknown log level ${JSON.stringify(flag)}.`, didYouMean(flag, LOG_LEVELS) ?? LEVELS);
  }
  const named = env.SWITCHBOARD_LOG_LEVEL;
  if (named !== undefined && named !== '') {
    if (isLogLevel(named)) return named;
    // Set somewhere far away, perhaps for all programs: no reason not to start.
    writeStderr(`${program}: SWITCHBOARD_LOG_LEVEL is ignored: unknown log level. ${LEVELS}\n`);
  }
  return variables && levelFrom(variables.logLevel, env);
}

/** The format from the flag, else undefined. */
export function chosenLogFormat(flag: string | undefined): LogFormat | undefined {
  const known = LOG_FORMATS.find((format) => format === flag);
  if (known === undefined && flag !== undefined)
    throw usage(`Unknown log format ${JSON.stringify(flag)}.`, `Use one of ${LOG_FORMATS.join(', ')}.`);
  return known;
}

/** From the variable that belongs to this program alone, so it was set for us. */
function levelFrom(variable: string, env: NodeJS.ProcessEnv): LogLevel | undefined {
  const named = env[variable];
  if (named === undefined || named === '') return undefined;
  if (named === 'debug' || named === 'info') return named;
  throw new SwitchboardError('LOG_LEVEL_INVALID', `${variable} must be "debug" or "info".`, {
    hint: 'Correct or unset it; --log-level supports more levels.',
  });
}

const LEVELS = `Use one of ${LOG_LEVELS.join(', ')}.`;

function isLogLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text);
}
