import { SwitchboardError } from '../shared/errors.ts';
import { interpolate, interpolationProblem, type Environment } from './interpolate.ts';
import type { LoadedConfig } from './load.ts';
import { describeWarning } from './problem.ts';

/** Shorter tokens can be guessed. */
const LEAST_CHARS = 16;

/**
 * The token that HTTP clients have to send, with references filled in; undefined if the configuration does not set one.
 * Throws a SwitchboardError TOKEN_UNUSABLE, without the value, if it cannot be used. Must never be logged.
 */
export function httpTokenOf(
  { writtenHttpToken: written, secrets }: Pick<LoadedConfig, 'writtenHttpToken' | 'secrets'>,
  env: Environment,
): string | undefined {
  if (written === undefined) return undefined;
  const location = { file: written.file, key: 'http.token' };
  const result = interpolate(written.text, env, secrets);
  if (result.kind !== 'text') {
    const message = describeWarning({ ...location, message: `${interpolationProblem(result)}.` });
    throw new SwitchboardError('TOKEN_UNUSABLE', message, {
      hint: 'Set it, or remove the key to have a token created.',
    });
  }
  // `${TOKEN:-}` lets the environment decide whether there is one.
  if (result.text === '') return undefined;
  refuseWeakToken(result.text, describeWarning({ ...location, message: '' }));
  return result.text;
}

/** Throws a SwitchboardError TOKEN_UNUSABLE, without the value, for a token that cannot be sent or could be guessed. */
export function refuseWeakToken(token: string, from: string): void {
  const why = !/^[\x21-\x7e]*$/.test(token)
    ? 'may contain only printable ASCII characters without spaces'
    : token.length < LEAST_CHARS
      ? `must have at least ${LEAST_CHARS} characters`
      : undefined;
  if (why === undefined) return;
  throw new SwitchboardError('TOKEN_UNUSABLE', `${from}: ${why}.`, {
    hint: 'Remove it to have a token created, or create one with: openssl rand -hex 32',
  });
}
