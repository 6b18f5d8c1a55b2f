/**
 * True when the whole text matches the pattern: `*` any run of characters, `?` one character, `[a-z]` and
 * `[!a-z]` one of a set, `{a,b}` one of several patterns, `\` takes the next character literally.
 *
 * All possible positions in the pattern advance together, one text character at a time, so the worst case is
 * pattern length × text length. (A regular expression made from the pattern could take exponentially long.)
 */
export function matchGlob(pattern: string, text: string): boolean {
  return run(compile(pattern), text);
}

/** True when the pattern has anything but literal characters. */
export function isGlob(pattern: string): boolean {
  return /[*?[{]/.test(pattern) && tokenise(pattern).some((token) => token.kind !== 'char');
}

/** The text that a pattern without wildcards matches: escapes are resolved. */
export function literalOf(pattern: string): string {
  if (!pattern.includes('\\')) return pattern;
  return tokenise(pattern)
    .map((token) => token.raw.replace(/^\\(.)$/su, '$1'))
    .join('');
}

/**
 * The patterns that `{a,b}` groups expand to, in the order written: `x{1,2}` → `x1`, `x2`.
 * Undefined when there are more than `limit` (groups multiply, so a short pattern can mean millions).
 */
export function expandBraces(pattern: string, limit = 1000): string[] | undefined {
  if (!pattern.includes('{')) return [pattern];
  const expanded: string[] = [];
  const waiting = [pattern];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const tokens = tokenise(next);
    const open = tokens.findIndex((token) => token.kind === 'open');
    if (open === -1) {
      expanded.push(next);
    } else {
      waiting.push(...alternatives(tokens, open).reverse());
    }
    if (expanded.length + waiting.length > limit) return undefined;
  }
  return expanded;
}

type Token =
  | { readonly kind: 'char' | 'any' | 'star' | 'open' | 'comma' | 'close'; readonly raw: string }
  | { readonly kind: 'set'; readonly raw: string; readonly set: CharacterSet };

interface CharacterSet {
  readonly negated: boolean;
  /** Code points, both ends included. */
  readonly ranges: readonly (readonly [from: number, to: number])[];
}

function tokenise(pattern: string): Token[] {
  const chars = Array.from(pattern);
  const tokens: Token[] = [];
  const lastClosingBracket = chars.lastIndexOf(']');
  for (let at = 0; at < chars.length; at++) {
    const raw = chars[at]!;
    if (raw === '\\' && at + 1 < chars.length) {
      tokens.push({ kind: 'char', raw: `\\${chars[++at]!}` });
    } else if (raw === '[' && at < lastClosingBracket) {
      const found = readSet(chars, at);
      tokens.push(found?.token ?? { kind: 'char', raw });
      at = found?.end ?? at;
    } else {
      tokens.push({ kind: WILDCARDS.get(raw) ?? 'char', raw });
    }
  }
  return withoutLooseBraces(tokens);
}

const WILDCARDS = new Map([
  ['*', 'star'],
  ['?', 'any'],
  ['{', 'open'],
  [',', 'comma'],
  ['}', 'close'],
] as const) as ReadonlyMap<string, 'star' | 'any' | 'open' | 'comma' | 'close'>;

/** The set that starts at `[`, or undefined when it is never closed and the bracket is a plain character. */
function readSet(chars: readonly string[], start: number): { token: Token; end: number } | undefined {
  let at = start + 1;
  const negated = chars[at] === '!' || chars[at] === '^';
  if (negated) at++;
  // A `]` right at the start is a member, as in every shell.
  const end = chars.indexOf(']', at + 1);
  if (end === -1) return undefined;
  const ranges: [number, number][] = [];
  for (; at < end; at++) {
    const from = chars[at]!.codePointAt(0)!;
    if (chars[at + 1] === '-' && at + 2 < end) {
      ranges.push([from, chars[at + 2]!.codePointAt(0)!]);
      at += 2;
    } else {
      ranges.push([from, from]);
    }
  }
  return { token: { kind: 'set', raw: chars.slice(start, end + 1).join(''), set: { negated, ranges } }, end };
}

/** Braces that are not closed, or hold no comma, are plain characters; so is a comma outside braces. */
function withoutLooseBraces(tokens: readonly Token[]): Token[] {
  const kept = new Set<number>();
  const open: { at: number; commas: number[] }[] = [];
  tokens.forEach((token, at) => {
    if (token.kind === 'open') open.push({ at, commas: [] });
    else if (token.kind === 'comma') open.at(-1)?.commas.push(at);
    else if (token.kind === 'close') {
      const group = open.pop();
      if (group === undefined || group.commas.length === 0) return;
      for (const index of [group.at, ...group.commas, at]) kept.add(index);
    }
  });
  return tokens.map((token, at) => {
    const loose =
      (token.kind === 'open' || token.kind === 'comma' || token.kind === 'close') && !kept.has(at);
    return loose ? { kind: 'char', raw: token.raw } : token;
  });
}

/** The patterns that result from each choice of the group that opens at `open`. */
function alternatives(tokens: readonly Token[], open: number): string[] {
  const text = (from: number, to: number): string =>
    tokens
      .slice(from, to)
      .map((token) => token.raw)
      .join('');
  const cuts = [open];
  let depth = 0;
  let close = open;
  for (; close < tokens.length; close++) {
    const { kind } = tokens[close]!;
    if (kind === 'open') depth++;
    if (kind === 'comma' && depth === 1) cuts.push(close);
    if (kind === 'close' && --depth === 0) break;
  }
  cuts.push(close);
  const before = text(0, open);
  const after = text(close + 1, tokens.length);
  return cuts.slice(1).map((cut, index) => before + text(cuts[index]! + 1, cut) + after);
}

type Step =
  | { readonly kind: 'char'; readonly char: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | { readonly kind: 'set'; readonly set: CharacterSet }
  /** Go on at each of these steps without taking a character. */
  | { readonly kind: 'fork'; readonly to: number[] };

// Filters ask the same few patterns again and again; the bound only guards against a caller with endless ones.
const compiled = new Map<string, readonly Step[]>();
const COMPILED_LIMIT = 1000;

function compile(pattern: string): readonly Step[] {
  const known = compiled.get(pattern);
  if (known !== undefined) return known;
  const steps: Step[] = [];
  const groups: { fork: number[]; leave: number[][] }[] = [];
  for (const token of tokenise(pattern)) {
    switch (token.kind) {
      case 'char':
        steps.push({ kind: 'char', char: token.raw.replace(/^\\(.)$/su, '$1') });
        break;
      case 'set':
        steps.push({ kind: 'set', set: token.set });
        break;
      case 'any':
      case 'star':
        steps.push({ kind: token.kind });
        break;
      case 'open': {
        const fork: number[] = [steps.length + 1];
        steps.push({ kind: 'fork', to: fork });
        groups.push({ fork, leave: [] });
        break;
      }
      case 'comma': {
        const leave: number[] = [];
        const group = groups.at(-1)!;
        steps.push({ kind: 'fork', to: leave });
        group.leave.push(leave);
        group.fork.push(steps.length);
        break;
      }
      case 'close':
        for (const leave of groups.pop()!.leave) leave.push(steps.length);
        break;
    }
  }
  if (compiled.size >= COMPILED_LIMIT) compiled.clear();
  compiled.set(pattern, steps);
  return steps;
}

function run(steps: readonly Step[], text: string): boolean {
  let current = new Set<number>();
  enter(steps, 0, current);
  // A star at the very end takes whatever is left.
  const lastStar = steps.at(-1)?.kind === 'star' ? steps.length - 1 : -1;
  for (const char of text) {
    if (current.has(lastStar)) return true;
    const next = new Set<number>();
    for (const at of current) {
      const step = steps[at];
      if (step === undefined || step.kind === 'fork') continue;
      if (step.kind === 'star') enter(steps, at, next);
      else if (takes(step, char)) enter(steps, at + 1, next);
    }
    if (next.size === 0) return false;
    current = next;
  }
  return current.has(steps.length);
}

/** Adds a position and every position reachable from it without taking a character. */
function enter(steps: readonly Step[], start: number, positions: Set<number>): void {
  const waiting = [start];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    if (positions.has(at)) continue;
    positions.add(at);
    const step = steps[at];
    if (step?.kind === 'star') waiting.push(at + 1);
    else if (step?.kind === 'fork') waiting.push(...step.to);
  }
}

function takes(step: Exclude<Step, { kind: 'fork' | 'star' }>, char: string): boolean {
  if (step.kind === 'any') return true;
  if (step.kind === 'char') return step.char === char;
  const code = char.codePointAt(0)!;
  return step.set.ranges.some(([from, to]) => code >= from && code <= to) !== step.set.negated;
}
