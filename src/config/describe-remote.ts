import type { DescribedRemote } from './remote.ts';
import type { RemoteServer } from './schema/config.ts';

/** What an entry of a configuration says about a remote server. */
export function describeRemote({
  type = 'auto',
  url,
  headers = {},
  oauth,
  ...rest
}: RemoteServer): DescribedRemote {
  return {
    transport: type === 'streamable-http' ? 'http' : type,
    url: { text: url, path: ['url'] },
    headers: Object.entries(headers).map(([name, text]) => ({ name, text, path: ['headers', name] })),
    oauth,
    settings: rest,
  };
}

const REMOTE_TYPES = new Set<unknown>(['auto', 'http', 'sse', 'streamable-http', 'ws', 'websocket']);

/** Whether an entry describes a remote server, valid or not. */
export function isRemoteEntry(entry: Readonly<Record<string, unknown>>): boolean {
  if (Object.hasOwn(entry, 'url')) return true;
  return !Object.hasOwn(entry, 'command') && REMOTE_TYPES.has(entry.type);
}

export const NO_ADDRESS = 'is missing: add the address of the server, for example "https://example.com/mcp"';
