import { isObject } from '../shared/is-object.ts';

/** A tool's definition at some point in time. */
export interface Definition {
  readonly hash: string;
  /** The definition as text; undefined if it is too long to keep or contains a secret. */
  readonly text?: string | undefined;
  /** When it was first seen, as an ISO date. */
  readonly since: string;
}

/** What is remembered about one tool. */
export interface PinnedTool {
  /** The definition from its first use or its last approval; undefined if there is none yet. */
  readonly pinned?: Definition | undefined;
  /** The current definition, if it differs. */
  readonly now?: Definition | undefined;
  /** The first change after the pin, if it was not the current one. */
  readonly first?: Definition | undefined;
  /** How many changes have been seen since the pin. */
  readonly changes: number;
  /** What is wrong with the current definition, as sentences. */
  readonly findings?: readonly string[] | undefined;
}

/** What is remembered about the tools of one server. */
export interface PinRecord {
  readonly server: string;
  readonly since: string;
  /** Identifies the latest list. */
  readonly listed: string;
  /** Whether the server has listed more tools than can be remembered. */
  readonly overflow: boolean;
  readonly tools: ReadonlyMap<string, PinnedTool>;
}

/** `new`: appeared after the others. `suspicious`: something about it is hidden or misleading. */
export type PinState = 'pinned' | 'changed' | 'restored' | 'new' | 'suspicious';

/**
 * The record after a person has approved a tool's definition; undefined if that is not (or no longer) its definition.
 */
export function withApproval(record: PinRecord, tool: string, hash: string): PinRecord | undefined {
  const known = record.tools.get(tool);
  const approved = [known?.now, known?.pinned].find((each) => each?.hash === hash);
  if (approved === undefined || (known?.now !== undefined && known.now.hash !== hash)) return undefined;
  return { ...record, tools: new Map(record.tools).set(tool, { pinned: approved, changes: 0 }) };
}

/** The state of a tool whose current definition has this `hash`. */
export function pinStateOf(tool: PinnedTool | undefined, hash = (tool?.now ?? tool?.pinned)?.hash): PinState {
  if (tool?.pinned !== undefined && tool.pinned.hash === hash)
    return tool.changes > 0 ? 'restored' : 'pinned';
  if (tool?.findings !== undefined && tool.now?.hash === hash) return 'suspicious';
  return tool?.pinned === undefined ? 'new' : 'changed';
}

/** The form that is written to a file. */
export function printPins({ tools, ...rest }: PinRecord): object {
  return { ...rest, tools: [...tools] };
}

/** Reads the form written to a file; undefined if it is invalid. */
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
