import { isAbsolute, join } from 'node:path';
import { isEmpty } from '../shared/is-empty.ts';
import { isObject } from '../shared/is-object.ts';
import type { Host, HostEnvironment } from './host.ts';
import { convertSettings, type ConvertedSettings } from './convert-settings.ts';
import { plainEntry } from './plain-entry.ts';
import type { HostServer } from './read-servers.ts';
import { escaped, convertText, ConversionError } from './references.ts';

/** A host's server in the keys of our own configuration, or why it cannot be converted. */
export type ConversionResult =
  | {
      readonly kind: 'server';
      readonly entry: ConvertedEntry;
      /** The variables that it needs, without duplicates. */
      readonly variables: readonly string[];
      /** What was lost or changed by the conversion, as parts of sentences. */
      readonly notes: readonly string[];
    }
  | { readonly kind: 'unusable'; readonly why: string };

/** Our entry for a server that comes from a host. */
export interface ConvertedEntry extends ConvertedSettings {
  readonly type?: 'http' | 'sse';
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly envFile?: string;
  readonly cwd?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly oauth?: Readonly<Record<string, unknown>>;
}

type Table = Readonly<Record<string, unknown>>;

/** Converts texts and collects what they require. */
interface TextConverter {
  text(text: string): string;
  variable(name: string): string;
}

/** Converts a host's entry for a server. Nothing is filled in: references stay references. */
export function convertServer(
  { location, value: given }: HostServer,
  where: HostEnvironment,
): ConversionResult {
  const value = plainEntry(given);
  if (!isObject(value)) return { kind: 'unusable', why: 'it is not an object' };
  const variables: string[] = [...textsIn(value.env_vars)];
  const notes: string[] = [];
  const context = { references: location.host.references, where, project: location.project };
  const converter: TextConverter = {
    text(text) {
      const converted = convertText(text, context);
      variables.push(...converted.variables);
      notes.push(...converted.notes);
      return converted.text;
    },
    variable(name) {
      variables.push(name);
      return `\${${name}}`;
    },
  };
  try {
    const address = addressIn(value);
    const reached =
      address === undefined
        ? programIn(value, location.project, converter)
        : remoteIn(address, value, location.host, converter);
    const envFile = reached.url === undefined ? envFileIn(value, location.project, converter, notes) : {};
    const { settings, understood } = convertSettings(value, location.host.timeoutUnit ?? 'milliseconds');
    const lost = Object.entries(value)
      .filter(([key, member]) => !REACHED.has(key) && !understood.has(key) && !isEmpty(member))
      .map(([key]) => key);
    if (lost.length > 0) notes.push(`not imported: ${lost.join(', ')}`);
    return {
      kind: 'server',
      entry: { ...reached, ...envFile, ...settings },
      variables: [...new Set(variables)],
      notes: [...new Set(notes)],
    };
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    return { kind: 'unusable', why: `it ${error.message}` };
  }
}

/** The keys that describe how a server is reached, all of which are handled here. */
const REACHED = new Set([
  ...[
    'type',
    'command',
    'args',
    'env',
    'env_vars',
    'cwd',
    'envFile',
    'url',
    'httpUrl',
    'serverUrl',
    'headers',
    'http_headers',
  ],
  ...['env_http_headers', 'bearer_token_env_var', 'oauth', 'auth', 'scopes'],
]);

function programIn(
  { type, command, args, env, cwd }: Table,
  project: string | undefined,
  converter: TextConverter,
): ConvertedEntry {
  if (typeof command !== 'string' || command.trim() === '')
    throw new ConversionError('has no command and no URL');
  if (type !== undefined && type !== 'stdio' && type !== 'local')
    throw new ConversionError(`has the type ${JSON.stringify(type)}, but also a command`);
  const directory = typeof cwd === 'string' && cwd !== '' ? converter.text(cwd) : project && escaped(project);
  return {
    command: converter.text(command),
    ...filled(
      'args',
      textsIn(args).map((text) => converter.text(text)),
    ),
    ...filled('env', named(textTable(env, converter), VARIABLE, 'variable')),
    ...(directory === undefined ? {} : { cwd: directory }),
  };
}

/** A dotenv file by its full path. One whose location is unknown is left out, with a note. */
function envFileIn(
  { envFile }: Table,
  project: string | undefined,
  converter: TextConverter,
  notes: string[],
): Pick<ConvertedEntry, 'envFile'> {
  if (typeof envFile !== 'string' || envFile === '') return {};
  try {
    const text = converter.text(envFile);
    if (isAbsolute(text) || text.startsWith('${')) return { envFile: text };
    if (project !== undefined) return { envFile: join(escaped(project), text) };
    notes.push('not imported: envFile, because it is relative to the open folder');
  } catch (error) {
    if (!(error instanceof ConversionError)) throw error;
    notes.push(`not imported: envFile, because it ${error.message}`);
  }
  return {};
}

function remoteIn(
  { key, url }: RemoteAddress,
  value: Table,
  { http }: Host,
  converter: TextConverter,
): ConvertedEntry {
  const { env_http_headers: byVariable, bearer_token_env_var: bearer } = value;
  const variables = isObject(byVariable) ? Object.entries(byVariable) : [];
  const headers = {
    ...textTable(value.headers, converter),
    ...textTable(value.http_headers, converter),
    // Codex has names of variables instead of references.
    ...Object.fromEntries(variables.map(([name, variable]) => [name, converter.variable(String(variable))])),
    ...(typeof bearer === 'string' ? { Authorization: `Bearer ${converter.variable(bearer)}` } : {}),
  };
  const type = transportOf(value.type ?? http?.untyped, key);
  if (!/^https?:\/\/|\$\{/i.test(url))
    throw new ConversionError('has a URL that does not start with http:// or https://');
  return {
    ...(type === undefined ? {} : { type }),
    url: converter.text(url),
    ...filled('headers', named(headers, HEADER, 'header')),
    ...filled('oauth', oauthIn(value, converter)),
  };
}

interface RemoteAddress {
  readonly key: string;
  readonly url: string;
}

function addressIn(value: Table): RemoteAddress | undefined {
  for (const key of ['httpUrl', 'url', 'serverUrl']) {
    const url = value[key];
    if (typeof url === 'string' && url !== '') return { key, url };
  }
  return undefined;
}

function transportOf(type: unknown, key: string): 'http' | 'sse' | undefined {
  if (type === 'sse') return 'sse';
  if (typeof type === 'string' && /^(?:streamable.?)?http$/i.test(type)) return 'http';
  if (type === undefined || type === 'remote') return key === 'httpUrl' ? 'http' : undefined;
  throw new ConversionError(`has the type ${JSON.stringify(type)}, which is not supported`);
}

/** Claude Code, Gemini CLI, Codex and Cursor each use different keys. */
function oauthIn({ oauth, auth, scopes }: Table, converter: TextConverter): Record<string, string | number> {
  const source: Table = { ...(isObject(auth) ? auth : {}), ...(isObject(oauth) ? oauth : {}) };
  const named = (...keys: readonly string[]): unknown =>
    keys.map((key) => source[key]).find((value) => value !== undefined);
  const id = named('clientId', 'client_id', 'CLIENT_ID');
  const secret = named('clientSecret', 'client_secret', 'CLIENT_SECRET');
  const port = named('callbackPort', 'callback_port');
  const scope = named('scope', 'scopes') ?? scopes;
  const words = typeof scope === 'string' ? scope : textsIn(scope).join(' ');
  return {
    ...(typeof id === 'string' ? { clientId: converter.text(id) } : {}),
    ...(typeof secret === 'string' ? { clientSecret: converter.text(secret) } : {}),
    ...(words === '' ? {} : { scope: words }),
    ...(Number.isInteger(port) && (port as number) > 0 && (port as number) < 65_536
      ? { callbackPort: port as number }
      : {}),
  };
}

/** The texts in a list; undefined counts as an empty list. */
function textsIn(value: unknown): string[] {
  if (value === undefined || value === null) return [];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.map((each) => {
    if (typeof each === 'string') return each;
    // Codex may specify where a variable comes from.
    if (isObject(each) && typeof each.name === 'string') return each.name;
    if (typeof each === 'number' || typeof each === 'boolean') return String(each);
    throw new ConversionError('has a list with an item that is not a string');
  });
}

/** The texts in a table. Numbers become texts, and null counts as missing, as in VS Code. */
function textTable(value: unknown, converter: TextConverter): Record<string, string> {
  if (!isObject(value)) return {};
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, converter.text(String(member))]));
}

/** A table that our configuration would reject makes only this server fail, not the whole import. */
function named(table: Record<string, string>, pattern: RegExp, what: string): Record<string, string> {
  const odd = Object.keys(table).find((name) => !pattern.test(name));
  if (odd !== undefined) throw new ConversionError(`has an invalid ${what} name ${JSON.stringify(odd)}`);
  return table;
}

const VARIABLE = /^[^=\0]+$/;
const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

function filled(key: string, value: object): object {
  return Object.keys(value).length === 0 ? {} : { [key]: value };
}
