import { isObject } from '../../../../shared/is-object.ts';
import { didYouMean } from '../../../../shared/nearest.ts';
import { usage } from '../../../kit/arguments.ts';

type JsonObject = Record<string, unknown>;

/**
 * The arguments of a tool from `key=value` words. The tool's schema determines how a value is interpreted: as a number,
 * as true or false, as JSON for objects and lists, otherwise as text. `key:=json` is always JSON. A key that is given
 * several times is a list.
 */
export function readPairs(words: readonly string[], inputSchema: unknown): JsonObject {
  const schema = isObject(inputSchema) ? inputSchema : {};
  const given = new Map<string, Given[]>();
  for (const word of words) {
    const { key, ...value } = split(word);
    if (!mayHave(schema, key)) throw unknownKey(key, schema);
    given.set(key, [...(given.get(key) ?? []), value]);
  }
  // From entries, so that even "__proto__" is an ordinary key.
  return Object.fromEntries(
    [...given].map(([key, values]) => [key, valueOf(key, values, propertyOf(schema, key))]),
  );
}

/** The missing arguments that the tool's schema requires, each with its type if specified. */
export function missingArguments(args: JsonObject, inputSchema: unknown): readonly string[] {
  if (!isObject(inputSchema) || !Array.isArray(inputSchema.required)) return [];
  const required = inputSchema.required.filter((key): key is string => typeof key === 'string');
  return required
    .filter((key) => !Object.hasOwn(args, key))
    .map((key) => {
      const types = [...typesOf(propertyOf(inputSchema, key))];
      return types.length === 0 ? key : `${key} (${types.join(' or ')})`;
    });
}

/** The arguments of a tool as one JSON object. `source` names their source, for the error. */
export function readJsonArguments(text: string, source: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usage(
      `The arguments in ${source} are not valid JSON: ${error instanceof Error ? error.message : ''}`,
      EXAMPLE,
    );
  }
  if (!isObject(value)) throw usage(`The arguments in ${source} must be a JSON object.`, EXAMPLE);
  return value;
}

const EXAMPLE = `For example: --args '{"path":"/tmp"}'`;

interface Given {
  readonly text: string;
  readonly json: boolean;
}

function split(word: string): Given & { key: string } {
  const at = word.indexOf('=');
  const json = at > 0 && word[at - 1] === ':';
  const key = word.slice(0, json ? at - 1 : at);
  if (at === -1 || key === '') {
    throw usage(
      `${JSON.stringify(word)} is not an argument.`,
      'Use key=value, key:=json, or --args JSON for all of them.',
    );
  }
  return { key, text: word.slice(at + 1), json };
}

function propertiesOf(schema: JsonObject): JsonObject | undefined {
  return isObject(schema.properties) ? schema.properties : undefined;
}

function propertyOf(schema: JsonObject, key: string): unknown {
  const properties = propertiesOf(schema);
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key];
  return schema.additionalProperties;
}

/** A schema that lists its properties allows only these, unless it says that there are more. */
function mayHave(schema: JsonObject, key: string): boolean {
  const properties = propertiesOf(schema);
  if (properties === undefined || Object.hasOwn(properties, key)) return true;
  const more = schema.additionalProperties;
  if (more === true || isObject(more) || isObject(schema.patternProperties)) return true;
  return ['$ref', 'allOf', 'anyOf', 'oneOf'].some((word) => word in schema);
}

function unknownKey(key: string, schema: JsonObject): Error {
  const known = Object.keys(propertiesOf(schema) ?? {});
  const hint =
    known.length === 0
      ? 'It takes no arguments.'
      : (didYouMean(key, known) ?? `It takes ${known.join(', ')}. --args JSON passes anything.`);
  return usage(`The tool has no argument ${JSON.stringify(key)}.`, hint);
}

function valueOf(key: string, values: readonly Given[], schema: unknown): unknown {
  const [only, ...more] = values;
  if (only !== undefined && more.length === 0) return single(key, only, schema);
  const types = typesOf(schema);
  if (types.size > 0 && !types.has('array')) {
    throw usage(
      `The argument ${JSON.stringify(key)} is given ${values.length} times, but does not take an array.`,
    );
  }
  return values.map((value) => single(key, value, itemOf(schema)));
}

function single(key: string, { text, json }: Given, schema: unknown): unknown {
  if (json) return parse(key, text);
  const types = typesOf(schema);
  if (types.has('string') && enumHas(schema, text)) return text;
  if (types.has('boolean') && (text === 'true' || text === 'false')) return text === 'true';
  if (types.has('null') && text === 'null') return null;
  if ((types.has('number') || types.has('integer')) && isNumber(text)) return Number(text);
  if ((types.has('object') || types.size === 0) && text.startsWith('{')) return parseOr(key, text, types);
  if ((types.has('array') || types.size === 0) && text.startsWith('[')) return parseOr(key, text, types);
  if (types.has('string') || types.size === 0) return text;
  // A single value for a list is a list with that value.
  if (types.has('array')) return [single(key, { text, json }, itemOf(schema))];
  throw usage(
    `The argument ${JSON.stringify(key)} must be ${[...types].map(nameOf).join(' or ')}, not ${JSON.stringify(text)}.`,
    types.has('object') ? `For example: ${key}='{"a":1}'` : undefined,
  );
}

function parse(key: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usage(
      `The value of ${JSON.stringify(key)} is not valid JSON: ${error instanceof Error ? error.message : ''}`,
      `Put JSON strings in quotes: ${key}:='"text"'`,
    );
  }
}

/** If text is valid, too, a value that only resembles JSON is text. */
function parseOr(key: string, text: string, types: ReadonlySet<string>): unknown {
  if (types.size > 0 && !types.has('string')) return parse(key, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The JSON types that a schema allows, if it specifies them itself; otherwise empty. References are not followed. */
function typesOf(schema: unknown, depth = 0): ReadonlySet<string> {
  const types = new Set<string>();
  if (!isObject(schema) || depth > 4) return types;
  for (const type of Array.isArray(schema.type) ? schema.type : [schema.type]) {
    if (typeof type === 'string') types.add(type);
  }
  if (types.size > 0) return types;
  const values: unknown[] = Array.isArray(schema.enum)
    ? schema.enum
    : 'const' in schema
      ? [schema.const]
      : [];
  for (const value of values)
    types.add(value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value);
  for (const word of ['anyOf', 'oneOf', 'allOf']) {
    const members: unknown = schema[word];
    if (!Array.isArray(members)) continue;
    for (const member of members) for (const type of typesOf(member, depth + 1)) types.add(type);
  }
  return types;
}

function itemOf(schema: unknown): unknown {
  if (!isObject(schema)) return undefined;
  if (schema.items !== undefined) return schema.items;
  const members = [schema.anyOf, schema.oneOf].flatMap((list) =>
    Array.isArray(list) ? (list as unknown[]) : [],
  );
  return members.map(itemOf).find((item) => item !== undefined);
}

/** Whether the text itself is one of the values: "1" is text if the schema lists "1". */
function enumHas(schema: unknown, text: string): boolean {
  return isObject(schema) && Array.isArray(schema.enum) && schema.enum.includes(text);
}

function isNumber(text: string): boolean {
  return /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?$/i.test(text) && Number.isFinite(Number(text));
}

function nameOf(type: string): string {
  return (
    { integer: 'a whole number', number: 'a number', boolean: 'true or false', object: 'a JSON object' }[
      type
    ] ?? type
  );
}
