import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { link, mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SwitchboardError } from '../../../shared/errors.ts';
import { stateDirectory } from '../../../shared/paths.ts';
import { httpTokenOf, refuseWeakToken, type LoadedConfig } from '../../../config/index.ts';

/** What a client must know to be let in, and where we have it from. */
export interface HttpToken {
  readonly token: string;
  readonly from: 'config' | 'environment' | 'file';
  /** The file it is kept in, where it is one of ours. */
  readonly file?: string;
  /** True where it was just created. */
  readonly made: boolean;
}

export const TOKEN_VARIABLE = 'SWITCHBOARD_HTTP_TOKEN';

/** The token of the configuration, else that of the environment, else one of our own that is made once and kept. */
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
  const kept = await readKept(file);
  if (kept !== undefined) return { token: kept, from: 'file', file, made: false };
  return { ...(await make(directory, file)), from: 'file', file };
}

/** The token in the file; undefined where there is none. What others could read or write is not trusted. */
async function readKept(file: string): Promise<string | undefined> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK | NOFOLLOW).catch(
    (error: unknown) => {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return undefined;
      throw unusable(file, code === 'ELOOP' ? 'it is a symbolic link' : message);
    },
  );
  if (handle === undefined) return undefined;
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw unusable(file, 'it is not a regular file');
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
      throw unusable(
        file,
        'other users can read or change it',
        `Run: chmod 600 ${file}. If someone may have read it, delete it instead; a new token is created.`,
      );
    const token = (await handle.readFile('utf8')).trim();
    try {
      refuseWeakToken(token, file);
    } catch {
      throw unusable(file, 'it contains no token');
    }
    return token;
  } finally {
    await handle.close();
  }
}

/** Two that start at the same time end up with one token: it is written aside and put in place only if none is there. */
async function make(directory: string, file: string): Promise<{ token: string; made: boolean }> {
  const token = randomBytes(32).toString('base64url');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const fresh = `${file}.${randomBytes(6).toString('hex')}.tmp`;
  await rm(fresh, { force: true });
  const handle = await open(fresh, 'wx', 0o600);
  try {
    await handle.writeFile(`${token}\n`);
    await handle.close();
    await putInPlace(fresh, file, token);
    return { token, made: true };
  } catch (error) {
    const kept = (error as NodeJS.ErrnoException).code === 'EEXIST' ? await readKept(file) : undefined;
    if (kept === undefined) throw error;
    return { token: kept, made: false };
  } finally {
    await rm(fresh, { force: true });
  }
}

/** Fails with EEXIST where one is there already. */
async function putInPlace(fresh: string, file: string, token: string): Promise<void> {
  try {
    await link(fresh, file);
  } catch (error) {
    // Not every file system has links; then it is written where it belongs.
    if (!WITHOUT_LINKS.has((error as NodeJS.ErrnoException).code ?? '')) throw error;
    await writeFile(file, `${token}\n`, { flag: 'wx', mode: 0o600 });
  }
}

const WITHOUT_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']);

function unusable(
  file: string,
  why: string,
  hint = 'Delete it, and a new token is created.',
): SwitchboardError {
  return new SwitchboardError('TOKEN_UNUSABLE', `Invalid token file ${file}: ${why}.`, { hint });
}

/** Missing on Windows, where symbolic links need rights of their own. */
const NOFOLLOW = (constants.O_NOFOLLOW as number | undefined) ?? 0;
