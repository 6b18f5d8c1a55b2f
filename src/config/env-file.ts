import util from 'node:util';
import { messageOf } from '../shared/errors.ts';
import { nodeErrorCode } from '../shared/node-error-code.ts';
import { readRegularFile } from '../shared/regular-file.ts';

/**
 * The variables of a dotenv file, or why it cannot be used, as the end of a sentence. The reason never contains a
 * value.
 */
export type EnvFile =
  | { readonly kind: 'read'; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: 'failed'; readonly why: string };

/** The longest file we read, in bytes. */
const MAX_BYTES = 1024 * 1024;
const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

/**
 * Reads a file of lines `NAME=value`, with the usual comments, quotes and `export`. References in it are not filled in.
 * A reason contains `shown` instead of the path.
 */
export function readEnvFile(path: string, shown = path): EnvFile {
  const failed = (why: string): EnvFile => ({
    kind: 'failed',
    why: `the env file ${shown} ${why.replaceAll(path, () => shown)}`,
  });
  // A missing named import would fail on older Node releases before we can report it.
  const { parseEnv } = util as Partial<Pick<typeof util, 'parseEnv'>>;
  if (parseEnv === undefined)
    return failed(`cannot be read by Node ${process.version}; it needs 20.12 or later`);
  let text: string;
  try {
    text = readRegularFile(path, { maxBytes: MAX_BYTES }).toString('utf8');
  } catch (error) {
    const code = nodeErrorCode(error);
    return failed(code === 'ENOENT' ? 'does not exist' : `cannot be read: ${messageOf(error)}`);
  }
  const env = Object.entries(parseEnv(text.replace(/^\ufeff/, ''))).map(([name, value]): [string, string] => [
    name,
    String(value),
  ]);
  if (env.some(([name, value]) => !NAME.test(name) || value.includes('\0')))
    return failed('has a line that is not NAME=value');
  if (env.length === 0 && /^[^\S\r\n]*[^\s#]/m.test(text)) return failed('has no NAME=value line');
  return { kind: 'read', env: Object.fromEntries(env) };
}
