import { isObject } from '../shared/is-object.ts';
import type { Records } from './records.ts';

/** A tool that may run without asking, as it was when the user allowed it. */
export interface AllowedTool {
  /** Identifies the server and how it is reached. */
  readonly key: string;
  readonly server: string;
  readonly tool: string;
  /** The hash of its definition: a changed tool is a different tool. */
  readonly hash: string;
  readonly since: string;
}

type ToolId = Pick<AllowedTool, 'key' | 'tool' | 'hash'>;

const NAME = 'allowed-tools.json';
const MOST = 2000;

/** What users have decided about tools: for a client's session, and permanently. */
export class Decisions {
  readonly #records: Records;
  readonly #sessions = new WeakMap<object, Set<string>>();

  constructor(records: Records) {
    this.#records = records;
    records.follow(NAME, toolsIn);
  }

  /** Read each time, so that revoking takes effect immediately. Throws if the file cannot be used. */
  get forGood(): readonly AllowedTool[] {
    return this.#records.read(NAME, toolsIn)?.tools ?? [];
  }

  allowsForGood(tool: ToolId): boolean {
    return this.forGood.some((each) => isSame(each, tool));
  }

  async allowForGood(tool: AllowedTool): Promise<void> {
    await this.#records.change(NAME, toolsIn, (record) => ({
      // One definition per tool, newest last.
      tools: [
        ...(record?.tools ?? []).filter((each) => each.key !== tool.key || each.tool !== tool.tool),
        tool,
      ].slice(-MOST),
    }));
  }

  /** Revokes what was allowed for a server, or for one of its tools. Returns the tools concerned. */
  async revoke(server: string | undefined, tool: string | undefined): Promise<readonly AllowedTool[]> {
    let revoked: readonly AllowedTool[] = [];
    await this.#records.change(NAME, toolsIn, (record) => {
      const isMeant = (each: AllowedTool): boolean =>
        (server === undefined || each.server === server) && (tool === undefined || each.tool === tool);
      revoked = record?.tools.filter(isMeant) ?? [];
      return revoked.length === 0
        ? undefined
        : { tools: record?.tools.filter((each) => !isMeant(each)) ?? [] };
    });
    return revoked;
  }

  /** `client` identifies the session. */
  allowsInSession(client: object, tool: ToolId): boolean {
    return this.#sessions.get(client)?.has(idOf(tool)) === true;
  }

  allowInSession(client: object, tool: ToolId): void {
    const allowed = this.#sessions.get(client) ?? new Set();
    this.#sessions.set(client, allowed.add(idOf(tool)));
  }
}

function isSame(one: ToolId, other: ToolId): boolean {
  return one.key === other.key && one.tool === other.tool && one.hash === other.hash;
}

function idOf({ key, tool, hash }: ToolId): string {
  return JSON.stringify([key, tool, hash]);
}

function toolsIn({ tools }: Record<string, unknown>): { readonly tools: readonly AllowedTool[] } | undefined {
  return Array.isArray(tools) && tools.every(isAllowedTool) ? { tools } : undefined;
}

function isAllowedTool(value: unknown): value is AllowedTool {
  return (
    isObject(value) &&
    ['key', 'server', 'tool', 'hash', 'since'].every((member) => typeof value[member] === 'string')
  );
}
