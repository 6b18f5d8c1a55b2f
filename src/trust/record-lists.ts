import { createHash } from 'node:crypto';
import type { Listing } from '../gateway/index.ts';
import { Turns } from '../shared/turns.ts';
import { listedDefinition, withList, type ListedDefinition } from './pin-changes.ts';
import type { PinRecord } from './pin-record.ts';
import type { PinStore } from './pin-store.ts';
import { definitionText } from './tool-definition.ts';

/** A file that was not changed for so long is marked as used, in milliseconds. */
const CONFIRM_AFTER = 24 * 60 * 60 * 1000;

/** Compares lists of a server, the oldest first, with what is remembered of it, and notes what is new. */
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
): Promise<void> {
  const known = store.read(key);
  const read: { readonly digest: string; readonly tools: readonly ListedDefinition[] }[] = [];
  let last = known?.listed;
  for (const listing of lists) {
    const digest = await digestOf(listing);
    if (digest === last) continue;
    last = digest;
    read.push({ digest, tools: await definitionsIn(listing, secrets) });
  }
  if (read.length === 0) {
    store.confirm(key, CONFIRM_AFTER);
    return;
  }
  const now = new Date().toISOString();
  const usedBefore = store.keys().filter((each) => each !== key);
  const names = [...others, ...usedBefore.flatMap((each) => store.toolNames(each))];
  await store.change(key, (before) =>
    read.reduce<PinRecord | undefined>(
      (record, list) => withList(record, { server, ...list }, { now, others: names }),
      before,
    ),
  );
}

/** Stands for a list. Its megabytes are read tool by tool, as all that follows, so that nobody waits for them. */
async function digestOf({ components }: Listing): Promise<string> {
  const turns = new Turns();
  const hash = createHash('sha256');
  for (const { text } of components) {
    hash.update(text).update('\n');
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  return hash.digest('hex');
}

async function definitionsIn(
  { components }: Listing,
  secrets: readonly string[],
): Promise<ListedDefinition[]> {
  const turns = new Turns();
  const tools: ListedDefinition[] = [];
  for (const component of components) {
    const { key: name } = component;
    const holdsSecret = (text: string): boolean =>
      secrets.some((each) => text.includes(each) || text.includes(escaped(each)));
    const text = definitionText(component);
    const pause = turns.next();
    if (pause !== undefined) await pause;
    // A name is written with everything that is remembered.
    if (!holdsSecret(name)) tools.push(listedDefinition(name, text, holdsSecret(text)));
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  return tools;
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
