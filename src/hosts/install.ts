import { isObject } from '../shared/is-object.ts';
import { changeFile, type ChangedFile } from './change-file.ts';
import {
  entriesOf,
  isServerEntry,
  parseText,
  removeEntry,
  upsertEntry,
  type Edited,
  type Entry,
} from './edit.ts';
import { refuseName } from './name-rule.ts';
import type { HostLocation } from './location.ts';

export interface EntryOptions {
  readonly location: HostLocation;
  readonly name: string;
  /** Whether this program has written an entry. */
  readonly isOurs: (entry: unknown) => boolean;
  /** Where the backup of the file is kept. */
  readonly stateDirectory: string;
  /** Whether nothing is written. Default false. */
  readonly dryRun?: boolean | undefined;
}

export interface InstallOptions extends EntryOptions {
  readonly entry: Entry;
  /** Whether an existing entry with that name is replaced even if it is not ours. Default false. */
  readonly force?: boolean | undefined;
  /** Comments below the header, in a TOML file. Default: unchanged. */
  readonly notes?: readonly string[] | undefined;
}

export type EntryChange =
  | ({
      readonly kind: 'done';
      readonly action: Edited['action'];
      /** What prevents the host from using the entry, as a sentence. */
      readonly obstacle: string | undefined;
    } & ChangedFile)
  /** Another program's entry has that name; nothing was changed. */
  | { readonly kind: 'taken'; readonly entry: unknown };

/**
 * Writes an entry to a host's file. An existing entry of ours is updated: variables and settings that the user has
 * added to it stay. Throws USAGE for a name that the host does not accept, and the errors of changeFile.
 */
export async function installEntry(options: InstallOptions): Promise<EntryChange> {
  const { location, name, entry, isOurs, force = false, notes } = options;
  refuseName(name, location.host);
  return changingEntry(options, (text = '') => {
    const present = entriesOf(text, location).get(name);
    const ours = !isServerEntry(present) || isOurs(present);
    if (!ours && !force) return { taken: present };
    return upsertEntry(text, location, name, {
      entry: ours ? withVariables(entry, present) : entry,
      replace: !ours,
      notes,
      allow: true,
    });
  });
}

/**
 * Removes our entry from a host's file. If the file has not changed since the entry was added, its original text is
 * restored exactly; a file that was created for the entry is deleted.
 */
export async function uninstallEntry(options: EntryOptions): Promise<EntryChange> {
  const { location, name, isOurs } = options;
  return changingEntry(options, (text, earlier) => {
    if (text === undefined) return { text: undefined, action: 'absent' };
    const present = entriesOf(text, location).get(name);
    if (!isServerEntry(present)) return { text, action: 'absent' };
    if (!isOurs(present)) return { taken: present };
    const texts = earlier().filter((each) => !hasEntry(each, location, name));
    // If no text without the entry was ever backed up, the file was created for it.
    const isMade =
      texts.length === 0 &&
      isObject(present) &&
      upsertEntry('', location, name, { entry: present }).text === text;
    return isMade
      ? { text: undefined, action: 'removed' }
      : removeEntry(text, location, name, { earlier: texts, allow: true });
  });
}

function hasEntry(text: string, location: HostLocation, name: string): boolean {
  try {
    return entriesOf(text, location).has(name);
  } catch {
    // A backup that the host could not have read contained nothing of ours.
    return false;
  }
}

type Attempt =
  { readonly text: string | undefined; readonly action: Edited['action'] } | { readonly taken: unknown };

async function changingEntry(
  { location, name, stateDirectory, dryRun }: EntryOptions,
  attempt: (text: string | undefined, earlier: () => readonly string[]) => Attempt,
): Promise<EntryChange> {
  let outcome: Attempt | undefined;
  const changed = await changeFile({
    file: location.file,
    stateDirectory,
    // A project file is for everybody who works on the project.
    ownerOnly: location.scope !== 'project',
    dryRun,
    change(text, earlier) {
      outcome = attempt(text, earlier);
      return 'taken' in outcome ? text : outcome.text;
    },
  });
  if (outcome === undefined || 'taken' in outcome) return { kind: 'taken', entry: outcome?.taken };
  const { after } = changed;
  const obstacle =
    after === undefined ? undefined : location.host.obstacle?.(parseText(after, location), name);
  return { kind: 'done', action: outcome.action, obstacle, ...changed };
}

/** Keeps what the user has added to the environment of our entry. */
function withVariables(entry: Entry, present: unknown): Entry {
  if (!isObject(present) || !('command' in entry)) return entry;
  const names = new Set([...listOf(entry.env_vars), ...listOf(present.env_vars)]);
  const tables = ['env', 'environment'].filter((key) => isObject(present[key]));
  return {
    ...entry,
    ...Object.fromEntries(tables.map((key) => [key, { ...tableOf(present[key]), ...tableOf(entry[key]) }])),
    ...(names.size > 0 ? { env_vars: [...names] } : {}),
  };
}

function tableOf(value: unknown): Entry {
  return isObject(value) ? value : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
