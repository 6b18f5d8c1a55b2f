/** Values for schemas: initial values, and the variant that a value belongs to. */
import { isSchema, resolveSchema, type JsonSchema } from './resolve.ts';
import { misfit, problemsOf } from './problems.ts';
import { shapeOf, type Variant } from './shape.ts';

const DEEPEST = 6;

/** The smallest value a form can start with: defaults and required members. */
export function initialValue(given: unknown, root: JsonSchema, depth = 0): unknown {
  const schema = resolveSchema(given, root);
  if ('default' in schema) return schema.default;
  const shape = shapeOf(schema, root);
  switch (shape.kind) {
    case 'enum':
      return shape.options[0]?.value;
    case 'set':
      return [];
    case 'string':
    case 'any':
      return '';
    case 'number':
    case 'integer':
      return typeof schema.minimum === 'number' ? schema.minimum : 0;
    case 'boolean':
      return false;
    case 'null':
      return null;
    case 'array':
      return depth > DEEPEST ? [] : shape.first.map((item) => initialValue(item, root, depth + 1));
    case 'union':
      return initialValue(shape.variants[0]?.schema, root, depth + 1);
    case 'object': {
      if (depth > DEEPEST) return {};
      const members = shape.properties.filter(
        ({ required, schema: property }) => required || 'default' in resolveSchema(property, root),
      );
      return Object.fromEntries(
        members.map(({ name, schema: property }) => [name, initialValue(property, root, depth + 1)]),
      );
    }
  }
}

/** The variant that a value matches best. */
export function variantOf(value: unknown, variants: readonly Variant[], root: JsonSchema): number {
  const misfits = variants.map(
    ({ schema }) => misfit(problemsOf(value, schema, root)) + (sameType(value, schema) ? 0 : 100),
  );
  return misfits.indexOf(Math.min(...misfits));
}

function sameType(value: unknown, schema: JsonSchema): boolean {
  const types = (Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[];
  if (types[0] === undefined) return true;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return types.includes(type) || (type === 'number' && types.includes('integer'));
}

export function withMember(value: unknown, name: string, member: unknown): Readonly<Record<string, unknown>> {
  return { ...(isSchema(value) ? value : {}), [name]: member };
}

export function withoutMember(value: unknown, name: string): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(isSchema(value) ? value : {}).filter(([key]) => key !== name));
}
