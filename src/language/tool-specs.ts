import { isObject } from '../shared/is-object.ts';
import { nearest } from '../shared/nearest.ts';
import { estimateTokens } from '../shared/tokens.ts';
import { Turns } from '../shared/turns.ts';
import type { OfferedTool } from '../gateway/index.ts';
import type { JsonObject } from '../protocol/index.ts';
import type { ToolSpec } from './model.ts';
import { readableSchema } from './readable-schema.ts';

/** The tools of a server in the form that models accept, and how to find a tool by the model's name for it. */
export interface ToolSpecs {
  /** All tools, in the server's order. */
  readonly specs: readonly ToolSpec[];
  /** About how many tokens they cost a model. */
  readonly tokens: number;
  /** The tool that a model means, by the name the model was given or by the server's own. */
  find(name: string): OfferedTool | undefined;
  /** Names that a model may have meant, as it was given them. */
  near(name: string): readonly string[];
}

/** Long lists are read in several turns of the event loop, so that other work is not blocked. */
export async function toolSpecs(tools: readonly OfferedTool[]): Promise<ToolSpecs> {
  const byName = new Map<string, OfferedTool>();
  const specs: ToolSpec[] = [];
  // Instructions contain the server's own tool names: a name that models accept stays with its tool, whatever the
  // order.
  const own = new Set(tools.map(({ name }) => name).filter((name) => safeName(name) === name));
  const counts = new Map<string, number>();
  const turns = new Turns();
  let tokens = 0;
  for (const tool of tools) {
    const name = own.has(tool.name)
      ? tool.name
      : freeName(safeName(tool.name), (taken) => own.has(taken) || byName.has(taken), counts);
    byName.set(name, tool);
    const spec = specFor(name, tool.component.value);
    specs.push(spec);
    tokens += estimateTokens(JSON.stringify(spec));
    const turn = turns.next();
    if (turn !== undefined) await turn;
  }
  return {
    specs,
    tokens,
    find: (name) => byName.get(name) ?? tools.find((tool) => tool.name === name),
    near: (name) => nearest(name, byName.keys()),
  };
}

/** The longest name that every model accepts. */
const LONGEST_NAME = 64;

/** The longest description, in characters. A longer one would fill the model's context with a single tool. */
const LONGEST_DESCRIPTION = 4000;

function safeName(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, LONGEST_NAME) || 'tool';
}

/** `counts`: the next number for each name. */
function freeName(wanted: string, isTaken: (name: string) => boolean, counts: Map<string, number>): string {
  let name = wanted;
  let count = counts.get(wanted) ?? 2;
  for (; isTaken(name); count++) {
    const ending = `_${count}`;
    name = wanted.slice(0, LONGEST_NAME - ending.length) + ending;
  }
  counts.set(wanted, count);
  return name;
}

function specFor(name: string, tool: JsonObject): ToolSpec {
  const { schema, besides } = readableSchema(tool.inputSchema);
  const parts = [shortened(describe(tool))];
  if (besides !== undefined) {
    parts.push(`Its arguments must also satisfy this JSON Schema: ${shortened(JSON.stringify(besides))}`);
  }
  return { name, description: parts.join('\n\n').trim(), inputSchema: schema };
}

function describe({ description, title, annotations }: JsonObject): string {
  const said = [description, title, isObject(annotations) ? annotations.title : undefined];
  return said.find((text): text is string => typeof text === 'string' && text.trim() !== '') ?? '';
}

function shortened(text: string): string {
  return text.length <= LONGEST_DESCRIPTION ? text : `${text.slice(0, LONGEST_DESCRIPTION).trimEnd()} […]`;
}
