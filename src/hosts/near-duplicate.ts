import { basename, win32 } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ConvertedEntry } from './convert.ts';
import { replaceSecrets } from './entry-secrets.ts';

export interface NamedEntry {
  readonly name: string;
  readonly entry: ConvertedEntry;
}

/**
 * Whether two entries describe the same server: the same program with the same arguments, or the same address. Keys,
 * time limits and descriptions may differ. If the names differ, the keys must be equal, too: two accounts are two
 * servers.
 */
export function isNearDuplicate(one: NamedEntry, other: NamedEntry): boolean {
  const [a, b] = [withoutKeys(one.entry), withoutKeys(other.entry)];
  if (!isDeepStrictEqual(programOf(a), programOf(b))) return false;
  // Without a directory, it starts in the host's own.
  if ((a.cwd ?? b.cwd) !== (b.cwd ?? a.cwd)) return false;
  // A user who hides tools from a host does so on purpose.
  if (!isDeepStrictEqual(toolsOf(one.entry), toolsOf(other.entry))) return false;
  if (one.name.toLowerCase() === other.name.toLowerCase()) return agree(a.env, b.env);
  const secretive = ({ env = {}, headers = {}, args = [], url }: ConvertedEntry) => ({
    env,
    headers,
    args: plainArguments(args),
    url,
  });
  return isDeepStrictEqual(secretive(one.entry), secretive(other.entry));
}

/** Where two entries for the same server differ, as paths: `env.API_KEY`, `timeouts.rpcMs`. Contains no values. */
export function differences(one: ConvertedEntry, other: ConvertedEntry): string[] {
  const tables = (['env', 'headers', 'timeouts', 'oauth'] as const).flatMap((key) => {
    const a: Readonly<Record<string, unknown>> = one[key] ?? {};
    const b: Readonly<Record<string, unknown>> = other[key] ?? {};
    const names = [...new Set([...Object.keys(a), ...Object.keys(b)])];
    return names.filter((name) => a[name] !== b[name]).map((name) => `${key}.${name}`);
  });
  const others = (['command', 'args', 'url', 'cwd', 'envFile', 'disabled'] as const).filter(
    (key) => !isDeepStrictEqual(one[key], other[key]),
  );
  return [...tables, ...others];
}

/** The entry with every secret, and every reference that may contain one, replaced by the same placeholder. */
function withoutKeys(entry: ConvertedEntry): ConvertedEntry {
  const plain = (text: string): string => text.replaceAll(/(?<!\$)\$\{[^{}]*\}/g, HIDDEN);
  const { args, env, url, ...rest } = replaceSecrets(entry, '', () => HIDDEN);
  return {
    ...rest,
    ...(args === undefined ? {} : { args: args.map(plain) }),
    ...(url === undefined ? {} : { url: plain(url) }),
    ...(env === undefined
      ? {}
      : { env: Object.fromEntries(Object.entries(env).map(([name, text]) => [name, plain(text)])) }),
  };
}

const HIDDEN = '*';

/** What is started or reached. A package counts as the same with `npx -y`, with a full path or through `cmd /c`. */
function programOf({ command = '', args = [], url }: ConvertedEntry): unknown {
  const words = [command, ...args];
  const [first = '', ...rest] =
    /^cmd(?:\.exe)?$/i.test(baseOf(command)) && /^\/c$/i.test(args[0] ?? '') ? words.slice(2) : words;
  return [baseOf(first).replace(/\.(?:exe|cmd)$/i, ''), plainArguments(rest), url?.replace(/\/$/, '')];
}

function baseOf(command: string): string {
  return basename(win32.basename(command));
}

function plainArguments(args: readonly string[]): string[] {
  return args
    .filter((each) => each !== '-y' && each !== '--yes')
    .map((each) => each.replace(/(?<=.)@latest$/, ''));
}

function toolsOf({ exposedTools = [], hiddenTools = [] }: ConvertedEntry): unknown {
  return [exposedTools, hiddenTools];
}

/** Whether the variables that both of them set have the same values. */
function agree(one: ConvertedEntry['env'] = {}, other: ConvertedEntry['env'] = {}): boolean {
  return Object.entries(one).every(([name, value]) => (other[name] ?? value) === value);
}
