import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { Client, type JsonObject } from '../../protocol/index.ts';
import type { Edit } from '../../wire/index.ts';
import {
  originalName,
  presetsFor,
  filterTools,
  printableInstructions,
  type Call,
  type CatalogEntry,
  type Listing,
  type OfferedTool,
  type FilteredTools,
} from '../../gateway/index.ts';
import { callEdits } from '../call-edits.ts';
import { correctedCall, misplacedArguments } from '../misplaced-arguments.ts';
import { introspection, type IntrospectionMode } from './introspect.ts';
import type { SuiteSettings } from './suite.ts';

const MODES: readonly IntrospectionMode[] = ['summary', 'full', 'redacted'];

/** What may go wrong with a list while the server itself is fine. */
const LIST_FAILURES = new Set(['LIST_FAILED', 'CALL_TIMEOUT']);

/** No tool has a longer name; one that long is not worth comparing with patterns. */
const LONGEST_NAME = 1024;

/** What a suite itself takes. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['action', 'subtool', 'args', 'verbosity']);

/** How long a call waits to learn the server's tool names before it goes ahead without them, in milliseconds. */
const LIST_TIMEOUT_MS = 5000;

/** Runs the actions of one suite tool. */
export class SuiteRunner {
  readonly #entry: CatalogEntry;
  readonly #settings: SuiteSettings;
  readonly #subjects = new Map<string, () => string>();
  #filtered: FilteredTools | undefined;

  constructor(entry: CatalogEntry, settings: SuiteSettings) {
    this.#entry = entry;
    this.#settings = settings;
  }

  /** Runs a call of the suite, which goes by the given name. */
  run(call: Call, suite: string): void {
    const action = call.request.string(Client.action);
    if (action === 'call') this.#call(call, suite);
    else if (action === 'introspect') this.#introspect(call, suite);
    else {
      call.fail(
        new SwitchboardError(
          'ACTION_INVALID',
          `${suite} needs an action: "introspect" lists its subtools, "call" runs one of them.`,
          { hint: `For example {"action":"introspect"} or {"action":"call","subtool":"…","args":{…}}.` },
        ),
      );
    }
  }

  #call(call: Call, suite: string): void {
    const subtool = call.request.string(Client.subtool);
    if (subtool === undefined || subtool === '' || subtool.length > LONGEST_NAME) {
      call.fail(
        new SwitchboardError('SUBTOOL_MISSING', `${suite} needs the name of a subtool to call.`, {
          hint: `{"action":"introspect"} lists them.`,
        }),
      );
      return;
    }
    call.assign(this.#entry.source, this.#subjectOf(subtool), subtool);
    const known = this.#known();
    const tool = known?.byName.get(subtool);
    if (tool !== undefined) this.#send(call, subtool, tool);
    else if (!this.#allows(subtool)) {
      // A list that is not all of it proves nothing.
      const listing = known?.listing.incomplete === undefined ? known?.listing : undefined;
      const unknown = listing !== undefined && !listing.byKey.has(subtool);
      call.fail(unknown ? this.#unknown(subtool, listing) : this.#notAllowed(subtool));
    } else this.#callUnlisted(call, subtool);
  }

  /** What the server offers, where that is known and has not changed. */
  #known(): FilteredTools | undefined {
    const listing = this.#entry.source.known('tools');
    if (listing === undefined) return undefined;
    // Kept here too: this is asked for every call.
    if (this.#filtered?.listing !== listing) this.#filtered = filterTools(listing, this.#entry.rules);
    return this.#filtered;
  }

  /** Whether a subtool of this name may be called, should there be one. */
  #allows(subtool: string): boolean {
    const { rules } = this.#entry;
    const original = originalName(subtool, rules);
    return original !== undefined && rules.allows(original);
  }

  #send(call: Call, subtool: string, tool: OfferedTool | undefined): void {
    const { request } = call;
    const original = tool?.original ?? originalName(subtool, this.#entry.rules) ?? subtool;
    const name: Edit['with'] =
      original === subtool
        ? { of: request.bytes, start: request.start(Client.subtool), end: request.end(Client.subtool) }
        : JSON.stringify(original);
    const misplaced = misplacedArguments(request, OWN_MEMBERS, tool?.component.value.inputSchema);
    if (misplaced !== undefined) {
      call.fail(this.#misplaced(subtool, misplaced));
      return;
    }
    const edits = callEdits(request, {
      name,
      args: Client.args,
      presets: tool ? tool.presets : presetsFor(original, this.#entry.rules),
    });
    if (edits instanceof SwitchboardError) call.fail(edits);
    else this.#entry.source.request(edits, call);
  }

  /** How a call of this subtool is spoken of; one function for all of them, since nearly no call needs the words. */
  #subjectOf(subtool: string): () => string {
    const known = this.#subjects.get(subtool);
    if (known) return known;
    const subject = (): string => `Subtool '${subtool}' of server '${this.#entry.source.name}'`;
    // Only names a server really has are worth keeping; a client may invent any number of others.
    if (this.#known()?.byName.has(subtool) === true) this.#subjects.set(subtool, subject);
    return subject;
  }

  /** The first call to a server, or a name that is not on its list: the server is asked for the list before refusing. */
  #callUnlisted(call: Call, subtool: string): void {
    let decided = false;
    const decide = (refusal: SwitchboardError | undefined, tool?: OfferedTool): void => {
      clearTimeout(timer);
      if (decided || !call.open) return;
      decided = true;
      if (refusal) call.fail(refusal);
      else this.#send(call, subtool, tool);
    };
    const timer = setTimeout(() => decide(undefined), LIST_TIMEOUT_MS);
    call.runBy({ cancelled: () => clearTimeout(timer) });
    this.#entry.source
      .list('tools')
      .then((listing) => {
        // A list that is not all of it proves nothing.
        const tool = filterTools(listing, this.#entry.rules).byName.get(subtool);
        const missing = listing.incomplete === undefined && tool === undefined;
        decide(missing ? this.#unknown(subtool, listing) : undefined, tool);
      })
      .catch((error: unknown) => {
        const failure = asError(error, this.#entry.source.name);
        // A server that cannot list its tools may still run this one.
        const { code, message, hint } = failure;
        const told = new SwitchboardError(code, `${call.subject()} was not run. ${message}`, {
          hint,
          cause: failure,
        });
        decide(LIST_FAILURES.has(code) ? undefined : told);
      });
  }

  #introspect(call: Call, suite: string): void {
    const { subtool, verbosity } = call.request.value(Client.arguments) as JsonObject;
    call.assign(this.#entry.source, () => `Suite '${suite}'`);
    if (verbosity !== undefined && verbosity !== null && !MODES.includes(verbosity as IntrospectionMode)) {
      call.fail(
        new SwitchboardError(
          'VERBOSITY_INVALID',
          `Unknown verbosity ${JSON.stringify(verbosity).slice(0, 80)}.`,
          {
            hint: `Use one of ${MODES.map((mode) => `"${mode}"`).join(', ')}.`,
          },
        ),
      );
      return;
    }
    // A server that is slow to start holds this call only; a cancellation only drops the answer.
    this.#entry.source
      .list('tools')
      .then((listing) => {
        const { rules, source } = this.#entry;
        const { summaryMaxChars, instructionsMaxChars } = this.#settings;
        const allowed = filterTools(listing, rules).tools.map((tool) => tool.component);
        if (typeof subtool === 'string' && subtool !== '') {
          const tool = allowed.find((each) => each.key === subtool);
          if (tool === undefined) {
            call.fail(
              this.#allows(subtool) || !listing.byKey.has(subtool)
                ? this.#unknown(subtool, listing)
                : this.#notAllowed(subtool),
            );
            return;
          }
          const mode = (verbosity as IntrospectionMode | null | undefined) ?? 'full';
          call.succeed(introspection({ tools: [tool], mode, summaryMaxChars }));
          return;
        }
        const mode = (verbosity as IntrospectionMode | null | undefined) ?? this.#settings.introspection;
        const note = listing.incomplete && `The list of ${source.name} is incomplete: ${listing.incomplete}`;
        const said = mode === 'redacted' ? undefined : source.about()?.instructions;
        const instructions = printableInstructions(said, instructionsMaxChars);
        call.succeed(
          introspection({ tools: allowed, mode, summaryMaxChars, instructions, note, offersMore: true }),
        );
      })
      .catch((error: unknown) => call.fail(asError(error, this.#entry.source.name)));
  }

  #misplaced(subtool: string, args: JsonObject): SwitchboardError {
    return new SwitchboardError(
      'ARGS_MISPLACED',
      `Subtool '${subtool}' was not run: its arguments belong in "args".`,
      { hint: `Call it with ${correctedCall({ action: 'call', subtool }, args)}` },
    );
  }

  #notAllowed(subtool: string): SwitchboardError {
    const renamed = this.#entry.rules.overrides.get(subtool)?.exposed;
    if (renamed !== undefined && renamed !== subtool && this.#allows(renamed)) {
      return new SwitchboardError('SUBTOOL_UNKNOWN', `Unknown subtool '${subtool}'.`, {
        hint: `It is called '${renamed}' here.`,
      });
    }
    return new SwitchboardError(
      'SUBTOOL_NOT_ALLOWED',
      `Subtool '${subtool}' not allowed by Switchboard (suite '${this.#entry.source.name}').`,
      {
        hint: `The configuration limits this suite (exposedTools, hiddenTools or expose); {"action":"introspect"} lists the allowed subtools.`,
      },
    );
  }

  #unknown(subtool: string, listing: Listing): SwitchboardError {
    const open = filterTools(listing, this.#entry.rules).byName.keys();
    return new SwitchboardError(
      'SUBTOOL_UNKNOWN',
      `Server '${this.#entry.source.name}' has no subtool '${subtool.slice(0, 200)}'.`,
      { hint: didYouMean(subtool, open) ?? `{"action":"introspect"} lists its subtools.` },
    );
  }
}

function asError(error: unknown, server: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'LIST_FAILED',
    `Could not list the tools of server '${server}': ${messageOf(error)}`,
  );
}
