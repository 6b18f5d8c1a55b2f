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

/** What was taken out of a host's file, so that it can be put back: in the state directory, for its owner only. */
export interface TakeoverRecord {
  readonly version: typeof VERSION;
  readonly host: HostName;
  readonly file: string;
  /** When, as an ISO date. */
  readonly at: string;
  /** The whole text before. Never to be shown. */
  readonly before: string;
  /** The digest of the text after. */
  readonly after: string;
  readonly parts: readonly RemovedPart[];
}

export interface RemovedPart extends Container {
  /** The name of our entry, where one was put there. */
  readonly entry?: string | undefined;
  /** The names of the servers that were taken out. */
  readonly removed: readonly string[];
}

/** A record and where it is kept. */
export interface StoredRecord {
  readonly path: string;
  readonly record: TakeoverRecord;
}

const VERSION = 1;
/** The text of a host's file takes more room in JSON than it has bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** A location for a record that is not written yet. */
export function recordPath(stateDirectory: string, at: Date): string {
  const time = at.toISOString().replaceAll(/[:.]/g, '-');
  return join(folderIn(stateDirectory), `${time}-${randomBytes(4).toString('hex')}.json`);
}

/** On the disk when it returns: what is done afterwards may be interrupted at any moment. */
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

/** Forgets a takeover: what it has removed can no longer be put back. */
export function deleteRecord(path: string): void {
  fs.rmSync(path, { force: true });
}

/** All that are kept, the newest first; what is no record of ours is passed over. */
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
