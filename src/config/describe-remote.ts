import type { Problem } from './problem.ts';
import type { DescribedRemote } from './remote.ts';
import type { ForeignRemote, RemoteServer } from './schema/config.ts';

/** What an entry of our own configuration says about a server that runs elsewhere. */
export function describeRemote({
  type = 'auto',
  url,
  headers = {},
  oauth,
  ...rest
}: RemoteServer): DescribedRemote {
  return {
    transport: transportOf(type),
    url: { text: url, path: ['url'] },
    headers: headersAt('headers', headers),
    oauth,
    settings: rest,
  };
}

/** Keys that only a server that runs elsewhere has, whichever host wrote them. */
const ADDRESS_KEYS = ['url', 'httpUrl', 'serverUrl'] as const;
const REMOTE_TYPES = new Set<unknown>([
  ...['auto', 'http', 'sse', 'ws', 'remote'],
  ...['streamable-http', 'streamableHttp', 'streamable_http'],
]);

/** Whether an entry means a server that runs elsewhere, right or wrong. */
export function isRemoteEntry(entry: Readonly<Record<string, unknown>>): boolean {
  const named = ADDRESS_KEYS.filter((key) => Object.hasOwn(entry, key));
  if (named.some((key) => entry[key] !== '' && entry[key] !== null)) return true;
  // With a command, it is the type that is wrong, or the address that is left empty.
  return !Object.hasOwn(entry, 'command') && (named.length > 0 || REMOTE_TYPES.has(entry.type));
}

/** The same for an entry in the words of any host, which has been checked, or what is wrong with it. */
export function describeForeignRemote(entry: ForeignRemote): DescribedRemote | Problem {
  const { type, oauth } = entry;
  if (hasCommand(entry)) return { path: ['command'], message: 'is not for a server with an address' };
  // Gemini CLI prefers its own key to "url" as well.
  const key = (['httpUrl', 'url', 'serverUrl'] as const).find((each) => entry[each] !== undefined);
  if (key === undefined) return { path: ['url'], message: NO_ADDRESS };
  return {
    transport: transportOf(type ?? (key === 'httpUrl' ? 'http' : 'auto')),
    url: { text: entry[key]!, path: [key] },
    headers: foreignHeaders(entry),
    oauth,
    // Checked on its own, where it is a list of another program.
    settings: entry as DescribedRemote['settings'],
  };
}

export const NO_ADDRESS = 'is missing: add the address of the server, for example "https://example.com/mcp"';

function hasCommand(entry: Readonly<Record<string, unknown>>): boolean {
  return entry.command !== undefined && entry.command !== null && entry.command !== '';
}

function transportOf(type: NonNullable<ForeignRemote['type']>): DescribedRemote['transport'] {
  switch (type) {
    case 'sse':
      return 'sse';
    case 'auto':
    case 'remote':
      return 'auto';
    default:
      return 'http';
  }
}

function foreignHeaders(entry: ForeignRemote): DescribedRemote['headers'] {
  const { headers = {}, http_headers = {}, env_http_headers = {}, bearer_token_env_var: bearer } = entry;
  const fromVariables = Object.entries(env_http_headers).map(([name, variable]) => [name, `\${${variable}}`]);
  return [
    ...headersAt('headers', headers),
    ...headersAt('http_headers', http_headers),
    ...headersAt('env_http_headers', Object.fromEntries(fromVariables) as Record<string, string>),
    ...(bearer === undefined
      ? []
      : [{ name: 'Authorization', text: `Bearer \${${bearer}}`, path: ['bearer_token_env_var'] }]),
  ];
}

function headersAt(key: string, headers: Readonly<Record<string, string>>): DescribedRemote['headers'] {
  return Object.entries(headers).map(([name, text]) => ({ name, text, path: [key, name] }));
}
