import type { LoadedConfig } from '../../../config/index.ts';
import { NO_SECRETS, SecretStore } from '../../../secrets/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { counted } from '../../kit/text.ts';

/** How secrets are stored, as a line and as data; undefined for users who have none and refer to none. */
export async function checkSecrets(
  { secrets = NO_SECRETS }: Pick<LoadedConfig, 'secrets'>,
  env: NodeJS.ProcessEnv,
): Promise<{ readonly text: string; readonly data: object } | undefined> {
  const store = new SecretStore(env);
  try {
    const stored = store.list();
    if (stored.length === 0 && secrets === NO_SECRETS) return undefined;
    const inKeychain = stored.filter((secret) => secret.store === 'keychain').length;
    const place = await store.place();
    const next = place.store === 'keychain' ? "the system's keychain" : `${store.file} (${place.why ?? ''})`;
    const kept = [
      ...(inKeychain === 0 ? [] : [`${inKeychain} in the keychain`]),
      ...(stored.length === inKeychain ? [] : [`${stored.length - inKeychain} in ${store.file}`]),
    ];
    const has =
      stored.length === 0 ? 'no secrets' : `${counted(stored.length, 'secret')}: ${kept.join(', ')}`;
    return {
      text: `${has}; the next one goes to ${next}`,
      data: { file: store.file, stored: stored.length, inKeychain, next: place },
    };
  } catch (error) {
    if (!(error instanceof SwitchboardError)) throw error;
    return { text: error.explained, data: { file: store.file, problem: error.message } };
  }
}
