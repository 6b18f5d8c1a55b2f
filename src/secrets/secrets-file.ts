import { join } from 'node:path';
import { userConfigDirectory } from '../shared/paths.ts';

/** The file with the names of all secrets, and the values of those that are not in the keychain. */
export function secretsFile(env: Readonly<Record<string, string | undefined>>): string {
  return join(userConfigDirectory(env), 'secrets.json');
}
