import { isObject } from '../shared/is-object.ts';
import { isSecretName } from '../shared/secrets.ts';
import type { ConvertedEntry } from './convert.ts';
import { variableName } from './references.ts';

/** A literal secret in an entry. */
export interface Secret {
  readonly value: string;
  /** Its path, for example `env.API_KEY`. */
  readonly where: string;
  /** A suitable name for a variable that contains it. */
  readonly variable: string;
}

type Replace = (secret: Secret) => string;

/**
 * The entry with every literal secret replaced: values of variables and headers by their names, arguments after flags
 * such as `--token`, passwords and keys in addresses, and anything that looks like a token. References are not secrets.
 */
export function replaceSecrets(entry: ConvertedEntry, server: string, replace: Replace): ConvertedEntry {
  const { args, env, url, headers, oauth } = entry;
  return {
    ...entry,
    ...(args === undefined ? {} : { args: inArguments(args, server, replace) }),
    ...(env === undefined ? {} : { env: inVariables(env, server, replace) }),
    ...(url === undefined ? {} : { url: inText(url, 'url', [server], replace) }),
    ...(headers === undefined ? {} : { headers: inHeaders(headers, server, replace) }),
    ...(oauth === undefined ? {} : { oauth: inLogin(oauth, server, replace) }),
  };
}

/** The literal secrets in an entry, each with its path. */
export function literalSecrets(entry: ConvertedEntry, server: string): Omit<Secret, 'value'>[] {
  const found: Omit<Secret, 'value'>[] = [];
  replaceSecrets(entry, server, ({ value, where, variable }) => {
    found.push({ where, variable });
    return value;
  });
  return found;
}

function inVariables(
  env: Readonly<Record<string, string>>,
  server: string,
  replace: Replace,
): Record<string, string> {
  return mapped(env, (name, text) => {
    const where = `env.${name}`;
    const variable = /^[A-Za-z_]\w*$/.test(name) ? name : variableName(server, name);
    if (isLiteral(text) && (isSecret(name) || isTokenLike(text)))
      return replace({ value: text, where, variable });
    return inText(text, where, [server, name], replace);
  });
}

function inHeaders(
  headers: Readonly<Record<string, string>>,
  server: string,
  replace: Replace,
): Record<string, string> {
  return mapped(headers, (name, text) => {
    const where = `headers.${name}`;
    const [, scheme = '', value = text] = /^((?:bearer|basic|token) +)(.*)$/is.exec(text) ?? [];
    if (!isLiteral(value) || !(isSecret(name) || isTokenLike(value))) return text;
    const what = /^authorization$/i.test(name) ? 'token' : name.replace(/^x-/i, '');
    return scheme + replace({ value, where, variable: variableName(server, what) });
  });
}

function inLogin(oauth: Login, server: string, replace: Replace, path: readonly string[] = []): Login {
  return mapped(oauth, (name, value) => {
    const at = [...path, name];
    if (isObject(value)) return inLogin(value, server, replace, at);
    if (!LOGIN_SECRETS.has(name) || typeof value !== 'string' || !isLiteral(value)) return value;
    return replace({ value, where: `oauth.${at.join('.')}`, variable: variableName(server, ...at) });
  });
}

/** `oauth` of an entry. Its members may be groups, such as `identityProvider`. */
type Login = NonNullable<ConvertedEntry['oauth']>;

const LOGIN_SECRETS = new Set(['clientSecret', 'privateKey', 'assertion']);

function inArguments(
  args: readonly string[],
  server: string,
  replace: Replace,
  mayBeSecret = isLiteral,
): string[] {
  return args.map((text, at) => {
    const where = `args[${at}]`;
    const [, flag = '', value = ''] = /^(--?[\w-]+|\w+)=(.*)$/s.exec(text) ?? [];
    if (flag !== '' && isSecret(flag) && mayBeSecret(value))
      return `${flag}=${replace({ value, where, variable: variableName(server, flag) })}`;
    const before = args[at - 1] ?? '';
    const follows = /^--?[\w-]+$/.test(before) && isSecret(before) && !text.startsWith('-');
    if (follows && mayBeSecret(text))
      return replace({ value: text, where, variable: variableName(server, before) });
    return inText(text, where, [server], replace);
  });
}

/** The secrets within a text: a password or key in an address, a token after its scheme, or the whole text. */
function inText(text: string, where: string, words: readonly string[], replace: Replace): string {
  const secret = (value: string, what: string): string =>
    isLiteral(value) ? replace({ value, where, variable: variableName(...words, what) }) : value;
  if (isTokenLike(text)) return secret(text, 'token');
  return text
    .replace(
      /\b(bearer|basic) +([^\s"']+)/gi,
      (_, kind: string, value: string) => `${kind} ${secret(value, 'token')}`,
    )
    .replace(/(\b[a-z][\w+.-]{0,31}:\/\/)([^\s/?#]+)/gi, (_, scheme: string, authority: string) => {
      const [, user = '', password = '', host = ''] = /^([^:@]*):(.*)(@.*)$/.exec(authority) ?? [];
      return password === '' ? scheme + authority : `${scheme}${user}:${secret(password, 'password')}${host}`;
    })
    .replace(/([?&;]([\w.-]+)=)([^&;#\s]+)/g, (whole, front: string, name: string, value: string) =>
      isSecret(name) || /^key$/i.test(name) || isTokenLike(value) ? front + secret(value, name) : whole,
    )
    .replace(/^(https?:\/\/[^/?#\s]*)([^?#\s]*)/i, (_, origin: string, path: string) => {
      const parts = path.split('/').map((part) => (isTokenLike(part) ? secret(part, 'key') : part));
      return origin + parts.join('/');
    });
}

/** Every secret in a parsed file of any kind, at any depth. All values of environments and headers count as secrets. */
export function documentSecrets(document: unknown): string[] {
  const found: string[] = [];
  const note: Replace = ({ value }) => {
    found.push(value);
    return value;
  };
  const look = (name: string, value: unknown): void => {
    if (typeof value === 'string') {
      if (isSecret(name) && isMoreThanReferences(value)) found.push(value);
      else inText(value, '', [], note);
    } else if (Array.isArray(value)) {
      inArguments(
        value.filter((each) => typeof each === 'string'),
        '',
        note,
        isMoreThanReferences,
      );
      for (const each of value as unknown[]) if (typeof each !== 'string') look('', each);
    } else if (isObject(value)) {
      const isSecretive = ['env', 'environment', 'headers', 'http_headers'].includes(name);
      for (const [key, member] of Object.entries(value)) {
        if (isSecretive && typeof member === 'string' && isMoreThanReferences(member)) found.push(member);
        else look(key, member);
      }
    }
  };
  look('', document);
  return [...new Set(found)];
}

function isSecret(name: string): boolean {
  // Under such keys, Codex has names of variables instead of values.
  if (name.includes('env_var')) return false;
  return isSecretName(name.replaceAll('-', '_')) || /^cookie$/i.test(name);
}

/** Whether the text contains no references. */
function isLiteral(text: string): boolean {
  return text !== '' && !/(?<!\$)\$\{/.test(text);
}

/** Whether there is anything besides references and a scheme such as Bearer: a password may contain `${`. */
function isMoreThanReferences(text: string): boolean {
  return text.replace(/\$\{[^{}]*\}/g, '').replace(/^[A-Za-z]+ +/, '') !== '';
}

const KNOWN_TOKEN =
  /^(?:sk|pk|rk|gh[opusr]|github_pat|glpat|xox[abeprs]|npm|hf|pat|shpat|dop_v1|lin_api|ntn|secret|key|AIza|AKIA|ya29|eyJ)[-_.]?[\w./+=-]{16,}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** Whether the text looks generated: a long sequence of mixed letters and digits. */
function isTokenLike(text: string): boolean {
  if (!isLiteral(text) || /[\s/\\]/.test(text)) return false;
  if (UUID.test(text)) return true;
  const mixed = (part: string): boolean => /\d/.test(part) && /[a-z]/i.test(part);
  if (KNOWN_TOKEN.test(text) && mixed(text)) return true;
  return (
    /^[\w+=~.-]{20,}$/.test(text) && text.split(/[-_.]/).some((part) => part.length >= 20 && mixed(part))
  );
}

function mapped<T>(
  table: Readonly<Record<string, T>>,
  change: (name: string, value: T) => T,
): Record<string, T> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [name, change(name, value)]));
}
