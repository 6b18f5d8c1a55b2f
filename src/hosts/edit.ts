import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../shared/is-object.ts';
import { removeAt } from '../shared/jsonc-paths.ts';
import { allowEntry, disallowEntry } from './allow-list.ts';
import { UnsafeEdit, valueAt, type Container } from './container.ts';
import { setInJson } from './edit-json.ts';
import { removeFromToml, setInToml } from './edit-toml.ts';
import { parseHostJson } from './parse-json.ts';
import { parseHostToml } from './parse-toml.ts';

/** The kind of an edit, and the resulting text. */
export interface Edited {
  readonly text: string;
  readonly action: 'added' | 'updated' | 'unchanged' | 'removed' | 'absent';
}

export type Entry = Readonly<Record<string, unknown>>;

export interface UpsertOptions {
  readonly entry: Entry;
  /**
   * Whether nothing of an existing entry with that name is kept. Default false: members that do not describe how the
   * server is reached (time limits, approvals, whether it is disabled) were set by the user and stay.
   */
  readonly replace?: boolean | undefined;
  /** Comments directly below the header of a TOML table; they replace the existing ones. Default: unchanged. */
  readonly notes?: readonly string[] | undefined;
  /** Whether the server is also added to the host's list of usable servers, if there is one. Default false. */
  readonly allow?: boolean | undefined;
}

/**
 * The text of a host's file with an entry among its servers; a missing file is an empty text. Everything else stays as
 * it is, including comments and order. Throws TextFault for a text that the host could not read, UnsafeEdit for a way
 * of writing it that we do not support.
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
  /** Earlier texts of the file. If the entry was added to one of them, the result is exactly that text. */
  readonly earlier?: readonly string[] | undefined;
  /** Whether the name is also removed from the list of usable servers. Default false. */
  readonly allow?: boolean | undefined;
}

/** The text without an entry, and without the surrounding object if upsertEntry created it. */
export function removeEntry(
  text: string,
  container: Container,
  name: string,
  { earlier = [], allow = false }: RemoveEntryOptions = {},
): Edited {
  const entry = entriesOf(text, container).get(name);
  if (entry === undefined) return { text, action: 'absent' };
  /** Whether adding the entry to the candidate results in exactly this text. */
  const became = (candidate: string): boolean => {
    try {
      return (
        isObject(entry) &&
        !entriesOf(candidate, container).has(name) &&
        upsertEntry(candidate, container, name, { entry, allow }).text === text
      );
    } catch {
      // An earlier text may be one that the host could not read.
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

/** The servers in a host's file. Throws TextFault. */
export function entriesOf(text: string, container: Container): ReadonlyMap<string, unknown> {
  const servers = valueAt(parseText(text, container), container.keyPath);
  return new Map(isObject(servers) ? Object.entries(servers) : []);
}

/** The text parsed in the way the host does it; undefined if it has no value. Throws TextFault. */
export function parseText(text: string, { format }: Pick<Container, 'format'>): unknown {
  return format === 'toml' ? parseHostToml(text) : parseHostJson(text, format);
}

/** The keys, in any host's spelling, that describe how a server is reached. Our entry has only those that we write. */
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

/**
 * Whether an entry describes how to reach a server. In TOML, settings of single tools also create a table with that
 * name.
 */
export function isServerEntry(entry: unknown): boolean {
  return entry !== undefined && (!isObject(entry) || Object.keys(entry).some((key) => HOW_REACHED.has(key)));
}

function edited(text: string, { format }: Container, edit: (body: string) => string): string {
  // The JSON parser handles its own byte order mark.
  const mark = format === 'toml' && text.startsWith('\ufeff') ? '\ufeff' : '';
  return mark + edit(text.slice(mark.length));
}

/** A final check: whatever the edit did to the text, all values except the entry must be unchanged. */
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

/** The document without the entry, and without the objects that this leaves empty. */
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
