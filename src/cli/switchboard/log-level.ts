import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { LOG_LEVELS, type LogLevel } from '../../shared/log.ts';
import { usage } from '../kit/arguments.ts';
import type { CliVariant } from './variants.ts';
import { writeStderr } from '../kit/stderr.ts';

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
