import {
  filterTools,
  namespaceOf,
  type Call,
  type CatalogEntry,
  type Listing,
  type OfferedTool,
} from '../../gateway/index.ts';
import { Client } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import { SwitchboardError } from '../../shared/errors.ts';
import { isObject } from '../../shared/is-object.ts';
import { nearest } from '../../shared/nearest.ts';
import { argumentProblems } from './check-arguments.ts';
import { Dispatcher, type DispatchSettings } from '../dispatcher.ts';
import { correctedCall } from '../misplaced-arguments.ts';
import { knownTools, searchedEntries } from './searched.ts';
import type { SearchSettings } from './search.ts';
import { toolPath, toolSignature } from './tool-text.ts';

/** The members of a call that `call_tool` itself uses. */
const OWN_MEMBERS: ReadonlySet<string> = new Set(['tool', 'args']);

/** No tool has a longer name, so a longer one need not be compared with others. */
const LONGEST_NAME = 1024;

/** The tool name with which `call_tool` reads the rest of a result that was too long. */
const READ_RESULT = 'read_result';

/** Answers `call_tool`: finds the server of the tool and passes the call to it. */
export class ToolCaller {
  readonly #settings: SearchSettings;
  readonly #entries: () => readonly CatalogEntry[];
  readonly #dispatchers = new WeakMap<CatalogEntry, Dispatcher>();

  constructor(settings: SearchSettings, entries: () => readonly CatalogEntry[]) {
    this.#settings = settings;
    this.#entries = entries;
  }

  run(call: Call): void {
    const path = call.request.string(Client.tool)?.trim();
    if (path === undefined || path === '' || path.length > LONGEST_NAME) {
      call.fail(
        new SwitchboardError(
          'SUBTOOL_MISSING',
          'call_tool needs the name of a tool, as find_tool shows it.',
          {
            hint: 'For example {"tool":"server.tool","args":{…}}.',
          },
        ),
      );
      return;
    }
    const entries = searchedEntries(this.#entries());
    const found = toolNamed(path, entries);
    if (found instanceof SwitchboardError) {
      if (path === READ_RESULT) this.#settings.results.readByAction(call, 'call_tool', 'tool');
      else call.fail(found);
    } else {
      this.#learnFrom(call, found);
      this.#dispatcherOf(found.entry).run(call, found.name);
    }
  }

  /** After a successful call, the tool is ranked higher in later searches. */
  #learnFrom(call: Call, { entry, name }: NamedTool): void {
    const { onEnd } = call;
    call.onEnd = (outcome, bytes, answer) => {
      if (outcome === 'ok') this.#settings.finder.used(call.session.keeper, entry.source.name, name);
      onEnd?.(outcome, bytes, answer);
    };
  }

  #dispatcherOf(entry: CatalogEntry): Dispatcher {
    let dispatcher = this.#dispatchers.get(entry);
    if (dispatcher === undefined) {
      const server = entry.source.name;
      dispatcher = searchedDispatcher(entry, {
        ownMembers: OWN_MEMBERS,
        reader: 'tool',
        misplaced: (tool, args) =>
          new SwitchboardError(
            'ARGS_MISPLACED',
            `Tool '${tool}' was not run: its arguments belong in "args".`,
            { hint: `Call it with ${correctedCall({ tool: toolPath(server, tool) }, args)}` },
          ),
      });
      this.#dispatchers.set(entry, dispatcher);
    }
    return dispatcher;
  }
}

/** The dispatcher for calls of a server's tools that were found by searching. */
export function searchedDispatcher(
  entry: CatalogEntry,
  settings: Pick<DispatchSettings, 'ownMembers' | 'reader' | 'misplaced'>,
): Dispatcher {
  const server = entry.source.name;
  return new Dispatcher(entry, {
    ...settings,
    subject: (tool) => `Tool '${tool}' of server '${server}'`,
    refuse: (request, tool) => unfitArguments(request, tool, server),
    unknown: (tool, listing) => unknownTool(tool, entry, listing),
    notAllowed: (tool) => notAllowed(tool, entry),
  });
}

/** The error for arguments that the tool cannot accept, so that its server need not be asked. */
function unfitArguments(
  request: Message,
  { name, component, presets }: OfferedTool,
  server: string,
): SwitchboardError | undefined {
  const given = request.has(Client.args) ? request.value(Client.args) : {};
  const args = given === null ? {} : given;
  // JSON inside a string reaches the server as an object; anything else is refused elsewhere.
  if (!isObject(args)) return undefined;
  const own = Object.fromEntries(Object.entries(args).filter(([key]) => presets?.has(key) !== true));
  const problems = argumentProblems(component.value.inputSchema, own);
  if (problems.length === 0) return undefined;
  const reasons = problems.map(({ message }) => message).join('; ');
  const schemas = problems.map(({ schema }) => JSON.stringify(schema).slice(0, MOST_SCHEMA));
  return new SwitchboardError('ARGS_INVALID', `${toolPath(server, name)} was not run: ${reasons}.`, {
    hint: `It takes ${[...new Set(schemas)].join(' and ')}`,
  });
}

/** The longest part of a schema shown in an error, in UTF-16 units. */
const MOST_SCHEMA = 500;

interface NamedTool {
  readonly entry: CatalogEntry;
  /** The name that clients use, within its server. */
  readonly name: string;
}

/**
 * The tool that a client refers to as `server.tool`, `server__tool` or `server/tool`, or by a name that only one server
 * has.
 */
export function toolNamed(path: string, entries: readonly CatalogEntry[]): NamedTool | SwitchboardError {
  const prefixed = entries.flatMap((entry) => {
    const prefix = prefixesOf(entry).find((each) => path.startsWith(each) && path.length > each.length);
    return prefix === undefined ? [] : [{ entry, name: path.slice(prefix.length), length: prefix.length }];
  });
  // There may be a server `a` and another one `a.b`.
  const known = prefixed.find(({ entry, name }) => knownTools(entry)?.byName.has(name) === true);
  const longest = prefixed.sort((a, b) => b.length - a.length)[0];
  const chosen = known ?? longest;
  if (chosen !== undefined) return chosen;
  const owners = entries.filter((entry) => knownTools(entry)?.byName.has(path) === true);
  const [only, another] = owners;
  if (only !== undefined && another === undefined) return { entry: only, name: path };
  if (owners.length > 1) {
    const paths = owners.slice(0, 8).map(({ source }) => JSON.stringify(toolPath(source.name, path)));
    return new SwitchboardError('SUBTOOL_UNKNOWN', `Several servers have a tool '${path.slice(0, 200)}'.`, {
      hint: `Use ${paths.join(' or ')}.`,
    });
  }
  return new SwitchboardError('SUBTOOL_UNKNOWN', `Unknown tool '${path.slice(0, 200)}'.`, {
    hint: nearestHint(path, entries),
  });
}

function prefixesOf({ source }: CatalogEntry): string[] {
  const { name } = source;
  return [`${name}.`, `${name}__`, `${namespaceOf(name)}__`, `${name}/`];
}

function unknownTool(name: string, entry: CatalogEntry, listing: Listing): SwitchboardError {
  const { tools } = filterTools(listing, entry.rules);
  const hint = signaturesNear(name, entry, tools);
  return new SwitchboardError(
    'SUBTOOL_UNKNOWN',
    `Unknown tool: server '${entry.source.name}' has no '${name.slice(0, 200)}'.`,
    { hint: hint ?? 'find_tool finds the available tools.' },
  );
}

/** The signatures of tools with similar names. */
function signaturesNear(
  name: string,
  { source }: CatalogEntry,
  tools: readonly OfferedTool[],
): string | undefined {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const near = nearest(name, byName.keys(), 2).flatMap((each) => byName.get(each) ?? []);
  if (near.length === 0) return undefined;
  return `Did you mean ${near.map((tool) => toolSignature(source.name, tool, 400)).join(' or ')}?`;
}

function nearestHint(path: string, entries: readonly CatalogEntry[]): string {
  const own = path.replace(/^.*(?:__|[./])/, '');
  for (const entry of entries) {
    const hint = signaturesNear(own, entry, knownTools(entry)?.tools ?? []);
    if (hint !== undefined) return hint;
  }
  return 'find_tool finds the available tools.';
}

function notAllowed(tool: string, entry: CatalogEntry): SwitchboardError {
  const renamed = entry.rules.overrides.get(tool)?.exposed;
  if (renamed !== undefined && renamed !== tool && knownTools(entry)?.byName.has(renamed) === true) {
    return new SwitchboardError('SUBTOOL_UNKNOWN', `Unknown tool '${tool}'.`, {
      hint: `It is called ${JSON.stringify(toolPath(entry.source.name, renamed))} here.`,
    });
  }
  return new SwitchboardError(
    'SUBTOOL_NOT_ALLOWED',
    `Tool '${tool.slice(0, 200)}' not allowed by Switchboard (server '${entry.source.name}').`,
    {
      hint: 'The configuration limits this server (exposedTools, hiddenTools or expose); find_tool finds the allowed tools.',
    },
  );
}
