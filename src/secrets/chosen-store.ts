import { SwitchboardError } from '../shared/errors.ts';

/** If it is `file` or `keychain`, values are stored there and nowhere else. */
export const STORE_VARIABLE = 'SWITCHBOARD_SECRET_STORE';

/**
 * Where the user wants values stored; undefined: in the keychain if it can be used, otherwise in a file. Throws
 * SECRET_STORE.
 */
export function chosenStore(
  env: Readonly<Record<string, string | undefined>>,
): 'keychain' | 'file' | undefined {
  const wanted = env[STORE_VARIABLE] ?? '';
  if (wanted === '') return undefined;
  if (wanted === 'file' || wanted === 'keychain') return wanted;
  throw new SwitchboardError('SECRET_STORE', `${STORE_VARIABLE} must be "keychain" or "file".`, {
    hint: 'Correct or unset it.',
  });
}
