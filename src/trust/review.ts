import type { Component } from '../gateway/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import type { AllowedTool, Decisions } from './decisions.ts';
import { pinStateOf, withApproval, type PinnedTool, type PinRecord, type PinState } from './pin-record.ts';
import type { PinStore } from './pin-store.ts';
import type { PinnedServer } from './pins.ts';
import { componentHash } from './tool-definition.ts';

/** A tool under review. */
export interface ToolReview extends PinnedTool {
  readonly name: string;
  readonly state: PinState;
  /** The hash of its current definition, which is what an approval applies to. */
  readonly hash: string;
}

export interface ServerReview {
  /** When its tools were first used; undefined if they never were. */
  readonly since: string | undefined;
  readonly tools: readonly ToolReview[];
  /** Whether it has more tools than can be remembered. */
  readonly overflow: boolean;
  /** Why its tools cannot be compared. */
  readonly problem: string | undefined;
}

const COUNT_MS = 1000;

/** What is remembered about tools, prepared for the person who reviews them. */
export class Review {
  readonly #store: PinStore;
  readonly #decisions: Decisions;
  /** The counts, by the key of the server. */
  readonly #counts = new Map<string, { at: number; revision: string; count: number }>();

  constructor(store: PinStore, decisions: Decisions) {
    this.#store = store;
    this.#decisions = decisions;
  }

  of({ key }: PinnedServer): ServerReview {
    try {
      const record = this.#store.read(key);
      const tools = record === undefined ? [] : [...record.tools].map(reviewOf);
      return { since: record?.since, tools, overflow: record?.overflow ?? false, problem: undefined };
    } catch (error) {
      return { since: undefined, tools: [], overflow: false, problem: messageOf(error) };
    }
  }

  /** How many tools need a review. Takes up to a second to notice a change made by another program. */
  countFor({ key, name }: PinnedServer): number {
    const now = performance.now();
    const known = this.#counts.get(key);
    if (known !== undefined && now < known.at + COUNT_MS) return known.count;
    const revision = this.#store.revision(key);
    const count =
      known?.revision === revision ? known.count : this.of({ key, name }).tools.filter(isNotable).length;
    this.#counts.set(key, { at: now, revision, count });
    return count;
  }

  /** Discards the counts after new records were written. */
  recount(): void {
    this.#counts.clear();
  }

  /** Approves the definitions that were shown, all or none. Fails if one of the tools has changed since. */
  async approve({ key, name }: PinnedServer, shown: readonly ToolReview[]): Promise<void> {
    await this.#store.change(key, (record) =>
      shown.reduce<PinRecord | undefined>((before, tool) => {
        const after = before && withApproval(before, tool.name, tool.hash);
        if (after === undefined) throw outdated(name, tool.name);
        return after;
      }, record),
    );
    this.recount();
  }

  /** The tools that users have permanently allowed to run without asking. */
  get allowed(): readonly AllowedTool[] {
    return this.#decisions.forGood;
  }

  /** Allows a tool as it was last seen. `list` is used to find a tool that has never been seen. */
  async allow(
    { key, name }: PinnedServer,
    tool: string,
    find: () => Promise<Component | undefined>,
  ): Promise<AllowedTool | undefined> {
    const known = this.of({ key, name }).tools.find((each) => each.name === tool)?.hash;
    const listed = known === undefined ? await find() : undefined;
    const hash = known ?? (listed && componentHash(listed));
    if (hash === undefined) return undefined;
    const allowed = { key, server: name, tool, hash, since: new Date().toISOString() };
    await this.#decisions.allowForGood(allowed);
    return allowed;
  }

  revoke(server: string | undefined, tool: string | undefined): Promise<readonly AllowedTool[]> {
    return this.#decisions.revoke(server, tool);
  }
}

/** Whether a person should look at it. */
export function isNotable({ state }: ToolReview): boolean {
  return state !== 'pinned';
}

function reviewOf([name, tool]: [string, PinnedTool]): ToolReview {
  return { ...tool, name, state: pinStateOf(tool), hash: (tool.now ?? tool.pinned)?.hash ?? '' };
}

function outdated(server: string, tool: string): SwitchboardError {
  const message = `The tool ${JSON.stringify(tool)} of server '${server}' was not approved: its definition has changed since it was shown.`;
  return new SwitchboardError('TRUST_OUTDATED', message, { hint: 'Look at it again, then approve it.' });
}
