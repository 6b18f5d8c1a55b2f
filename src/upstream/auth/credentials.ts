import type { JsonObject } from '../../protocol/index.ts';
import type { RemoteDefinition } from '../../config/index.ts';
import { isObject } from '../../shared/is-object.ts';
import type { Logger } from '../../shared/log.ts';
import type { LoginSummary } from './summary.ts';

/** What the configuration says about logging in to a server. */
export type OAuthOptions = Exclude<RemoteDefinition['oauth'], false>;

/** The server that a login is for. */
export interface LoginOptions {
  /** The server's name. */
  readonly server: string;
  readonly url: string;
  readonly oauth: OAuthOptions;
  /** The state directory. */
  readonly directory: string;
  /** Default: logins are stored in files. */
  readonly keychain?: LoginKeychain | undefined;
  readonly log: Logger;
}

/** The system's keychain. If it cannot be used, each method rejects with the reason as the end of a sentence. */
export interface LoginKeychain {
  /** Whether a login can be moved to the keychain now. Never rejects. */
  isUsable(): Promise<boolean>;
  /** Undefined if there is no entry with this name. */
  read(account: string): Promise<string | undefined>;
  /** Returns why the value belongs in a file instead; undefined once it is in the keychain. */
  write(account: string, value: string): Promise<string | undefined>;
  remove(account: string): Promise<void>;
}

/** Everything known about the login to one server. Contains secrets: never show it. */
export interface Credentials {
  /** The server that it is for (see `keyOf`); filled in by the store. */
  readonly key?: string;
  /** The server's name, for lists; filled in by the store. */
  readonly server?: string | undefined;
  /** The issuer, which is the only one that is asked to renew it. */
  readonly issuer: string;
  /** Whether the issuer published its endpoints, or they were assumed, as for older servers. */
  readonly endpoints: 'told' | 'assumed';
  /** The server's identifier at the issuer. */
  readonly resource: string;
  /** Our client at the issuer; undefined if the issuer has forgotten it. */
  readonly client?: KnownClient | undefined;
  /** Undefined if the login has ended. */
  readonly tokens?: Tokens | undefined;
  /**
   * Scopes that the server has asked for beyond those it announces. The next login requests them too. Default: none.
   */
  readonly wanted?: string | undefined;
}

export interface KnownClient {
  /**
   * `configured`: the user set the id. `document`: the id is the address of a metadata document. `registered`: the
   * issuer assigned it.
   */
  readonly kind: 'configured' | 'document' | 'registered';
  readonly id: string;
  /** Only for a registered client; the secret of a configured one stays in the configuration. */
  readonly secret?: string | undefined;
  /** When the secret expires, in milliseconds since 1970; undefined if it does not. */
  readonly secretExpiresAt?: number | undefined;
  /** How the client authenticates, as registered. */
  readonly authMethod?: string | undefined;
  /** Where the issuer sends the browser after a login. */
  readonly redirectUri: string;
  /**
   * Whether the next login uses a new client: a login was started but never finished, so the issuer may no longer know
   * this one; or it was registered for fewer scopes than are needed. Default false.
   */
  readonly doubtful?: boolean | undefined;
}

export interface Tokens {
  readonly access: string;
  /** How the access token is sent. DPoP: with a proof. Default: Bearer. */
  readonly type?: 'DPoP' | undefined;
  /** The key for proofs, see `ProofKey`. The refresh token may be bound to it, too. Default: none. */
  readonly proofKey?: string | undefined;
  readonly refresh?: string | undefined;
  /** In milliseconds since 1970; undefined if the issuer did not say. */
  readonly expiresAt?: number | undefined;
  readonly scope?: string | undefined;
}

/** A login without its secrets. */
export interface LoggedIn {
  readonly issuer: string;
  readonly scope: string | undefined;
  /** When it expires or has to be renewed, in milliseconds since 1970; undefined if the issuer did not say. */
  readonly expiresAt: number | undefined;
  /** Whether it can be renewed without the person. */
  readonly renewable: boolean;
  /** Whether its access token is bound to a key. Default false. */
  readonly dpop?: boolean | undefined;
}

export function withoutTokens(issuer: string, { scope, expiresAt, refresh, type }: Tokens): LoggedIn {
  return { issuer, scope, expiresAt, renewable: refresh !== undefined, dpop: type === 'DPoP' };
}

/** The Authorization header of a request with this token. */
export function authorizationOf({ type, access }: Tokens): string {
  return `${type ?? 'Bearer'} ${access}`;
}

/** The token in an Authorization header. */
export function tokenIn(authorization: string): string {
  return authorization.replace(/^\w+ +/, '');
}

/** Whether this is a token that is valid in a header. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/.test(value);
}

/** Whether the token expires within this many milliseconds, or has already expired. */
export function endsWithin({ expiresAt }: Pick<Tokens, 'expiresAt'>, ms: number): boolean {
  return expiresAt !== undefined && expiresAt - Date.now() <= ms;
}

/** Whether the login matches the configuration: the same client, and with or without a key as configured. */
export function isMadeFor(
  { clientId, dpop }: OAuthOptions,
  { client, login }: Pick<LoginSummary, 'client' | 'login'>,
): boolean {
  if (login !== undefined && (login.dpop === true ? dpop === 'off' : dpop === 'required')) return false;
  if (clientId !== undefined) return client?.id === clientId;
  return client !== undefined && client.kind !== 'configured';
}

/** Joins scopes without repeating any. If that is too long, only the last ones are returned. */
export function joinScopes(...scopes: (string | undefined)[]): string {
  const all = scopes.flatMap((scope) => scope?.split(' ') ?? []).filter((right) => right !== '');
  const text = [...new Set(all)].join(' ');
  return text.length <= MAX_SCOPE_CHARS ? text : (scopes.findLast((scope) => scope !== undefined) ?? '');
}

/** The most that a person may be asked to agree to. */
export const MAX_SCOPE_CHARS = 2000;

/** The credentials read from a file; undefined if they do not have the right form. */
export function asCredentials(value: JsonObject): Credentials | undefined {
  const { key, server, issuer, endpoints, resource, client, tokens, wanted } = value;
  if (typeof key !== 'string' || typeof issuer !== 'string' || typeof resource !== 'string') return undefined;
  if (server !== undefined && typeof server !== 'string') return undefined;
  if (endpoints !== 'told' && endpoints !== 'assumed') return undefined;
  if (client !== undefined && !isClient(client)) return undefined;
  if (tokens !== undefined && !isTokens(tokens)) return undefined;
  if (wanted !== undefined && typeof wanted !== 'string') return undefined;
  return { key, server, issuer, endpoints, resource, client, tokens, wanted };
}

function isClient(value: unknown): value is KnownClient {
  if (!isObject(value)) return false;
  const { kind, id, secret, secretExpiresAt, authMethod, redirectUri, doubtful } = value;
  return (
    (kind === 'configured' || kind === 'document' || kind === 'registered') &&
    typeof id === 'string' &&
    typeof redirectUri === 'string' &&
    (doubtful === undefined || typeof doubtful === 'boolean') &&
    (secretExpiresAt === undefined || isDate(secretExpiresAt)) &&
    [secret, authMethod].every((text) => text === undefined || typeof text === 'string')
  );
}

/** Whether this is a valid date in milliseconds. */
export function isDate(value: unknown): boolean {
  return typeof value === 'number' && Math.abs(value) <= 8.64e15;
}

function isTokens(value: unknown): value is Tokens {
  if (!isObject(value)) return false;
  const { access, type, proofKey, refresh, expiresAt, scope } = value;
  return (
    isToken(access) &&
    (type === undefined || (type === 'DPoP' && proofKey !== undefined)) &&
    (proofKey === undefined || (typeof proofKey === 'string' && /^[\w-]{43}$/.test(proofKey))) &&
    (refresh === undefined || isToken(refresh)) &&
    (expiresAt === undefined || isDate(expiresAt)) &&
    (scope === undefined || typeof scope === 'string')
  );
}
