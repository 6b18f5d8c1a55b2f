import { isObject } from '../shared/is-object.ts';
import type { Note } from './problem.ts';

type Entry = Readonly<Record<string, unknown>>;

export interface TranslatedEntry {
  /** The entry in our own keys. Keys that are not ours and have no counterpart are left for the check. */
  readonly entry: Entry;
  readonly notes: readonly Note[];
}

/**
 * Interprets a server entry as the host that wrote it does, so that an entry copied from any host's file works. A
 * setting that we also have becomes ours; one that only makes sense in that host is noted and dropped. Our own keys
 * always take precedence.
 */
export function translateHostKeys(given: Entry): TranslatedEntry {
  const notes: Note[] = [];
  const note: AddNote = (key, message, level = 'info') => void notes.push({ path: [key], message, level });
  const entry = flattened(given);
  translateCommand(entry);
  translateAddress(entry);
  translateType(entry, note);
  translateEnvironment(entry, note);
  translateHeaders(entry, note);
  translateOAuth(entry);
  translateTimeouts(entry, note);
  translateToolLists(entry, note);
  translateEnabled(entry, note);
  // Other programs use this key for the language that a server is written in.
  if (typeof entry.get('language') === 'string') entry.delete('language');
  for (const key of [...entry.keys()])
    if (IGNORED.has(key) && entry.delete(key))
      note(key, 'is a setting of another host and has no effect here');
  return { entry: Object.fromEntries(entry), notes };
}

type AddNote = (key: string, message: string, level?: Note['level']) => void;
/** An entry while it is translated to our keys. */
type Draft = Map<string, unknown>;

/** Cline's command line keeps everything about how a server is reached one level deeper. */
function flattened({ transport, ...rest }: Entry): Draft {
  const reached = isObject(transport) ? transport : transport === undefined ? {} : { type: transport };
  return new Map(Object.entries({ ...reached, ...rest }));
}

/** Goose uses `cmd`; opencode has a single list with the program and its arguments. */
function translateCommand(entry: Draft): void {
  rename(entry, 'cmd', 'command');
  const command = entry.get('command');
  const args = entry.get('args') ?? [];
  if (!Array.isArray(command) || command.length === 0 || !Array.isArray(args)) return;
  const [program, ...rest] = command as unknown[];
  entry.set('command', program);
  entry.set('args', [...rest, ...(args as unknown[])]);
}

/** Gemini CLI uses `httpUrl`, which it prefers to `url`; Windsurf `serverUrl`; Goose `uri`. */
function translateAddress(entry: Draft): void {
  const httpUrl = take(entry, 'httpUrl');
  if (isGiven(httpUrl)) {
    entry.set('url', httpUrl);
    if (!entry.has('type')) entry.set('type', 'http');
  }
  rename(entry, 'serverUrl', 'url');
  rename(entry, 'uri', 'url');
  // Some hosts write the keys of both kinds of server into every entry.
  if (isRemote(entry) && !isProgram(entry)) entry.delete('command');
  if (isProgram(entry) && !isRemote(entry)) entry.delete('url');
}

const TYPES = new Map<string, string>([
  ...['stdio', 'local', 'command'].map((type) => [type, 'stdio'] as const),
  ...['http', 'streamablehttp', 'streamable'].map((type) => [type, 'http'] as const),
  ['remote', 'auto'],
  ['sse', 'sse'],
  ['auto', 'auto'],
]);

function translateType(entry: Draft, note: AddNote): void {
  const type = entry.get('type');
  if (typeof type !== 'string') return;
  const ours = TYPES.get(type.toLowerCase().replace(/[-_]/g, ''));
  if (ours !== undefined) entry.set('type', ours);
  if (!isProgram(entry) || isRemote(entry) || ours === 'stdio') return;
  entry.delete('type');
  note('type', 'does not apply to a server with "command" and is ignored', 'warn');
}

/** opencode uses `environment`, Goose `envs`; in VS Code, `null` removes a variable. */
function translateEnvironment(entry: Draft, note: AddNote): void {
  rename(entry, 'environment', 'env');
  rename(entry, 'envs', 'env');
  const env = entry.get('env');
  if (!isObject(env)) return;
  const removed = Object.keys(env).filter((name) => env[name] === null);
  if (removed.length === 0) return;
  entry.set('env', Object.fromEntries(Object.entries(env).filter(([, value]) => value !== null)));
  note(
    'env',
    `null does not unset ${removed.join(', ')}; use "inheritEnv" to choose inherited variables`,
    'warn',
  );
}

/** Codex has headers, headers whose values are names of variables, and the name of a variable with a token. */
function translateHeaders(entry: Draft, note: AddNote): void {
  const plain = take(entry, 'http_headers');
  const fromVariables = take(entry, 'env_http_headers');
  const bearer = take(entry, 'bearer_token_env_var');
  const found: [string, unknown][] = isObject(plain) ? Object.entries(plain) : [];
  for (const [name, variable] of isObject(fromVariables) ? Object.entries(fromVariables) : [])
    if (isVariable(variable)) found.push([name, `\${${variable}}`]);
    else
      note('env_http_headers', `${name} must be the name of an environment variable; it is ignored`, 'warn');
  if (isVariable(bearer)) found.push(['Authorization', `Bearer \${${bearer}}`]);
  else if (bearer !== undefined)
    note('bearer_token_env_var', 'must be the name of an environment variable; it is ignored', 'warn');
  const headers = entry.get('headers');
  if (found.length > 0)
    entry.set('headers', { ...Object.fromEntries(found), ...(isObject(headers) ? headers : {}) });
}

/** Cursor (`auth`), Claude Code and Gemini CLI (`scopes`), Codex (`client_id`). */
function translateOAuth(entry: Draft): void {
  if (isObject(entry.get('auth'))) rename(entry, 'auth', 'oauth');
  const oauth = entry.get('oauth');
  if (!isObject(oauth)) return;
  const ours: Draft = new Map(Object.entries(oauth));
  if (take(ours, 'enabled') === false) {
    entry.set('oauth', false);
    return;
  }
  for (const [theirs, key] of OAUTH_KEYS) rename(ours, theirs, key);
  const scope = ours.get('scope');
  if (Array.isArray(scope)) ours.set('scope', scope.join(' '));
  entry.set('oauth', Object.fromEntries(ours));
}

const OAUTH_KEYS = [
  ['CLIENT_ID', 'clientId'],
  ['CLIENT_SECRET', 'clientSecret'],
  ['client_id', 'clientId'],
  ['client_secret', 'clientSecret'],
  ['callback_port', 'callbackPort'],
  ['scopes', 'scope'],
] as const;

/** Above this, `timeout` is in milliseconds (Claude Code, Gemini CLI, opencode); up to it, in seconds (Cline, Goose). */
const MOST_SECONDS = 3600;

function translateTimeouts(entry: Draft, note: AddNote): void {
  const limits: Record<string, number> = {};
  const read = (key: string, ours: string, toMs: (value: number) => number): void => {
    const value = take(entry, key);
    if (value === undefined || value === null) return;
    if (typeof value !== 'number' || !(value > 0) || !Number.isFinite(value)) {
      note(key, 'must be a number above 0; it is ignored', 'warn');
      return;
    }
    const ms = Math.max(1, Math.round(toMs(value)));
    limits[ours] = ms;
    note(key, `is read as "timeouts": {"${ours}": ${ms}}`);
  };
  read('timeout', 'rpcMs', (value) => (value > MOST_SECONDS ? value : value * 1000));
  read('tool_timeout_sec', 'rpcMs', (value) => value * 1000);
  read('startup_timeout_ms', 'childSpawnMs', (value) => value);
  read('startup_timeout_sec', 'childSpawnMs', (value) => value * 1000);
  const timeouts = entry.get('timeouts') ?? {};
  if (Object.keys(limits).length > 0 && isObject(timeouts)) entry.set('timeouts', { ...limits, ...timeouts });
}

const TOOL_LISTS = [
  ['includeTools', 'exposedTools'],
  ['enabledTools', 'exposedTools'],
  ['enabled_tools', 'exposedTools'],
  ['available_tools', 'exposedTools'],
  ['excludeTools', 'hiddenTools'],
  ['disabledTools', 'hiddenTools'],
  ['disabled_tools', 'hiddenTools'],
  // Copilot CLI, where ["*"] means all of them.
  ['tools', 'exposedTools'],
] as const;

function translateToolLists(entry: Draft, note: AddNote): void {
  for (const [key, ours] of TOOL_LISTS) {
    // An object under "tools" is our own setting.
    if (key === 'tools' && !Array.isArray(entry.get(key))) continue;
    const list = take(entry, key);
    const names = Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
    if (names.length === 0 || names.includes('*')) continue;
    const already = entry.get(ours);
    if (already !== undefined && ours === 'exposedTools') {
      note(key, `is ignored, because "${ours}" is set`);
      continue;
    }
    entry.set(ours, [
      ...(Array.isArray(already) ? (already as unknown[]) : []),
      ...names.map(literalPattern),
    ]);
    note(key, `is read as "${ours}"`);
  }
}

/** Codex, opencode and Zed disable a server with `"enabled": false`. */
function translateEnabled(entry: Draft, note: AddNote): void {
  if (typeof entry.get('enabled') !== 'boolean' || take(entry, 'enabled') === true) return;
  if (!entry.has('disabled')) entry.set('disabled', true);
  note('enabled', 'is read as "disabled": true');
}

/** What other hosts store in an entry for themselves: approvals, appearance, notes. */
const IGNORED = new Set([
  ...['alwaysAllow', 'autoApprove', 'trust', 'default_tools_approval_mode', 'sandboxEnabled', 'auth'],
  ...['alwaysLoad', 'required', 'supports_parallel_tool_calls', 'omit_tools_from', 'environment_id'],
  ...['icon', 'icons', 'gallery', 'version', 'name', 'title', 'tags', 'homepage', 'bundled', 'dev'],
  ...['metadata', 'source', 'settings', 'remoteConfigured', 'authProviderType', 'env_vars', 'env_keys'],
  ...['notes', 'comment', '$comment', '_comment', '//', 'scopes', 'oauth_resource', 'network'],
]);

function rename(entry: Draft, theirs: string, ours: string): void {
  if (!entry.has(theirs)) return;
  const value = take(entry, theirs);
  if (!isGiven(entry.get(ours))) entry.set(ours, value);
}

function take(entry: Draft, key: string): unknown {
  const value = entry.get(key);
  entry.delete(key);
  return value;
}

function isProgram(entry: Draft): boolean {
  return isGiven(entry.get('command'));
}

function isRemote(entry: Draft): boolean {
  return isGiven(entry.get('url'));
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function isVariable(value: unknown): value is string {
  return typeof value === 'string' && /^[A-Za-z_][A-Za-z0-9_]*$/.test(value);
}

/** Their lists contain names, ours contain patterns. */
function literalPattern(name: string): string {
  return name.replace(/[*?[{\\]/g, '\\$&');
}
