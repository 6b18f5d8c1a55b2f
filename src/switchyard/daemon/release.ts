import { readFileSync } from 'node:fs';
import { VERSION } from '../../shared/version.ts';
import { sha256 } from '../sha256.ts';
import type { DaemonRecord } from '../state/records.ts';

/** What a daemon was started from. */
export interface Release {
  readonly version: string;
  /** Differs between two builds of one version. */
  readonly build: string;
}

/** Of a program of ours, by the command that runs it. */
export function releaseOf(program: readonly string[]): Release {
  return { version: VERSION, build: sha256(entryOf(program)).slice(0, 16) };
}

/**
 * Whether a daemon is to be replaced by one of this release. Not by an older one: two installed versions that are used
 * in turns would replace each other's daemon every time.
 */
export function isOutdated(
  { version, build }: Pick<DaemonRecord, 'version' | 'build'>,
  ours: Release,
): boolean {
  // Versions before this one did not write theirs down.
  if (version === undefined) return true;
  // Lost with the records; it may be as new as we are.
  if (version === null) return false;
  const order = compare(version, ours.version);
  return order < 0 || (order === 0 && build !== ours.build);
}

/** The names of the files it loads hold hashes of what is in them, so its first file stands for all of it. */
function entryOf(program: readonly string[]): string {
  try {
    return readFileSync(program.at(-1) ?? '', 'utf8');
  } catch {
    return '';
  }
}

/** By the numbers alone; what follows them makes no version older. */
function compare(one: string, other: string): number {
  const [left, right] = [one, other].map((version) => version.split(/[-+]/, 1)[0]!.split('.').map(Number));
  const at = left!.findIndex((number, index) => number !== right![index]);
  return at === -1 ? 0 : left![at]! - (right![at] ?? 0);
}
