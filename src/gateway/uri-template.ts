/**
 * Reads a URI template (RFC 6570), to ask later whether a URI could have come from it. Undefined for one that cannot be
 * used: too long, too many expressions, braces that do not pair, an expression that names nothing.
 *
 * It decides which server a URI belongs to, not what the variables are, so where readings differ the wider one counts:
 * whatever the official SDK's matcher accepts is accepted here, and so is what the RFC would write. The server has the
 * last word. A variable takes whole stretches (`{id}` also takes `a?b`), and specific templates win by their
 * `literalLength`.
 *
 * Templates are a stranger's, so none becomes a regular expression. All positions in the URI that can be reached go
 * through the template together, part by part: the work is parts × length of the URI, whatever the template.
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

/** A template read once. */
export interface UriTemplate {
  /** Characters outside expressions: the more, the more specific. */
  readonly literalLength: number;
  /** How many parts it has: a match costs that many steps for each character at most. */
  readonly parts: number;
  matches(uri: string): boolean;
}

/** Steps the match before took, for the test that holds the bound. */
export function stepsTaken(): number {
  return steps;
}

const MAX_TEMPLATE_LENGTH = 2048;
const MAX_EXPRESSIONS = 64;
const MAX_URI_LENGTH = 8192;

type Part =
  | { readonly kind: 'literal'; readonly text: string; readonly fallbacks: Uint16Array }
  /** Any characters, but for `/` where it stays within a segment. */
  | { readonly kind: 'run'; readonly least: 0 | 1; readonly crossesSlash: boolean }
  /** Nothing, or the prefix and then a run within the segment; with `/`, up to `most` times. */
  | { readonly kind: 'prefixed'; readonly prefix: '/' | '.'; readonly most: number }
  /** Nothing, or pairs of these names with any values; undefined names: anything. */
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
      // The SDK's matcher asks for no `#` here, though its expansion writes one.
      return { kind: 'run', least: 0, crossesSlash: true };
    case ';':
      return { kind: 'run', least: 0, crossesSlash: false };
    default:
      return { kind: 'run', least: 1, crossesSlash: false };
  }
}

/** The keys a query may have. An exploded variable brings keys of its own, so then there is no telling. */
function keysOf(names: readonly string[]): ReadonlySet<string> | undefined {
  // A name with a separator in it is no name by the RFC, and no key that `valueStart` would find.
  if (names.some((name) => /[*=&?]/.test(name))) return undefined;
  // `{?id:3}` is the start of `id` by the RFC and a variable `id:3` for the SDK.
  return new Set(names.flatMap((name) => [name, name.replace(/:\d+$/, '')]));
}

let steps = 0;

/** `reached[i]` is 1 when the parts so far can end before character i of the URI. */
type Positions = Uint8Array;

function follow(parts: readonly Part[], uri: string): boolean {
  steps = 0;
  if (uri.length > MAX_URI_LENGTH) return false;
  // Most templates belong to other servers; their ends rule them out.
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
 * Finds all places of the literal in one pass (Knuth, Morris and Pratt): comparing it again at every reached position
 * would cost its length each time.
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
  // How many prefixes it took to get here, at least; 0 outside. The fewest is enough: it can do all that more can.
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
    // The SDK writes a second `{?…}` with `&`. Order and number of the pairs are free: clients write them as they like.
    if ((char === '&' && (starts || within)) || (char === '?' && opens === '?' && starts)) {
      valueAt = names === undefined ? at + 1 : valueStart(names, uri, at + 1);
    }
    if (char === '&' && names !== undefined) within = false;
  }
}

/** Where the value of the pair at `at` starts; −1 when its key is none of the names. */
function valueStart(names: ReadonlySet<string>, uri: string, at: number): number {
  // It ends at every separator, so no stretch of the URI is read from two of them.
  let end = at;
  while (end < uri.length && uri[end] !== '=' && uri[end] !== '&' && uri[end] !== '?') {
    steps++;
    end++;
  }
  return uri[end] === '=' && names.has(uri.slice(at, end)) ? end + 1 : -1;
}
