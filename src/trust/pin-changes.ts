import { hiddenCharacters, imitatedName } from './characters.ts';
import type { Definition, PinnedTool, PinRecord } from './pin-record.ts';
import { definitionHash } from './tool-definition.ts';

/** A tool as a list has it. */
export interface ListedDefinition {
  readonly name: string;
  readonly text: string;
  readonly hash: string;
  /** What it hides, as sentences. */
  readonly hidden: readonly string[];
  /** Whether it holds what must not be written to a file: then only its hash is kept. Default false. */
  readonly isSecret?: boolean | undefined;
}

/** A tool as a list has it: most of the work on a list, so that it can be done tool by tool. */
export function listedDefinition(name: string, text: string, isSecret = false): ListedDefinition {
  return { name, text, hash: definitionHash(text), hidden: hiddenCharacters(text), isSecret };
}

const MOST_TOOLS = 2000;
/** Of one definition, and of all of one server together, in characters. */
const LONGEST_TEXT = 32_768;
const MOST_TEXT = 1024 * 1024;

/**
 * The record after one more list. What is pinned stays, whatever the list says: a tool that is not pinned yet comes in
 * only with the first list of all, and only where nothing about it is suspicious. `others`: names of other servers' tools.
 */
export function withList(
  before: PinRecord | undefined,
  list: { readonly server: string; readonly digest: string; readonly tools: readonly ListedDefinition[] },
  { now, others }: { readonly now: string; readonly others: Iterable<string> },
): PinRecord {
  const tools = new Map(before?.tools);
  const names = [...others, ...list.tools.map(({ name }) => name)];
  let room = MOST_TEXT - [...tools.values()].reduce((sum, tool) => sum + textIn(tool), 0);
  let overflow = before?.overflow ?? false;
  for (const { name, text, hash, hidden, isSecret } of list.tools) {
    const known = tools.get(name);
    if (known === undefined && tools.size >= MOST_TOOLS) {
      overflow = true;
      continue;
    }
    if (known !== undefined && (known.now ?? known.pinned)?.hash === hash) continue;
    const kept = isSecret !== true && text.length <= Math.min(LONGEST_TEXT, room);
    if (kept) room -= text.length;
    const definition: Definition = { hash, ...(kept ? { text } : {}), since: now };
    tools.set(
      name,
      nextState(known, definition, { findings: findingsOf(name, hidden, names), isFirst: !before }),
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
  // It is back to what it was. That it had changed is still told.
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

function findingsOf(name: string, hidden: readonly string[], names: readonly string[]): string[] {
  const imitated = imitatedName(name, names);
  return [
    ...hidden,
    ...(imitated === undefined
      ? []
      : [`its name looks like that of another tool, ${JSON.stringify(imitated)}`]),
  ];
}

function textIn({ pinned, now, first }: PinnedTool): number {
  return [pinned, now, first].reduce((sum, each) => sum + (each?.text?.length ?? 0), 0);
}
