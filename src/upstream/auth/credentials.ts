import type { JsonObject } from '../../protocol/index.ts';
import type { RemoteDefinition } from '../../config/index.ts';
import { isObject } from '../../shared/is-object.ts';
import type { Logger } from '../../shared/log.ts';
import type { LoginSummary } from './summary.ts';

/** What the configuration says about logging in to a server. */
export type OAuthOptions = Exclude<RemoteDefinition['oauth'], false>;

/** The server that a login is for. */
export interface LoginOptions {
  /** Its name. */
  readonly server: string;
  readonly url: string;
  readonly oauth: OAuthOptions;
  /** The state directory. */
  readonly directory: string;
  /** Default: logins are in files. */
  readonly keychain?: LoginKeychain | undefined;
  readonly log: Logger;
}

/** The keychain of the system. Each rejects, with the reason as the end of a sentence, where it cannot be used. */
export interface LoginKeychain {
  /** Whether a login can be moved there now. Never rejects. */
  isUsable(): Promise<boolean>;
  /** Undefined where there is nothing of this name. */
  read(account: string): Promise<string | undefined>;
  /** Returns why the value belongs in a file; undefined where it is in the keychain now. */
  write(account: string, value: string): Promise<string | undefined>;
  remove(account: string): Promise<void>;
}

/** All that is known of the login to one server. Holds secrets: never to be shown. */
export interface Credentials {
  /** Which server it is for (see `keyOf`); filled in by the store. */
  readonly key?: string;
  /** Its name, for lists; filled in by the store. */
  readonly server?: string | undefined;
  /** Who issued it, and the only one that is asked to renew it. */
  readonly issuer: string;
  /** Whether the issuer published its endpoints, or they were assumed as older servers have them. */
  readonly endpoints: 'told' | 'assumed';
  /** The server, as it was named to the issuer. */
  readonly resource: string;
  /** Who we are to the issuer; undefined where it has forgotten us. */
  readonly client?: KnownClient | undefined;
  /** Undefined where the login is over. */
  readonly tokens?: Tokens | undefined;
  /** What the server has asked for beyond what it says to newcomers; the next login asks for it too. Default nothing. */
  readonly wanted?: string | undefined;
}

export interface KnownClient {
  /** `configured`: the user gave the id. `document`: the id is the address of a description. `registered`: we asked for it. */
  readonly kind: 'configured' | 'document' | 'registered';
  readonly id: string;
  /** Only of a registered one; that of a configured one stays in the configuration. */
  readonly secret?: string | undefined;
  /** When that ends, in milliseconds since 1970; undefined where it does not. */
  readonly secretExpiresAt?: number | undefined;
  /** How it proves itself, as registered. */
  readonly authMethod?: string | undefined;
  /** Where the issuer sends the browser back to. */
  readonly redirectUri: string;
  /**
   * Whether the next login is made as another one: because one was started and never finished, so perhaps the issuer does
   * not know it any more; or because it was registered for fewer rights than are needed. Default false.
   */
  readonly doubtful?: boolean | undefined;
}

export interface Tokens {
  readonly access: string;
  /** How the access token is sent; DPoP: with a proof. Default Bearer. */
  readonly type?: 'DPoP' | undefined;
  /** What proofs are made with, see `ProofKey`; the refresh token may be bound to it too. Default none. */
  readonly proofKey?: string | undefined;
  readonly refresh?: string | undefined;
  /** Milliseconds since 1970; undefined where the issuer did not say. */
  readonly expiresAt?: number | undefined;
  readonly scope?: string | undefined;
}

/** A login, without its secrets. */
export interface LoggedIn {
  readonly issuer: string;
  readonly scope: string | undefined;
  /** When it ends or has to be renewed, in milliseconds since 1970; undefined where the issuer did not say. */
  readonly expiresAt: number | undefined;
  /** Whether it is renewed without the person. */
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

/** The token in such a header. */
export function tokenIn(authorization: string): string {
  return authorization.replace(/^\w+ +/, '');
}

/** A token that is valid in a header. */
export function isToken(value: unknown): value is string {
  return typeof value === 'string' && /^[\x21-\x7e]{1,65536}$/.test(value);
}

/** Whether the token is over, or will be in so many milliseconds. */
export function endsWithin({ expiresAt }: Pick<Tokens, 'expiresAt'>, ms: number): boolean {
  return expiresAt !== undefined && expiresAt - Date.now() <= ms;
}

/** Whether the login was made as the configuration asks for: as which client, and with or without a key. */
export function isMadeFor(
  { clientId, dpop }: OAuthOptions,
  { client, login }: Pick<LoginSummary, 'client' | 'login'>,
): boolean {
  if (login !== undefined && (login.dpop === true ? dpop === 'off' : dpop === 'required')) return false;
  if (clientId !== undefined) return client?.id === clientId;
  return client !== undefined && client.kind !== 'configured';
}

/** All rights, each once; the last ones alone where all would be too many. */
export function joinScopes(...scopes: (string | undefined)[]): string {
  const all = scopes.flatMap((scope) => scope?.split(' ') ?? []).filter((right) => right !== '');
  const text = [...new Set(all)].join(' ');
  return text.length <= MAX_SCOPE_CHARS ? text : (scopes.findLast((scope) => scope !== undefined) ?? '');
}

/** What a person may be asked to agree to. */
export const MAX_SCOPE_CHARS = 2000;

/** What was read from a file, if it has the shape; undefined otherwise. */
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

/** Whether it is one of the milliseconds that a date can be. */
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
