import { isObject } from '../../shared/is-object.ts';
import { arrayLimits, numberLimits, range, stringLimits } from './limits.ts';
import { propertyKey, patternText, quotedText } from './spelling.ts';
import { ANY, atom, bracketed, intersection, MORE, NEVER, NULL, union, type Piece } from './type-text.ts';

/**
 * Describes what a model needs to know to call a tool, in one short line that reads like a TypeScript type:
 *
 *     {path:string, edits:{oldText:string, newText:string}[], dryRun?:boolean=false, limit?:integer(1..100)=10}
 *
 * | written                        | means                                                                     |
 * |--------------------------------|---------------------------------------------------------------------------|
 * | `a:T`, `a?:T`, `a?:T=1`        | required, optional, optional with a default                               |
 * | `"a"\|"b"`, `A\|B`, `A&B`, `!A` | one of these values; anyOf and oneOf; allOf; not                          |
 * | `T[]`, `[A, B, ...C[]]`        | array, tuple                                                              |
 * | `[k]:T`, `[/^x-/]:T`           | further properties: any name, names matching the pattern                  |
 * | `number(1..10)`, `(>0)`, `(%5)`| at least 1 and at most 10; more than 0; a multiple of 5                   |
 * | `string(1..80)`, `T[](..3)`    | length, number of items (of an object: number of properties)              |
 * | `string(uri)`, `string(/^a/)`  | format, pattern                                                           |
 * | `#Node{…}`, `#Node`            | a definition where it is written out, and where it is used again          |
 * | `any`, `never`                 | anything (also: a reference that points outside the schema); nothing      |
 * | `…`                            | omitted to save space; the full schema contains it                        |
 *
 * Titles, descriptions and examples are left out: the tool's summary says what it does, and `introspect` returns the
 * full schema.
 *
 * The schema is untrusted. It is only read: no reference is fetched, no pattern is compiled and nothing is validated
 * with it. Each definition is written out once, so that the signature is never larger than the schema.
 */
export function signature(inputSchema: unknown, maxChars = 600): string {
  // Reduce the detail until it fits: a caller needs a range less than a name.
  const seen: Seen = new Map();
  for (const detail of DETAILS) {
    const text = write(inputSchema, detail, maxChars, seen);
    if (text !== undefined) return text;
  }
  return namesOnly(inputSchema, maxChars, seen);
}

interface Detail {
  /** How many levels of the schema are written out. */
  readonly depth: number;
  /** How many values of an enumeration are shown. */
  readonly values: number;
  /** The longest such value, in characters. */
  readonly value: number;
  /** Whether ranges, formats and defaults are shown. */
  readonly limits: boolean;
}

const DETAILS: readonly Detail[] = [
  { depth: 16, values: Number.POSITIVE_INFINITY, value: 120, limits: true },
  { depth: 16, values: 16, value: 60, limits: false },
  { depth: 4, values: 6, value: 40, limits: false },
  { depth: 2, values: 3, value: 20, limits: false },
];

type Schema = Readonly<Record<string, unknown>>;

/**
 * The members of the objects read so far. Listing the keys of a huge object is expensive, and every attempt needs them.
 */
type Seen = Map<Schema, [string, unknown][]>;

interface Writing {
  readonly root: unknown;
  readonly detail: Detail;
  readonly seen: Seen;
  /** How much may still be written and visited; below zero, the attempt is abandoned. Limits time as well as length. */
  left: number;
  /** Definitions met so far, by reference. */
  readonly definitions: Map<string, Definition>;
}

interface Definition {
  readonly number: number;
  readonly name: string;
  /** Undefined while it is being written: encountering it then means that it contains itself. */
  piece: Piece | undefined;
  /** Whether it was used again by name, so that its first occurrence must show the name. */
  named: boolean;
}

/** The signature with this much detail; undefined if it is longer than `maxChars`. */
function write(schema: unknown, detail: Detail, maxChars: number, seen: Seen): string | undefined {
  const writing: Writing = { root: schema, detail, seen, left: maxChars * 4, definitions: new Map() };
  const { text } = isPlainObjectType(schema) ? atom('{}') : typeOf(schema, writing, 0);
  if (writing.left < 0) return undefined;
  const definitions = [...writing.definitions.values()];
  const finished = text.replace(/\0(\d+)([()])/g, (_, number: string, bracket: string) => {
    const definition = definitions[Number(number)];
    if (definition?.named !== true) return '';
    return `${bracket === '(' ? `#${definition.name}` : ''}${isBraced(definition.piece) ? '' : bracket}`;
  });
  return finished.length <= maxChars ? finished : undefined;
}

/** `{type:'object'}` as the whole input is the usual way to say "no arguments". */
function isPlainObjectType(schema: unknown): boolean {
  return (
    isObject(schema) &&
    schema['type'] === 'object' &&
    Object.keys(schema).every((word) => SAYS_NO_MORE.has(word))
  );
}

const SAYS_NO_MORE = new Set(['type', '$schema', '$id', 'title', 'description']);

/**
 * Whether a piece can follow its name without parentheses, as an object can; `#Node{a:string}[]` would mean something
 * else.
 */
function isBraced(piece: Piece | undefined): boolean {
  return piece?.binds === 'atom' && piece.text.startsWith('{') && piece.text.endsWith('}');
}

/** The last resort: as many property names as fit, required ones first. */
function namesOnly(schema: unknown, maxChars: number, seen: Seen): string {
  const { properties, required } = membersOf(isObject(schema) ? schema : {}, seen);
  const names = [...required, ...properties.map(([name]) => name).filter((name) => !required.has(name))];
  let text = '{';
  for (const [index, name] of names.entries()) {
    const more = index < names.length - 1;
    const next = `${index === 0 ? '' : ', '}${propertyKey(name, maxChars)}${required.has(name) ? '' : '?'}`;
    if (text.length + next.length + (more ? ', …}' : '}').length > maxChars) {
      return maxChars < '{…}'.length
        ? '…'.slice(0, Math.max(0, maxChars))
        : `${text}${index === 0 ? '' : ', '}…}`;
    }
    text += next;
  }
  return names.length === 0 ? '…'.slice(0, Math.max(0, maxChars)) : `${text}}`;
}

function typeOf(schema: unknown, writing: Writing, depth: number): Piece {
  writing.left -= 1;
  if (schema === false) return NEVER;
  if (!isObject(schema)) return ANY;
  if (depth >= writing.detail.depth || writing.left < 0) return MORE;

  const terms: Piece[] = [];
  const own = ownType(schema, writing, depth);
  if (typeof schema['$ref'] === 'string') terms.push(reference(schema['$ref'], writing, depth));
  for (const part of listOf(schema['allOf'])) {
    if (writing.left < 0) break;
    terms.push(typeOf(part, writing, depth + 1));
  }
  for (const keyword of ['anyOf', 'oneOf']) {
    const choices = listOf(schema[keyword]);
    if (choices.length > 0) terms.push(choice(choices, writing, depth));
  }
  // "string" adds nothing to the values or formats that a string may have.
  if (!BARE.has(own.text) || terms.every((term) => term.text === 'any')) terms.unshift(own);
  if ('not' in schema) terms.push(atom(`!${bracketed(typeOf(schema['not'], writing, depth + 1))}`));
  // Rules between properties cannot be expressed as a type, but the reader should know that they exist.
  if (RULES.some((keyword) => keyword in schema)) terms.push(MORE);

  const whole = intersection(terms);
  return schema['nullable'] === true ? union([whole, NULL]) : whole;
}

const BARE = new Set(['any', 'object', '{}', 'string', 'number', 'integer', 'boolean', 'any[]']);
const RULES = ['if', 'dependentRequired', 'dependentSchemas', 'dependencies', 'contains', 'unevaluatedItems'];

/** The type that a schema itself describes, without its references and combinations. */
function ownType(schema: Schema, writing: Writing, depth: number): Piece {
  if ('const' in schema) return atom(literal(schema['const'], writing));
  if (Array.isArray(schema['enum'])) return values(schema['enum'], writing);
  const named = schema['type'];
  const names =
    typeof named === 'string'
      ? [named]
      : [...new Set(listOf(named))].filter((name) => typeof name === 'string');
  if (names.length === 0) {
    const guess = Object.entries(TYPE_OF_KEYWORD).find(([keyword]) => keyword in schema)?.[1];
    if (guess === undefined) return ANY;
    names.push(guess);
  }
  return union(names.slice(0, 8).map((name) => oneType(name, schema, writing, depth)));
}

// Many schemas omit the type if a keyword implies it.
const TYPE_OF_KEYWORD: Readonly<Record<string, string>> = {
  properties: 'object',
  required: 'object',
  additionalProperties: 'object',
  patternProperties: 'object',
  items: 'array',
  prefixItems: 'array',
  minItems: 'array',
  pattern: 'string',
  format: 'string',
  minLength: 'string',
  maxLength: 'string',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};

function oneType(name: string, schema: Schema, writing: Writing, depth: number): Piece {
  switch (name) {
    case 'object':
      return limited(
        objectType(schema, writing, depth),
        [range(schema['minProperties'], schema['maxProperties'])],
        writing,
      );
    case 'array':
      return limited(arrayType(schema, writing, depth), arrayLimits(schema), writing);
    case 'string':
      return limited(atom('string'), stringLimits(schema), writing);
    case 'number':
    case 'integer':
      return limited(atom(name), numberLimits(schema), writing);
    case 'boolean':
      return atom('boolean');
    case 'null':
      return NULL;
    default:
      return ANY;
  }
}

function objectType(schema: Schema, writing: Writing, depth: number): Piece {
  const { properties, required } = membersOf(schema, writing.seen);
  const members: string[] = [];
  const add = (name: string, type: unknown, isRequired: boolean): void => {
    const member = `${propertyKey(name, writing.left)}${isRequired ? '' : '?'}:${typeOf(type, writing, depth + 1).text}`;
    members.push(member + (isRequired ? '' : defaultOf(type, writing)));
    writing.left -= name.length + 2;
  };
  for (const [name, type] of properties) {
    if (writing.left < 0) return MORE;
    add(name, type, required.has(name));
  }
  const known = new Set(properties.map(([name]) => name));
  for (const name of required) {
    if (writing.left < 0) return MORE;
    if (!known.has(name)) add(name, true, true);
  }
  for (const [pattern, type] of entriesOf(schema['patternProperties'], writing.seen)) {
    if (writing.left < 0) return MORE;
    members.push(`[${patternText(pattern)}]:${typeOf(type, writing, depth + 1).text}`);
  }
  const rest =
    schema['additionalProperties'] ?? (schema['unevaluatedProperties'] === true ? true : undefined);
  if (rest !== undefined && rest !== false && (rest !== true || members.length > 0)) {
    const names = typeOf(schema['propertyNames'] ?? true, writing, depth + 1).text;
    members.push(`[k${BARE.has(names) ? '' : `:${names}`}]:${typeOf(rest, writing, depth + 1).text}`);
  }
  if (members.length === 0) return atom(isObject(schema['properties']) || rest === false ? '{}' : 'object');
  return atom(`{${members.join(', ')}}`);
}

function arrayType(schema: Schema, writing: Writing, depth: number): Piece {
  // Before 2020-12, a tuple was a list in `items`, and its rest was in `additionalItems`.
  const old = Array.isArray(schema['items']);
  const tuple = listOf(old ? schema['items'] : schema['prefixItems']);
  const rest = old ? schema['additionalItems'] : schema['items'];
  if (tuple.length === 0) return atom(`${bracketed(typeOf(rest ?? true, writing, depth + 1))}[]`);
  const parts: string[] = [];
  for (const item of tuple) {
    if (writing.left < 0) return MORE;
    parts.push(typeOf(item, writing, depth + 1).text);
  }
  if (isObject(rest)) parts.push(`...${bracketed(typeOf(rest, writing, depth + 1))}[]`);
  return atom(`[${parts.join(', ')}]`);
}

function choice(choices: readonly unknown[], writing: Writing, depth: number): Piece {
  const pieces: Piece[] = [];
  for (const option of choices) {
    if (writing.left < 0) break;
    // With little room, a few shapes of a large union have to be enough.
    if (pieces.length >= writing.detail.values) {
      pieces.push(MORE);
      break;
    }
    pieces.push(typeOf(option, writing, depth + 1));
  }
  return union(pieces);
}

/** A reference inside the schema: written out the first time, by name after that. */
function reference(ref: string, writing: Writing, depth: number): Piece {
  const known = writing.definitions.get(ref);
  if (known !== undefined) {
    if (known.piece !== undefined && known.piece.text.length <= SHORTER_THAN_A_NAME) return known.piece;
    known.named = true;
    return atom(`#${known.name}`);
  }
  const target = resolve(ref, writing.root);
  if (target === undefined) return ANY;
  const definition: Definition = {
    number: writing.definitions.size,
    name: nameOf(ref),
    piece: undefined,
    named: false,
  };
  writing.definitions.set(ref, definition);
  const piece = typeOf(target, writing, depth + 1);
  definition.piece = piece;
  if (piece.text.length <= SHORTER_THAN_A_NAME && !definition.named) return piece;
  // Whether the name is needed here is known only at the end, so NUL marks the place. Written text never contains NUL.
  return { text: `\0${definition.number}(${piece.text}\0${definition.number})`, binds: piece.binds };
}

const SHORTER_THAN_A_NAME = 12;

/** What `#/a/b` refers to inside the schema; undefined for any other reference, because nothing outside is read. */
function resolve(ref: string, root: unknown): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/') || ref.length > 500) return undefined;
  let target: unknown = root;
  for (const raw of ref.slice(2).split('/')) {
    const step = unescapePointer(raw);
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, step)) return undefined;
    target = (target as Schema)[step];
  }
  return target;
}

function unescapePointer(step: string): string {
  let plain = step;
  try {
    plain = decodeURIComponent(step);
  } catch {
    // A stray % is kept unchanged.
  }
  return plain.replaceAll('~1', '/').replaceAll('~0', '~');
}

function nameOf(ref: string): string {
  const name = unescapePointer(ref.slice(ref.lastIndexOf('/') + 1)).replace(/[^\w.-]+/g, '_');
  return ref === '#' ? 'root' : name.slice(0, 40);
}

function limited(piece: Piece, limits: readonly string[], writing: Writing): Piece {
  const shown = writing.detail.limits ? limits.filter((limit) => limit !== '').join(',') : '';
  writing.left -= shown.length;
  return shown === '' ? piece : atom(`${bracketed(piece)}(${shown})`);
}

function defaultOf(schema: unknown, writing: Writing): string {
  if (!writing.detail.limits || !isObject(schema) || !('default' in schema)) return '';
  return `=${literal(schema['default'], writing, 40)}`;
}

function values(list: readonly unknown[], writing: Writing): Piece {
  const pieces: Piece[] = [];
  for (const value of list) {
    if (writing.left < 0) break;
    if (pieces.length >= writing.detail.values) {
      pieces.push(MORE);
      break;
    }
    pieces.push(atom(literal(value, writing)));
  }
  return union(pieces);
}

/** A JSON value as text, cut (outside its quotes) if it is long. */
function literal(value: unknown, writing: Writing, maxChars = writing.detail.value): string {
  let left = maxChars;
  const spell = (part: unknown): string => {
    writing.left -= 1;
    if (left <= 0 || writing.left < 0) return '…';
    if (typeof part === 'string') {
      const text = quotedText(part, left);
      left -= text.length;
      writing.left -= text.length;
      return text;
    }
    if (typeof part !== 'object' || part === null) {
      const text = String(part);
      left -= text.length;
      writing.left -= text.length;
      return text;
    }
    const isList = Array.isArray(part);
    // More members than characters cannot be shown; do not read a million entries for that.
    const members = Object.entries(isList ? part.slice(0, maxChars) : part);
    const spelled: string[] = [];
    for (const [name, member] of members) {
      if (left <= 0 || writing.left < 0) {
        spelled.push('…');
        break;
      }
      left -= isList ? 2 : name.length + 2;
      spelled.push(isList ? spell(member) : `${propertyKey(name, maxChars)}:${spell(member)}`);
    }
    return isList ? `[${spelled.join(',')}]` : `{${spelled.join(',')}}`;
  };
  return spell(value);
}

function membersOf(
  schema: Schema,
  seen: Seen,
): { properties: [string, unknown][]; required: ReadonlySet<string> } {
  const required = listOf(schema['required'])
    .slice(0, MOST_MEMBERS)
    .filter((name) => typeof name === 'string');
  return { properties: entriesOf(schema['properties'], seen), required: new Set(required) };
}

// More members than any signature has room for.
const MOST_MEMBERS = 2_000;

function entriesOf(value: unknown, seen: Seen): [string, unknown][] {
  if (!isObject(value)) return [];
  let entries = seen.get(value);
  if (entries === undefined) {
    entries = Object.keys(value)
      .slice(0, MOST_MEMBERS)
      .map((name) => [name, value[name]]);
    seen.set(value, entries);
  }
  return entries;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
