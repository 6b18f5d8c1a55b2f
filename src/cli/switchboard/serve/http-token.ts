import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { createFileAtomic } from '../../../shared/write-file.ts';
import { readPrivateFile } from '../../../shared/private-file.ts';
import { httpTokenOf, refuseWeakToken, type LoadedConfig } from '../../../config/index.ts';

/** The token that clients must send, and where it comes from. */
export interface HttpToken {
  readonly token: string;
  readonly from: 'config' | 'environment' | 'file';
  /** The file in which it is stored, if we created it. */
  readonly file?: string;
  /** True if it was just created. */
  readonly made: boolean;
}

export const TOKEN_VARIABLE = 'SWITCHBOARD_HTTP_TOKEN';

/** The token of the configuration, else of the environment, else one of our own, which is created once and stored. */
export async function httpToken(config: LoadedConfig, env: NodeJS.ProcessEnv): Promise<HttpToken> {
  const configured = httpTokenOf(config, env);
  if (configured !== undefined) return { token: configured, from: 'config', made: false };
  const given = env[TOKEN_VARIABLE];
  if (given !== undefined && given !== '') {
    refuseWeakToken(given, TOKEN_VARIABLE);
    return { token: given, from: 'environment', made: false };
  }
  const directory = stateDirectory(env);
  const file = join(directory, 'http-token');
  const kept = readKept(file);
  if (kept !== undefined) return { token: kept, from: 'file', file, made: false };
  return { ...(await make(directory, file)), from: 'file', file };
}

/** The token in the file; undefined if there is none. A file that others can read or write is not trusted. */
function readKept(file: string): string | undefined {
  const token = readPrivateFile(file, (why, hint) => unusable(file, why, hint))?.trim();
  if (token === undefined) return undefined;
  try {
    refuseWeakToken(token, file);
  } catch {
    throw unusable(file, 'it contains no token');
  }
  return token;
}

/** Two gateways that start at the same time end up with the same token: the second finds that of the first. */
async function make(directory: string, file: string): Promise<{ token: string; made: boolean }> {
  const token = randomBytes(32).toString('base64url');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (createFileAtomic(file, `${token}\n`)) return { token, made: true };
  const kept = readKept(file);
  if (kept === undefined) throw unusable(file, 'another program has just removed it');
  return { token: kept, made: false };
}

function unusable(
  file: string,
  why: string,
  hint = 'Delete it, and a new token is created.',
): SwitchboardError {
  return new SwitchboardError('TOKEN_UNUSABLE', `Invalid token file ${file}: ${why}.`, { hint });
}
