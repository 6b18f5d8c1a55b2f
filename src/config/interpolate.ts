import { NO_SECRETS, type Secrets, type UnsetSecret } from '../secrets/index.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export type Interpolated =
  | { readonly kind: 'text'; readonly text: string }
  /** The variables and secrets that are not set, in the order in which they occur. */
  | { readonly kind: 'unset'; readonly names: readonly string[]; readonly secrets: readonly UnsetSecret[] }
  /** Another program's reference, such as `${input:token}`, that we cannot fill in. */
  | { readonly kind: 'unknown'; readonly reference: string };

/**
 * Fills in `${NAME}`, `${env:NAME}`, `${secret:NAME}` and `${NAME:-default}` (the default applies if NAME is unset or
 * empty, as in a shell, and may itself contain references). `$${` means `${`. Any other text, including `$NAME`, stays
 * as it is. Inserted values are not interpreted again.
 */
export function interpolate(text: string, env: Environment, secrets: Secrets = NO_SECRETS): Interpolated {
  if (!text.includes('${')) return { kind: 'text', text };
  const unset: string[] = [];
  const unsetSecrets: UnsetSecret[] = [];
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
      const value = valueOf(reference, env, secrets);
      if (value.kind === 'unknown') return value;
      if (value.kind === 'unset') {
        unset.push(...value.names);
        unsetSecrets.push(...value.secrets);
      } else result += value.text;
      at = reference.end;
    }
  }
  return unset.length + unsetSecrets.length > 0
    ? { kind: 'unset', names: unset, secrets: unsetSecrets }
    : { kind: 'text', text: result + text.slice(at) };
}

/** Why a text could not be filled in. Contains nothing of the text except names. */
export function interpolationProblem(failure: Exclude<Interpolated, { kind: 'text' }>): string {
  if (failure.kind === 'unknown')
    return `${failure.reference} is not supported (use \${NAME}, \${env:NAME}, \${secret:NAME} or \${NAME:-default}; $\${ is a literal \${)`;
  const variables = [...new Set(failure.names)].join(', ');
  const unset = [...new Set(failure.secrets.filter(({ why }) => why === undefined).map(({ name }) => name))];
  const unreadable = failure.secrets.flatMap(({ name, why }) =>
    why === undefined ? [] : [`the secret ${name} cannot be read: ${why}`],
  );
  return [
    ...(variables === '' ? [] : [`the environment variable ${variables} is not set`]),
    ...(unset.length === 0 ? [] : [`the secret ${unset.join(', ')} is not set`]),
    ...new Set(unreadable),
  ].join('; ');
}

type Reference =
  | {
      readonly name: string;
      readonly secret: boolean;
      readonly fallback: string | undefined;
      readonly end: number;
    }
  | { readonly name: undefined; readonly scheme: string };

type KnownReference = Exclude<Reference, { name: undefined }>;

const OPENING = /\$\{(?:(?:env:)?([A-Za-z_][A-Za-z0-9_]*)|secret:([A-Za-z_][\w.-]*))(\}|:-)/y;
const OTHER_SCHEME = /\$\{([A-Za-z]+:)(?!-)[^}]*\}/y;

function referenceAt(text: string, at: number): Reference | undefined {
  OPENING.lastIndex = at;
  const opening = OPENING.exec(text);
  if (opening === null) {
    OTHER_SCHEME.lastIndex = at;
    const scheme = OTHER_SCHEME.exec(text)?.[1];
    return scheme === undefined ? undefined : { name: undefined, scheme: `\${${scheme}…}` };
  }
  const [, variable, secretName = '', end] = opening;
  const named = { name: variable ?? secretName, secret: variable === undefined };
  if (end === '}') return { ...named, fallback: undefined, end: OPENING.lastIndex };
  const start = OPENING.lastIndex;
  const close = closingBrace(text, start);
  return close === -1 ? undefined : { ...named, fallback: text.slice(start, close), end: close + 1 };
}

/** Where the current reference ends: references inside its default have their own braces. */
function closingBrace(text: string, from: number): number {
  let open = 1;
  for (let at = from; at < text.length; at++) {
    if (text.startsWith('${', at)) open++;
    else if (text[at] === '}' && --open === 0) return at;
  }
  return -1;
}

function valueOf(
  { name, secret, fallback }: KnownReference,
  env: Environment,
  secrets: Secrets,
): Interpolated {
  const state = secret ? secrets.get(name) : undefined;
  // A default does not apply to a secret that is set but cannot be read.
  if (state?.kind === 'unreadable') return { kind: 'unset', names: [], secrets: [{ name, why: state.why }] };
  const variable = !secret && Object.hasOwn(env, name) ? env[name] : undefined;
  const value = state?.kind === 'set' ? state.value : variable;
  if (fallback !== undefined && (value === undefined || value === ''))
    return interpolate(fallback, env, secrets);
  if (value !== undefined) return { kind: 'text', text: value };
  return secret
    ? { kind: 'unset', names: [], secrets: [{ name }] }
    : { kind: 'unset', names: [name], secrets: [] };
}
