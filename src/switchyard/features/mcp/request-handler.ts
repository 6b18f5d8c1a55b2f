import { Component, EMPTY_LISTING, type Listing } from '../../../gateway/index.ts';
import type { JsonObject, ListKind } from '../../../protocol/index.ts';
import { SwitchboardError } from '../../../shared/errors.ts';
import { isObject } from '../../../shared/is-object.ts';
import { printable } from '../../../shared/printable.ts';
import { explained } from '../../../shared/system-error.ts';
import { contextWarnings } from '../../records/project/context.ts';
import { sortedText } from '../../records/state/write.ts';
import { readArguments, schemaOf, type ArgumentSpecs } from './arguments.ts';
import {
  openBoundProject,
  bindProject,
  refuseUnregistered,
  type BoundProject,
  type ProjectSelector,
} from './project-binding.ts';
import { getPrompt, PROMPTS } from './prompts.ts';
import { RESOURCES } from './resources.ts';
import { dataInToolWords, errorInToolWords, inToolWords } from './tool-words.ts';
import { CWD_ARGUMENT, type ToolCallHooks, type ToolOutput, type YardTool } from './tool.ts';
import { YARD_TOOLS } from './tools.ts';

/** How long a client may cache our lists, in milliseconds: they change only with the program. */
const FRESH_MS = 5 * 60_000;

/** Handles all MCP requests for one project. */
export class YardRequestHandler {
  readonly #project: ProjectSelector;
  readonly #env: NodeJS.ProcessEnv;
  readonly #listings: Partial<Record<ListKind, Listing>>;
  #bound: BoundProject | undefined;

  constructor(project: ProjectSelector, env: NodeJS.ProcessEnv) {
    this.#project = project;
    this.#env = env;
    this.#listings = {
      tools: listingOf(YARD_TOOLS.map((tool) => [tool.name, described(tool)])),
      resources: listingOf(
        RESOURCES.map(({ uri, name, title, description, mimeType }) => [
          uri,
          { uri, name, title, description, mimeType },
        ]),
      ),
      prompts: listingOf(
        PROMPTS.map(({ name, title, description, arguments: given }) => [
          name,
          { name, title, description, arguments: given },
        ]),
      ),
    };
  }

  listing(kind: ListKind): Listing {
    return this.#listings[kind] ?? EMPTY_LISTING;
  }

  /** The result of a request. */
  async handle(method: string, params: JsonObject, hooks: ToolCallHooks): Promise<JsonObject> {
    switch (method) {
      case 'tools/call':
        return this.#call(textIn(params, 'name'), params.arguments ?? {}, hooks);
      case 'resources/read':
        return this.#read(textIn(params, 'uri'));
      case 'prompts/get':
        return getPrompt(textIn(params, 'name'), params.arguments);
      default:
        throw new SwitchboardError('METHOD_UNKNOWN', `Method not found: ${method.slice(0, 200)}`);
    }
  }

  async #call(name: string, args: unknown, hooks: ToolCallHooks): Promise<JsonObject> {
    const tool = YARD_TOOLS.find((each) => each.name === name);
    if (tool === undefined) throw new SwitchboardError('TOOL_UNKNOWN', `Unknown tool: ${name.slice(0, 200)}`);
    if (!isObject(args)) throw new SwitchboardError('PARAMS_INVALID', 'arguments must be an object');
    try {
      // Invalid arguments are rejected before the project is opened.
      const given = readArguments(args, argumentsOf(tool));
      const bound = this.#bind();
      const call = { cwd: given.text('cwd'), orRecorded: tool.orRecorded };
      const yard = openBoundProject(bound, this.#env, call);
      if (tool.runsCommands === true) refuseUnregistered(this.#project, bound, this.#env);
      return resultOf(await tool.run(yard, given, hooks), contextWarnings(yard));
    } catch (thrown) {
      const error = explained(thrown);
      if (!(error instanceof SwitchboardError)) throw error;
      // Without structured content, because clients reject content that does not match the schema.
      const message = error.hint === undefined ? error.message : `${error.message}\n${error.hint}`;
      return { content: [{ type: 'text', text: printable(inToolWords(message)) }], isError: true };
    }
  }

  async #read(uri: string): Promise<JsonObject> {
    const resource = RESOURCES.find((each) => each.uri === uri);
    if (resource === undefined)
      throw new SwitchboardError('RESOURCE_UNKNOWN', `Unknown resource: ${uri.slice(0, 200)}`);
    try {
      const text = await resource.text(() => openBoundProject(this.#bind(), this.#env, {}));
      return { contents: [{ uri, mimeType: resource.mimeType, text }] };
    } catch (error) {
      throw error instanceof SwitchboardError ? errorInToolWords(error) : error;
    }
  }

  /** Once found, the project stays the same. */
  #bind(): BoundProject {
    if (this.#bound?.found !== true) this.#bound = bindProject(this.#project, this.#env);
    return this.#bound;
  }
}

function argumentsOf(tool: YardTool): ArgumentSpecs {
  return { ...tool.arguments, cwd: CWD_ARGUMENT };
}

function described(tool: YardTool): JsonObject {
  const { name, title, description, hints, output } = tool;
  return {
    name,
    title,
    description,
    inputSchema: schemaOf(argumentsOf(tool)),
    outputSchema: output,
    annotations: { title, ...hints },
  };
}

function listingOf(items: readonly (readonly [key: string, value: JsonObject])[]): Listing {
  const components = items.map(([key, value]) => new Component(key, JSON.stringify(value)));
  return {
    components,
    byKey: new Map(components.map((component) => [component.key, component])),
    incomplete: undefined,
    ttlMs: FRESH_MS,
  };
}

function resultOf(
  { data, text, notes = [], failed = false }: ToolOutput,
  warnings: readonly string[],
): JsonObject {
  const remarks = [...notes, ...warnings.map((warning) => `warning: ${warning}`)];
  const structuredContent = dataInToolWords(data);
  const texts = [
    text ?? sortedText(structuredContent),
    ...remarks.map((remark) => printable(inToolWords(remark))),
  ];
  return {
    content: texts.map((each) => ({ type: 'text', text: each })),
    structuredContent,
    isError: failed,
  };
}

function textIn(params: JsonObject, key: string): string {
  const value = params[key];
  if (typeof value === 'string') return value;
  throw new SwitchboardError('PARAMS_INVALID', `${key} must be a string`);
}
