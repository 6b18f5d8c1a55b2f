import type { Mapping } from './mapping.ts';

/** What a forwarder can do. Raised when commands rely on more; an older one is replaced. */
export const PROTOCOL = 2;

/**
 * What the commands ask of the forwarder: one line of JSON, answered by one line, in order. Both ends are of this
 * program, but a forwarder may be older than the command that asks.
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
  /** The first ones did not say. */
  readonly protocol?: number;
}

export interface OpenMapping extends Mapping {
  /** Where it listens. */
  readonly addresses: readonly string[];
  /** Open now. */
  readonly connections: number;
  /** Those that lead to where the port led before. The first forwarders did not say, and let all of them stay. */
  readonly elsewhere?: number;
}

export interface MapAnswer {
  readonly ok: true;
  readonly kind: 'mapped' | 'switched' | 'same';
  /** Where the port led before. */
  readonly was?: Mapping;
  /** How many connections to there were ended. */
  readonly ended: number;
  /** How many end as soon as they have their answer. */
  readonly finishing: number;
}

export interface UnmapAnswer {
  readonly ok: true;
  readonly kind: 'unmapped' | 'unknown';
  /** How many connections were cut. */
  readonly cut: number;
}

export interface ForwardFailure {
  readonly ok: false;
  /** The system's code, for example EADDRINUSE, or BAD_REQUEST. */
  readonly code: string;
  readonly error: string;
}

/** The request in a line; throws when it is none, so that no port is opened and nobody dialled by mistake. */
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
