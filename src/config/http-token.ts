import { SwitchboardError } from '../shared/errors.ts';
import { interpolate, whyNotFilled, type Environment } from './interpolate.ts';
import type { LoadedConfig } from './load.ts';
import { describeWarning } from './problem.ts';

/** Shorter ones can be guessed. */
const LEAST_CHARS = 16;

/**
 * What the configuration says clients have to send over HTTP, filled in; undefined where it leaves that to others.
 * Throws a SwitchboardError CONFIG_INVALID, without the value, where it cannot be used. Never to be logged.
 */
export function httpTokenOf(
  { file, writtenHttpToken }: Pick<LoadedConfig, 'file' | 'writtenHttpToken'>,
  env: Environment,
): string | undefined {
  if (writtenHttpToken === undefined) return undefined;
  const result = interpolate(writtenHttpToken, env);
  const invalid = (message: string, hint: string): SwitchboardError =>
    new SwitchboardError(
      'CONFIG_INVALID',
      describeWarning({ file: file ?? '', key: 'http.token', message }),
      {
        hint,
      },
    );
  if (result.kind !== 'text') {
    const hint = 'Set the variable, or take the key out: then a token is made for you.';
    throw invalid(`${whyNotFilled(result)}.`, hint);
  }
  // As with ${TOKEN:-}, which leaves it to the environment whether there is one.
  if (result.text === '') return undefined;
  const hint = 'A good one comes from `openssl rand -hex 32`.';
  if (!/^[\x21-\x7e]*$/.test(result.text))
    throw invalid('may have letters, digits and signs of ASCII only, no spaces.', hint);
  if (result.text.length < LEAST_CHARS)
    throw invalid(`must have ${LEAST_CHARS} characters or more, or it could be guessed.`, hint);
  return result.text;
}
