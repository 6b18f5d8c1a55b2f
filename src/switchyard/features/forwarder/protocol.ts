/** The capabilities of a forwarder. Raised when commands rely on new ones; an older forwarder is replaced. */
export const PROTOCOL = 2;

/**
 * A request to the forwarder: one line of JSON, answered by one line, in order. Both ends are this program, but the
 * forwarder may be an older version.
 */
export type ForwardRequest =
  | { readonly op: 'map'; readonly mapping: Mapping }
  | { readonly op: 'unmap'; readonly port: number }
  | { readonly op: 'list' }
  | { readonly op: 'ping' };

export type ForwardAnswer =
  | PingAnswer
  | { readonly ok: true; readonly mappings: readonly OpenMapping[] }
  | MapAnswer
  | UnmapAnswer
  | ForwardFailure;

export interface PingAnswer {
  readonly ok: true;
  readonly pid: number;
  /** Missing in the first versions. */
  readonly protocol?: number;
}

export interface OpenMapping extends Mapping {
  /** The addresses it listens on. */
  readonly addresses: readonly string[];
  /** Number of open connections. */
  readonly connections: number;
  /** Number of connections to a previous target. The first versions did not report it, and kept all of them. */
  readonly elsewhere?: number;
}

export interface MapAnswer {
  readonly ok: true;
  readonly kind: 'mapped' | 'switched' | 'same';
  /** The previous target of the port. */
  readonly was?: Mapping;
  /** Number of connections to it that were ended. */
  readonly ended: number;
  /** Number of connections that end after their response. */
  readonly finishing: number;
}

export interface UnmapAnswer {
  readonly ok: true;
  readonly kind: 'unmapped' | 'unknown';
  /** Number of connections that were closed. */
  readonly cut: number;
}

export interface ForwardFailure {
  readonly ok: false;
  /** The system's error code, for example EADDRINUSE, or BAD_REQUEST. */
  readonly code: string;
  readonly error: string;
}

/** One canonical port and the service behind it, as sent to and from the forwarder. */
export interface Mapping {
  readonly listen_port: number;
  readonly target_host: string;
  readonly target_port: number;
  readonly project: string;
  readonly project_root: string;
  readonly branch: string;
  readonly service: string;
}

/** Whether both point to the same port for the same service. */
export function sameMapping(a: Mapping, b: Mapping): boolean {
  return (
    a.listen_port === b.listen_port &&
    a.target_host === b.target_host &&
    a.target_port === b.target_port &&
    a.project_root === b.project_root &&
    a.branch === b.branch &&
    a.service === b.service
  );
}

/** Parses a request; throws if it is invalid, so that no port is opened and no connection made by mistake. */
export function parseRequest(line: string): ForwardRequest {
  const value = JSON.parse(line) as Partial<Record<string, unknown>> | null;
  if (typeof value !== 'object' || value === null) throw new Error('not an object');
  if (value.op === 'list' || value.op === 'ping') return { op: value.op };
  if (value.op === 'unmap' && isPort(value.port)) return { op: 'unmap', port: value.port };
  if (value.op === 'map' && isMapping(value.mapping)) return { op: 'map', mapping: value.mapping };
  throw new Error('no such request');
}

function isMapping(value: unknown): value is Mapping {
  if (typeof value !== 'object' || value === null) return false;
  const mapping = value as Record<string, unknown>;
  const texts = ['target_host', 'project', 'project_root', 'branch', 'service'];
  return (
    isPort(mapping.listen_port) &&
    isPort(mapping.target_port) &&
    texts.every((name) => typeof mapping[name] === 'string')
  );
}

function isPort(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= 65_535;
}
