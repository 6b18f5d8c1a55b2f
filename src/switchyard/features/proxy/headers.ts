import type { IncomingMessage } from 'node:http';
import type { ServiceRecord } from '../../records/state/records.ts';

/** Alternating names and values, as in Node: nothing is merged or lost. */
export type RawHeaders = readonly string[];

/** Headers of one connection, not of the message. */
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

/** The headers to pass on. */
export function endToEnd(headers: RawHeaders): string[] {
  const dropped = new Set(HOP_BY_HOP);
  for (const name of namedByConnection(headers)) {
    // Without it, the other side would not know where the body ends.
    if (name !== 'content-length') dropped.add(name);
  }
  return without(headers, dropped);
}

/**
 * Tells a service where a request comes from. Host and Origin stay the browser's: otherwise redirects and cookies would
 * leave the named address, and cross-site checks would reject the service's own pages.
 */
export function withOrigin(headers: RawHeaders, route: ServiceRecord, host: string): string[] {
  const own = without(headers, new Set(OURS));
  return [
    ...(route.host_header === 'rewrite' ? rewritten(own, backendAuthority(route), host) : own),
    ...['X-Forwarded-Host', host],
    ...['X-Forwarded-Proto', 'http'],
    ...['X-Switchyard-Service', encodeURI(route.service)],
    // Git allows names that headers do not.
    ...['X-Switchyard-Branch', encodeURI(route.branch)],
  ];
}

/**
 * For a response to a client that waits for `100 Continue` and gets this response instead: it is unknown whether the
 * body still comes, so the connection cannot be reused.
 */
export function closeAfter({ headers }: IncomingMessage): readonly string[] {
  return headers.expect === undefined ? [] : ['Connection', 'close'];
}

/** The headers as pairs. */
export function pairs(headers: RawHeaders): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < headers.length; at += 2) found.push([headers[at] ?? '', headers[at + 1] ?? '']);
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

/** As if the browser had requested the backend itself. An Origin of another site stays. */
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
