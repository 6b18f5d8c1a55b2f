import { didYouMean } from '../shared/nearest.ts';
import { LOG_LEVELS, type LogLevel } from '../shared/log.ts';
import { usage } from './arguments.ts';
import { writeStderr } from './stderr.ts';

/** The level from the flag, else from SWITCHBOARD_LOG_LEVEL, else undefined. */
export function chosenLogLevel(flag: string | undefined, env: NodeJS.ProcessEnv): LogLevel | undefined {
  if (flag !== undefined) {
    if (isLogLevel(flag)) return flag;
    throw usage(`There is no log level ${JSON.stringify(flag)}.`, didYouMean(flag, LOG_LEVELS) ?? LEVELS);
  }
  const named = env.SWITCHBOARD_LOG_LEVEL;
  if (named === undefined || named === '') return undefined;
  if (isLogLevel(named)) return named;
  // Set somewhere far away, perhaps for all programs: no reason not to start.
  writeStderr(`switchboard: SWITCHBOARD_LOG_LEVEL is ignored: there is no such level. ${LEVELS}\n`);
  return undefined;
}

const LEVELS = `There are ${LOG_LEVELS.join(', ')}.`;

function isLogLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text);
}
