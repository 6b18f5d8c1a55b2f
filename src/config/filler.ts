import type { Warn } from './candidate.ts';
import { interpolate, interpolationProblem, type Environment } from './interpolate.ts';
import { unusableWarning } from './problem.ts';

/** Somewhere in a file. */
export interface KeyLocation {
  readonly file: string;
  /** Keys and list positions from the top of the file. */
  readonly path: readonly (string | number)[];
}

/** Fills in the references of one server's definition. What cannot be filled in costs the server, with a warning. */
export interface ReferenceFiller {
  /** The text with its references filled in, or an empty one after a failure. */
  fill(text: string, location: KeyLocation): string;
  /** Notes that something at this location makes the server unusable. */
  fail(location: KeyLocation, why: string): void;
  /** Whether anything failed. */
  readonly failed: boolean;
}

export function createFiller(server: string, env: Environment, warn: Warn): ReferenceFiller {
  let failed = false;
  const told = new Set<string>();
  const fail = (location: KeyLocation, why: string, unset: readonly string[] = []): void => {
    failed = true;
    const warning = unusableWarning(server, location, why, unset);
    // What is missing in several locations is missing once.
    const isNews = unset.length === 0 || unset.some((name) => !told.has(name));
    unset.forEach((name) => told.add(name));
    warn(isNews ? warning : { ...warning, level: 'info' });
  };
  return {
    fill(text, location) {
      const result = interpolate(text, env);
      if (result.kind === 'text') return result.text;
      fail(location, interpolationProblem(result), result.kind === 'unset' ? [...new Set(result.names)] : []);
      return '';
    },
    fail,
    get failed() {
      return failed;
    },
  };
}

/** The same for any JSON value: replaces variables in all strings, but not in keys. */
export function fillValue(value: unknown, { file, path }: KeyLocation, filler: ReferenceFiller): unknown {
  if (typeof value === 'string') return filler.fill(value, { file, path });
  if (typeof value !== 'object' || value === null) return value;
  const inner = (step: string | number, member: unknown): unknown =>
    fillValue(member, { file, path: [...path, step] }, filler);
  if (Array.isArray(value)) return value.map((member, index) => inner(index, member));
  // fromEntries defines members, so "__proto__" stays a key like any other.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inner(key, member)]));
}
