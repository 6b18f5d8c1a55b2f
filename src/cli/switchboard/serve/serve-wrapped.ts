import { createApp } from '../../../app/index.ts';
import { describeWarning, loadWrapped } from '../../../config/index.ts';
import { createLogger } from '../../../shared/log.ts';
import { parseArguments, usage } from '../../kit/arguments.ts';
import type { CliVariant } from '../variants.ts';
import { languageIn, WRAPPER_FLAGS } from '../language/language-flags.ts';
import { chosenLogLevel } from '../configuration.ts';
import { standardFormat, writeFailure } from '../../kit/output.ts';
import { HOST_TIMEOUT_MS, refuseTooDeep, serveStdio } from './serve.ts';
import { writeLogLine } from '../../kit/stderr.ts';

/**
 * The server that `switchboard wrap` puts in place of another one: over stdin and stdout, with one tool. Started by the
 * script in the folder, not by people.
 */
export async function serveWrapped(argv: readonly string[], variant: CliVariant): Promise<number> {
  const { env } = process;
  const { program } = variant;
  try {
    refuseTooDeep(env, program);
    const given = parseArguments(argv, WRAPPER_FLAGS);
    const [folder, ...more] = given.words;
    if (folder === undefined || more.length > 0)
      throw usage('A wrapped server is started by the script in its folder.', `See: ${program} help wrap`);
    const config = await loadWrapped({
      folder,
      language: { ...languageIn(given), instructionsFile: 'CLAUDE.md' },
      configPath: given.flags.get('config'),
      env,
    });
    const level = chosenLogLevel(given.flags.get('log-level'), env, variant) ?? config.settings.logLevel;
    const write = (line: string): void => writeLogLine(line, false);
    const log = createLogger({ level, program, write });
    for (const warning of config.warnings) log[warning.level](describeWarning(warning));
    const stderr = level === 'silent' ? () => undefined : (line: string) => write(`${line}\n`);
    const app = createApp({ config, log, stderr, program, callerMs: HOST_TIMEOUT_MS });
    return await serveStdio(app, log, config.settings.timeouts.drainMs);
  } catch (error) {
    return writeFailure(error, false, standardFormat(program));
  }
}
