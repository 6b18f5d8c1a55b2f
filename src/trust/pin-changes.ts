import { Turns } from '../shared/turns.ts';
import type { Lookalikes } from './characters.ts';
import type { Definition, PinnedTool, PinRecord } from './pin-record.ts';

/** A tool as it appears in a list. */
export interface ListedDefinition {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
  /** What its definition hides, as sentences. */
  readonly hidden: readonly string[];
  /** Whether it contains anything that must not be written to a file. If so, only its hash is kept. Default false. */
  readonly isSecret?: boolean | undefined;
}

const MOST_TOOLS = 2000;
/** Limits for one definition, for all definitions of one server, and for their names, in bytes. */
const LONGEST_TEXT = 32_768;
const MOST_TEXT = 1024 * 1024;
const MOST_NAMES = 512 * 1024;

/**
 * Returns the record after one more list. Existing pins stay, whatever the list says. A tool without a pin gets one
 * only from the very first list, and only if nothing about it is suspicious. `others`: names of other servers' tools;
 * those of the list are added.
 */
export async function withList(
  before: PinRecord | undefined,
  list: { readonly server: string; readonly digest: string; readonly tools: readonly ListedDefinition[] },
  { now, others }: { readonly now: string; readonly others: Lookalikes },
): Promise<PinRecord> {
  const tools = new Map(before?.tools);
  const turns = new Turns();
  for (const { name } of list.tools) {
    others.add(name);
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  let room = MOST_TEXT - [...tools.values()].reduce((sum, tool) => sum + textIn(tool), 0);
  let roomForNames = MOST_NAMES - [...tools.keys()].reduce((sum, name) => sum + size(name), 0);
  let overflow = before?.overflow ?? false;
  for (const { name, text, hash, hidden, isSecret } of list.tools) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    const known = tools.get(name);
    if (known === undefined) {
      if (tools.size >= MOST_TOOLS || size(name) > roomForNames) {
        overflow = true;
        continue;
      }
      roomForNames -= size(name);
    }
    if (known !== undefined && (known.now ?? known.pinned)?.hash === hash) continue;
    const kept = isSecret !== true && size(text) <= Math.min(LONGEST_TEXT, room);
    if (kept) room -= size(text);
    const definition: Definition = { hash, ...(kept ? { text } : {}), since: now };
    tools.set(
      name,
      nextState(known, definition, { findings: findingsOf(name, hidden, others), isFirst: !before }),
    );
  }
  const { server, digest: listed } = list;
  return { server, since: before?.since ?? now, listed, overflow, tools };
}

function nextState(
  known: PinnedTool | undefined,
  definition: Definition,
  { findings, isFirst }: { readonly findings: readonly string[]; readonly isFirst: boolean },
): PinnedTool {
  const said = findings.length === 0 ? {} : { findings };
  if (known === undefined)
    return isFirst && findings.length === 0
      ? { pinned: definition, changes: 0 }
      : { now: definition, changes: 0, ...said };
  const { pinned, first, now, changes } = known;
  // The tool is back to its pin. The change is still reported.
  if (pinned?.hash === definition.hash) return { pinned, first: first ?? now, changes: changes + 1 };
  const earlier = first ?? now;
  return {
    pinned,
    now: definition,
    ...(earlier === undefined || earlier.hash === definition.hash ? {} : { first: earlier }),
    changes: changes + 1,
    ...said,
  };
}

/** The limit for a name of another tool, in characters. */
const LONGEST_NAME = 200;

function findingsOf(name: string, hidden: readonly string[], others: Lookalikes): string[] {
  const imitated = others.imitatedBy(name);
  return [
    ...hidden,
    ...(imitated === undefined
      ? []
      : [`its name looks like that of another tool, ${JSON.stringify(imitated.slice(0, LONGEST_NAME))}`]),
  ];
}

function textIn({ pinned, now, first }: PinnedTool): number {
  return [pinned, now, first].reduce((sum, each) => sum + size(each?.text ?? ''), 0);
}

function size(text: string): number {
  return Buffer.byteLength(text);
}
