import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../shared/is-object.ts';
import { removeAt } from '../shared/jsonc-paths.ts';
import { allowEntry, disallowEntry } from './allow-list.ts';
import { UnsafeEdit, valueAt, type Container } from './container.ts';
import { setInJson } from './edit-json.ts';
import { removeFromToml, setInToml } from './edit-toml.ts';
import { parseHostJson } from './parse-json.ts';
import { parseHostToml } from './parse-toml.ts';

/** What an edit did, and the text after it. */
export interface Edited {
  readonly text: string;
  readonly action: 'added' | 'updated' | 'unchanged' | 'removed' | 'absent';
}

export type Entry = Readonly<Record<string, unknown>>;

export interface UpsertOptions {
  readonly entry: Entry;
  /**
   * Whether nothing of an entry of that name stays. Default false: what does not say how the server is reached (time
   * limits, approvals, switched off) was set by the person, and stays.
   */
  readonly replace?: boolean | undefined;
  /** Comments directly below the header of a TOML table; they replace the existing ones. Default: unchanged. */
  readonly notes?: readonly string[] | undefined;
  /** Whether the server also goes on the list of those that may be used, where the host keeps one. Default false. */
  readonly allow?: boolean | undefined;
}

/**
 * The text of a host's file with an entry among its servers; a missing file is an empty text. Comments, order and all
 * else stay as they are. Throws TextFault for a text that the host could not read, UnsafeEdit where it is spelled in a
 * way that we do not understand.
 */
export function upsertEntry(
  text: string,
  container: Container,
  name: string,
  { entry, replace = false, notes, allow = false }: UpsertOptions,
): Edited {
  const before = entriesOf(text, container);
  const present = before.get(name);
  const kept =
    replace || !isObject(present) ? [] : Object.entries(present).filter(([key]) => !HOW_REACHED.has(key));
  const settings = Object.fromEntries(kept);
  const whole: Entry = { ...settings, ...entry, ...settings };
  const path = [...container.keyPath, name];
  const entered = edited(text, container, (body) =>
    container.format === 'toml' ? setInToml(body, path, whole, notes) : setInJson(body, path, whole),
  );
  refuseOther([text, entered], container, name, whole);
  const after = allow ? allowEntry(entered, container, name) : entered;
  return { text: after, action: after === text ? 'unchanged' : isServerEntry(present) ? 'updated' : 'added' };
}

export interface RemoveEntryOptions {
  /** Texts that the file had before. Where the entry was added to one of them, the result is that text, to the byte. */
  readonly earlier?: readonly string[] | undefined;
  /** Whether the name also goes from the list of those that may be used. Default false. */
  readonly allow?: boolean | undefined;
}

/** The text without an entry, and without the object around it where that is what upsertEntry has made. */
export function removeEntry(
  text: string,
  container: Container,
  name: string,
  { earlier = [], allow = false }: RemoveEntryOptions = {},
): Edited {
  const entry = entriesOf(text, container).get(name);
  if (entry === undefined) return { text, action: 'absent' };
  /** Whether adding the entry to the candidate gives this very text. */
  const became = (candidate: string): boolean => {
    try {
      return (
        isObject(entry) &&
        !entriesOf(candidate, container).has(name) &&
        upsertEntry(candidate, container, name, { entry, allow }).text === text
      );
    } catch {
      // An earlier text need not be one that the host could read.
      return false;
    }
  };
  const known = earlier.find(became);
  if (known !== undefined) return { text: known, action: 'removed' };
  const path = [...container.keyPath, name];
  const remove = container.format === 'toml' ? removeFromToml : removeAt;
  const removed = edited(text, container, (body) => remove(body, path));
  refuseOther([text, removed], container, name, undefined);
  const after = allow ? disallowEntry(removed, container, name) : removed;
  const isBare =
    container.format !== 'toml' && container.keyPath.length === 1 && entriesOf(after, container).size === 0;
  const bare = isBare ? edited(after, container, (body) => remove(body, container.keyPath)) : after;
  return { text: isBare && became(bare) ? bare : after, action: 'removed' };
}

/** The servers of a host's file. Throws TextFault. */
export function entriesOf(text: string, container: Container): ReadonlyMap<string, unknown> {
  const servers = valueAt(parseText(text, container), container.keyPath);
  return new Map(isObject(servers) ? Object.entries(servers) : []);
}

/** The parsed text, as the host reads it; undefined for one without a value. Throws TextFault. */
export function parseText(text: string, { format }: Pick<Container, 'format'>): unknown {
  return format === 'toml' ? parseHostToml(text) : parseHostJson(text, format);
}

/** Keys that say how a server is reached, whichever host wrote them: an entry of ours has those that we write, and no other. */
const HOW_REACHED = new Set([
  ...[
    'type',
    'command',
    'args',
    'env',
    'env_vars',
    'environment',
    'envFile',
    'cwd',
    'url',
    'httpUrl',
    'serverUrl',
    'tcp',
  ],
  ...['headers', 'headersHelper', 'http_headers', 'env_http_headers', 'http_headers_helper'],
  ...['transport', 'transportType', 'bearer_token_env_var', 'auth', 'oauth', 'oauth_resource', 'scopes'],
]);

/** Whether an entry says how to reach a server. In TOML, settings of single tools alone make a table of that name, too. */
export function isServerEntry(entry: unknown): boolean {
  return entry !== undefined && (!isObject(entry) || Object.keys(entry).some((key) => HOW_REACHED.has(key)));
}

function edited(text: string, { format }: Container, edit: (body: string) => string): string {
  // JSON sees to its own mark.
  const mark = format === 'toml' && text.startsWith('\ufeff') ? '\ufeff' : '';
  return mark + edit(text.slice(mark.length));
}

/** The last line of defence: whatever the edit did to the text, the values are the same but for the entry. */
function refuseOther(
  [before, after]: readonly [string, string],
  container: Container,
  name: string,
  entry: Entry | undefined,
): void {
  const now = entriesOf(after, container);
  const rest = (text: string): unknown =>
    withoutEntry(parseText(text, container) ?? {}, container.keyPath, name);
  if (isDeepStrictEqual(now.get(name), entry) && isDeepStrictEqual(rest(before), rest(after))) return;
  throw new UnsafeEdit(`Edit ${container.keyPath.join('.')} by hand.`);
}

/** The document without the entry, and without the objects that are empty then. */
function withoutEntry(document: unknown, keyPath: readonly string[], name: string): unknown {
  if (!isObject(document)) return document;
  const [key, ...deeper] = keyPath.length === 0 ? [name] : [...keyPath];
  const members = Object.entries(document).flatMap(([each, value]): [string, unknown][] => {
    if (each !== key) return [[each, value]];
    if (keyPath.length === 0) return [];
    const rest = withoutEntry(value, deeper, name);
    return isObject(rest) && Object.keys(rest).length === 0 ? [] : [[each, rest]];
  });
  return Object.fromEntries(members);
}
