import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, SwitchboardError } from '../../../shared/errors.ts';
import { withFileLock } from '../../../shared/file-lock.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { isObject } from '../../../shared/is-object.ts';
import { readPrivateFile } from '../../../shared/private-file.ts';
import { writeFileAtomic } from '../../../shared/write-file.ts';

/** A token for HTTP clients, as it is stored: the token itself is shown once and never stored. */
export interface NamedToken {
  readonly name: string;
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly sha256: string;
  /** ISO date. */
  readonly createdAt: string;
}

/** The name of the gateway's own token in roles; no named token may have it. */
export const OWN_TOKEN = 'http.token';

/** The file with the named tokens. */
export function tokenFile(env: NodeJS.ProcessEnv): string {
  return join(stateDirectory(env), 'http-tokens.json');
}

/** The named tokens. Throws TOKEN_UNUSABLE if the file is damaged or accessible to others. */
export function readTokens(file: string): readonly NamedToken[] {
  const problem = (why: string, hint = START_AGAIN): SwitchboardError =>
    new SwitchboardError('TOKEN_UNUSABLE', `Invalid token file ${file}: ${why}.`, { hint });
  const text = readPrivateFile(file, problem);
  if (text === undefined) return [];
  const tokens = tokensIn(text);
  if (tokens === undefined) throw problem('it is damaged');
  return tokens;
}

/** Replaces the named tokens with the result of `change`, while no other process can change them. */
export async function changeTokens(
  file: string,
  change: (tokens: readonly NamedToken[]) => readonly NamedToken[],
  signal: AbortSignal,
): Promise<void> {
  attempt(file, () => mkdirSync(dirname(file), { recursive: true, mode: 0o700 }));
  await withFileLock(
    file,
    () => {
      const tokens = change(readTokens(file));
      attempt(file, () => writeFileAtomic(file, printTokens(tokens), { flush: 'name' }));
    },
    { signal },
  );
}

export function printTokens(tokens: readonly NamedToken[]): string {
  return `${JSON.stringify({ version: VERSION, tokens }, null, 2)}\n`;
}

const VERSION = 1;
const START_AGAIN = 'Delete it and create the tokens again with `switchboard token create NAME`.';

function attempt<T>(file: string, write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw new SwitchboardError('TOKEN_STORE', `The token cannot be saved in ${file}: ${messageOf(error)}.`, {
      hint: 'Check that its directory is yours and not full, or set SWITCHBOARD_STATE_DIR to another one.',
      cause: error,
    });
  }
}

/** Undefined for anything that we did not write. */
export function tokensIn(text: string): readonly NamedToken[] | undefined {
  try {
    const { version, tokens } = JSON.parse(text) as { version?: unknown; tokens?: unknown };
    return version === VERSION && Array.isArray(tokens) && tokens.every(isNamedToken) ? tokens : undefined;
  } catch {
    return undefined;
  }
}

function isNamedToken(value: unknown): value is NamedToken {
  if (!isObject(value)) return false;
  const { name, sha256, createdAt } = value;
  return (
    typeof name === 'string' &&
    typeof createdAt === 'string' &&
    typeof sha256 === 'string' &&
    /^[0-9a-f]{64}$/.test(sha256)
  );
}
