import { isObject } from '../../shared/is-object.ts';
import { nearest } from '../../shared/nearest.ts';
import { printableLine } from '../../shared/printable.ts';

/** Why arguments are invalid, with the part of the schema that says so. */
export interface ArgumentProblem {
  readonly message: string;
  readonly schema: unknown;
}

/**
 * The problems in the arguments of a tool; empty if its server may accept them. Servers accept more than their schemas
 * say: "5" for a number, JSON in a string, null for a missing value, or no value if there is a default. A part of a
 * schema with anything beyond the simple keywords is not checked.
 */
export function argumentProblems(schema: unknown, args: unknown): ArgumentProblem[] {
  const problems: ArgumentProblem[] = [];
  check(args, schema, { path: '', depth: 0, problems });
  return problems.slice(0, MOST_PROBLEMS);
}

const MOST_PROBLEMS = 3;
const MOST_DEPTH = 8;
const MOST_ITEMS = 100;

/** Keywords that are checked, can only exclude more values, or say nothing about values. */
const UNDERSTOOD: ReadonlySet<string> = new Set(
  (
    'type properties required items enum const additionalProperties title description default examples example $schema $id ' +
    '$comment $defs definitions deprecated readOnly writeOnly format pattern minLength maxLength minimum maximum ' +
    'exclusiveMinimum exclusiveMaximum multipleOf minItems maxItems uniqueItems minProperties maxProperties'
  ).split(' '),
);

/** The location of a value in the arguments. */
interface Place {
  readonly path: string;
  readonly depth: number;
  /** All problems found so far, everywhere in the arguments. */
  readonly problems: ArgumentProblem[];
}

function check(value: unknown, schema: unknown, place: Place): void {
  const { path, depth, problems } = place;
  if (!isObject(schema) || value === null || value === undefined || depth > MOST_DEPTH) return;
  if (problems.length >= MOST_PROBLEMS || !Object.keys(schema).every((key) => UNDERSTOOD.has(key))) return;
  const report = (message: string): void => {
    problems.push({ message: `${shown(path)} ${message}`, schema });
  };
  const types = typesOf(schema);
  if (types.length > 0 && !types.some((type) => mayBe(value, type))) {
    report(`must be ${types.join(' or ')}, not ${nameOfType(value)}`);
    return;
  }
  if (isForbidden(value, schema)) report('has a value that is not allowed');
  if (Array.isArray(value)) {
    for (const [at, item] of value.slice(0, MOST_ITEMS).entries())
      check(item, schema.items, { problems, path: `${path}[${at}]`, depth: depth + 1 });
  } else if (isObject(value)) checkMembers(value, schema, place);
}

function checkMembers(
  value: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>>,
  { path, depth, problems }: Place,
): void {
  const properties = isObject(schema.properties) ? schema.properties : {};
  const memberPath = (name: string): string => (path === '' ? name : `${path}.${name}`);
  const own = (name: string): unknown => (Object.hasOwn(properties, name) ? properties[name] : undefined);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  for (const name of Array.isArray(schema.required) ? schema.required.slice(0, MOST_ITEMS) : []) {
    if (typeof name !== 'string' || Object.hasOwn(value, name)) continue;
    const property = own(name);
    if (isObject(property) && 'default' in property) continue;
    const [near] = nearest(name, unknown, 1);
    const instead = near === undefined ? '' : ` (there is ${shown(memberPath(near))})`;
    problems.push({ message: `${shown(memberPath(name))} is missing${instead}`, schema: property ?? {} });
  }
  for (const [name, member] of Object.entries(value).slice(0, MOST_ITEMS)) {
    if (Object.hasOwn(properties, name))
      check(member, own(name), { problems, path: memberPath(name), depth: depth + 1 });
    else if (schema.additionalProperties === false) {
      const names = Object.keys(properties);
      problems.push({
        message: `${shown(memberPath(name))} is unknown`,
        schema: {
          properties: nearest(name, names, 3).length > 0 ? nearest(name, names, 3) : names.slice(0, 20),
        },
      });
    }
  }
}

function typesOf({ type }: Readonly<Record<string, unknown>>): string[] {
  const types = Array.isArray(type) ? type : [type];
  const known = types.filter((each) => typeof each === 'string' && KNOWN_TYPES.has(each)) as string[];
  // An unknown type may allow any value.
  return known.length === types.length ? known : [];
}

const KNOWN_TYPES: ReadonlySet<string> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'null',
  'array',
  'object',
]);

/** Whether a server may accept a value for a type: many servers convert what they get. */
function mayBe(value: unknown, type: string): boolean {
  if (typeof value === 'string') return mayBeText(value.trim(), type);
  switch (type) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'null':
      return false;
    default:
      return typeof value !== 'object';
  }
}

function mayBeText(text: string, type: string): boolean {
  switch (type) {
    case 'number':
    case 'integer':
      return text === '' || !Number.isNaN(Number(text));
    case 'boolean':
      return /^(?:true|false|yes|no|on|off|0|1|)$/i.test(text);
    case 'object':
      return text === '' || text.startsWith('{');
    default:
      return true;
  }
}

/** Whether the schema allows only certain plain values, and the value is none of them. */
function isForbidden(value: unknown, schema: Readonly<Record<string, unknown>>): boolean {
  const allowed = 'const' in schema ? [schema.const] : schema.enum;
  if (!Array.isArray(allowed) || allowed.length === 0 || typeof value === 'object') return false;
  const plain = (each: unknown): string => String(each).trim().toLowerCase();
  return (
    allowed.every((each) => typeof each !== 'object' || each === null) &&
    !allowed.some((each) => plain(each) === plain(value))
  );
}

function nameOfType(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function shown(path: string): string {
  return path === '' ? 'args' : `"${printableLine(path).slice(0, 100)}"`;
}
