import type { IncomingMessage } from 'node:http';
import type { ServiceRecord } from '../state/records.ts';

/** Names and values in turn, as Node gives and takes them: nothing is merged or lost. */
export type RawHeaders = readonly string[];

/** These speak about one connection, not about the message. */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];
const OURS = ['x-forwarded-host', 'x-forwarded-proto', 'x-switchyard-service', 'x-switchyard-branch'];

/** What goes on to the other side. */
export function endToEnd(headers: RawHeaders): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (const name of namedByConnection(headers)) {
    // Without it the other side would not know where the body ends.
    if (name !== 'content-length') dropped.add(name);
  }
  return without(headers, dropped);
}

/**
 * What a service learns about where a request comes from. Host and Origin stay the browser's: otherwise redirects and
 * cookies would leave the named address, and checks for requests from other sites would refuse the service's own pages.
 */
export function withOrigin(headers: RawHeaders, route: ServiceRecord, host: string): string[] {
  const own = without(headers, new Set(OURS));
  return [
    ...(route.host_header === 'rewrite' ? rewritten(own, backendAuthority(route), host) : own),
    ...['X-Forwarded-Host', host],
    ...['X-Forwarded-Proto', 'http'],
    ...['X-Switchyard-Service', encodeURI(route.service)],
    // Git allows names that a header does not.
    ...['X-Switchyard-Branch', encodeURI(route.branch)],
  ];
}

/**
 * For an answer to a client that waited for a word before it sends its body, and gets this answer instead: whether the
 * body still comes, nobody knows, so nothing can follow on this connection.
 */
export function closeAfter({ headers }: IncomingMessage): readonly string[] {
  return headers.expect === undefined ? [] : ['Connection', 'close'];
}

/** Two by two. */
export function pairs(headers: RawHeaders): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) found.push([headers[at]!, headers[at + 1]!]);
  return found;
}

export function without(headers: RawHeaders, names: ReadonlySet<string>): string[] {
  return pairs(headers).flatMap((pair) => (names.has(pair[0].toLowerCase()) ? [] : pair));
}

function namedByConnection(headers: RawHeaders): string[] {
  return pairs(headers)
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((name) => name.trim());
}

/** As if the browser had asked for the backend itself. An Origin that is another site's stays that. */
function rewritten(headers: RawHeaders, authority: string, host: string): string[] {
  return pairs(headers).flatMap(([name, value]) => {
    const isOrigin =
      name.toLowerCase() === 'origin' && value.toLowerCase() === `http://${host.toLowerCase()}`;
    if (isOrigin) return [name, `http://${authority}`];
    return [name, name.toLowerCase() === 'host' ? authority : value];
  });
}

function backendAuthority({ backend_host, port }: ServiceRecord): string {
  return backend_host.includes(':') ? `[${backend_host}]:${port}` : `${backend_host}:${port}`;
}
