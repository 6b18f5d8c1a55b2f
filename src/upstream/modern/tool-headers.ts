import { isObject } from '../../shared/is-object.ts';
import type { JsonObject } from '../../protocol/index.ts';

/** A tool parameter that is also sent as a header: the header's name, and the parameter's path in the arguments. */
export interface ToolParamHeader {
  readonly header: string;
  readonly path: readonly string[];
}

/** Which parameters of a server's tools are also sent as headers. Kept across the runs of the server. */
export class ToolHeaders {
  readonly #byTool = new Map<string, readonly ToolParamHeader[]>();

  /** Records the headers that a tool declares. If the declaration is invalid, returns why the tool is unusable. */
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
  for (const { schema, path } of annotated(inputSchema, [])) {
    const declared = readHeader(schema, path);
    if (typeof declared === 'string') return declared;
    if (found.some((other) => other.header.toLowerCase() === declared.header.toLowerCase()))
      return `two parameters use the header ${declared.header.slice(0, 100)}`;
    found.push(declared);
  }
  return found;
}

const NONE: readonly ToolParamHeader[] = [];
const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRIMITIVE = new Set<unknown>(['string', 'integer', 'boolean']);
/** Keywords that contain schemas by name. */
const BY_NAME = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Keywords that contain data, not schemas. */
const DATA = new Set(['const', 'default', 'enum', 'examples', 'required']);

interface AnnotatedSchema {
  readonly schema: JsonObject;
  /** Undefined if it leads through anything but properties. */
  readonly path: readonly string[] | undefined;
}

/** The parts of a schema that name a header. */
function* annotated(node: unknown, path: readonly string[] | undefined): Generator<AnnotatedSchema> {
  if (Array.isArray(node)) for (const item of node) yield* annotated(item, undefined);
  if (!isObject(node)) return;
  if (node[KEY] !== undefined) yield { schema: node, path };
  for (const [key, inner] of Object.entries(node)) {
    if (key === KEY || DATA.has(key)) continue;
    if (!BY_NAME.has(key) || !isObject(inner)) yield* annotated(inner, undefined);
    else
      for (const [name, schema] of Object.entries(inner))
        yield* annotated(schema, key === 'properties' && path ? [...path, name] : undefined);
  }
}

/** Returns why the declaration is invalid, if it is. */
function readHeader(schema: JsonObject, path: readonly string[] | undefined): ToolParamHeader | string {
  const header = schema[KEY];
  if (typeof header !== 'string' || !TOKEN.test(header)) return `an ${KEY} is not a valid header name`;
  if (path === undefined || path.length === 0) return `an ${KEY} is not on a parameter`;
  const types: unknown[] = Array.isArray(schema.type) ? schema.type : [schema.type];
  const named = types.filter((type) => type !== 'null');
  if (named.length === 0 || !named.every((type) => PRIMITIVE.has(type)))
    return `the parameter for header ${header.slice(0, 100)} is not a string, integer or boolean`;
  return { header, path };
}
