import { randomBytes } from 'node:crypto';
import * as fs from 'node:fs';
import { dirname, join } from 'node:path';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { isObject } from '../shared/is-object.ts';
import { withRegularFile } from '../shared/regular-file.ts';
import { writeFileAtomic } from '../shared/write-file.ts';
import { type Container } from './container.ts';
import { HOSTS } from './catalog.ts';
import type { HostName } from './host.ts';

/**
 * What was removed from a host's file, so that it can be restored. Stored in the state directory, only for its owner.
 */
export interface TakeoverRecord {
  readonly version: typeof VERSION;
  readonly host: HostName;
  readonly file: string;
  /** When it was removed, as an ISO date. */
  readonly at: string;
  /** The complete earlier text. Must never be shown. */
  readonly before: string;
  /** The digest of the resulting text. */
  readonly after: string;
  readonly parts: readonly RemovedPart[];
}

export interface RemovedPart extends Container {
  /** The name of our entry, if one was added there. */
  readonly entry?: string | undefined;
  /** The names of the servers that were removed. */
  readonly removed: readonly string[];
}

/** A record and its file. */
export interface StoredRecord {
  readonly path: string;
  readonly record: TakeoverRecord;
}

const VERSION = 1;
/** The text of a host's file takes more room as JSON. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A path for a record that has not been written yet. */
export function recordPath(stateDirectory: string, at: Date): string {
  const time = at.toISOString().replaceAll(/[:.]/g, '-');
  return join(folderIn(stateDirectory), `${time}-${randomBytes(4).toString('hex')}.json`);
}

/** The record is on disk when this returns, because what follows may be interrupted at any moment. */
export function writeRecord(path: string, record: Omit<TakeoverRecord, 'version'>): void {
  try {
    fs.mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileAtomic(path, JSON.stringify({ version: VERSION, ...record }), { flush: 'name' });
  } catch (cause) {
    throw new SwitchboardError('STATE_NOT_WRITABLE', `Cannot write ${path}: ${messageOf(cause)}.`, {
      hint: 'Nothing was changed. Check that you own this directory, or set SWITCHBOARD_STATE_DIR to one that you own.',
      cause,
    });
  }
}

/** Deletes the record of a takeover. What it has removed can then no longer be restored. */
export function deleteRecord(path: string): void {
  fs.rmSync(path, { force: true });
}

/** All stored records, newest first. Other files are skipped. */
export function storedRecords(stateDirectory: string): StoredRecord[] {
  const folder = folderIn(stateDirectory);
  let names: string[];
  try {
    names = fs.readdirSync(folder);
  } catch {
    return [];
  }
  return names
    .filter((name) => name.endsWith('.json'))
    .sort()
    .toReversed()
    .flatMap((name) => {
      const record = readRecord(join(folder, name));
      return record === undefined ? [] : [{ path: join(folder, name), record }];
    });
}

function folderIn(stateDirectory: string): string {
  return join(stateDirectory, 'takeover');
}

function readRecord(path: string): TakeoverRecord | undefined {
  try {
    const text = withRegularFile(path, ({ read }) => read(MAX_BYTES).toString('utf8'));
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is TakeoverRecord {
  return (
    isObject(value) &&
    value.version === VERSION &&
    HOSTS.some(({ name }) => name === value.host) &&
    ['file', 'at', 'before', 'after'].every((key) => typeof value[key] === 'string') &&
    Array.isArray(value.parts) &&
    value.parts.every(
      (part) =>
        isObject(part) &&
        Array.isArray(part.keyPath) &&
        Array.isArray(part.removed) &&
        typeof part.format === 'string',
    )
  );
}
