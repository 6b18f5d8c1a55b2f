import { setTimeout as sleep } from 'node:timers/promises';
import { SwitchboardError } from '../shared/errors.ts';
import { withFileLock } from '../shared/file-lock.ts';
import { isObject } from '../shared/is-object.ts';
import { loadCrypto } from '../shared/load-crypto.ts';
import { parseJson } from '../shared/parse-json.ts';
import type { Store } from '../store/index.ts';
import {
  fileRevision,
  trustRecordIn,
  recordText,
  readRecord,
  readRecordText,
  writeRecordText,
  type Change,
  type Form,
} from './private-record.ts';

/** A record in a store, with the copy on this machine. */
export interface SharedRecord<T> {
  readonly store: Store;
  readonly key: string;
  readonly file: string;
  readonly form: Form<T>;
}

/** Records that have not been used for this long are forgotten, in milliseconds. */
const KEPT_MS = 365 * 24 * 60 * 60 * 1000;
/** How often another machine may change the record first. */
const MOST_TRIES = 50;
/** The most characters in the first line of a stored record. */
const LONGEST_REVISION = 60;
/**
 * How long after the store comes back it takes until all machines have restored what it may have lost, in milliseconds.
 */
const SETTLED_MS = 3000;
/** How many revisions of files are kept in memory. */
const MOST_KNOWN = 5000;

/** Changes a record in the store, then the copy on this machine. Rejects with STORE_AWAY without changing anything. */
export async function changeShared<T>(record: SharedRecord<T>, change: Change<T>): Promise<void> {
  const { store, key, file, form } = record;
  await withFileLock(file, async () => {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const found = await settle(record);
      if (found === undefined && (await waitForOthers(store))) continue;
      const changed = await change(found && trustRecordIn(found.json, form));
      if (changed === undefined) return;
      const revision = nextRevision(found?.revision);
      const json = recordText({ revision, ...changed });
      if (await store.replace(key, found?.text, `${revision}\n${json}`, KEPT_MS)) {
        writeRecordText(file, json);
        return;
      }
    }
    throw new SwitchboardError('STORE_AWAY', 'It cannot be changed: others change it all the time.', {
      hint: 'Try again.',
    });
  });
}

export interface Refreshed {
  /** Whether a copy was outdated. */
  readonly any: boolean;
  /** Why a copy could not be updated. The others were. */
  readonly problem?: unknown;
}

/** Updates outdated copies. Rejects while the store is away. */
export async function refreshShared(
  store: Store,
  records: readonly SharedRecord<unknown>[],
): Promise<Refreshed> {
  const starts = await store.getStarts(
    records.map(({ key }) => key),
    LONGEST_REVISION,
  );
  let any = false;
  let problem: unknown;
  for (const [at, record] of records.entries()) {
    try {
      const copy = revisionOfCopy(record.file);
      if (copy === undefined && starts[at] === '') continue;
      if (copy !== undefined && copy !== '' && copy === revisionIn(starts[at] ?? '')) continue;
      await withFileLock(record.file, () => settle(record));
      any = true;
    } catch (error) {
      // An unusable record must not keep others from being updated.
      problem ??= error;
    }
  }
  return { any, problem };
}

/**
 * Waits until a store that came back recently has been filled again, before concluding that a record does not exist.
 * Returns whether it waited.
 */
async function waitForOthers({ reachableFor = 0 }: Store): Promise<boolean> {
  if (reachableFor > SETTLED_MS) return false;
  await sleep(SETTLED_MS - reachableFor + 1, undefined, { ref: false });
  return true;
}

/** A record as stored. */
interface Found {
  readonly text: string;
  readonly revision: string;
  readonly json: string;
}

/**
 * Brings the store and the copy on this machine into agreement. The store takes precedence, unless it has lost what the
 * copy has.
 */
async function settle(record: SharedRecord<unknown>): Promise<Found | undefined> {
  const { store, key, file, form } = record;
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const copy = copyIn(file);
    const text = await store.get(key);
    const found = text === undefined ? undefined : { text, ...split(text) };
    if (found !== undefined && trustRecordIn(found.json, form) === undefined)
      throw new SwitchboardError('TRUST_UNREADABLE', `What the store has as "${key}" cannot be used.`, {
        hint: `Delete the key that ends with ":${key}" in Redis. Running gateways write it again.`,
      });
    if (found !== undefined && !isBefore(found.revision, copy?.revision)) {
      if (copy?.revision !== found.revision) writeRecordText(file, found.json);
      return found;
    }
    if (copy === undefined) return undefined;
    if (trustRecordIn(copy.json, form) === undefined) {
      // This machine has nothing but a damaged file: throws what is wrong with it.
      readRecord(file, form);
      return undefined;
    }
    const kept = copy.revision === '' ? withRevision(copy.json) : copy;
    const restored = { ...kept, text: `${kept.revision}\n${kept.json}` };
    if (await store.replace(key, text, restored.text, KEPT_MS)) {
      if (kept !== copy) writeRecordText(file, kept.json);
      return restored;
    }
  }
  return undefined;
}

interface Copy {
  /** Empty if it has never been in the store. */
  readonly revision: string;
  readonly json: string;
}

/** Undefined if there is none. Throws if the file cannot be used. */
function copyIn(file: string): Copy | undefined {
  const json = readRecordText(file);
  if (json === undefined) return undefined;
  const value = parseJson(json);
  const revision = isObject(value) && typeof value.revision === 'string' ? value.revision : '';
  known.set(file, { of: fileRevision(file), revision });
  return { revision, json };
}

/** Returns the revision of the copy without reading the file each time; undefined if there is none. */
function revisionOfCopy(file: string): string | undefined {
  const of = fileRevision(file);
  if (of === '') return undefined;
  const before = known.get(file);
  if (before?.of === of) return before.revision;
  if (known.size > MOST_KNOWN) known.clear();
  return copyIn(file)?.revision;
}

const known = new Map<string, { readonly of: string; readonly revision: string }>();

function withRevision(json: string): Copy {
  const value = parseJson(json);
  const revision = nextRevision(undefined);
  return { revision, json: recordText({ ...(isObject(value) ? value : {}), revision }) };
}

/**
 * A counter, a random value that distinguishes changes two machines made to the same revision, and when the record was
 * created.
 */
function nextRevision(before: string | undefined): string {
  const { number, madeAt } = partsOf(before);
  const mark = loadCrypto().randomBytes(9).toString('base64url');
  return `${number + 1} ${mark} ${madeAt === Infinity ? Date.now() : madeAt}`;
}

/** Whether a record lacks what the other one has: it is older, or was created anew after the other one was lost. */
function isBefore(one: string, other: string | undefined): boolean {
  const [a, b] = [partsOf(one), partsOf(other)];
  return a.madeAt === b.madeAt ? a.number < b.number : a.madeAt > b.madeAt;
}

function partsOf(revision = ''): { readonly number: number; readonly madeAt: number } {
  const [, number, madeAt] = /^(\d+) [\w-]+ (\d+)$/.exec(revision) ?? [];
  return { number: Number(number ?? 0), madeAt: Number(madeAt ?? Infinity) };
}

function revisionIn(text: string): string {
  return text.slice(0, text.indexOf('\n'));
}

function split(text: string): Copy {
  const revision = revisionIn(text);
  return { revision, json: text.slice(revision.length + 1) };
}
