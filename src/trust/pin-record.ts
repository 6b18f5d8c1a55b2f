import { isObject } from '../shared/is-object.ts';

/** What a tool said of itself at some time. */
export interface Definition {
  readonly hash: string;
  /** As text; undefined where it is too long to be kept, or holds a secret. */
  readonly text?: string | undefined;
  /** When it was first seen so, in ISO form. */
  readonly since: string;
}

/** What is remembered of one tool. */
export interface PinnedTool {
  /** What holds: as it was when it was first used, or approved. Undefined: nothing yet. */
  readonly pinned?: Definition | undefined;
  /** What it says now, where that is something else. */
  readonly now?: Definition | undefined;
  /** The first change since, where that was another one. */
  readonly first?: Definition | undefined;
  /** How often it was seen to change since. */
  readonly changes: number;
  /** What is wrong with what it says now, as sentences. */
  readonly findings?: readonly string[] | undefined;
}

/** What is remembered of the tools of one server. */
export interface PinRecord {
  readonly server: string;
  readonly since: string;
  /** Stands for the list that came last. */
  readonly listed: string;
  /** Whether it has listed more tools than are remembered. */
  readonly overflow: boolean;
  readonly tools: ReadonlyMap<string, PinnedTool>;
}

/** `new`: it appeared after the others. `suspicious`: something about it is hidden or misleading. */
export type PinState = 'pinned' | 'changed' | 'restored' | 'new' | 'suspicious';

/** The record after a person has approved what a tool says; undefined where it does not say that (any more). */
export function withApproval(record: PinRecord, tool: string, hash: string): PinRecord | undefined {
  const known = record.tools.get(tool);
  const approved = [known?.now, known?.pinned].find((each) => each?.hash === hash);
  if (approved === undefined || (known?.now !== undefined && known.now.hash !== hash)) return undefined;
  return { ...record, tools: new Map(record.tools).set(tool, { pinned: approved, changes: 0 }) };
}

/** Where a tool stands; of one that says this now, with `hash`. */
export function pinStateOf(tool: PinnedTool | undefined, hash = (tool?.now ?? tool?.pinned)?.hash): PinState {
  if (tool?.pinned !== undefined && tool.pinned.hash === hash)
    return tool.changes > 0 ? 'restored' : 'pinned';
  if (tool?.findings !== undefined && tool.now?.hash === hash) return 'suspicious';
  return tool?.pinned === undefined ? 'new' : 'changed';
}

/** As it is written to a file. */
export function printPins({ tools, ...rest }: PinRecord): object {
  return { ...rest, tools: [...tools] };
}

/** As it is read from a file; undefined where it is not in order. */
export function readPins(value: Record<string, unknown>): PinRecord | undefined {
  const { server, since, listed, overflow, tools } = value;
  if (typeof server !== 'string' || typeof since !== 'string' || typeof listed !== 'string') return undefined;
  if (!Array.isArray(tools)) return undefined;
  const read = new Map<string, PinnedTool>();
  for (const entry of tools as unknown[]) {
    if (!Array.isArray(entry) || typeof entry[0] !== 'string' || !isPinnedTool(entry[1])) return undefined;
    read.set(entry[0], entry[1]);
  }
  return { server, since, listed, overflow: overflow === true, tools: read };
}

function isPinnedTool(value: unknown): value is PinnedTool {
  if (!isObject(value) || typeof value.changes !== 'number') return false;
  const { pinned, now, first, findings } = value;
  const isList = Array.isArray(findings) && findings.every((each) => typeof each === 'string');
  return [pinned, now, first].every(isDefinition) && (findings === undefined || isList);
}

function isDefinition(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value) || typeof value.hash !== 'string' || typeof value.since !== 'string') return false;
  return value.text === undefined || typeof value.text === 'string';
}
