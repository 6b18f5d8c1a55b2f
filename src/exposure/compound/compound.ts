import type { ErrorCode } from '../../shared/error-codes.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { didYouMean } from '../../shared/nearest.ts';
import {
  presetsFor,
  overriddenTool,
  type Call,
  type CatalogEntry,
  type OverallExposure,
  type PresentedTool,
  type FilteredEntry,
  type Source,
} from '../../gateway/index.ts';
import { Client, combinedHints, type ToolHints } from '../../protocol/index.ts';
import { callEdits } from '../call-edits.ts';
import { correctedCall, misplacedArguments } from '../misplaced-arguments.ts';
import { signature } from '../suite/signature.ts';
import { summarise } from '../suite/summarise.ts';
import { hintsOf, ShownHints } from '../shown-hints.ts';

/** A tool composed of tools of several servers, as configured. */
export interface CompoundSettings {
  readonly name: string;
  readonly description: string;
  readonly subtools: readonly CompoundServer[];
  /** The longest description of a subtool, in UTF-16 units. */
  readonly summaryMaxChars: number;
}

export interface CompoundServer {
  readonly server: string;
  readonly tools: readonly { readonly name: string; readonly description?: string | undefined }[];
}

/**
 * One tool that takes `{server, tool, args}`. The configuration lists the tools it may call, so these may include tools
 * that are otherwise hidden: exposing them this way is its purpose.
 */
export function compound(settings: CompoundSettings): OverallExposure {
  let shown: Shown = new Map();
  const shownHints = new ShownHints(() => sumOfTools(settings, shown));
  return {
    present: (find) => {
      shown = new Map(settings.subtools.map(({ server }) => [server, find(server)]));
      return [present(settings, shown, shownHints)];
    },
  };
}

/** The servers of its tools; undefined for one that is not configured. */
type Shown = ReadonlyMap<string, FilteredEntry | undefined>;

function present(settings: CompoundSettings, shown: Shown, shownHints: ShownHints): PresentedTool {
  // If a server is not configured, only its own subtools are missing.
  const there = settings.subtools.filter(({ server }) => shown.get(server) !== undefined);
  const offered = { ...settings, subtools: there };
  const described = describe(offered, shown);
  return {
    names: [settings.name],
    definition: (name) =>
      JSON.stringify({
        name,
        description: described,
        inputSchema: inputSchema(offered),
        ...shownHints.show(),
      }),
    run: (call, name) => run(call, name, { settings, shown, shownHints }),
  };
}

function run(
  call: Call,
  name: string,
  {
    settings: { subtools },
    shown,
    shownHints,
  }: { readonly settings: CompoundSettings; readonly shown: Shown; readonly shownHints: ShownHints },
): void {
  const { request } = call;
  const refuse = (code: ErrorCode, message: string, hint: string | undefined): void =>
    call.fail(new SwitchboardError(code, message, { hint }));
  const server = request.string(Client.server);
  const tool = request.string(Client.tool);
  if (server === undefined || tool === undefined) {
    const missing = server === undefined ? 'a server' : 'a tool';
    refuse('SUBTOOL_MISSING', `${name} needs ${missing}, as a string.`, example(subtools));
    return;
  }
  const part = subtools.find((each) => each.server === server);
  if (part === undefined) {
    const names = subtools.map((each) => each.server);
    const hint = didYouMean(server, names) ?? `It has: ${names.join(', ')}.`;
    refuse('SUBTOOL_UNKNOWN', `${name} has no server ${quoted(server)}.`, hint);
    return;
  }
  if (!part.tools.some((each) => each.name === tool)) {
    const names = part.tools.map((each) => each.name);
    const hint = didYouMean(tool, names) ?? `It has: ${names.join(', ')}.`;
    refuse('SUBTOOL_UNKNOWN', `${name} has no tool ${quoted(tool)} of server ${quoted(server)}.`, hint);
    return;
  }
  const entry = shown.get(server)?.entry;
  if (entry === undefined) {
    const hint = 'Add it to the configuration first; the other servers of this tool can be called.';
    refuse(
      'SERVER_UNKNOWN',
      `${name} cannot reach ${quoted(tool)}: no server ${quoted(server)} is configured.`,
      hint,
    );
    return;
  }
  call.assign(entry.source, () => `Tool '${tool}' of server '${server}'`, tool, Client.args);
  const send = (): void => sendTo(entry, call, { tool, server, name, shownHints });
  if (entry.source.known('tools') !== undefined || !shownHints.mislead(hintsOf(undefined))) send();
  else {
    // The promised annotations are checked against the list of this run.
    entry.source.list('tools').then(
      () => call.open && send(),
      (cause: unknown) =>
        call.fail(
          cause instanceof SwitchboardError
            ? cause
            : new SwitchboardError('LIST_FAILED', `Could not list the tools of server ${quoted(server)}.`, {
                cause,
              }),
        ),
    );
  }
}

interface CompoundCall {
  readonly server: string;
  readonly tool: string;
  /** The name of the compound tool. */
  readonly name: string;
  readonly shownHints: ShownHints;
}

function sendTo(
  { source, rules }: CatalogEntry,
  call: Call,
  { server, tool, name, shownHints }: CompoundCall,
): void {
  const { request } = call;
  const refuse = (code: ErrorCode, message: string, hint: string | undefined): void =>
    call.fail(new SwitchboardError(code, message, { hint }));
  const component = source.known('tools')?.byKey.get(tool);
  if (shownHints.mislead(hintsOf(component && { component }))) {
    const why = `it does more than '${name}' was listed with, because its server has changed its tools`;
    const hint =
      'Call it again. The list of tools has been corrected, and the client may ask the user first.';
    refuse('TOOLS_CHANGED', `${call.subject()} was not run: ${why}.`, hint);
    return;
  }
  const misplaced = misplacedArguments(request, OWN_MEMBERS, component?.value.inputSchema);
  if (misplaced !== undefined) {
    const hint = `Call it with ${correctedCall({ server, tool }, misplaced)}`;
    refuse('ARGS_MISPLACED', `${call.subject()} was not run: its arguments belong in "args".`, hint);
    return;
  }
  const presets = presetsFor(tool, rules);
  const edits = callEdits(request, { name: JSON.stringify(tool), args: Client.args, presets });
  if (edits instanceof SwitchboardError) call.fail(edits);
  else if (isMissing(source, tool)) {
    const known = source.known('tools')?.byKey.keys() ?? [];
    const hint = didYouMean(tool, known) ?? 'Correct it in the configuration.';
    refuse('SUBTOOL_UNKNOWN', `Server ${quoted(server)} has no tool ${quoted(tool)}.`, hint);
  } else {
    const limits = rules.resultLimits?.(tool);
    if (limits !== undefined) call.limitResult(limits, 'resource');
    source.request(edits, call);
  }
}

/** The tool's own members; models that know suites add an action. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['server', 'tool', 'args', 'action']);

/** True if the server's list is known and complete, and the tool is not in it. */
function isMissing(source: Source, tool: string): boolean {
  const listing = source.known('tools');
  return listing !== undefined && listing.incomplete === undefined && !listing.byKey.has(tool);
}

/** The configured description, then one line per subtool: its name, its input if known, and what it does. */
function describe({ description, subtools, summaryMaxChars }: CompoundSettings, shown: Shown): string {
  const lines = subtools.flatMap(({ server, tools }) =>
    tools.map((tool) => {
      const part = shown.get(server);
      const listed = part?.filtered?.listing.byKey.get(tool.name);
      const component = part && listed && overriddenTool(listed, part.entry.rules);
      const input = component === undefined ? '' : ` ${signature(component.value.inputSchema)}`;
      const own = component?.value.description;
      const about = summarise(tool.description ?? (typeof own === 'string' ? own : ''), summaryMaxChars);
      return `- ${server}/${tool.name}${input}${about === '' ? '' : `: ${about}`}`;
    }),
  );
  return `${description}\nCall with {"server","tool","args"}. Subtools (server/tool):\n${lines.join('\n')}`;
}

/** The combined hints of its tools, once all of them are known. */
function sumOfTools({ subtools }: CompoundSettings, shown: Shown): ToolHints | undefined {
  const hints = subtools.flatMap(({ server, tools }) => {
    const listing = shown.get(server)?.entry.source.remembered('tools');
    return tools.map(({ name }) => {
      const component = listing?.byKey.get(name);
      return component && hintsOf({ component });
    });
  });
  const known = hints.filter((each) => each !== undefined);
  return known.length === hints.length ? combinedHints(known) : undefined;
}

function inputSchema({ subtools }: CompoundSettings): object {
  const tools = new Set(subtools.flatMap((each) => each.tools.map((tool) => tool.name)));
  return {
    type: 'object',
    properties: {
      server: { type: 'string', enum: subtools.map((each) => each.server) },
      tool: { type: 'string', enum: [...tools] },
      args: { type: 'object' },
    },
    required: ['server', 'tool'],
  };
}

function example(subtools: readonly CompoundServer[]): string | undefined {
  const first = subtools[0];
  const tool = first?.tools[0];
  return (
    first &&
    tool &&
    `For example {"server":${JSON.stringify(first.server)},"tool":${JSON.stringify(tool.name)},"args":{}}.`
  );
}

function quoted(text: string): string {
  return `'${text.slice(0, 200)}'`;
}
