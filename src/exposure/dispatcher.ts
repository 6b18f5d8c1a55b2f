import { messageOf, SwitchboardError } from '../shared/errors.ts';
import { Client, type JsonObject } from '../protocol/index.ts';
import type { Edit, Message } from '../wire/index.ts';
import {
  originalName,
  presetsFor,
  filterTools,
  type Call,
  type CatalogEntry,
  type Listing,
  type OfferedTool,
  type FilteredTools,
  type ResultReader,
} from '../gateway/index.ts';
import { callEdits } from './call-edits.ts';
import { misplacedArguments } from './misplaced-arguments.ts';

/** How an exposure takes calls of the tools behind it, with the arguments in `args`, and describes them in messages. */
export interface DispatchSettings {
  /** The members of a call that the exposure itself uses. */
  readonly ownMembers: ReadonlySet<string>;
  /** How the client reads the rest of a result that is too long; undefined: results are not limited. */
  readonly reader: ResultReader | undefined;
  subject(tool: string): string;
  /** The tool's own name as it appears in the bytes of the request, if it does. Default: it is written anew. */
  nameIn?(request: Message, tool: string, original: string): Edit['with'] | undefined;
  /**
   * Why a tool must not be run, whatever its arguments; `tool` is undefined if its server has not listed it. Default:
   * every tool may run.
   */
  bars?(name: string, tool: OfferedTool | undefined): SwitchboardError | undefined;
  /** Why a call of a known tool must not be sent. Default: every call may be sent. */
  refuse?(request: Message, tool: OfferedTool): SwitchboardError | undefined;
  unknown(tool: string, listing: Listing): SwitchboardError;
  notAllowed(tool: string): SwitchboardError;
  misplaced(tool: string, args: JsonObject): SwitchboardError;
}

/** Errors that listing may cause while the server itself is fine. */
const LIST_FAILURES = new Set(['LIST_FAILED', 'CALL_TIMEOUT']);

/** How long a call waits for the server's tool names before it is sent without them, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/**
 * Sends calls to the tools of one server, following the rules of its entry. The server may not have listed these tools
 * yet.
 */
export class Dispatcher {
  readonly #entry: CatalogEntry;
  readonly #settings: DispatchSettings;
  readonly #subjects = new Map<string, () => string>();
  #filtered: FilteredTools | undefined;

  constructor(entry: CatalogEntry, settings: DispatchSettings) {
    this.#entry = entry;
    this.#settings = settings;
  }

  /** Runs a call of a tool by its exposed name. Assigns the call to the server, whose answer it gets. */
  run(call: Call, name: string): void {
    call.assign(this.#entry.source, this.#subjectOf(name), name, Client.args);
    const known = this.#known();
    const tool = known?.byName.get(name);
    if (tool !== undefined) this.#send(call, name, tool);
    else if (!this.allows(name)) {
      // An incomplete list proves nothing.
      const listing = known?.listing.incomplete === undefined ? known?.listing : undefined;
      const unknown = listing !== undefined && !listing.byKey.has(name);
      call.fail(unknown ? this.#settings.unknown(name, listing) : this.#settings.notAllowed(name));
    } else this.#runUnlisted(call, name);
  }

  /** Whether a tool of this name could be called if it existed. */
  allows(name: string): boolean {
    const { rules } = this.#entry;
    const original = originalName(name, rules);
    return original !== undefined && rules.allows(original);
  }

  /** The tools that the server offers; undefined if they are unknown or have changed. */
  #known(): FilteredTools | undefined {
    const listing = this.#entry.source.known('tools');
    if (listing === undefined) return undefined;
    // Cached here as well, because every call needs it.
    if (this.#filtered?.listing !== listing) this.#filtered = filterTools(listing, this.#entry.rules);
    return this.#filtered;
  }

  #send(call: Call, name: string, tool: OfferedTool | undefined): void {
    const { request } = call;
    const settings = this.#settings;
    const barred = settings.bars?.(name, tool);
    if (barred !== undefined) {
      call.fail(barred);
      return;
    }
    const original = tool?.original ?? originalName(name, this.#entry.rules) ?? name;
    const misplaced = misplacedArguments(request, settings.ownMembers, tool?.component.value.inputSchema);
    if (misplaced !== undefined) {
      call.fail(settings.misplaced(name, misplaced));
      return;
    }
    const refusal = tool && settings.refuse?.(request, tool);
    if (refusal !== undefined) {
      call.fail(refusal);
      return;
    }
    const edits = callEdits(request, {
      name: settings.nameIn?.(request, name, original) ?? JSON.stringify(original),
      args: Client.args,
      presets: tool ? tool.presets : presetsFor(original, this.#entry.rules),
    });
    if (edits instanceof SwitchboardError) {
      call.fail(edits);
      return;
    }
    const limits = this.#entry.rules.resultLimits?.(original);
    if (limits !== undefined && settings.reader !== undefined) call.limitResult(limits, settings.reader);
    this.#entry.source.request(edits, call);
  }

  /** Describes a call of this tool in messages. Shared by all its calls, because almost none needs the text. */
  #subjectOf(name: string): () => string {
    const known = this.#subjects.get(name);
    if (known) return known;
    const subject = (): string => this.#settings.subject(name);
    // Cached only for names that the server has, because a client may invent any number of others.
    if (this.#known()?.byName.has(name) === true) this.#subjects.set(name, subject);
    return subject;
  }

  /** Runs the first call to a server, or a call of a name that is not in its list: fetches the list before refusing. */
  #runUnlisted(call: Call, name: string): void {
    let decided = false;
    const decide = (refusal: SwitchboardError | undefined, tool?: OfferedTool): void => {
      clearTimeout(timer);
      if (decided || !call.open) return;
      decided = true;
      if (refusal) call.fail(refusal);
      else this.#send(call, name, tool);
    };
    const since = performance.now();
    call.follower?.waits();
    const needsList = this.#settings.bars?.(name, undefined) !== undefined;
    const timer = setTimeout(() => {
      if (needsList) return;
      call.waitedMs = performance.now() - since;
      decide(undefined);
    }, LIST_TIMEOUT_MS);
    call.runBy({ cancelled: () => clearTimeout(timer) });
    this.#entry.source
      .list('tools')
      .then((listing) => {
        // An incomplete list proves nothing.
        const tool = filterTools(listing, this.#entry.rules).byName.get(name);
        const missing = listing.incomplete === undefined && tool === undefined;
        decide(missing ? this.#settings.unknown(name, listing) : undefined, tool);
      })
      .catch((error: unknown) => {
        const failure = listError(error, this.#entry.source.name);
        // A server that cannot list its tools may still run this tool.
        const { code, message, hint } = failure;
        const told = new SwitchboardError(code, `${call.subject()} was not run. ${message}`, {
          hint,
          cause: failure,
        });
        decide(LIST_FAILURES.has(code) && !needsList ? undefined : told);
      });
  }
}

/** The error for a list that could not be fetched. */
export function listError(error: unknown, server: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'LIST_FAILED',
    `Could not list the tools of server '${server}': ${messageOf(error)}`,
  );
}
