import type { Warn } from './candidate.ts';
import { secretReferences, type Secrets, type UnsetSecret } from '../secrets/index.ts';
import { interpolate, interpolationProblem, type Environment } from './interpolate.ts';
import { unusableWarning } from './problem.ts';

/** A location in a file. */
export interface KeyLocation {
  readonly file: string;
  /** Keys and list positions from the top of the file. */
  readonly path: readonly (string | number)[];
}

/**
 * Fills in the references in one server's definition. A reference that cannot be filled in makes the server unusable,
 * with a warning.
 */
export interface ReferenceFiller {
  /** The text with its references filled in, or an empty one after a failure. */
  fill(text: string, location: KeyLocation): string;
  /** Notes that something at this location makes the server unusable. */
  fail(location: KeyLocation, why: string): void;
  /** Whether anything failed. */
  readonly failed: boolean;
  /** The values of the secrets that were filled in. Must never be shown. */
  readonly secrets: readonly string[];
}

interface FillerOptions {
  readonly env: Environment;
  /** Default: no secrets are set. */
  readonly secrets?: Secrets | undefined;
  readonly warn: Warn;
}

export function createFiller(server: string, { env, secrets, warn }: FillerOptions): ReferenceFiller {
  let told: Set<string> | undefined;
  const used: string[] = [];
  const fail = (
    location: KeyLocation,
    why: string,
    unset: readonly string[] = [],
    unsetSecrets: readonly string[] = [],
  ): void => {
    filler.failed = true;
    const warning = unusableWarning(server, location, why, { unset, unsetSecrets });
    const missing = [...unset, ...unsetSecrets.map((name) => `secret:${name}`)];
    // What is missing in several locations is reported once.
    const isNews = missing.length === 0 || missing.some((name) => told?.has(name) !== true);
    told = new Set([...(told ?? []), ...missing]);
    warn(isNews ? warning : { ...warning, level: 'info' });
  };
  // A plain field: V8 creates objects with a getter several times more slowly, and every server has a filler.
  const filler = {
    failed: false,
    secrets: used,
    fail,
    fill(text: string, location: KeyLocation): string {
      const result = interpolate(text, env, secrets);
      if (result.kind === 'text') {
        if (secrets !== undefined) used.push(...valuesOf(secretReferences(text), secrets));
        return result.text;
      }
      const why = interpolationProblem(result);
      if (result.kind === 'unknown') fail(location, why);
      else fail(location, why, [...new Set(result.names)], namesOf(result.secrets));
      return '';
    },
  };
  return filler;
}

function valuesOf(names: readonly string[], secrets: Secrets): string[] {
  return names.flatMap((name) => {
    const state = secrets.get(name);
    return state.kind === 'set' ? [state.value] : [];
  });
}

/** The names of secrets that would help if they were set. */
function namesOf(secrets: readonly UnsetSecret[]): string[] {
  return [...new Set(secrets.filter(({ why }) => why === undefined).map(({ name }) => name))];
}

/** The same for any JSON value: replaces references in all strings, but not in keys. */
export function fillValue(value: unknown, { file, path }: KeyLocation, filler: ReferenceFiller): unknown {
  if (typeof value === 'string') return filler.fill(value, { file, path });
  if (typeof value !== 'object' || value === null) return value;
  const inner = (step: string | number, member: unknown): unknown =>
    fillValue(member, { file, path: [...path, step] }, filler);
  if (Array.isArray(value)) return value.map((member, index) => inner(index, member));
  // fromEntries defines members, so "__proto__" stays an ordinary key.
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, inner(key, member)]));
}
