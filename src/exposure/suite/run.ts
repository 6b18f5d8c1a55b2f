import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import { Client } from '../../protocol/index.ts';
import { defineShape, type Edit, type Message } from '../../wire/index.ts';
import type { Call, CatalogEntry, IntrospectionMode, Listing } from '../../gateway/index.ts';
import { introspection } from './introspect.ts';

const SUITE_SHAPE = defineShape({ action: true, subtool: true, args: true, verbosity: true });
const Suite = {
  action: SUITE_SHAPE.slot('action'),
  subtool: SUITE_SHAPE.slot('subtool'),
  args: SUITE_SHAPE.slot('args'),
  verbosity: SUITE_SHAPE.slot('verbosity'),
} as const;

const MODES: readonly IntrospectionMode[] = ['summary', 'full', 'redacted'];

/** How long a call waits to learn the server's tool names before it goes ahead without them, in milliseconds. */
const LIST_PATIENCE = 5000;

/** Runs the actions of one suite tool. */
export class SuiteRunner {
  readonly #suite: string;
  readonly #entry: CatalogEntry;

  constructor(suite: string, entry: CatalogEntry) {
    this.#suite = suite;
    this.#entry = entry;
  }

  run(call: Call): void {
    call.subject = `Suite '${this.#suite}'`;
    const given = call.request.look(Client.arguments, SUITE_SHAPE);
    if (
      given === undefined &&
      call.request.has(Client.arguments) &&
      call.request.text(Client.arguments) !== 'null'
    ) {
      call.fail(
        new SwitchboardError('PARAMS_INVALID', 'Invalid params: a member stands twice in the arguments.'),
      );
      return;
    }
    const action = given?.string(Suite.action);
    if (given !== undefined && action === 'call') this.#call(call, given);
    else if (given !== undefined && action === 'introspect') this.#introspect(call, given);
    else {
      call.fail(
        new SwitchboardError(
          'ACTION_INVALID',
          `${this.#suite} needs an action: "introspect" lists its subtools, "call" runs one of them.`,
          { hint: `For example {"action":"introspect"} or {"action":"call","subtool":"…","args":{…}}.` },
        ),
      );
    }
  }

  #call(call: Call, given: Message): void {
    const subtool = given.string(Suite.subtool);
    if (subtool === undefined || subtool === '') {
      call.fail(
        new SwitchboardError('SUBTOOL_MISSING', `${this.#suite} needs the name of a subtool to call.`, {
          hint: `{"action":"introspect"} lists them.`,
        }),
      );
      return;
    }
    call.subject = `Subtool '${subtool}' of server '${this.#entry.source.name}'`;
    if (!this.#entry.exposure.admits(subtool)) {
      call.fail(this.#notAllowed(subtool));
      return;
    }
    const edits = callEdits(call.request, given);
    if (edits instanceof SwitchboardError) {
      call.fail(edits);
      return;
    }
    if (this.#entry.source.known('tools')?.names.has(subtool) === true)
      this.#entry.source.request(call.request, edits, call);
    else this.#callUnproven(call, subtool, edits);
  }

  /** The first call to a server, or a name it did not list when last asked: ask it before refusing. */
  #callUnproven(call: Call, subtool: string, edits: readonly Edit[]): void {
    let settled = false;
    const proceed = (listing: Listing | undefined): void => {
      if (settled || !call.open) return;
      settled = true;
      clearTimeout(timer);
      // A server that cannot list its tools, or not all of them, may still run this one.
      if (listing !== undefined && listing.incomplete === undefined && !listing.names.has(subtool)) {
        call.fail(this.#unknown(subtool, listing));
      } else this.#entry.source.request(call.request, edits, call);
    };
    const timer = setTimeout(() => proceed(undefined), LIST_PATIENCE);
    call.onCancel(() => clearTimeout(timer));
    this.#entry.source.list('tools').then(proceed, (error: unknown) => {
      if (error instanceof SwitchboardError && error.code !== 'LIST_FAILED') {
        clearTimeout(timer);
        settled = true;
        call.fail(error);
      } else proceed(undefined);
    });
  }

  #introspect(call: Call, given: Message): void {
    const subtool = given.string(Suite.subtool);
    const verbosity = given.has(Suite.verbosity) ? given.value(Suite.verbosity) : undefined;
    if (verbosity !== undefined && !MODES.includes(verbosity as IntrospectionMode)) {
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
    this.#entry.source.list('tools').then(
      (listing) => {
        const { exposure, source } = this.#entry;
        const admitted = listing.components.filter((tool) => exposure.admits(tool.name));
        if (subtool !== undefined && subtool !== '') {
          const tool = admitted.find((each) => each.name === subtool);
          if (tool === undefined) {
            call.fail(exposure.admits(subtool) ? this.#unknown(subtool, listing) : this.#notAllowed(subtool));
            return;
          }
          const mode = (verbosity as IntrospectionMode | undefined) ?? 'full';
          call.succeed(introspection([tool], mode, exposure.summaryMaxChars, undefined));
          return;
        }
        const mode = (verbosity as IntrospectionMode | undefined) ?? exposure.introspection;
        const note =
          listing.incomplete && `The list of ${source.name} is not complete: ${listing.incomplete}`;
        call.succeed(introspection(admitted, mode, exposure.summaryMaxChars, note));
      },
      (error: unknown) => call.fail(asError(error, this.#entry.source.name)),
    );
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
    const open = listing.components
      .map((tool) => tool.name)
      .filter((name) => this.#entry.exposure.admits(name));
    return new SwitchboardError(
      'SUBTOOL_UNKNOWN',
      `Server '${this.#entry.source.name}' has no subtool '${subtool.slice(0, 200)}'.`,
      { hint: didYouMean(subtool, open) ?? `{"action":"introspect"} lists what it has.` },
    );
  }
}

/** What turns a call of the suite into a call of the subtool, in place: the name and the arguments change, nothing else. */
function callEdits(request: Message, given: Message): readonly Edit[] | SwitchboardError {
  const args = argsOf(given);
  if (args instanceof SwitchboardError) return args;
  const name: Edit = {
    start: request.start(Client.name),
    end: request.end(Client.name),
    with: given.slices(given.start(Suite.subtool), given.end(Suite.subtool)),
  };
  const body: Edit = {
    start: request.start(Client.arguments),
    end: request.end(Client.arguments),
    with: args,
  };
  return name.start < body.start ? [name, body] : [body, name];
}

function argsOf(given: Message): string | readonly Buffer[] | SwitchboardError {
  const lead = given.lead(Suite.args);
  if (lead === BRACE) return given.slices(given.start(Suite.args), given.end(Suite.args));
  if (lead === -1 || given.text(Suite.args) === 'null') return '{}';
  // Models often write the arguments as JSON inside a string. There is only one thing that can mean.
  const inner = given.string(Suite.args);
  if (inner !== undefined && inner.trimStart().startsWith('{')) {
    try {
      return JSON.stringify(JSON.parse(inner));
    } catch {
      // Not JSON after all: refused below.
    }
  }
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
