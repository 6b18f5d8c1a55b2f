import type { Listing } from '../gateway/index.ts';
import { Turns } from '../shared/turns.ts';
import { hiddenCharacters, Lookalikes } from './characters.ts';
import { listDigest } from './list-digest.ts';
import { withList, type ListedDefinition } from './pin-changes.ts';
import type { PinRecord } from './pin-record.ts';
import type { PinStore } from './pin-store.ts';
import { definitionOf } from './tool-definition.ts';

/** Files that have not changed for this long are marked as used, in milliseconds. */
const CONFIRM_AFTER = 24 * 60 * 60 * 1000;

/**
 * Compares the lists of a server, oldest first, with its record, and records what is new if the record can be changed.
 * Returns the resulting record.
 */
export async function recordLists(
  store: PinStore,
  { key, server }: { readonly key: string; readonly server: string },
  {
    lists,
    others,
    secrets,
  }: {
    readonly lists: readonly Listing[];
    readonly others: readonly string[];
    readonly secrets: readonly string[];
  },
): Promise<PinRecord | undefined> {
  let record = store.read(key);
  const read: { readonly digest: string; readonly tools: readonly ListedDefinition[] }[] = [];
  let last = record?.listed;
  for (const listing of lists) {
    const digest = listDigest(listing);
    if (digest === last) continue;
    last = digest;
    read.push({ digest, tools: await definitionsIn(listing, secrets) });
  }
  if (read.length === 0) {
    store.confirm(key, CONFIRM_AFTER);
    return record;
  }
  const now = new Date().toISOString();
  const names = new Lookalikes(read.flatMap(({ tools }) => tools.map(({ name }) => name)));
  // Reading the records of many servers takes long.
  if (names.any) {
    await addAll(names, others);
    for (const other of store.keys()) if (other !== key) await addAll(names, store.toolNames(other));
  }
  const compare = async (before: PinRecord | undefined): Promise<PinRecord | undefined> => {
    record = before;
    for (const list of read) record = await withList(record, { server, ...list }, { now, others: names });
    return record;
  };
  if (store.isReadOnly) await compare(record);
  else await store.change(key, compare);
  return record;
}

async function addAll(known: Lookalikes, names: Iterable<string>): Promise<void> {
  const turns = new Turns();
  for (const name of names) {
    known.add(name);
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
}

/** Works tool by tool, like everything below, so that megabytes of definitions block nobody. */
async function definitionsIn(
  { components }: Listing,
  secrets: readonly string[],
): Promise<ListedDefinition[]> {
  const turns = new Turns();
  const tools: ListedDefinition[] = [];
  const holdsSecret = (text: string): boolean =>
    secrets.some((each) => text.includes(each) || text.includes(escaped(each)));
  for (const component of components) {
    const { key: name } = component;
    const { text, hash } = definitionOf(component);
    const turn = turns.next();
    if (turn !== undefined) await turn;
    // A name is part of everything that is written.
    if (holdsSecret(name)) continue;
    tools.push({ name, text, hash, hidden: await hiddenCharacters(text), isSecret: holdsSecret(text) });
  }
  return tools;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
