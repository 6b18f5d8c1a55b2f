import { nearest } from '../shared/nearest.ts';
import type { OfferedTool } from '../gateway/index.ts';
import { isJsonObject, type JsonObject } from '../protocol/index.ts';
import type { ToolSpec } from './model.ts';

/** The tools of a server in the words of a model, and the way back from the model's words to the tools. */
export interface ToolBook {
  /** In the server's own order, all of them. */
  readonly specs: readonly ToolSpec[];
  /** The tool a model means: by the name it was given, or by the server's own. */
  find(name: string): OfferedTool | undefined;
  /** Names a model may have meant, as it was given them. */
  near(name: string): readonly string[];
}

export function toolBook(tools: readonly OfferedTool[]): ToolBook {
  const byName = new Map<string, OfferedTool>();
  const specs: ToolSpec[] = [];
  for (const tool of tools) {
    const name = freeName(safeName(tool.name), byName);
    byName.set(name, tool);
    specs.push(specFor(name, tool.component.value));
  }
  return {
    specs,
    find: (name) => byName.get(name) ?? tools.find((tool) => tool.name === name),
    near: (name) => nearest(name, byName.keys()),
  };
}

/** The longest name that every model takes. */
const LONGEST_NAME = 64;

/** The longest description, in characters. A server that writes more would fill the model's memory with one tool. */
const LONGEST_DESCRIPTION = 4000;

function safeName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST_NAME) || 'tool';
}

function freeName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count++) {
    const ending = `_${count}`;
    name = wanted.slice(0, LONGEST_NAME - ending.length) + ending;
  }
  return name;
}

function specFor(name: string, tool: JsonObject): ToolSpec {
  const { schema, besides } = readableSchema(tool.inputSchema);
  const description = shortened(describe(tool));
  return {
    name,
    description: besides === undefined ? description : `${description}\n\n${besides}`.trim(),
    inputSchema: schema,
  };
}

function describe({ description, title, annotations }: JsonObject): string {
  const said = [description, title, isJsonObject(annotations) ? annotations.title : undefined];
  return said.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? '';
}

function shortened(text: string): string {
  return text.length <= LONGEST_DESCRIPTION ? text : `${text.slice(0, LONGEST_DESCRIPTION).trimEnd()} […]`;
}

/** What models refuse at the top of a schema, and with it every other tool of the request. */
const REFUSED_AT_THE_TOP = ['anyOf', 'oneOf', 'allOf', 'not', 'enum'];

/** The schema with a type, and what had to be taken out of it as a sentence. The server itself still checks all of it. */
function readableSchema(given: unknown): { schema: JsonObject; besides?: string } {
  if (!isJsonObject(given)) return { schema: NO_ARGUMENTS };
  if (given.type !== undefined && given.type !== 'object') return { schema: NO_ARGUMENTS };
  const refused = REFUSED_AT_THE_TOP.filter((key) => key in given);
  if (refused.length === 0) {
    return { schema: given.type === 'object' ? given : { type: 'object', ...given } };
  }
  const kept = Object.entries(given).filter(([key]) => !refused.includes(key));
  const taken = Object.fromEntries(refused.map((key) => [key, given[key]]));
  return {
    schema: { type: 'object', ...Object.fromEntries(kept) },
    besides: `Its arguments must also satisfy this JSON Schema: ${shortened(JSON.stringify(taken))}`,
  };
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };
