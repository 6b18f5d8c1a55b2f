import { dirname } from 'node:path';
import { didYouMean } from '../shared/nearest.ts';
import { describeForeignRemote, describeRemote, isRemoteEntry } from './describe-remote.ts';
import type { Place } from './filler.ts';
import type { ConfigScope } from './find.ts';
import { isObject } from './plain-data.ts';
import { keyPath, under, withConsequence, type ConfigWarning, type Problem } from './problem.ts';
import type { DescribedRemote } from './remote.ts';
import { brokenServerRules } from './rules.ts';
import type {
  BuiltinServer,
  ChildFile,
  ForeignRemote,
  ForeignServer,
  RemoteServer,
  StdioServer,
} from './schema/config.ts';
import {
  foreignRemoteKeys,
  foreignServerKeys,
  isChildFile,
  isForeignRemote,
  isForeignServer,
  isServerName,
} from './schema/quick-check.generated.js';

/** A server somebody has named, before it is decided whether and how it is used. */
export interface Candidate {
  readonly name: string;
  readonly file: string;
  /** Where in the file, from the top; empty when the whole file is about this server. */
  readonly path: readonly string[];
  /** What relative paths in the definition are relative to. */
  readonly directory: string;
  /** Where it is started if the definition does not say. Default `directory`. */
  readonly startIn?: string | undefined;
  /** The part of the configuration that it belongs to. Default: none, it is in no file. */
  readonly scope?: ConfigScope | undefined;
  /** Whether its texts are taken as they stand, with nothing filled in. Default false. */
  readonly literal?: boolean | undefined;
  readonly definition: CandidateDefinition;
}

export type CandidateDefinition =
  | {
      readonly kind: 'stdio';
      readonly server: StdioServer | ForeignServer | (ChildFile & Pick<StdioServer, 'command'>);
    }
  | { readonly kind: 'remote'; readonly server: DescribedRemote }
  | { readonly kind: 'builtin'; readonly server: BuiltinServer }
  /** Turned off; nobody looks at the rest. */
  | { readonly kind: 'disabled' }
  /** Described so badly that it cannot be used; the name is taken all the same, and the reader told. */
  | { readonly kind: 'unusable' };

export type Warn = (warning: ConfigWarning) => void;

/** The servers of our own configuration, which has been checked, except for the entries in `unusable`. */
export function ownCandidates(
  file: string,
  servers: Readonly<Record<string, StdioServer | RemoteServer | BuiltinServer>>,
  unusable: ReadonlySet<string>,
): Candidate[] {
  return Object.entries(servers).map(([name, server]) => ({
    name,
    file,
    path: ['mcpServers', name],
    directory: dirname(file),
    definition: unusable.has(name) ? { kind: 'unusable' } : ownDefinition(server),
  }));
}

function ownDefinition(server: StdioServer | RemoteServer | BuiltinServer): CandidateDefinition {
  if ('command' in server) return { kind: 'stdio', server };
  if (server.disabled === true) return { kind: 'disabled' };
  return 'url' in server ? { kind: 'remote', server: describeRemote(server) } : { kind: 'builtin', server };
}

/** The server a file of its own describes, or undefined when not even its name is known. */
export async function childCandidate(
  file: string,
  given: unknown,
  warn: Warn,
): Promise<Candidate | undefined> {
  const value = withoutSpokenLanguage(given);
  if (!isObject(value) || value.name === undefined) {
    const message = 'has neither "name" nor "mcpServers" and is skipped; add the name of the server';
    warn({ file, message, level: 'warn' });
    return undefined;
  }
  const name = typeof value.name === 'string' ? value.name : '';
  const candidate = { name, file, path: [], directory: dirname(file) };
  if (isRemoteEntry(value)) {
    const ours = Object.entries(value).filter(([key]) => CHILD_REMOTE_KEYS.has(key));
    const definition = await remoteDefinition({ file, path: [] }, name, Object.fromEntries(ours), warn);
    return name === '' ? undefined : { ...candidate, definition };
  }
  if (!isChildFile(value)) {
    const { explainChildFile } = await import('./explain.ts');
    warnAll(file, name, explainChildFile(value), warn);
    return name === '' ? undefined : { ...candidate, definition: { kind: 'unusable' } };
  }
  const { command } = value;
  if (command === undefined) {
    const message =
      `says nothing about how to start "${name}", which is skipped; add for example ` +
      '"command": {"cmd": "node", "args": ["dist/index.js"]}, or "url" where it runs elsewhere';
    warn({ file, key: 'command', message, level: 'warn', server: name });
    return { ...candidate, definition: { kind: 'unusable' } };
  }
  const { args, env, framing, isolation, language, timeouts } = value;
  const { description, switchboardDescription, disabled } = value;
  // Named one by one: other keys of this file are not ours to interpret.
  const looks = { isolation, language, timeouts, description, switchboardDescription, disabled };
  const server = { name, command, args, env, framing, ...looks };
  return { ...candidate, definition: { kind: 'stdio', server } };
}

const CHILD_REMOTE_KEYS = new Set([
  ...['type', 'url', 'httpUrl', 'serverUrl', 'headers', 'oauth', 'command'],
  ...['isolation', 'language', 'timeouts', 'description', 'switchboardDescription', 'disabled'],
]);

/** The servers of a `mcpServers` map that other programs read as well. */
export async function mapCandidates(file: string, map: unknown, warn: Warn): Promise<Candidate[]> {
  if (!isObject(map)) {
    warn({
      file,
      key: 'mcpServers',
      message: 'must be an object of server names and servers; it is skipped',
      level: 'warn',
    });
    return [];
  }
  const candidates: Candidate[] = [];
  for (const [name, entry] of Object.entries(map)) {
    const path = ['mcpServers', name];
    candidates.push({
      name,
      file,
      path,
      directory: dirname(file),
      definition: await foreignDefinition(file, path, withoutSpokenLanguage(entry), warn),
    });
  }
  return candidates;
}

async function foreignDefinition(
  file: string,
  path: readonly string[],
  entry: unknown,
  warn: Warn,
): Promise<CandidateDefinition> {
  const name = path.at(-1)!;
  if (isObject(entry) && isRemoteEntry(entry)) return remoteDefinition({ file, path }, name, entry, warn);
  if (!isForeignServer(entry) || !isServerName(name)) {
    const { explainForeignServer, explainServerName } = await import('./explain.ts');
    const problems = [...explainServerName(name), ...explainForeignServer(entry)];
    warnAll(file, name, under(path, problems), warn);
    return { kind: 'unusable' };
  }
  const broken = brokenServerRules(entry);
  if (broken.length > 0) {
    warnAll(file, name, under(path, broken), warn);
    return { kind: 'unusable' };
  }
  reportUnknownKeys(file, path, entry, foreignServerKeys, warn);
  return { kind: 'stdio', server: withoutToolList(file, path, entry, warn) };
}

/** To others, `"language": "python"` says what a server is written in. */
function withoutSpokenLanguage(entry: unknown): unknown {
  if (!isObject(entry) || typeof entry.language !== 'string') return entry;
  return Object.fromEntries(Object.entries(entry).filter(([key]) => key !== 'language'));
}

/** GitHub Copilot has a list of the allowed tools where we have settings of tools; `["*"]` allows all. */
function withoutToolList<T extends ForeignServer | ForeignRemote>(
  file: string,
  path: readonly (string | number)[],
  entry: T,
  warn: Warn,
): T {
  const { tools, ...rest } = entry;
  if (!Array.isArray(tools)) return entry;
  const message = 'is a list of another program and is ignored. Ours is "exposedTools".';
  const allowsAll = tools.length === 1 && tools[0] === '*';
  warn({ file, key: keyPath([...path, 'tools']), message, level: allowsAll ? 'info' : 'warn' });
  return rest as T;
}

/** The same for a server that runs elsewhere. */
async function remoteDefinition(
  { file, path }: Place,
  name: string,
  entry: Readonly<Record<string, unknown>>,
  warn: Warn,
): Promise<CandidateDefinition> {
  if (entry.disabled === true) return { kind: 'disabled' };
  const unusable = (problems: readonly Problem[]): CandidateDefinition => {
    warnAll(file, name, under(path, problems), warn);
    return { kind: 'unusable' };
  };
  if (entry.type === 'ws')
    return unusable([{ path: ['type'], message: 'servers reached by "ws" are not supported' }]);
  if (!isForeignRemote(entry) || !isServerName(name)) {
    const { explainForeignRemote, explainServerName } = await import('./explain.ts');
    // In a file about one server, the name is a key of its own.
    const naming = under(path.length === 0 ? ['name'] : [], explainServerName(name));
    return unusable([...naming, ...explainForeignRemote(entry)]);
  }
  const broken = brokenServerRules(entry);
  if (broken.length > 0) return unusable(broken);
  const described = describeForeignRemote(withoutToolList(file, path, entry, warn));
  if ('message' in described) return unusable([described]);
  reportUnknownKeys(file, path, entry, foreignRemoteKeys, warn);
  return { kind: 'remote', server: described };
}

/**
 * Keys of other hosts that change nothing about the server itself. All others are worth a warning: whoever wrote
 * `disabledTools` or `envFile` counts on it.
 */
const HARMLESS_KEYS = new Set([
  ...[
    'alwaysAllow',
    'alwaysLoad',
    'autoApprove',
    'trust',
    'timeout',
    'icon',
    'icons',
    'gallery',
    'version',
    'name',
    'title',
  ],
  ...[
    'dev',
    'metadata',
    'source',
    'tags',
    'homepage',
    'notes',
    'comment',
    '$comment',
    '_comment',
    'remoteConfigured',
  ],
]);

/** Gemini CLI, Codex, Cline and others: whoever hides tools from them will want to hide them here. */
const TOOL_LISTS = new Map([
  ...['includeTools', 'enabledTools', 'enabled_tools', 'allowedTools'].map(
    (key) => [key, 'exposedTools'] as const,
  ),
  ...['excludeTools', 'disabledTools', 'disabled_tools'].map((key) => [key, 'hiddenTools'] as const),
]);

function ourWordFor(key: string): string | undefined {
  const ours = TOOL_LISTS.get(key);
  return ours === undefined ? undefined : `Ours is "${ours}".`;
}

function reportUnknownKeys(
  file: string,
  path: readonly (string | number)[],
  entry: object,
  known: readonly string[],
  warn: Warn,
): void {
  for (const [key, value] of Object.entries(entry)) {
    if (known.includes(key) || value === undefined) continue;
    // Some hosts write the keys of a program in every entry.
    const harmless = HARMLESS_KEYS.has(key) || isEmpty(value);
    const guess = harmless ? undefined : (ourWordFor(key) ?? didYouMean(key, known));
    const message = `is not a key we know and is ignored.${guess === undefined ? '' : ` ${guess}`}`;
    warn({ file, key: keyPath([...path, key]), message, level: harmless ? 'info' : 'warn' });
  }
}

function isEmpty(value: unknown): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Warns of everything for which a server is skipped. */
function warnAll(file: string, server: string, problems: readonly Problem[], warn: Warn): void {
  for (const { path, message: why } of problems) {
    const message = withConsequence(why, 'the server is skipped');
    warn({ file, key: keyPath(path), message, level: 'warn', server });
  }
}
