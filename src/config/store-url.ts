import { SwitchboardError } from '../shared/errors.ts';
import { interpolate, interpolationProblem, type Environment } from './interpolate.ts';
import type { LoadedConfig } from './load.ts';
import { describeWarning } from './problem.ts';

/**
 * The address of the store, with references filled in; undefined if there is none. Throws a SwitchboardError
 * STORE_INVALID, without the address, if it cannot be used. Must never be logged.
 */
export function storeUrlOf(
  { writtenStore: written, secrets }: Pick<LoadedConfig, 'writtenStore' | 'secrets'>,
  env: Environment,
): string | undefined {
  if (written === undefined) return undefined;
  const problem = (why: string, hint: string): SwitchboardError =>
    new SwitchboardError(
      'STORE_INVALID',
      describeWarning({ file: written.file, key: 'store', message: `${why}.` }),
      { hint },
    );
  const result = interpolate(written.text, env, secrets);
  if (result.kind !== 'text')
    throw problem(interpolationProblem(result), 'Set it, or remove the key to run without a store.');
  // `${STORE:-}` lets the environment decide whether there is one.
  if (result.text === '') return undefined;
  if (!isStoreUrl(result.text))
    throw problem(
      'must be an address such as redis://host:6379 or rediss://user:password@host:6379/0',
      'Characters such as / and @ in a password are written as %2F and %40.',
    );
  return result.text;
}

/**
 * Which store that is: its host, port and number, for which user and password need not be known. Its text as it is
 * written where more is missing; undefined where there is no store. Never to be shown.
 */
export function storePlaceOf(
  { writtenStore: written, secrets }: Pick<LoadedConfig, 'writtenStore' | 'secrets'>,
  env: Environment,
): string | undefined {
  if (written === undefined) return undefined;
  for (const text of [written.text, written.text.replace(/^(rediss?:\/\/).*@/s, '$1')]) {
    const result = interpolate(text, env, secrets);
    if (result.kind !== 'text') continue;
    if (result.text === '') return undefined;
    if (!isStoreUrl(result.text)) continue;
    const { hostname, port, pathname } = new URL(result.text);
    return `${hostname.toLowerCase()}:${port === '' ? '6379' : port}/${Number(pathname.slice(1))}`;
  }
  return written.text;
}

function isStoreUrl(text: string): boolean {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { hostname, pathname } = new URL(text);
  return hostname !== '' && /^\/?\d{0,4}$/.test(pathname);
}
