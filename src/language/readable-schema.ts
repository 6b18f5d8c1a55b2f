import { isObject } from '../shared/is-object.ts';
import type { JsonObject } from '../protocol/index.ts';

/** An argument schema that every model accepts, and what had to be removed from it. */
export interface ReadableSchema {
  readonly schema: JsonObject;
  /** As a separate JSON Schema, which the arguments must also match. */
  readonly besides: JsonObject | undefined;
}

/**
 * A tool's argument schema in a form that models accept: if they reject one tool, they reject the whole request. The
 * server itself still validates everything.
 */
export function readableSchema(given: unknown): ReadableSchema {
  if (!isObject(given) || !mayBeObject(given.type)) return { schema: NO_ARGUMENTS, besides: undefined };
  const whole = modernised(inlined(given));
  const properties = Object.entries(isObject(whole.properties) ? whole.properties : {});
  const odd = properties.filter(([name]) => !PLAIN_NAME.test(name));
  const refused = Object.entries(whole).filter(([key]) => REFUSED_AT_THE_TOP.has(key));
  const kept = Object.entries(whole).filter(([key]) => !REFUSED_AT_THE_TOP.has(key));
  const schema = {
    ...Object.fromEntries(kept),
    type: 'object',
    properties: Object.fromEntries(properties.filter(([name]) => PLAIN_NAME.test(name))),
  };
  const besides = {
    ...Object.fromEntries(refused),
    ...(odd.length > 0 && { properties: Object.fromEntries(odd), ...requiredOf(whole, odd) }),
  };
  return {
    schema: odd.length === 0 ? schema : withoutNames(schema, odd),
    besides: Object.keys(besides).length === 0 ? undefined : besides,
  };
}

const NO_ARGUMENTS: JsonObject = { type: 'object', properties: {} };

const REFUSED_AT_THE_TOP = new Set(['anyOf', 'oneOf', 'allOf', 'not', 'enum', '$ref']);

/** Argument names that every model accepts. */
const PLAIN_NAME = /^[a-zA-Z0-9_.-]{1,64}$/;

function mayBeObject(type: unknown): boolean {
  return type === undefined || type === 'object' || (Array.isArray(type) && type.includes('object'));
}

type Named = readonly (readonly [string, unknown])[];

function requiredOf({ required }: JsonObject, odd: Named): { required?: unknown[] } {
  const names = Array.isArray(required) ? required.filter((name) => odd.some(([each]) => each === name)) : [];
  return names.length === 0 ? {} : { required: names };
}

/** Removes arguments from the schema. They remain allowed, although models only read about them in words. */
function withoutNames({ required, additionalProperties, ...rest }: JsonObject, odd: Named): JsonObject {
  const left = Array.isArray(required) ? required.filter((name) => !odd.some(([each]) => each === name)) : [];
  return {
    ...rest,
    ...(left.length > 0 && { required: left }),
    ...(isObject(additionalProperties) && { additionalProperties }),
  };
}

/** Some generators put the whole schema under a name and refer to it. */
function inlined(schema: JsonObject): JsonObject {
  const { $ref, ...rest } = schema;
  if (typeof $ref !== 'string') return schema;
  const path = /^#\/(.+)$/.exec($ref)?.[1]?.split('/');
  const found = path?.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), schema);
  return { ...(isObject(found) && found), ...rest };
}

/** Keywords whose value is a schema, a list of schemas, or schemas by name. Any other value may be data. */
const SCHEMAS = new Set(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains']);
const LISTS = new Set(['anyOf', 'oneOf', 'allOf', 'prefixItems']);
const MAPS = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** The schema in draft 2020-12, which some models validate; keywords of older drafts are translated. */
function modernised(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    if (key === 'items' && Array.isArray(value)) return [['prefixItems', value.map(part)]];
    if (SCHEMAS.has(key)) return [[key, part(value)]];
    if (LISTS.has(key) && Array.isArray(value)) return [[key, value.map(part)]];
    if (MAPS.has(key) && isObject(value)) {
      return [[key, Object.fromEntries(Object.entries(value).map(([name, each]) => [name, part(each)]))]];
    }
    if (key === 'required' && !Array.isArray(value)) return [];
    const bound = BOUNDS.find(({ exclusive, plain }) => exclusive === key || plain === key);
    return bound === undefined ? [[key, value]] : boundOf(key, schema, bound);
  });
  const result = Object.fromEntries(entries);
  const isList = schema.type === 'array' || (Array.isArray(schema.type) && schema.type.includes('array'));
  // A list of anything must say so.
  return isList && result.items === undefined ? { ...result, items: {} } : result;
}

/** Older drafts have a number and a flag for whether it is included; newer ones have two different keywords. */
const BOUNDS = [
  { exclusive: 'exclusiveMinimum', plain: 'minimum' },
  { exclusive: 'exclusiveMaximum', plain: 'maximum' },
];

function boundOf(
  key: string,
  schema: JsonObject,
  { exclusive, plain }: (typeof BOUNDS)[number],
): [string, unknown][] {
  if (typeof schema[exclusive] !== 'boolean') return [[key, schema[key]]];
  // The two become one, with one of the names.
  if (key === exclusive) return [];
  return [[schema[exclusive] ? exclusive : plain, schema[plain]]];
}

function part(value: unknown): unknown {
  return isObject(value) ? modernised(value) : value;
}
