/**
 * Finds where a value does not match its schema, to help the person who fills in a form. The server still validates the
 * value itself.
 */
import { isSchema, resolveSchema, type JsonSchema } from './resolve.ts';

export interface ValueProblem {
  /** Such as `a.b[2]`; empty for the whole value. */
  readonly path: string;
  readonly message: string;
}

const DEEPEST = 24;
/** Patterns come from servers, and matching a long text could take forever. */
const LONGEST_MATCHED = 1_000;

export function problemsOf(
  value: unknown,
  given: unknown,
  root: JsonSchema,
  { path, depth } = { path: '', depth: 0 },
): readonly ValueProblem[] {
  if (depth > DEEPEST) return [];
  const schema = resolveSchema(given, root);
  const problem = (message: string): readonly ValueProblem[] => [{ path, message }];
  if ('const' in schema && !same(schema.const, value))
    return problem(`must be ${JSON.stringify(schema.const)}`);
  if (Array.isArray(schema.enum) && !schema.enum.some((each) => same(each, value)))
    return problem('must be one of the listed values');
  for (const key of ['oneOf', 'anyOf'] as const) {
    const variants = schema[key];
    if (!Array.isArray(variants) || variants.length === 0) continue;
    const each = variants.map((variant) => problemsOf(value, variant, root, { path, depth: depth + 1 }));
    const [best] = [...each].sort((a, b) => misfit(a) - misfit(b));
    if (best !== undefined && best.length > 0) return best;
  }
  const wrongType = typeProblem(value, schema);
  if (wrongType !== null) return problem(wrongType);
  const inside = (member: unknown, memberSchema: unknown, memberPath: string): readonly ValueProblem[] =>
    problemsOf(member, memberSchema, root, { path: memberPath, depth: depth + 1 });
  if (typeof value === 'string') return stringProblems(value, schema).flatMap(problem);
  if (typeof value === 'number') return numberProblems(value, schema).flatMap(problem);
  if (Array.isArray(value)) {
    const first = Array.isArray(schema.prefixItems) ? (schema.prefixItems as unknown[]) : [];
    return [
      ...arrayProblems(value, schema).flatMap(problem),
      ...value.flatMap((item: unknown, index) =>
        inside(item, index < first.length ? first[index] : (schema.items ?? {}), `${path}[${index}]`),
      ),
    ];
  }
  return isSchema(value) ? objectProblems(value, schema, path, inside) : [];
}

/** How badly a value matches: missing members count more than wrong ones. */
export const misfit = (problems: readonly ValueProblem[]): number =>
  problems.reduce((sum, { message }) => sum + (message === 'is required' ? 2 : 1), 0);

function typeProblem(value: unknown, schema: JsonSchema): string | null {
  const types = ((Array.isArray(schema.type) ? schema.type : [schema.type]) as unknown[]).filter(
    (type) => typeof type === 'string',
  );
  if (types.length === 0) return null;
  const type = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const fits = types.some(
    (wanted) => wanted === type || (wanted === 'integer' && type === 'number' && Number.isInteger(value)),
  );
  return fits
    ? null
    : `must be ${types.map((name) => `${/^[aio]/.test(name) ? 'an' : 'a'} ${name}`).join(' or ')}`;
}

const limit = (schema: JsonSchema, key: string): number | null => {
  const value = schema[key];
  return typeof value === 'number' ? value : null;
};

/** In characters, as JSON Schema counts them. */
const lengthOf = (value: string): number => Array.from(value).length;

function stringProblems(value: string, schema: JsonSchema): readonly string[] {
  const [least, most] = [limit(schema, 'minLength'), limit(schema, 'maxLength')];
  if (least !== null && lengthOf(value) < least)
    return [least === 1 ? 'must not be empty' : `must have at least ${least} characters`];
  if (most !== null && lengthOf(value) > most) return [`must have at most ${most} characters`];
  if (
    typeof schema.pattern === 'string' &&
    value.length <= LONGEST_MATCHED &&
    !matches(value, schema.pattern)
  )
    return [`must match ${schema.pattern}`];
  return [];
}

function matches(value: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u').test(value);
  } catch {
    return true;
  }
}

function numberProblems(value: number, schema: JsonSchema): readonly string[] {
  const checks = [
    ['minimum', 'at least', (bound: number) => value >= bound],
    ['maximum', 'at most', (bound: number) => value <= bound],
    ['exclusiveMinimum', 'more than', (bound: number) => value > bound],
    ['exclusiveMaximum', 'less than', (bound: number) => value < bound],
    [
      'multipleOf',
      'a multiple of',
      (bound: number) => Math.abs(value / bound - Math.round(value / bound)) < 1e-9,
    ],
  ] as const;
  return checks.flatMap(([key, words, holds]) => {
    const bound = limit(schema, key);
    return bound === null || holds(bound) ? [] : [`must be ${words} ${bound}`];
  });
}

function arrayProblems(value: readonly unknown[], schema: JsonSchema): readonly string[] {
  const [least, most] = [limit(schema, 'minItems'), limit(schema, 'maxItems')];
  if (least !== null && value.length < least) return [`must have at least ${least} items`];
  if (most !== null && value.length > most) return [`must have at most ${most} items`];
  const repeated =
    schema.uniqueItems === true && new Set(value.map((each) => JSON.stringify(each))).size < value.length;
  return repeated ? ['must not contain the same item twice'] : [];
}

function objectProblems(
  value: JsonSchema,
  schema: JsonSchema,
  path: string,
  inside: (member: unknown, schema: unknown, path: string) => readonly ValueProblem[],
): readonly ValueProblem[] {
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const known = isSchema(schema.properties) ? schema.properties : {};
  const required = (Array.isArray(schema.required) ? schema.required : []) as string[];
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ path: at(name), message: 'is required' })),
    ...Object.entries(value).flatMap(([name, member]) => {
      if (Object.hasOwn(known, name)) return inside(member, known[name], at(name));
      if (schema.additionalProperties === false) return [{ path: at(name), message: 'is not known' }];
      return isSchema(schema.additionalProperties)
        ? inside(member, schema.additionalProperties, at(name))
        : [];
    }),
  ];
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
