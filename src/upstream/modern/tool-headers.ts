import { isJsonObject } from '../../protocol/index.ts';

/** A tool parameter that is also sent as a header: the header's name, and the parameter's path in the arguments. */
export interface ToolParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

/** Which parameters of a server's tools are also sent as headers. Kept over all runs of the server. */
export class ToolHeaders {
  readonly #byTool = new Map<string, readonly ToolParamHeader[]>();

  /** Records the headers that a tool declares. Returns why the tool is unusable if its declaration is invalid. */
  learn(name: string, tool: string): string | undefined {
    const found = headersIn(tool);
    if (typeof found === 'string') return found;
    if (found.length > 0) this.#byTool.set(name, found);
    else this.#byTool.delete(name);
    return undefined;
  }

  of(name: string): readonly ToolParamHeader[] {
    return this.#byTool.get(name) ?? NONE;
  }
}

/** The headers that a tool declares, or why its declaration is invalid. */
export function headersIn(tool: string): readonly ToolParamHeader[] | string {
  if (!tool.includes(KEY) && !tool.includes('\\u')) return NONE;
  const { inputSchema } = JSON.parse(tool) as { inputSchema?: unknown };
  const found: ToolParamHeader[] = [];
  const problem = walk(inputSchema, [], found);
  return problem ?? found;
}

const NONE: readonly ToolParamHeader[] = [];
const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIMITIVE = new Set<unknown>(['string', 'integer', 'boolean']);
/** Keywords that contain schemas by name. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that contain data, not schemas. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'required']);

/** `path` is undefined if it leads through anything but properties. Returns the problem. */
function walk(
  node: unknown,
  path: readonly string[] | undefined,
  found: ToolParamHeader[],
): string | undefined {
  if (Array.isArray(node)) return firstProblem(node, (item) => walk(item, undefined, found));
  if (!isJsonObject(node)) return undefined;
  if (node[KEY] !== undefined) {
    const problem = annotation(node, path, found);
    if (problem !== undefined) return problem;
  }
  return firstProblem(Object.entries(node), ([key, inner]) => {
    if (key === KEY || DATA.has(key)) return undefined;
    if (!BY_NAME.has(key) || !isJsonObject(inner)) return walk(inner, undefined, found);
    return firstProblem(Object.entries(inner), ([name, schema]) =>
      walk(schema, key === 'properties' && path ? [...path, name] : undefined, found),
    );
  });
}

function annotation(
  node: Readonly<Record<string, unknown>>,
  path: readonly string[] | undefined,
  found: ToolParamHeader[],
): string | undefined {
  const header = node[KEY];
  if (typeof header !== 'string' || !TOKEN.test(header)) return `an ${KEY} is not a valid header name`;
  if (path === undefined || path.length === 0) return `an ${KEY} is not on a parameter`;
  const types: unknown[] = Array.isArray(node.type) ? node.type : [node.type];
  const named = types.filter((type) => type !== 'null');
  if (named.length === 0 || !named.every((type) => PRIMITIVE.has(type)))
    return `the parameter for header ${header.slice(0, 100)} is not a string, integer or boolean`;
  if (found.some((other) => other.header.toLowerCase() === header.toLowerCase()))
    return `two parameters use the header ${header.slice(0, 100)}`;
  found.push({ header, path });
  return undefined;
}

function firstProblem<T>(
  items: readonly T[],
  problemOf: (item: T) => string | undefined,
): string | undefined {
  for (const item of items) {
    const problem = problemOf(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
