/**
 * True when the whole text matches the pattern: `*` any run of characters, `?` one character, `[a-z]` and
 * `[!a-z]` one of a set, `{a,b}` one of several patterns, `\` takes the next character literally.
 *
 * All possible positions in the pattern advance together, one text character at a time, so the worst case is
 * pattern length × text length. (A regular expression made from the pattern could take exponentially long.)
 */
export function matchGlob(pattern: string, text: string): boolean {
  const tokens = parse(pattern);
  // A star at the very end matches the whole rest.
  const lastStar = tokens.at(-1)?.kind === 'star' ? tokens.length - 1 : -1;
  let current = reachable(tokens, [0]);
  for (const char of text) {
    if (current.has(lastStar)) return true;
    const next: number[] = [];
    for (const at of current) {
      const token = tokens[at];
      if (token?.kind === 'star') next.push(at);
      else if (token !== undefined && takes(token, char)) next.push(at + 1);
    }
    if (next.length === 0) return false;
    current = reachable(tokens, next);
  }
  return current.has(tokens.length);
}

/** Whether the segments of a path match those of a pattern, where `**` matches any number of segments. */
export function matchPath(pattern: readonly string[], path: readonly string[]): boolean {
  // How many leading segments of the path the pattern so far can match.
  let lengths = [0];
  for (const segment of pattern) {
    if (segment === '**') {
      const from = lengths[0] ?? Infinity;
      lengths = [...path, ''].flatMap((_, length) => (length >= from ? [length] : []));
    } else {
      lengths = lengths.flatMap((length) => {
        const name = path[length];
        return name !== undefined && matchGlob(segment, name) ? [length + 1] : [];
      });
    }
  }
  return lengths.at(-1) === path.length;
}

/** Whether the pattern contains anything but literal characters. */
export function isGlob(pattern: string): boolean {
  return /[*?[{]/.test(pattern) && parse(pattern).some(({ kind }) => kind !== 'char');
}

/** The text that a pattern without wildcards matches: escapes are resolved. */
export function literalOf(pattern: string): string {
  return parse(pattern)
    .map(({ raw }) => raw.replace(/^\\(.)$/su, '$1'))
    .join('');
}

/**
 * The patterns that `{a,b}` groups expand to, in the order written: `x{1,2}` → `x1`, `x2`. Undefined if there are more
 * than `limit` (groups multiply, so a short pattern can expand to millions).
 */
export function expandBraces(pattern: string, limit = 1000): string[] | undefined {
  const expanded: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const choices = choicesIn(next);
    if (choices === undefined) expanded.push(next);
    else waiting.push(...choices.reverse());
    if (expanded.length + waiting.length > limit) return undefined;
  }
  return expanded;
}

/** The patterns that result from each choice of the first group; undefined if there is no group. */
function choicesIn(pattern: string): string[] | undefined {
  if (!pattern.includes('{')) return undefined;
  const tokens = parse(pattern);
  const open = tokens.findIndex(({ kind }) => kind === 'open');
  const starts = tokens[open]?.to;
  if (starts === undefined) return undefined;
  // The comma before the last choice links to the end of the group.
  const after = tokens[(starts.at(-1) ?? 0) - 1]?.to?.[0] ?? tokens.length;
  const text = (from: number, to: number): string =>
    tokens
      .slice(from, to)
      .map(({ raw }) => raw)
      .join('');
  return starts.map(
    (start, choice) =>
      text(0, open) + text(start, (starts[choice + 1] ?? after) - 1) + text(after, tokens.length),
  );
}

interface Token {
  readonly kind: 'char' | 'any' | 'star' | 'set' | 'open' | 'comma' | 'close';
  /** As written. */
  readonly raw: string;
  /** For a set of characters. */
  readonly set?: CharacterSet;
  /** The positions where a match may continue without consuming a character. */
  readonly to?: readonly number[];
}

interface CharacterSet {
  readonly negated: boolean;
  /** Code points, both ends included. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

// Filters use the same few patterns again and again; the limit only protects against a caller with endless ones.
const parsed = new Map<string, readonly Token[]>();
const PARSED_LIMIT = 1000;

function parse(pattern: string): readonly Token[] {
  let tokens = parsed.get(pattern);
  if (tokens === undefined) {
    tokens = linked(tokenise(pattern));
    if (parsed.size >= PARSED_LIMIT) parsed.clear();
    parsed.set(pattern, tokens);
  }
  return tokens;
}

const WILDCARDS: Readonly<Record<string, Token['kind']>> = {
  '*': 'star',
  '?': 'any',
  '{': 'open',
  ',': 'comma',
  '}': 'close',
};

function tokenise(pattern: string): Token[] {
  const chars = Array.from(pattern);
  const tokens: Token[] = [];
  const lastClosingBracket = chars.lastIndexOf(']');
  for (let at = 0; at < chars.length; at++) {
    const raw = chars[at] ?? '';
    const end = raw === '[' && at < lastClosingBracket ? endOfSet(chars, at) : -1;
    if (raw === '\\' && at + 1 < chars.length) {
      tokens.push({ kind: 'char', raw: raw + (chars[++at] ?? '') });
    } else if (end !== -1) {
      tokens.push({ kind: 'set', raw: chars.slice(at, end + 1).join(''), set: readSet(chars, at, end) });
      at = end;
    } else {
      tokens.push({ kind: WILDCARDS[raw] ?? 'char', raw });
    }
  }
  return tokens;
}

/** −1 for a set that is never closed: its bracket is a literal character. */
function endOfSet(chars: readonly string[], start: number): number {
  // A `]` at the very start is a member of the set, as in every shell.
  return chars.indexOf(']', start + (isNegated(chars, start) ? 3 : 2));
}

function isNegated(chars: readonly string[], start: number): boolean {
  return chars[start + 1] === '!' || chars[start + 1] === '^';
}

function readSet(chars: readonly string[], start: number, end: number): CharacterSet {
  const negated = isNegated(chars, start);
  const codes = chars.slice(start + (negated ? 2 : 1), end).map((char) => char.codePointAt(0) ?? 0);
  const ranges: [number, number][] = [];
  for (let at = 0; at < codes.length; at++) {
    const from = codes[at] ?? 0;
    const to = codes[at + 1] === DASH ? codes[at + 2] : undefined;
    ranges.push([from, to ?? from]);
    if (to !== undefined) at += 2;
  }
  return { negated, ranges };
}

const DASH = 0x2d;

/**
 * Braces that are not closed or have no comma are literal characters; so is a comma outside braces. All others are
 * linked.
 */
function linked(tokens: readonly Token[]): Token[] {
  const result = tokens.map((token) =>
    /^[{,}]$/.test(token.raw) ? { ...token, kind: 'char' as const } : token,
  );
  const groups: { readonly open: number; readonly commas: number[] }[] = [];
  tokens.forEach(({ kind, raw }, at) => {
    if (kind === 'open') groups.push({ open: at, commas: [] });
    if (kind === 'comma') groups.at(-1)?.commas.push(at);
    const group = kind === 'close' ? groups.pop() : undefined;
    if (group === undefined || group.commas.length === 0) return;
    const { open, commas } = group;
    result[open] = { kind: 'open', raw: '{', to: [open, ...commas].map((before) => before + 1) };
    for (const comma of commas) result[comma] = { kind: 'comma', raw: ',', to: [at + 1] };
    result[at] = { kind, raw, to: [at + 1] };
  });
  return result;
}

/** These positions, and all that can be reached from them without consuming a character. */
function reachable(tokens: readonly Token[], positions: number[]): Set<number> {
  const found = new Set<number>();
  for (let at = positions.pop(); at !== undefined; at = positions.pop()) {
    if (found.has(at)) continue;
    found.add(at);
    const token = tokens[at];
    if (token?.kind === 'star') positions.push(at + 1);
    else if (token?.to !== undefined) positions.push(...token.to);
  }
  return found;
}

function takes({ kind, raw, set }: Token, char: string): boolean {
  if (kind === 'any') return true;
  if (kind === 'char') return raw === char || raw === `\\${char}`;
  const code = char.codePointAt(0) ?? 0;
  return set !== undefined && set.ranges.some(([from, to]) => code >= from && code <= to) !== set.negated;
}
