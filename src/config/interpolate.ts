export type Environment = Readonly<Record<string, string | undefined>>;

export type Interpolated =
  | { readonly kind: 'text'; readonly text: string }
  /** The variables that are not set, in the order they are named. */
  | { readonly kind: 'unset'; readonly names: readonly string[] }
  /** A reference of another program, such as `${input:token}`, that we cannot fill in. */
  | { readonly kind: 'unknown'; readonly reference: string };

/**
 * Fills in `${NAME}`, `${env:NAME}` and `${NAME:-default}` (the default holds when NAME is unset or empty, as in a
 * shell, and may itself contain references). `$${` stands for `${`. Any other text, `$NAME` too, stays as it is.
 * What is filled in is never looked at again.
 */
export function interpolate(text: string, env: Environment): Interpolated {
  if (!text.includes('${')) return { kind: 'text', text };
  const unset: string[] = [];
  let result = '';
  let at = 0;
  for (let next = text.indexOf('${'); next !== -1; next = text.indexOf('${', at)) {
    result += text.slice(at, next);
    const reference = referenceAt(text, next);
    if (next > at && text[next - 1] === '$') {
      result = `${result.slice(0, -1)}\${`;
      at = next + 2;
    } else if (reference === undefined) {
      result += '${';
      at = next + 2;
    } else if (reference.name === undefined) {
      return { kind: 'unknown', reference: reference.scheme };
    } else {
      const value = valueOf(reference.name, reference.fallback, env);
      if (value.kind === 'unknown') return value;
      if (value.kind === 'unset') unset.push(...value.names);
      else result += value.text;
      at = reference.end;
    }
  }
  return unset.length > 0 ? { kind: 'unset', names: unset } : { kind: 'text', text: result + text.slice(at) };
}

/** Why a text could not be filled in, without anything of the text but names. */
export function interpolationProblem(failure: Exclude<Interpolated, { kind: 'text' }>): string {
  return failure.kind === 'unset'
    ? `the environment variable ${[...new Set(failure.names)].join(', ')} is not set`
    : `${failure.reference} is not supported (use \${NAME}, \${env:NAME} or \${NAME:-default}; $\${ is a literal \${)`;
}

type Reference =
  | { readonly name: string; readonly fallback: string | undefined; readonly end: number }
  | { readonly name: undefined; readonly scheme: string };

const OPENING = /\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(\}|:-)/y;
const OTHER_SCHEME = /\$\{([A-Za-z]+:)(?!-)[^}]*\}/y;

function referenceAt(text: string, at: number): Reference | undefined {
  OPENING.lastIndex = at;
  const opening = OPENING.exec(text);
  if (opening === null) {
    OTHER_SCHEME.lastIndex = at;
    const scheme = OTHER_SCHEME.exec(text)?.[1];
    return scheme === undefined ? undefined : { name: undefined, scheme: `\${${scheme}…}` };
  }
  const [, name = '', end] = opening;
  if (end === '}') return { name, fallback: undefined, end: OPENING.lastIndex };
  const start = OPENING.lastIndex;
  const close = closingBrace(text, start);
  return close === -1 ? undefined : { name, fallback: text.slice(start, close), end: close + 1 };
}

/** Where the reference that is already open ends: references inside its default have braces of their own. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) open++;
    else if (text[at] === '}' && --open === 0) return at;
  }
  return -1;
}

function valueOf(name: string, fallback: string | undefined, env: Environment): Interpolated {
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (fallback !== undefined && (value === undefined || value === '')) return interpolate(fallback, env);
  return value === undefined ? { kind: 'unset', names: [name] } : { kind: 'text', text: value };
}
