import { dirname } from 'node:path';
import { isObject } from '../shared/is-object.ts';
import { checkServer, type CheckedServer } from './check-server.ts';
import { describeRemote } from './describe-remote.ts';
import type { ConfigScope } from './find.ts';
import { keyPath, unusableWarning, type ConfigWarning, type Note } from './problem.ts';
import type { DescribedRemote } from './remote.ts';
import type { BuiltinServer, StdioServer } from './schema/config.ts';

/** A server as defined in some file, before it is decided whether and how it is used. */
export interface ServerCandidate {
  readonly name: string;
  readonly file: string;
  /** The location in the file, from the top; empty if the whole file is about this server. */
  readonly path: readonly string[];
  /** The directory that relative paths in the definition are relative to. */
  readonly directory: string;
  /** Where it is started if the definition does not specify that. Default: `directory`. */
  readonly startIn?: string | undefined;
  /** The part of the configuration that it belongs to. Default: none, because it is not in any file. */
  readonly scope?: ConfigScope | undefined;
  /** Whether nothing of it may be used because its file is not allowed yet. Default false. */
  readonly notAllowed?: boolean | undefined;
  /** Whether its strings are literal, so that variables are not filled in. Default false. */
  readonly literal?: boolean | undefined;
  readonly definition: CandidateDefinition;
}

export type CandidateDefinition =
  | { readonly kind: 'stdio'; readonly server: StdioServer }
  | { readonly kind: 'remote'; readonly server: DescribedRemote }
  | { readonly kind: 'builtin'; readonly server: BuiltinServer }
  /** Disabled; the rest is not checked. */
  | { readonly kind: 'disabled' }
  /** Its definition is invalid. It keeps its name, and `entry` may still specify its exposure. */
  | { readonly kind: 'unusable'; readonly entry?: unknown };

export type Warn = (warning: ConfigWarning) => void;

/** The servers of a checked `mcpServers` map, with warnings about what is wrong with them. */
export function checkedCandidates(
  file: string,
  servers: ReadonlyMap<string, CheckedServer>,
  warn: Warn,
): ServerCandidate[] {
  const noted = new Set<string>();
  const directory = dirname(file);
  return [...servers].map(([name, checked]) => {
    const path = ['mcpServers', name];
    // A host writes its own keys into every entry, so they are mentioned only once.
    const notes = checked.notes.filter((note) => note.level === 'warn' || isNew(noted, describeNote(note)));
    warnAbout({ file, path, name }, { ...checked, notes }, warn);
    return { name, file, path, directory, definition: definitionOf(checked) };
  });
}

/** The servers of an `mcpServers` map that other programs read, too. */
export async function mapCandidates(file: string, map: unknown, warn: Warn): Promise<ServerCandidate[]> {
  if (!isObject(map)) {
    warn({
      file,
      key: 'mcpServers',
      message: 'must be an object of servers by name; it is skipped',
      level: 'warn',
    });
    return [];
  }
  const servers = new Map<string, CheckedServer>();
  for (const [name, entry] of Object.entries(map)) servers.set(name, await checkServer(name, entry));
  return checkedCandidates(file, servers, warn);
}

/** The server that is described by a separate file, or undefined if not even its name is known. */
export async function childCandidate(
  file: string,
  value: unknown,
  warn: Warn,
): Promise<ServerCandidate | undefined> {
  if (!isObject(value) || value.name === undefined) {
    const message = 'has neither "name" nor "mcpServers" and is skipped; add a "name"';
    warn({ file, message, level: 'warn' });
    return undefined;
  }
  if (typeof value.name !== 'string') {
    warn({ file, key: 'name', message: 'must be a string; the file is skipped', level: 'warn' });
    return undefined;
  }
  const { name } = value;
  const candidate = { name, file, path: [], directory: dirname(file) };
  // Other keys of this file are not ours to interpret.
  const entry = Object.fromEntries(Object.entries(value).filter(([key]) => CHILD_KEYS.has(key)));
  if (entry.disabled !== true && !START_KEYS.some((key) => Object.hasOwn(entry, key))) {
    const why =
      'is missing; add for example ' +
      '"command": {"cmd": "node", "args": ["dist/index.js"]}, or "url" for a remote server';
    warn(unusableWarning(name, { file, path: ['command'] }, why));
    return { ...candidate, definition: { kind: 'unusable', entry } };
  }
  const checked = await checkServer(name, entry);
  warnAbout(candidate, checked, warn);
  return { ...candidate, definition: definitionOf(checked) };
}

const START_KEYS = ['command', 'url', 'httpUrl', 'serverUrl', 'type'];
const CHILD_KEYS = new Set([
  ...START_KEYS,
  ...['args', 'env', 'envFile', 'framing', 'headers', 'oauth', 'isolation', 'language', 'timeouts'],
  'maxProcesses',
  ...['stopFirst', 'description', 'switchboardDescription', 'disabled'],
]);

function definitionOf(checked: CheckedServer): CandidateDefinition {
  switch (checked.kind) {
    case 'remote':
      return { kind: 'remote', server: describeRemote(checked.server) };
    case 'stdio':
    case 'builtin':
      return { kind: checked.kind, server: checked.server } as CandidateDefinition;
    case 'unusable':
      return { kind: 'unusable', entry: checked.entry };
    default:
      return { kind: checked.kind };
  }
}

function warnAbout(
  { file, path, name }: Pick<ServerCandidate, 'file' | 'path' | 'name'>,
  checked: CheckedServer,
  warn: Warn,
): void {
  for (const { path: below, message, level } of checked.notes)
    warn({ file, key: keyPath([...path, ...below]), message, level });
  if (checked.kind !== 'unusable') return;
  for (const { path: below, message: why } of checked.problems)
    warn(unusableWarning(name, { file, path: [...path, ...below] }, why));
}

function describeNote({ path, message }: Note): string {
  return `${keyPath(path)} ${message}`;
}

function isNew(seen: Set<string>, text: string): boolean {
  const before = seen.size;
  return seen.add(text).size > before;
}
