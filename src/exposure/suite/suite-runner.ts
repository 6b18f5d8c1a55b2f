import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { Client, type JsonObject } from '../../protocol/index.ts';
import {
  filterTools,
  printableInstructions,
  type Call,
  type CatalogEntry,
  type Listing,
  type OfferedTool,
} from '../../gateway/index.ts';
import { Dispatcher, listError } from '../dispatcher.ts';
import { correctedCall } from '../misplaced-arguments.ts';
import { hintsOf, type ShownHints } from '../shown-hints.ts';
import { describeTools, introspectionResult, type IntrospectionMode } from './introspect.ts';
import type { SuitePart } from './suite-part.ts';
import type { SuiteSettings } from './suite.ts';

const MODES: readonly IntrospectionMode[] = ['summary', 'full', 'redacted'];

/** No tool has a longer name, so a longer one need not be matched against patterns. */
const LONGEST_NAME = 1024;

/** The members of a call that a suite itself uses. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['action', 'subtool', 'args', 'verbosity']);

/** The tool that receives the calls, and the annotations that clients see for it. */
export type ShownPart = SuitePart & { readonly shownHints: ShownHints };

/** Runs the actions of one suite tool, which may represent only some of the tools of its server. */
export class SuiteRunner {
  readonly #entry: CatalogEntry;
  readonly #settings: SuiteSettings;
  readonly #part: ShownPart;
  readonly #dispatcher: Dispatcher;

  constructor(entry: CatalogEntry, settings: SuiteSettings, part: ShownPart) {
    this.#entry = entry;
    this.#settings = settings;
    this.#part = part;
    this.#dispatcher = new Dispatcher(entry, {
      ownMembers: OWN_MEMBERS,
      reader: 'action',
      subject: (subtool) => `Subtool '${subtool}' of server '${entry.source.name}'`,
      nameIn: (request, subtool, original) =>
        original === subtool
          ? { of: request.bytes, start: request.start(Client.subtool), end: request.end(Client.subtool) }
          : undefined,
      bars: (subtool, tool) => this.#bars(subtool, tool),
      unknown: (subtool, listing) => this.#unknown(subtool, listing),
      notAllowed: (subtool) => this.#notAllowed(subtool),
      misplaced,
    });
  }

  /** Runs a call of the suite, which has the given name. */
  run(call: Call, suite: string): void {
    const action = call.request.string(Client.action);
    if (action === 'call') this.#call(call, suite);
    else if (action === 'introspect') this.#introspect(call, suite);
    else if (action === 'read' && this.#settings.results !== undefined)
      this.#settings.results.readByAction(call, suite, 'action');
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
    this.#dispatcher.run(call, subtool);
  }

  #introspect(call: Call, suite: string): void {
    const args = call.request.value(Client.arguments);
    const { subtool, verbosity } = isObject(args) ? args : {};
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
    // A server that is slow to start delays only this call; a cancellation only drops the answer.
    this.#entry.source
      .list('tools')
      .then(async (listing) => {
        const { rules, source } = this.#entry;
        const { summaryMaxChars, instructionsMaxChars } = this.#settings;
        const { includes, other } = this.#part;
        const offered = filterTools(listing, rules);
        const allowed = offered.tools
          .filter((tool) => includes(hintsOf(tool)))
          .map(({ component }) => component);
        if (typeof subtool === 'string' && subtool !== '') {
          const tool = allowed.find((each) => each.key === subtool);
          if (tool === undefined && offered.byName.has(subtool)) {
            call.fail(this.#isElsewhere(subtool));
            return;
          }
          if (tool === undefined) {
            call.fail(
              this.#dispatcher.allows(subtool) || !listing.byKey.has(subtool)
                ? this.#unknown(subtool, listing)
                : this.#notAllowed(subtool),
            );
            return;
          }
          const mode = (verbosity as IntrospectionMode | null | undefined) ?? 'full';
          call.succeedWith(
            await introspectionResult({ tools: await describeTools([tool], mode, summaryMaxChars) }),
          );
          return;
        }
        const mode = (verbosity as IntrospectionMode | null | undefined) ?? this.#settings.introspection;
        const notes = [
          listing.incomplete && `The list of ${source.name} is incomplete: ${listing.incomplete}`,
          other && `'${other}' has the other subtools of this server.`,
        ].filter((each) => each !== undefined);
        const note = notes.length === 0 ? undefined : notes.join(' ');
        const said = mode === 'redacted' ? undefined : source.about()?.instructions;
        const instructions = printableInstructions(said, instructionsMaxChars);
        const tools = await describeTools(allowed, mode, summaryMaxChars);
        call.succeedWith(await introspectionResult({ tools, instructions, note, offersMore: true }));
      })
      .catch((error: unknown) => call.fail(listError(error, this.#entry.source.name)));
  }

  /** Why this tool must not run it: another tool represents it, or the annotations promised clients something safer. */
  #bars(subtool: string, tool: OfferedTool | undefined): SwitchboardError | undefined {
    const { name, includes, other, shownHints } = this.#part;
    // Most suites represent all tools of their server and promise nothing, so skip looking up the hints for every call.
    if (other === undefined && !shownHints.promisesAnything) return undefined;
    const hints = hintsOf(tool);
    if (tool !== undefined && !includes(hints)) return this.#isElsewhere(subtool);
    if (!shownHints.mislead(hints)) return undefined;
    return new SwitchboardError(
      'TOOLS_CHANGED',
      `Subtool '${subtool}' was not run: it does more than '${name}' was listed with, because the server has changed its tools.`,
      { hint: 'Call it again. The list of tools has been corrected, and the client may ask the user first.' },
    );
  }

  #isElsewhere(subtool: string): SwitchboardError {
    const { name, other = '', always } = this.#part;
    const why = always === undefined ? 'only reads' : 'may change something';
    return new SwitchboardError(
      'SUBTOOL_ELSEWHERE',
      `Subtool '${subtool}' ${why}, so '${name}' does not run it.`,
      { hint: `Call it with the tool '${other}'.` },
    );
  }

  #notAllowed(subtool: string): SwitchboardError {
    const renamed = this.#entry.rules.overrides.get(subtool)?.exposed;
    if (renamed !== undefined && renamed !== subtool && this.#dispatcher.allows(renamed)) {
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

function misplaced(subtool: string, args: JsonObject): SwitchboardError {
  return new SwitchboardError(
    'ARGS_MISPLACED',
    `Subtool '${subtool}' was not run: its arguments belong in "args".`,
    { hint: `Call it with ${correctedCall({ action: 'call', subtool }, args)}` },
  );
}
