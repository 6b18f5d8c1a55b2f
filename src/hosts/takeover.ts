import { isDeepStrictEqual } from 'node:util';
import { SwitchboardError } from '../shared/errors.ts';
import { sha256 } from '../shared/sha256.ts';
import { changeFile, withFileContext, type ChangedFile } from './change-file.ts';
import type { EntryOptions } from './install.ts';
import { entriesOf, removeEntry, upsertEntry, type Entry } from './edit.ts';
import type { HostLocation } from './location.ts';
import {
  deleteRecord,
  recordPath,
  writeRecord,
  type StoredRecord,
  type RemovedPart,
  type TakeoverRecord,
} from './takeover-record.ts';

/** The changes at one location of a file. */
export interface TakeoverPart {
  readonly location: HostLocation;
  /** The servers to remove, as they were read. A server that has changed since then stays. */
  readonly servers: ReadonlyMap<string, unknown>;
  /** The entry that replaces them; undefined if an entry elsewhere does. */
  readonly entry: Entry | undefined;
}

export interface TakeoverOptions extends Omit<EntryOptions, 'location'> {
  /** All at locations in the same file, and at least one. */
  readonly parts: readonly [TakeoverPart, ...TakeoverPart[]];
}

export interface TakeoverResult extends ChangedFile {
  readonly removed: readonly string[];
  /** The record of what was removed; undefined if nothing was. */
  readonly record: string | undefined;
}

/**
 * Removes servers from a host's file and adds our entry in their place. The record is written before the file is
 * changed, so nothing is lost if this is interrupted.
 */
export async function takeOver(options: TakeoverOptions): Promise<TakeoverResult> {
  const { parts, name, isOurs, stateDirectory, dryRun } = options;
  const { host, file } = parts[0].location;
  const at = new Date();
  const record = recordPath(stateDirectory, at);
  let taken: readonly RemovedPart[] = [];
  try {
    const changed = await changeFile({
      file,
      stateDirectory,
      dryRun,
      change(text) {
        if (text === undefined) return text;
        const steps = parts.map((part) => planned(text, part, name, isOurs));
        taken = steps.map((step) => step.taken);
        return steps.reduce((rest, step) => step.apply(rest), text);
      },
      onWrite({ before = '', after = '' }) {
        writeRecord(record, {
          host: host.name,
          file,
          at: at.toISOString(),
          before,
          after: sha256(after),
          parts: taken,
        });
      },
    });
    const wrote = changed.after !== changed.before && dryRun !== true;
    return { ...changed, removed: taken.flatMap((part) => part.removed), record: wrote ? record : undefined };
  } catch (error) {
    // The file was not changed.
    deleteRecord(record);
    throw error;
  }
}

function planned(
  text: string,
  { location, servers, entry }: TakeoverPart,
  name: string,
  isOurs: (entry: unknown) => boolean,
): { readonly taken: RemovedPart; apply(text: string): string } {
  const { format, keyPath, allowList, file, host } = location;
  const present = entriesOf(text, location);
  const removed = [...servers]
    .filter(([each, value]) => isDeepStrictEqual(present.get(each), value))
    .map(([each]) => each);
  const other = present.get(name);
  if (entry !== undefined && other !== undefined && !isOurs(other) && !removed.includes(name)) {
    throw new SwitchboardError(
      'HOST_ENTRY_TAKEN',
      `${host.title} already has another server named ${JSON.stringify(name)} in ${file}.`,
      { hint: 'Choose another name with --name.' },
    );
  }
  return {
    taken: { format, keyPath, allowList, ...(entry === undefined ? {} : { entry: name }), removed },
    apply(before) {
      const drop = (rest: string, each: string): string => removeEntry(rest, location, each).text;
      const free = removed.includes(name) ? drop(before, name) : before;
      const entered =
        entry === undefined ? free : upsertEntry(free, location, name, { entry, allow: true }).text;
      return removed.filter((each) => each !== name).reduce(drop, entered);
    },
  };
}

export interface UndoneTakeover extends ChangedFile {
  /**
   * - `restored`: the file has exactly its earlier text.
   * - `merged`: it has changed since; the servers are back, and everything else stays.
   * - `nothing`: it already has its earlier text.
   */
  readonly how: 'restored' | 'merged' | 'nothing';
  /** Servers that were restored. */
  readonly returned: readonly string[];
  /** Servers that were not restored because another one has their name now. The record stays. */
  readonly left: readonly string[];
}

/** Restores what a takeover has removed, and removes our entry. The record is deleted when everything is restored. */
export async function undoTakeover(
  { path, record }: StoredRecord,
  { isOurs, stateDirectory, dryRun }: Pick<TakeoverOptions, 'isOurs' | 'stateDirectory' | 'dryRun'>,
): Promise<UndoneTakeover> {
  let outcome: Pick<UndoneTakeover, 'how' | 'returned' | 'left'> = { how: 'nothing', returned: [], left: [] };
  const all = record.parts.flatMap((part) => part.removed);
  const changed = await changeFile({
    file: record.file,
    stateDirectory,
    dryRun,
    ownerOnly: true,
    change(text) {
      if (text === record.before) {
        outcome = { how: 'nothing', returned: [], left: [] };
        return text;
      }
      if (text !== undefined && sha256(text) === record.after) {
        outcome = { how: 'restored', returned: all, left: [] };
        return record.before;
      }
      const merged = merge(text ?? '', record, isOurs);
      outcome = { how: 'merged', returned: merged.returned, left: merged.left };
      return merged.text;
    },
  });
  if (dryRun !== true && outcome.left.length === 0) deleteRecord(path);
  return { ...changed, ...outcome };
}

function merge(
  text: string,
  { parts, before, file }: TakeoverRecord,
  isOurs: (entry: unknown) => boolean,
): { text: string; returned: string[]; left: string[] } {
  const [returned, left]: [string[], string[]] = [[], []];
  let result = text;
  for (const part of parts) {
    const old = withFileContext(file, () => entriesOf(before, part));
    // An entry that existed before the takeover stays.
    const isNew = part.entry !== undefined && !isOurs(old.get(part.entry));
    const ours = isNew && isOurs(entriesOf(result, part).get(part.entry)) ? part.entry : undefined;
    // Our entry goes first if one of theirs had the same name.
    if (ours !== undefined && part.removed.includes(ours)) result = removeEntry(result, part, ours).text;
    for (const name of part.removed) {
      const present = entriesOf(result, part).get(name);
      const entry = old.get(name) as Entry;
      if (present === undefined) result = upsertEntry(result, part, name, { entry, replace: true }).text;
      (present === undefined || isDeepStrictEqual(present, entry) ? returned : left).push(name);
    }
    if (ours !== undefined && !part.removed.includes(ours))
      result = removeEntry(result, part, ours, { allow: true }).text;
  }
  return { text: result, returned, left };
}
