import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { Client, type JsonObject } from '../../protocol/index.ts';
import { readObject, type Edit, type Message } from '../../wire/index.ts';
import type { Call, CatalogEntry, Listing } from '../../gateway/index.ts';
import { introspection, type IntrospectionMode } from './introspect.ts';
import type { SuiteSettings } from './suite.ts';

const MODES: readonly IntrospectionMode[] = ['summary', 'full', 'redacted'];

/** What may go wrong with a list while the server itself is fine. */
const LIST_FAILURES = new Set(['LIST_FAILED', 'CALL_TIMEOUT']);

/** No tool has a longer name; one that long is not worth comparing with patterns. */
const LONGEST_NAME = 1024;

/** How long a call waits to learn the server's tool names before it goes ahead without them, in milliseconds. */
const LIST_PATIENCE = 5000;

/** Runs the actions of one suite tool. */
export class SuiteRunner {
  readonly #entry: CatalogEntry;
  readonly #settings: SuiteSettings;
  readonly #subjects = new Map<string, () => string>();

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
    const { source, admits } = this.#entry;
    const subtool = call.request.string(Client.subtool);
    if (subtool === undefined || subtool === '' || subtool.length > LONGEST_NAME) {
      call.fail(
        new SwitchboardError('SUBTOOL_MISSING', `${suite} needs the name of a subtool to call.`, {
          hint: `{"action":"introspect"} lists them.`,
        }),
      );
      return;
    }
    call.subject = this.#subjectOf(subtool);
    if (!admits(subtool)) {
      const listing = source.known('tools');
      const unknown = listing !== undefined && !listing.names.has(subtool);
      call.fail(unknown ? this.#unknown(subtool, listing) : this.#notAllowed(subtool));
      return;
    }
    const edits = callEdits(call.request);
    if (edits instanceof SwitchboardError) call.fail(edits);
    else if (source.known('tools')?.names.has(subtool) === true) source.request(edits, call);
    else this.#callUnproven(call, subtool, edits);
  }

  /** How a call of this subtool is spoken of; one function for all of them, since nearly no call needs the words. */
  #subjectOf(subtool: string): () => string {
    const known = this.#subjects.get(subtool);
    if (known) return known;
    const subject = (): string => `Subtool '${subtool}' of server '${this.#entry.source.name}'`;
    // Only names a server really has are worth keeping; a client may invent any number of others.
    if (this.#entry.source.known('tools')?.names.has(subtool) === true) this.#subjects.set(subtool, subject);
    return subject;
  }

  /** The first call to a server, or a name that is not on its list: the server is asked for the list before refusing. */
  #callUnproven(call: Call, subtool: string, edits: Edit[]): void {
    let decided = false;
    const decide = (refusal: SwitchboardError | undefined): void => {
      clearTimeout(timer);
      if (decided || !call.open) return;
      decided = true;
      if (refusal) call.fail(refusal);
      else this.#entry.source.request(edits, call);
    };
    const timer = setTimeout(() => decide(undefined), LIST_PATIENCE);
    call.runner = { cancelled: () => clearTimeout(timer) };
    this.#entry.source
      .list('tools')
      .then((listing) => {
        // A list that is not all of it proves nothing.
        const missing = listing.incomplete === undefined && !listing.names.has(subtool);
        decide(missing ? this.#unknown(subtool, listing) : undefined);
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
    call.subject = () => `Suite '${suite}'`;
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
    // A server that is slow to start holds this call only; a cancel just means that nobody waits for the list.
    this.#entry.source
      .list('tools')
      .then((listing) => {
        const { admits, source } = this.#entry;
        const { summaryMaxChars } = this.#settings;
        const admitted = listing.components.filter((tool) => admits(tool.name));
        if (typeof subtool === 'string' && subtool !== '') {
          const tool = admitted.find((each) => each.name === subtool);
          if (tool === undefined) {
            call.fail(admits(subtool) ? this.#unknown(subtool, listing) : this.#notAllowed(subtool));
            return;
          }
          const mode = (verbosity as IntrospectionMode | null | undefined) ?? 'full';
          call.succeed(introspection([tool], mode, summaryMaxChars, undefined));
          return;
        }
        const mode = (verbosity as IntrospectionMode | null | undefined) ?? this.#settings.introspection;
        const note =
          listing.incomplete && `The list of ${source.name} is not complete: ${listing.incomplete}`;
        call.succeed(introspection(admitted, mode, summaryMaxChars, note));
      })
      .catch((error: unknown) => call.fail(asError(error, this.#entry.source.name)));
  }

  #notAllowed(subtool: string): SwitchboardError {
    return new SwitchboardError(
      'SUBTOOL_NOT_ALLOWED',
      `Subtool '${subtool}' not allowed by Switchboard (suite '${this.#entry.source.name}').`,
      {
        hint: `Its owner limits this suite with expose.allow or expose.deny; {"action":"introspect"} lists what is open.`,
      },
    );
  }

  #unknown(subtool: string, listing: Listing): SwitchboardError {
    const open = listing.components.map((tool) => tool.name).filter((name) => this.#entry.admits(name));
    return new SwitchboardError(
      'SUBTOOL_UNKNOWN',
      `Server '${this.#entry.source.name}' has no subtool '${subtool.slice(0, 200)}'.`,
      { hint: didYouMean(subtool, open) ?? `{"action":"introspect"} lists what it has.` },
    );
  }
}

/** What turns a call of the suite into a call of the subtool, in place: the name and the arguments change, nothing else. */
function callEdits(request: Message): Edit[] | SwitchboardError {
  const args = argsOf(request);
  if (args instanceof SwitchboardError) return args;
  const name: Edit = {
    start: request.start(Client.name),
    end: request.end(Client.name),
    with: { of: request.bytes, start: request.start(Client.subtool), end: request.end(Client.subtool) },
  };
  const body: Edit = {
    start: request.start(Client.arguments),
    end: request.end(Client.arguments),
    with: args,
  };
  return name.start < body.start ? [name, body] : [body, name];
}

function argsOf(request: Message): Edit['with'] | SwitchboardError {
  const lead = request.lead(Client.args);
  if (lead === BRACE)
    return { of: request.bytes, start: request.start(Client.args), end: request.end(Client.args) };
  if (lead === -1 || request.text(Client.args) === 'null') return '{}';
  // Models often write the arguments as JSON inside a string. There is only one thing that can mean.
  const inner = request.string(Client.args);
  const object = inner === undefined ? undefined : readObject(inner);
  if (object) return { of: object, start: object.from, end: object.to };
  return new SwitchboardError('ARGS_INVALID', 'The args of a subtool must be an object.', {
    hint: `For example {"action":"call","subtool":"…","args":{"key":"value"}}.`,
  });
}

const BRACE = 0x7b;

function asError(error: unknown, server: string): SwitchboardError {
  if (error instanceof SwitchboardError) return error;
  return new SwitchboardError(
    'LIST_FAILED',
    `Could not list the tools of server '${server}': ${messageOf(error)}`,
  );
}
