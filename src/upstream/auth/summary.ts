import type { JsonObject } from '../../protocol/index.ts';
import { isObject } from '../../shared/is-object.ts';
import { isDate, withoutTokens, type Credentials, type KnownClient, type LoggedIn } from './credentials.ts';

/** The part of a login that may be shown. If the login is in the keychain, this is all that its file contains. */
export interface LoginSummary {
  /** The server that it is for, see `keyOf`. */
  readonly key: string;
  /** The server's name; undefined in a file of an earlier version. */
  readonly server?: string | undefined;
  readonly resource: string;
  readonly client?: Pick<KnownClient, 'kind' | 'id'> | undefined;
  /** Undefined if the login has ended. */
  readonly login?: LoggedIn | undefined;
}

export function summaryOf({ key = '', server, issuer, resource, client, tokens }: Credentials): LoginSummary {
  return {
    key,
    server,
    resource,
    client: client && { kind: client.kind, id: client.id },
    login: tokens && withoutTokens(issuer, tokens),
  };
}

/** The summary read from a file; undefined if it does not have the right form. */
export function asSummary({ key, server, resource, client, login }: JsonObject): LoginSummary | undefined {
  if (typeof key !== 'string' || typeof resource !== 'string') return undefined;
  if (server !== undefined && typeof server !== 'string') return undefined;
  if (client !== undefined && !isClient(client)) return undefined;
  if (login !== undefined && !isLogin(login)) return undefined;
  return { key, server, resource, client, login };
}

function isClient(value: unknown): value is LoginSummary['client'] {
  if (!isObject(value) || typeof value.id !== 'string') return false;
  return value.kind === 'configured' || value.kind === 'document' || value.kind === 'registered';
}

function isLogin(value: unknown): value is LoggedIn {
  if (!isObject(value)) return false;
  const { issuer, scope, expiresAt, renewable, dpop } = value;
  return (
    typeof issuer === 'string' &&
    typeof renewable === 'boolean' &&
    (dpop === undefined || typeof dpop === 'boolean') &&
    (scope === undefined || typeof scope === 'string') &&
    (expiresAt === undefined || isDate(expiresAt))
  );
}
