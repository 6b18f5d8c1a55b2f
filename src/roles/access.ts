import type { RoleLimits, Roles } from '../config/index.ts';
import { matchGlob } from '../shared/glob.ts';
import { sha256 } from '../shared/sha256.ts';

/** What an identity provider says about a caller. */
type Claims = Readonly<Record<string, unknown>>;

/** A caller, as roles see it. */
export interface RoleBearer {
  /** The name of its access token. */
  readonly token?: string | undefined;
  readonly claims?: Claims | undefined;
}

/** The kinds of components that roles distinguish. Templates count as resources. */
export type RoleKind = 'tools' | 'resources' | 'prompts';

/** What one role allows on a server: patterns of names. A leading ! excludes. */
export type ServerGrant = Readonly<Record<RoleKind, readonly string[]>>;

/** What a caller may see and call, according to its roles. */
export interface Access {
  /** Equal for callers with the same access. */
  readonly key: string;
  /**
   * What is allowed on a server: everything that any of these grants allows. Without grants, the server does not exist
   * for the caller.
   */
  grantsFor(server: string): readonly ServerGrant[];
  /** Whether the tools that manage servers are allowed. */
  readonly management: boolean;
  readonly limits: RoleLimits;
}

/** The access of a caller with these roles. A caller without a role may do nothing. */
export function accessOf(roles: Roles, bearer: RoleBearer): Access {
  const names = Object.keys(roles).filter((name) => has(roles[name], bearer));
  const held = names.flatMap((name) => roles[name] ?? []);
  const known = new Map<string, readonly ServerGrant[]>();
  const limitOf = (limit: keyof RoleLimits): number | undefined => {
    const said = held.flatMap(({ limits }) => limits?.[limit] ?? []);
    return said.length === 0 ? undefined : Math.max(...said);
  };
  return {
    key: sha256(JSON.stringify(held)),
    management: held.some(({ management }) => management),
    limits: {
      callsPerMinute: limitOf('callsPerMinute'),
      concurrentCalls: limitOf('concurrentCalls'),
      resultBytes: limitOf('resultBytes'),
    },
    grantsFor(server) {
      let grants = known.get(server);
      if (grants === undefined) {
        grants = held
          .filter(({ servers }) => matchesAny(servers, server))
          .map(({ tools, resources, prompts }) => ({ tools, resources, prompts }));
        known.set(server, grants);
      }
      return grants;
    },
  };
}

/** Whether one of the grants allows a component, by its name or URI on its own server. */
export function isGranted(grants: readonly ServerGrant[], kind: RoleKind, name: string): boolean {
  return grants.some((grant) => matchesAny(grant[kind], name));
}

/** Whether one of the grants allows everything on a server. */
export function isWhole(grants: readonly ServerGrant[]): boolean {
  return grants.some((grant) =>
    [grant.tools, grant.resources, grant.prompts].every(
      (patterns) => patterns.includes('*') && !patterns.some((pattern) => pattern.startsWith('!')),
    ),
  );
}

/** The claims of a token that roles use, as text. Equal if roles cannot distinguish two tokens. */
export function roleClaims(roles: Roles | undefined, claims: Claims): string {
  const wanted = Object.values(roles ?? {}).flatMap(({ match }) =>
    typeof match === 'string' ? [] : Object.keys(match.claims ?? {}),
  );
  const said = [...new Set([...USUAL, ...wanted])].sort().flatMap((name) => {
    const value = claimAt(claims, name);
    return value === undefined
      ? []
      : [[name, Array.isArray(value) ? [...(value as unknown[])].sort() : value]];
  });
  return said.length === 0 ? '' : JSON.stringify(said);
}

/** Always included, so that most roles can be added while clients are connected. */
const USUAL = ['groups', 'roles'];

function has(role: Roles[string] | undefined, { token, claims = {} }: RoleBearer): boolean {
  if (role === undefined) return false;
  const { match } = role;
  if (match === 'everyone') return true;
  if (token !== undefined) return match.tokens !== undefined && matchesAny(match.tokens, token);
  const wanted = Object.entries(match.claims ?? {});
  return (
    wanted.length > 0 &&
    wanted.every(([name, patterns]) => claimMatches(name, claimAt(claims, name), patterns))
  );
}

/** The claim with this name. A name with dots may also refer to a member of a claim. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Claims)[part];
  }
  return value;
}

/**
 * A list matches if one of its members does, and so does a scope, whose members are separated by spaces. Other claims
 * may be names chosen by users, so only the whole value is compared.
 */
function claimMatches(name: string, value: unknown, patterns: string | readonly string[]): boolean {
  if (value === undefined) return false;
  const wanted = typeof patterns === 'string' ? [patterns] : patterns;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  const texts = values.map(String);
  const words = SCOPES.has(name) ? texts.flatMap((text) => [text, ...text.split(' ')]) : texts;
  return words.some((word) => matchesAny(wanted, word));
}

/** Claims whose members are separated by spaces: the one from RFC 8693, and a name that some providers use. */
const SCOPES = new Set(['scope', 'scp']);

/** Whether a name matches at least one pattern, and none that excludes it. */
function matchesAny(patterns: readonly string[], name: string): boolean {
  let found = false;
  for (const pattern of patterns) {
    if (pattern.startsWith('!')) {
      if (matchGlob(pattern.slice(1), name)) return false;
    } else found ||= pattern === '*' || matchGlob(pattern, name);
  }
  return found;
}
