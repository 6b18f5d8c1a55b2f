import { readFileSync } from 'node:fs';
import { VERSION } from '../../../shared/version.ts';
import { sha256 } from '../../../shared/sha256.ts';
import type { DaemonRecord } from '../../records/state/records.ts';

/** The release that a daemon was started from. */
export interface Release {
  readonly version: string;
  /** Differs between two builds of the same version. */
  readonly build: string;
}

/** The release of a program of ours, by the command that runs it. */
export function releaseOf(program: readonly string[]): Release {
  return { version: VERSION, build: sha256(entryOf(program)).slice(0, 16) };
}

/**
 * Whether a daemon must be replaced by this release. Never by an older one: otherwise two installed versions used in
 * turns would keep replacing each other's daemon.
 */
export function isOutdated(
  { version, build }: Pick<DaemonRecord, 'version' | 'build'>,
  ours: Release,
): boolean {
  // Versions before this one did not record theirs.
  if (version === undefined) return true;
  // Lost with the records; it may be as new as ours.
  if (version === null) return false;
  const order = compare(version, ours.version);
  return order < 0 || (order === 0 && build !== ours.build);
}

/** The names of the files it loads contain content hashes, so its first file identifies the whole build. */
function entryOf(program: readonly string[]): string {
  try {
    return readFileSync(program.at(-1) ?? '', 'utf8');
  } catch {
    return '';
  }
}

/** Compares only the numbers; suffixes are ignored. */
function compare(one: string, other: string): number {
  const right = numbersOf(other);
  const differences = numbersOf(one).map((number, at) => number - (right[at] ?? 0));
  return differences.find((difference) => difference !== 0) ?? 0;
}

function numbersOf(version: string): readonly number[] {
  return version
    .replace(/[-+].*/, '')
    .split('.')
    .map(Number);
}
