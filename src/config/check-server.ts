import { isEmpty } from '../shared/is-empty.ts';
import { isObject } from '../shared/is-object.ts';
import { didYouMean } from '../shared/nearest.ts';
import { isRemoteEntry } from './describe-remote.ts';
import { translateHostKeys } from './host-keys.ts';
import type { Note, ConfigProblem } from './problem.ts';
import { brokenServerRules } from './rules.ts';
import type { BuiltinServer, RemoteServer, StdioServer } from './schema/config.ts';
import { isServer, isServerName, serverKeys } from './schema/quick-check.generated.js';
import { withoutUnknownKeys } from './unknown-keys.ts';

export type CheckedServer = { readonly notes: readonly Note[] } & (
  | { readonly kind: 'stdio'; readonly server: StdioServer }
  | { readonly kind: 'remote'; readonly server: RemoteServer }
  | { readonly kind: 'builtin'; readonly server: BuiltinServer }
  /** Disabled; the rest is not checked. */
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unusable'; readonly problems: readonly ConfigProblem[]; readonly entry: unknown }
);

/**
 * Checks one entry of `mcpServers`, with our own keys or another host's. Keys that mean nothing to us are noted and
 * ignored; any other problem makes the server unusable. Paths start at the entry.
 */
export async function checkServer(name: string, given: unknown): Promise<CheckedServer> {
  if (isOwnProgram(given) && isServerName(name)) return checkedProgram(given);
  const translated = isObject(given) ? translateHostKeys(given) : { entry: undefined, notes: [] };
  const notes = [...translated.notes];
  if (translated.entry?.disabled === true) return { kind: 'disabled', notes };
  const known = translated.entry && withoutForeignKeys(translated.entry, notes);
  const problems = known?.problems ?? [];
  const checked = await withoutUnknownKeys(known?.entry ?? given, isServer, async (value) =>
    (await import('./explain.ts')).explainServer(value),
  );
  notes.push(...checked.notes);
  if (!isServerName(name)) problems.push(...(await import('./explain.ts')).explainServerName(name));
  problems.push(...checked.problems, ...brokenServerRules(checked.value));
  if (problems.length > 0) return { kind: 'unusable', problems, entry: given, notes };
  const server = checked.value as StdioServer | RemoteServer | BuiltinServer;
  if ('command' in server) return { kind: 'stdio', server, notes };
  return 'url' in server ? { kind: 'remote', server, notes } : { kind: 'builtin', server, notes };
}

/**
 * Whether an entry starts a program and has only our own keys, all valid. Most do, so nothing is translated or left
 * out.
 */
function isOwnProgram(given: unknown): given is StdioServer {
  return isServer(given) && 'command' in given;
}

function checkedProgram(server: StdioServer): CheckedServer {
  if (server.disabled === true) return { kind: 'disabled', notes: [] };
  const problems = brokenServerRules(server);
  if (problems.length > 0) return { kind: 'unusable', problems, entry: server, notes: [] };
  return { kind: 'stdio', server, notes: [] };
}

type Entry = Readonly<Record<string, unknown>>;
type Kind = keyof typeof serverKeys;

const EVERY_KEY = [...new Set(Object.values(serverKeys).flat())];

/** The entry with only the keys that its kind of server has; a note lists what was left out. */
function withoutForeignKeys(entry: Entry, notes: Note[]): { entry: Entry; problems: ConfigProblem[] } {
  const kind = kindOf(entry);
  const known: readonly string[] = kind === undefined ? EVERY_KEY : serverKeys[kind];
  const problems: ConfigProblem[] = [];
  const kept = Object.entries(entry).filter(([key, value]) => {
    if (known.includes(key)) return true;
    if (value === undefined) return false;
    if (key === 'command' || key === 'url') {
      problems.push({
        path: [key],
        message: `cannot be combined with "${String(kind)}"; remove one of them`,
      });
      return false;
    }
    // Some hosts write every key they know into every entry.
    notes.push({
      path: [key],
      message: whyIgnored(key, kind, known),
      level: isEmpty(value) ? 'info' : 'warn',
    });
    return false;
  });
  if (entry.type === 'ws' || entry.type === 'websocket')
    problems.push({ path: ['type'], message: 'servers reached by WebSocket are not supported' });
  return { entry: Object.fromEntries(kept), problems };
}

/** The kind of server that an entry describes, valid or not; undefined if it describes none. */
function kindOf(entry: Entry): Kind | undefined {
  if (Object.hasOwn(entry, 'builtin')) return 'builtin';
  if (isRemoteEntry(entry)) return 'url';
  return entry.command === undefined ? undefined : 'command';
}

function whyIgnored(key: string, kind: Kind | undefined, known: readonly string[]): string {
  if (EVERY_KEY.includes(key)) return `has no effect on a server with "${String(kind)}" and is ignored`;
  const guess = didYouMean(key, known);
  return `is not a known key and is ignored.${guess === undefined ? '' : ` ${guess}`}`;
}
