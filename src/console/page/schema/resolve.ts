/** The part of JSON Schema 2020-12 that a form needs. Schemas come from servers, so nothing in them is executed. */

export type JsonSchema = Readonly<Record<string, unknown>>;

export const isSchema = (value: unknown): value is JsonSchema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const MOST_REFS = 32;

/** Resolves `$ref` and `allOf` at the top of a schema by merging in what they refer to. */
export function resolveSchema(schema: unknown, root: JsonSchema, depth = 0): JsonSchema {
  if (!isSchema(schema)) return schema === false ? { not: {} } : {};
  if (depth > MOST_REFS) return {};
  const { $ref, $dynamicRef, allOf, ...own } = schema;
  let merged: JsonSchema = own;
  const ref = typeof $ref === 'string' ? $ref : typeof $dynamicRef === 'string' ? $dynamicRef : undefined;
  if (ref !== undefined) merged = mergeSchemas(resolveSchema(lookUp(ref, root), root, depth + 1), merged);
  if (Array.isArray(allOf))
    for (const part of allOf) merged = mergeSchemas(merged, resolveSchema(part, root, depth + 1));
  return merged;
}

/** The target of a reference within the document; nothing is ever fetched. */
function lookUp(ref: string, root: JsonSchema): unknown {
  if (ref === '#' || ref === root.$id) return root;
  if (ref.startsWith('#/')) {
    let found: unknown = root;
    for (const part of ref.slice(2).split('/')) {
      const name = decode(part).replaceAll('~1', '/').replaceAll('~0', '~');
      if (Array.isArray(found)) found = found[Number(name)] as unknown;
      else if (isSchema(found) && Object.hasOwn(found, name)) found = found[name];
      else return undefined;
    }
    return found;
  }
  return findNamed(ref.replace(/^.*#/, ''), ref, root);
}

/** The schema with this anchor or id, in the definitions. */
function findNamed(anchor: string, id: string, root: JsonSchema): unknown {
  const definitions = [root.$defs, root.definitions].filter(isSchema).flatMap((all) => Object.values(all));
  return definitions
    .filter(isSchema)
    .find(
      ({ $anchor, $dynamicAnchor, $id }) => $anchor === anchor || $dynamicAnchor === anchor || $id === id,
    );
}

function mergeSchemas(first: JsonSchema, second: JsonSchema): JsonSchema {
  const merged: Record<string, unknown> = { ...first, ...second };
  if (isSchema(first.properties) && isSchema(second.properties))
    merged.properties = { ...first.properties, ...second.properties };
  if (Array.isArray(first.required) && Array.isArray(second.required))
    merged.required = [...new Set([...(first.required as unknown[]), ...(second.required as unknown[])])];
  return merged;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const schemaText = (value: unknown): string | null =>
  typeof value === 'string' && value.trim() !== '' ? value : null;
