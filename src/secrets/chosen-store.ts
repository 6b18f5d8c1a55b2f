import { SwitchboardError } from '../shared/errors.ts';

/** Set to `file` or `keychain`, values go there and nowhere else. */
export const STORE_VARIABLE = 'SWITCHBOARD_SECRET_STORE';

/** Where the user wants values; undefined: in the keychain if it can be used, else in a file. Throws SECRET_STORE. */
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
