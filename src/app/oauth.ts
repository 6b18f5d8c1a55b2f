import { interpolate, interpolationProblem, type LoadedConfig, type Settings } from '../config/index.ts';
import type { ProtectedResource } from '../doors/index.ts';
import type { BoundedFetch } from '../identity/index.ts';
import { SwitchboardError } from '../shared/errors.ts';
import type { Logger } from '../shared/log.ts';
import { sha256 } from '../shared/sha256.ts';
import type { Store } from '../store/index.ts';
import { loadAuth } from '../upstream/index.ts';

export interface OAuthContext {
  readonly config: LoadedConfig;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** The store that this gateway shares with other replicas. Default: this is the only one. */
  readonly store: Store | undefined;
  /** The claims of a token that matter for roles, as text; empty: none do. */
  readonly roleClaims: (claims: Readonly<Record<string, unknown>>) => string;
}

/**
 * Makes this gateway a resource protected by an identity provider, once its address is known. Returns undefined, and
 * loads no code, if that is not configured.
 */
export async function openProtectedResource({
  config,
  env,
  log,
  store,
  roleClaims,
}: OAuthContext): Promise<((url: string) => ProtectedResource) | undefined> {
  const { oauth } = config.settings.http;
  if (oauth === undefined) return undefined;
  const { introspection, ...rest } = oauth;
  const [{ OAuthResource }, fetch] = await Promise.all([import('../identity/index.ts'), fetchFor(oauth)]);
  const asked = introspection && {
    ...introspection,
    clientSecret: filledIn(introspection.clientSecret, config, env),
  };
  return (url) =>
    new OAuthResource({
      ...rest,
      introspection: asked,
      resource: rest.resource ?? url,
      isNewProof: store && ((id, ms) => isNewProof(store, id, ms)),
      ...{ roleClaims, fetch, log },
    });
}

/** While the store is unreachable, each gateway checks only the proofs that it has seen itself. */
function isNewProof(store: Store, id: string, ms: number): Promise<boolean> {
  return store.replace(`proof:${sha256(id)}`, undefined, '1', Math.max(1, Math.ceil(ms))).catch(() => true);
}

function filledIn(text: string, { secrets }: LoadedConfig, env: NodeJS.ProcessEnv): string {
  const result = interpolate(text, env, secrets);
  if (result.kind === 'text') return result.text;
  throw new SwitchboardError(
    'CONFIG_INVALID',
    `http.oauth.introspection.clientSecret: ${interpolationProblem(result)}.`,
    { hint: 'Set it, or remove "introspection".' },
  );
}

/** A fetch for the addresses that the operator has configured, and for addresses no less public than these. */
async function fetchFor({
  issuer,
  jwksUri,
  introspection,
}: NonNullable<Settings['http']['oauth']>): Promise<BoundedFetch> {
  const { createAddressGuard, createGuardedFetch } = await loadAuth();
  const typed = [issuer, jwksUri, introspection?.endpoint].flatMap((address) => {
    if (address === undefined) return [];
    const guard = createAddressGuard(new URL(address));
    return [
      { origin: new URL(address).origin, guard, fetch: createGuardedFetch(guard, undefined, TIMEOUT_MS) },
    ];
  });
  return async (url, { method = 'GET', headers = {}, body } = {}) => {
    const from = typed.find(({ origin }) => origin === url.origin) ?? typed[0];
    if (from === undefined) throw new Error('The issuer has an address.');
    // A form contains a secret.
    if (body !== undefined) await from.guard.checkEndpoint(url);
    return from.fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  };
}

/** How long clients wait for the identity provider, in milliseconds. */
const TIMEOUT_MS = 5000;
