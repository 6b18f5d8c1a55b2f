import { isObject } from '../../shared/is-object.ts';
import type { JsonObject } from '../../protocol/index.ts';

export interface OuterOptions {
  readonly server: string;
  /** The purpose of the server, if its own definition does not contain it. Default: unknown. */
  readonly purpose?: string | undefined;
  /** The command that starts the script, with the settings of the model as arguments. */
  readonly command: string;
  readonly args: readonly string[];
  /** Environment variables in addition to the inherited ones: only references, never values. Default: none. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** How long a gateway waits for a response, in milliseconds. */
  readonly rpcMs: number;
}

/**
 * The definition of the script, in the form of the server's own. It keeps the settings for exposing the server as a
 * whole. Everything else stays with the original: its environment, which may contain secrets, and settings for its own
 * tools.
 */
export function outerConfig(original: JsonObject, options: OuterOptions): JsonObject {
  const { server, command, args, rpcMs } = options;
  const env = options.env && Object.keys(options.env).length > 0 ? { env: options.env } : {};
  const timeouts = { timeouts: { rpcMs } };
  const own = outerEntryOf(original, server);
  if (own !== undefined) {
    const entry = {
      ...purposeOf(own, options),
      ...kept(own, MAP_KEYS),
      command,
      args: [...args],
      ...env,
      ...timeouts,
    };
    return { mcpServers: Object.fromEntries([[server, entry]]) };
  }
  const shown = { ...purposeOf(original, options), ...kept(original, CHILD_KEYS) };
  return { name: server, ...shown, command: { cmd: command, args: [...args], ...env }, ...timeouts };
}

/** The entry of a server, if the definition is a map of servers. */
export function outerEntryOf({ mcpServers }: JsonObject, server: string): JsonObject | undefined {
  return isObject(mcpServers) && isObject(mcpServers[server]) ? mcpServers[server] : undefined;
}

/**
 * The changes made to a definition since it was written, in words. Changes to the arguments of the script do not count.
 */
export function outerConfigChanges(now: unknown, written: JsonObject): string[] {
  if (!isObject(now)) return ['everything'];
  const before = flat(written);
  const after = flat(now);
  const keys = new Set([...before.keys(), ...after.keys()]);
  return [...keys].filter((key) => !key.endsWith('args') && before.get(key) !== after.get(key)).sort();
}

const CHILD_KEYS = ['description', 'switchboardDescription', 'isolation', 'disabled'];
const MAP_KEYS = [...CHILD_KEYS, 'suiteName', 'exposure', 'summaryMaxChars'];

/** The script does not identify the server, so its purpose is written to the definition. */
function purposeOf(original: JsonObject, { purpose }: OuterOptions): JsonObject {
  return purpose === undefined || original.switchboardDescription !== undefined
    ? {}
    : { description: purpose };
}

function kept(from: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]])));
}

/** All values, by their paths. */
function flat(value: JsonObject, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const [key, member] of Object.entries(value)) {
    const at = path === '' ? key : `${path}.${key}`;
    if (isObject(member)) for (const [inner, text] of flat(member, at)) found.set(inner, text);
    else found.set(at, JSON.stringify(member));
  }
  return found;
}
