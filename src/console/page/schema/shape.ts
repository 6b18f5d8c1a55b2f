/** Decides which control a schema needs. */
import { isSchema, resolveSchema, schemaText, type JsonSchema } from './resolve.ts';

export type SchemaShape =
  | { readonly kind: 'enum'; readonly options: readonly EnumOption[] }
  /** Any of a few values, each at most once. */
  | { readonly kind: 'set'; readonly options: readonly EnumOption[] }
  | { readonly kind: 'string' | 'number' | 'integer' | 'boolean' | 'null' | 'any' }
  | { readonly kind: 'array'; readonly first: readonly unknown[]; readonly rest: unknown }
  | { readonly kind: 'object'; readonly properties: readonly Property[]; readonly extra: unknown }
  | { readonly kind: 'union'; readonly variants: readonly Variant[] };

export interface EnumOption {
  readonly value: unknown;
  readonly title: string;
}

interface Property {
  readonly name: string;
  readonly schema: unknown;
  readonly required: boolean;
}

export interface Variant {
  readonly title: string;
  readonly schema: JsonSchema;
}

const TYPES = ['string', 'number', 'integer', 'boolean', 'null', 'array', 'object'] as const;
type TypeName = (typeof TYPES)[number];

/** `schema` is resolved already. */
export function shapeOf(schema: JsonSchema, root: JsonSchema): SchemaShape {
  if ('const' in schema) return { kind: 'enum', options: [optionOf(schema.const)] };
  if (Array.isArray(schema.enum)) return { kind: 'enum', options: enumOptions(schema) };
  const alternatives = [schema.oneOf, schema.anyOf].find((each) => Array.isArray(each)) as
    unknown[] | undefined;
  if (alternatives !== undefined && alternatives.length > 0) return unionShape(schema, alternatives, root);
  const types = typesOf(schema);
  if (types.length > 1)
    return { kind: 'union', variants: types.map((type) => ({ title: type, schema: { ...schema, type } })) };
  const [type] = types;
  if (type === 'array') return arrayShape(schema, root);
  if (type === 'object') return objectShape(schema);
  return { kind: type ?? 'any' };
}

function typesOf(schema: JsonSchema): readonly TypeName[] {
  const given = (Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[];
  const types = TYPES.filter((type) => given.includes(type));
  if (types.length > 0) return types;
  if (isSchema(schema.properties)) return ['object'];
  if ('items' in schema || 'prefixItems' in schema) return ['array'];
  return [];
}

/** Alternatives with one value each are an enumeration with titles. */
function unionShape(schema: JsonSchema, alternatives: readonly unknown[], root: JsonSchema): SchemaShape {
  const common = Object.fromEntries(
    Object.entries(schema).filter(([key]) => !['oneOf', 'anyOf', 'title', 'description'].includes(key)),
  );
  const resolved = alternatives.map((each) => resolveSchema(each, root));
  if (resolved.every((each) => 'const' in each))
    return {
      kind: 'enum',
      options: resolved.map((each) => ({ ...optionOf(each.const), ...titleOf(each) })),
    };
  const variants = resolved.map((each, index) => ({
    title: variantTitle(each, root) ?? `Variant ${index + 1}`,
    schema: withCommon(common, each),
  }));
  return variants.length === 1 && variants[0] !== undefined
    ? shapeOf(variants[0].schema, root)
    : { kind: 'union', variants };
}

/** Keywords next to the alternatives apply to each of them. */
function withCommon(common: JsonSchema, variant: JsonSchema): JsonSchema {
  return resolveSchema({ allOf: [common, variant] }, {});
}

function variantTitle(schema: JsonSchema, root: JsonSchema): string | null {
  const title = schemaText(schema.title);
  if (title !== null) return title;
  if (isSchema(schema.properties)) {
    // A member with a constant value identifies the variant.
    for (const [name, property] of Object.entries(schema.properties)) {
      const resolved = resolveSchema(property, root);
      if ('const' in resolved) return `${name}: ${String(resolved.const)}`;
    }
    const required = Array.isArray(schema.required) ? schema.required.filter((name) => schemaText(name)) : [];
    if (required.length > 0) return `object with ${required.slice(0, 3).join(', ')}`;
  }
  const types = typesOf(schema);
  if (types.length === 1 && types[0] === 'array')
    return `list of ${variantTitle(resolveSchema(schema.items, root), root) ?? 'items'}`;
  if (types.length > 0) return types.join(' or ');
  return Array.isArray(schema.enum) ? 'one of a list' : null;
}

const titleOf = (schema: JsonSchema): { title?: string } => {
  const title = schemaText(schema.title);
  return title === null ? {} : { title };
};

export const optionOf = (value: unknown): EnumOption => ({
  value,
  title: typeof value === 'string' ? value : JSON.stringify(value),
});

function enumOptions(schema: JsonSchema): readonly EnumOption[] {
  // The extension for titles that elicitation used before it had alternatives.
  const names = Array.isArray(schema.enumNames) ? (schema.enumNames as unknown[]) : [];
  return (schema.enum as unknown[]).map((value, index) => ({
    value,
    title: schemaText(names[index]) ?? optionOf(value).title,
  }));
}

function arrayShape(schema: JsonSchema, root: JsonSchema): SchemaShape {
  const first = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
  const rest = 'items' in schema ? schema.items : {};
  if (first.length === 0 && isSchema(rest)) {
    const item = shapeOf(resolveSchema(rest, root), root);
    if (item.kind === 'enum' && (schema.uniqueItems === true || item.options.length <= 12))
      return { kind: 'set', options: item.options };
  }
  return { kind: 'array', first, rest };
}

function objectShape(schema: JsonSchema): SchemaShape {
  const required = Array.isArray(schema.required) ? (schema.required as unknown[]) : [];
  const properties = Object.entries(isSchema(schema.properties) ? schema.properties : {}).map(
    ([name, property]) => ({ name, schema: property, required: required.includes(name) }),
  );
  // Required members come first, because people have to fill them in.
  properties.sort((a, b) => Number(b.required) - Number(a.required));
  const extra = schema.additionalProperties;
  return { kind: 'object', properties, extra: extra === undefined ? true : extra };
}
