import { Component, type Listing } from '../gateway/index.ts';
import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { printable } from '../shared/printable.ts';
import { Turns } from '../shared/turns.ts';
import { pinStateOf, type PinRecord, type PinState } from './pin-record.ts';
import type { PinnedServer, Pins } from './pins.ts';
import { listDigest } from './list-digest.ts';
import { componentHash } from './tool-definition.ts';

export interface PinScreenOptions {
  readonly pins: Pins;
  readonly server: PinnedServer;
  /** The command that shows what changed in a tool. */
  readonly reviewCommand: (tool?: string) => string;
  /** Whether all gateways reach the very same server. If so, another gateway may know a newer list. */
  readonly isRemote: boolean;
}

/** A list after screening, with the revision of the record it was screened against. */
interface Screened {
  readonly revision: string;
  readonly listing: Listing;
  /** The reasons for the tools that are withheld. */
  readonly withheld: ReadonlyMap<string, SwitchboardError>;
  /** What was recorded of each tool last, as its hash. */
  readonly recorded: ReadonlyMap<string, string | undefined>;
}

/** Hides unapproved tool definitions from clients and refuses calls to these tools. */
export class PinScreen {
  readonly #options: PinScreenOptions;
  readonly #screened = new WeakMap<Listing, Screened>();
  /** Lists of earlier runs other than the one compared last, each with the revision of the record at that time. */
  readonly #outdated = new WeakMap<Listing, string>();

  constructor(options: PinScreenOptions) {
    this.#options = options;
  }

  /** Returns the list as clients may see it, after comparing it. */
  async check(listing: Listing): Promise<Listing> {
    const { pins, server } = this.#options;
    // Reading the record reports why it cannot be compared.
    await pins.check(server).catch(() => undefined);
    const turns = new Turns();
    for (const component of listing.components) {
      componentHash(component);
      const turn = turns.next();
      if (turn !== undefined) await turn;
    }
    return this.#screen(listing).listing;
  }

  /** Like `check`, for a list that has already been compared; undefined for any other. */
  checked(listing: Listing): Listing | undefined {
    return this.#screened.has(listing) ? this.#screen(listing).listing : undefined;
  }

  /**
   * Like `checked`, for a list of an earlier run, which was compared in that run; undefined if another list has been
   * compared since. Comparing takes time, and a remembered list is needed immediately.
   */
  recalled(listing: Listing): Listing | undefined {
    const { pins, server } = this.#options;
    const revision = pins.store.revision(server.key);
    if (this.#outdated.get(listing) === revision) return undefined;
    if (this.#screened.get(listing)?.revision !== revision) {
      const { record } = this.#record();
      if (record !== undefined && record.listed !== listDigest(listing)) {
        this.#outdated.set(listing, revision);
        return undefined;
      }
    }
    return this.#screen(listing, () => undefined).listing;
  }

  /** Returns why a tool of this list must not run. */
  refusal(tool: string, listing: Listing): SwitchboardError | undefined {
    if (listing.byKey.has(tool)) return this.#screen(listing).withheld.get(tool);
    return this.#withheld(tool, 'its server does not list it, so it cannot be compared');
  }

  /** Whether another gateway got a different definition of a tool than the one in this list. */
  isContradicted(tool: string, listing: Listing): boolean {
    const { pins, isRemote } = this.#options;
    const component = listing.byKey.get(tool);
    if (!isRemote || !pins.areShared || component === undefined) return false;
    const recorded = this.#screen(listing).recorded.get(tool);
    return recorded !== undefined && recorded !== componentHash(component);
  }

  /** `hashOf` returns the hash of a tool's definition; undefined if the recorded one is to be used. */
  #screen(listing: Listing, hashOf: (tool: Component) => string | undefined = componentHash): Screened {
    const { pins, server } = this.#options;
    const revision = pins.store.revision(server.key);
    const known = this.#screened.get(listing);
    if (known?.revision === revision) return known;
    const { record, problem } = this.#record();
    const withheld = new Map<string, SwitchboardError>();
    const components = listing.components.flatMap((component) => {
      const why = problem ?? whyNot(record, component.key, () => hashOf(component));
      if (why === undefined) return [component];
      const error = this.#withheld(component.key, why);
      withheld.set(component.key, error);
      // A name that hides something is not shown at all.
      return printable(component.key) === component.key ? [standIn(component.key, error)] : [];
    });
    const shown =
      withheld.size === 0
        ? listing
        : { ...listing, components, byKey: new Map(components.map((each) => [each.key, each])) };
    const recorded = new Map(
      [...(record?.tools ?? [])].map(([name, { now, pinned }]) => [name, (now ?? pinned)?.hash]),
    );
    const screened = { revision, listing: shown, withheld, recorded };
    this.#screened.set(listing, screened);
    return screened;
  }

  #record(): { readonly record?: PinRecord | undefined; readonly problem?: string } {
    const { pins, server } = this.#options;
    try {
      const record = pins.store.read(server.key);
      if (record !== undefined) return { record };
      if (pins.areReadOnly) return { problem: NO_COPY };
      return pins.isAway ? { problem: STORE_AWAY } : {};
    } catch (error) {
      return { problem: `it cannot be compared: ${messageOf(error)}` };
    }
  }

  #withheld(tool: string, why: string): SwitchboardError {
    const { server, reviewCommand } = this.#options;
    const name = JSON.stringify(printable(tool).slice(0, 200));
    return new SwitchboardError(
      'TOOL_WITHHELD',
      `The tool ${name} of server '${server.name}' is withheld: ${why}.`,
      {
        hint: `The user can review and approve it in a terminal: ${reviewCommand(tool)} --approve`,
      },
    );
  }
}

/** Returns why a tool is withheld from clients; undefined if it is as approved. */
function whyNot(
  record: PinRecord | undefined,
  tool: string,
  hash: () => string | undefined,
): string | undefined {
  // Without a record, clients have never seen this server's tools: its first list will be pinned.
  if (record === undefined) return 'what it says is not recorded yet';
  const pinned = record.tools.get(tool);
  if (pinned === undefined && record.overflow) return 'its server has more tools than can be stored';
  const state = pinStateOf(pinned, hash());
  if (state !== 'suspicious') return REASONS[state];
  return pinned?.findings?.join('; ') ?? 'it has hidden or misleading text';
}

const STORE_AWAY = 'the store cannot be reached, so it cannot be compared with what was approved';
const NO_COPY =
  'this machine has no copy of what was approved of its server, which a gateway with --http or `switchboard trust` gets from the store';

const REASONS: Readonly<Record<Exclude<PinState, 'suspicious'>, string | undefined>> = {
  pinned: undefined,
  restored: undefined,
  changed: 'it has changed since it was approved',
  new: 'it is new since the server was approved',
};

/** The placeholder that clients see instead of the tool. */
function standIn(name: string, error: SwitchboardError): Component {
  return new Component(
    name,
    JSON.stringify({ name, description: error.explained, inputSchema: { type: 'object' } }),
  );
}
