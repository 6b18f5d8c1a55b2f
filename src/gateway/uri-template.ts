/**
 * Reads a URI template (RFC 6570), to check later whether a URI could have come from it. Returns undefined if it cannot
 * be used: it is too long, has too many expressions or unbalanced braces, or an expression names nothing.
 *
 * It decides which server a URI belongs to, not the values of the variables. Where interpretations differ, the more
 * permissive one counts: everything that the official SDK's matcher accepts is accepted, and so is what the RFC would
 * expand to. The server has the last word. A variable matches long stretches (`{id}` also matches `a?b`), and specific
 * templates win by their `literalLength`.
 *
 * Templates are untrusted, so none becomes a regular expression. All reachable positions in the URI advance through the
 * template together, part by part: the work is parts × length of the URI, whatever the template.
 */
export function readTemplate(text: string): UriTemplate | undefined {
  if (text.length > MAX_TEMPLATE_LENGTH) return undefined;
  const parts: Part[] = [];
  let literalLength = 0;
  let expressions = 0;
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('{', at);
    const literal = text.slice(at, open === -1 ? text.length : open);
    if (literal.includes('}')) return undefined;
    if (literal !== '') parts.push({ kind: 'literal', text: literal, fallbacks: fallbacksOf(literal) });
    literalLength += literal.length;
    if (open === -1) break;
    const close = text.indexOf('}', open);
    const part = close === -1 ? undefined : readExpression(text.slice(open + 1, close));
    if (part === undefined || ++expressions > MAX_EXPRESSIONS) return undefined;
    parts.push(part);
    at = close + 1;
  }
  return {
    literalLength,
    parts: parts.length,
    matches: expressions === 0 ? (uri) => uri === text : (uri) => follow(parts, uri),
  };
}

/** A parsed template. */
export interface UriTemplate {
  /** The number of characters outside expressions: the more, the more specific. */
  readonly literalLength: number;
  /** The number of parts: a match takes at most this many steps per character. */
  readonly parts: number;
  matches(uri: string): boolean;
}

/** The steps of the last match, for the test that checks the bound. */
export function stepsTaken(): number {
  return steps;
}

const MAX_TEMPLATE_LENGTH = 2048;
const MAX_EXPRESSIONS = 64;
const MAX_URI_LENGTH = 8192;

type Part =
  | { readonly kind: 'literal'; readonly text: string; readonly fallbacks: Uint16Array }
  /** Any characters, except `/` if it stays within a segment. */
  | { readonly kind: 'run'; readonly least: 0 | 1; readonly crossesSlash: boolean }
  /** Nothing, or the prefix followed by a run within the segment; with `/`, up to `most` times. */
  | { readonly kind: 'prefixed'; readonly prefix: '/' | '.'; readonly most: number }
  /** Nothing, or pairs with these names and any values; undefined names: any names. */
  | { readonly kind: 'query'; readonly opens: '?' | '&'; readonly names: ReadonlySet<string> | undefined };
type PartOf<Kind extends Part['kind']> = Extract<Part, { readonly kind: Kind }>;

/** Parses the text between two braces. */
function readExpression(expression: string): Part | undefined {
  if (expression.includes('{')) return undefined;
  const operator = /^[+#./?&;]/.exec(expression)?.[0] ?? '';
  const names = expression
    .slice(operator.length)
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && name !== '*');
  if (operator === '?' || operator === '&') return { kind: 'query', opens: operator, names: keysOf(names) };
  if (names.length === 0) return undefined;
  switch (operator) {
    case '/':
      return { kind: 'prefixed', prefix: '/', most: expression.includes('*') ? Infinity : names.length };
    case '.':
      return { kind: 'prefixed', prefix: '.', most: 1 };
    case '+':
    case '#':
      // The SDK's matcher requires no `#` here, though its expansion writes one.
      return { kind: 'run', least: 0, crossesSlash: true };
    case ';':
      return { kind: 'run', least: 0, crossesSlash: false };
    default:
      return { kind: 'run', least: 1, crossesSlash: false };
  }
}

/** The keys that a query may have. The keys of an exploded variable cannot be known. */
function keysOf(names: readonly string[]): ReadonlySet<string> | undefined {
  // The RFC allows no separator in a name, and `valueStart` would not find such a key.
  if (names.some((name) => /[*=&?]/.test(name))) return undefined;
  // `{?id:3}` is the start of `id` according to the RFC, and a variable `id:3` for the SDK.
  return new Set(names.flatMap((name) => [name, name.replace(/:\d+$/, '')]));
}

let steps = 0;

/** `reached[i]` is 1 if the parts so far can end before character i of the URI. */
type Positions = Uint8Array;

function follow(parts: readonly Part[], uri: string): boolean {
  steps = 0;
  if (uri.length > MAX_URI_LENGTH) return false;
  // Most templates belong to other servers; their first and last literals rule them out.
  const first = parts[0];
  const last = parts.at(-1);
  if (first?.kind === 'literal' && !uri.startsWith(first.text)) return false;
  if (last?.kind === 'literal' && !uri.endsWith(last.text)) return false;
  let reached: Positions = new Uint8Array(uri.length + 1);
  let next: Positions = new Uint8Array(uri.length + 1);
  reached[0] = 1;
  for (const part of parts) {
    next.fill(0);
    switch (part.kind) {
      case 'literal':
        followLiteral(part, uri, reached, next);
        break;
      case 'run':
        followRun(part, uri, reached, next);
        break;
      case 'prefixed':
        followPrefixed(part, uri, reached, next);
        break;
      case 'query':
        followQuery(part, uri, reached, next);
    }
    [reached, next] = [next, reached];
    if (!reached.includes(1)) return false;
  }
  return reached[uri.length] === 1;
}

/**
 * Finds all occurrences of the literal in one pass (Knuth, Morris and Pratt): comparing it again at every reached
 * position would cost its length each time.
 */
function followLiteral(
  { text, fallbacks }: PartOf<'literal'>,
  uri: string,
  reached: Positions,
  next: Positions,
): void {
  let matched = 0;
  for (let at = 0; at < uri.length; at++) {
    steps++;
    while (matched > 0 && text[matched] !== uri[at]) {
      steps++;
      matched = fallbacks[matched - 1] ?? 0;
    }
    if (text[matched] === uri[at]) matched++;
    if (matched === text.length) {
      if (reached[at + 1 - matched] === 1) next[at + 1] = 1;
      matched = fallbacks[matched - 1] ?? 0;
    }
  }
}

/** For each prefix of the text: the length of the longest shorter prefix that it ends with. */
function fallbacksOf(text: string): Uint16Array {
  const fallbacks = new Uint16Array(text.length);
  let matched = 0;
  for (let at = 1; at < text.length; at++) {
    while (matched > 0 && text[matched] !== text[at]) matched = fallbacks[matched - 1] ?? 0;
    if (text[matched] === text[at]) matched++;
    fallbacks[at] = matched;
  }
  return fallbacks;
}

function followRun(
  { least, crossesSlash }: PartOf<'run'>,
  uri: string,
  reached: Positions,
  next: Positions,
): void {
  let within = false;
  for (let at = 0; at <= uri.length; at++) {
    steps++;
    const starts = reached[at] === 1;
    if (within || (starts && least === 0)) next[at] = 1;
    within = (within || starts) && (crossesSlash || uri[at] !== '/');
  }
}

function followPrefixed(
  { prefix, most }: PartOf<'prefixed'>,
  uri: string,
  reached: Positions,
  next: Positions,
): void {
  // The fewest prefixes it took to get here; 0 outside. The minimum is enough: it can continue in every way that more
  // can.
  let taken = 0;
  for (let at = 0; at <= uri.length; at++) {
    steps++;
    if (taken > 0 || reached[at] === 1) next[at] = 1;
    if (uri[at] === prefix && reached[at] === 1) taken = 1;
    else if (uri[at] === '/') taken = prefix === '/' && taken > 0 && taken < most ? taken + 1 : 0;
  }
}

function followQuery(
  { opens, names }: PartOf<'query'>,
  uri: string,
  reached: Positions,
  next: Positions,
): void {
  let within = false;
  let valueAt = -1;
  for (let at = 0; at <= uri.length; at++) {
    steps++;
    if (at === valueAt) within = true;
    const starts = reached[at] === 1;
    if (within || starts) next[at] = 1;
    const char = uri[at];
    // The SDK writes `&` for a second `{?…}`. Clients write the pairs in any order and number.
    if ((char === '&' && (starts || within)) || (char === '?' && opens === '?' && starts)) {
      valueAt = names === undefined ? at + 1 : valueStart(names, uri, at + 1);
    }
    if (char === '&' && names !== undefined) within = false;
  }
}

/** The position of the value of the pair at `at`; −1 if its key is not among the names. */
function valueStart(names: ReadonlySet<string>, uri: string, at: number): number {
  // It ends at every separator, so no stretch of the URI is read twice.
  let end = at;
  while (end < uri.length && uri[end] !== '=' && uri[end] !== '&' && uri[end] !== '?') {
    steps++;
    end++;
  }
  return uri[end] === '=' && names.has(uri.slice(at, end)) ? end + 1 : -1;
}
