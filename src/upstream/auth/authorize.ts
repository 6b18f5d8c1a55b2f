import { randomBytes } from 'node:crypto';
import {
  exchangeAuthorization,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
import { openBrowser } from '../../process/index.ts';
import { messageOf, SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { untilAborted } from '../../shared/until-aborted.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import { openCallback, type Callback, type CallbackAnswer } from './callback.ts';
import { chooseClient } from './client.ts';
import {
  joinScopes,
  withoutTokens,
  type Credentials,
  type KnownClient,
  type LoggedIn,
  type LoginOptions,
  type Tokens,
} from './credentials.ts';
import {
  discoverIssuer,
  isSameIssuer,
  discoveryContext,
  type Discovered,
  type DiscoveryContext,
} from './discovery.ts';
import { ProofKey, usesDpop } from './dpop.ts';
import { asInformation, asTokens, codeOf, reasonOf } from './oauth.ts';
import { createStore, type CredentialStore } from './store.ts';

export interface AuthorizeOptions extends LoginOptions {
  /** Further headers of every request to the server. Default: none. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether to open the system's browser. */
  readonly openBrowser: boolean;
  /** Called when the person can log in at this address. The browser then returns to this port on this machine. */
  tell(url: string, port: number): void;
  /** Cancels the login. */
  readonly signal: AbortSignal;
  /** How long the person may take, in milliseconds. Default: five minutes. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 5 * 60_000;

/** Logs a person in to a server, in their browser, and stores the login. */
export async function login(options: AuthorizeOptions): Promise<LoggedIn> {
  const { server, oauth, signal } = options;
  checkDescription(oauth.clientMetadataUrl);
  const store = createStore(options);
  // Comes first: there is no point in asking the user for a login that cannot be stored.
  store.prepare();
  const around = discoveryContext(options, signal);
  const state = randomBytes(32).toString('base64url');
  // A new login replaces one that the keychain does not let us read.
  const stored = await store.read().catch(() => undefined);
  let callback: Callback | undefined;
  try {
    const found = withWanted(await discoverIssuer(around, options.headers), stored);
    checkProof(server, found);
    const key = usesDpop(oauth, { server, ...found }) ? ProofKey.create() : undefined;
    callback = await openCallback({ port: oauth.callbackPort, preferred: portOf(stored?.client), state });
    const { redirectUri } = callback;
    const scope = scopeOf(options, found);
    const client = await chooseClient({ around, found, oauth, scope, stored, redirectUri });
    const attempt: Attempt = { options, around, found, client, callback, state, key };
    const { answer, verifier } = await askPerson(attempt, store);
    try {
      const tokens = await redeem(attempt, answer, verifier);
      const { issuer, metadata, resource } = found;
      const endpoints = metadata === undefined ? 'assumed' : 'told';
      const { wanted } = stored ?? {};
      const credentials: Credentials = { issuer, endpoints, resource, client, tokens, wanted };
      await store.locked(() => store.write(credentials), { signal });
      answer.show({ ok: true, text: `Switchboard may now use the server “${server}” for you.` });
      return withoutTokens(issuer, tokens);
    } catch (error) {
      answer.show({ ok: false, text: messageOf(error) });
      throw error;
    }
  } catch (error) {
    throw signal.aborted ? stopped(server) : error;
  } finally {
    await callback?.close();
  }
}

/**
 * The server announces the scopes that everyone needs. Further scopes that this user needs were recorded when it asked
 * for them.
 */
function withWanted(found: Discovered, stored: Credentials | undefined): Discovered {
  if (stored?.wanted === undefined) return found;
  const held = isSameIssuer(stored.issuer, found.issuer) ? stored.tokens?.scope : undefined;
  return { ...found, scope: joinScopes(found.scope, held, stored.wanted) };
}

/**
 * Throws unless the issuer's metadata announces PKCE: without it, a stolen code is enough to log in. An issuer without
 * metadata predates the announcement; the protocol requires such issuers to accept PKCE.
 */
function checkProof(server: string, { issuer, metadata }: Discovered): void {
  if (metadata === undefined || metadata.code_challenge_methods_supported?.includes('S256') === true) return;
  throw noFlow(server, issuer);
}

function noFlow(server: string, issuer: string, cause?: unknown): SwitchboardError {
  const message =
    `Cannot log in to server '${server}': its issuer ${issuer} does not offer the authorization ` +
    'code flow with PKCE (S256).';
  return new SwitchboardError('AUTH_FAILED', message, {
    hint: 'If the server accepts another kind of token, set it under "headers" in its entry.',
    cause,
  });
}

/** One attempt to log in. */
interface Attempt {
  readonly options: AuthorizeOptions;
  readonly around: DiscoveryContext;
  readonly found: Discovered;
  readonly client: KnownClient;
  readonly callback: Callback;
  readonly state: string;
  /** The key that the tokens are to be bound to. Default: none. */
  readonly key: ProofKey | undefined;
}

/** Sends the person to the issuer and waits until they come back. */
async function askPerson(
  { options, found, client, callback, state }: Attempt,
  store: CredentialStore,
): Promise<{ readonly answer: CallbackAnswer; readonly verifier: string }> {
  const { issuer, metadata, resource } = found;
  const scope = scopeOf(options, found);
  const { authorizationUrl, codeVerifier } = await startAuthorization(issuer, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: asInformation(client, options.oauth),
    redirectUrl: callback.redirectUri,
    ...(scope === undefined ? {} : { scope }),
    state,
    resource,
  }).catch((error: unknown) => {
    throw noFlow(options.server, issuer, error);
  });
  options.tell(authorizationUrl.href, callback.port);
  if (options.openBrowser) {
    // Not awaited: the person may open the address by hand before the browser starts.
    void openBrowser(authorizationUrl.href).then((opened) => {
      if (!opened) options.log.debug('could not open a browser', { server: options.server });
    });
  }
  try {
    return { answer: await returned(options, callback), verifier: codeVerifier };
  } catch (error) {
    // Perhaps the issuer has forgotten the client and says so only in the browser. The next attempt uses a new client.
    await doubtRegistration(store);
    throw error;
  }
}

/** Rejects when the person takes too long or cancels. */
function returned(
  { server, signal, timeoutMs = TIMEOUT_MS }: AuthorizeOptions,
  callback: Callback,
): Promise<CallbackAnswer> {
  return withTimeout(untilAborted(callback.answer, signal), timeoutMs, () => {
    const message = `The login to ${JSON.stringify(server)} timed out after ${Math.round(timeoutMs / 1000)} s.`;
    throw new SwitchboardError('AUTH_TIMEOUT', message, { hint: 'Run the command again.' });
  });
}

/** Exchanges the code that the browser brought back for tokens. */
async function redeem(
  { options, around, found, client, callback, key }: Attempt,
  { params }: CallbackAnswer,
  verifier: string,
): Promise<Tokens> {
  const { issuer, metadata, resource } = found;
  const { server, oauth } = options;
  const iss = params.get('iss') ?? undefined;
  try {
    // Checked for a refusal, too: no other issuer may have a say here.
    validateAuthorizationResponseIssuer({
      iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported:
        (metadata as Readonly<Record<string, unknown>> | undefined)
          ?.authorization_response_iss_parameter_supported === true,
    });
    const code = params.get('code');
    if (params.has('error') || code === null) throw refusal(server, params);
    const given = await exchangeAuthorization(issuer, {
      ...(metadata === undefined ? {} : { metadata }),
      clientInformation: asInformation(client, oauth),
      authorizationCode: code,
      ...(iss === undefined ? {} : { iss }),
      codeVerifier: verifier,
      redirectUri: callback.redirectUri,
      resource,
      fetchFn: key === undefined ? around.fetch : key.fetch(around.fetch),
    });
    return asTokens(given, { scope: scopeOf(options, found), key, dpop: oauth.dpop });
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    // Without its cause, which may repeat the issuer's whole response.
    throw new SwitchboardError(
      'AUTH_FAILED',
      `The login to ${JSON.stringify(server)} failed at ${issuer}: ${reasonOf(error)}.`,
      { hint: 'Try again. If it keeps failing, contact the operator of the server.' },
    );
  }
}

function refusal(server: string, params: URLSearchParams): SwitchboardError {
  const code = codeOf(params.get('error') ?? 'no code');
  const said = printableLine(params.get('error_description') ?? '').slice(0, 200);
  const why = said === '' ? code : `${code} (${said})`;
  const login = `The login to ${JSON.stringify(server)}`;
  if (code === 'access_denied')
    return new SwitchboardError('AUTH_DENIED', `${login} was refused: ${why}.`, {
      hint: 'Run the command again and approve the login in the browser.',
    });
  return new SwitchboardError('AUTH_FAILED', `${login} failed: ${why}.`, {
    hint: code === 'invalid_scope' ? 'Set another "scope" under "oauth".' : 'Run the command again.',
  });
}

/**
 * The scopes to request: those the user configured; otherwise those the server announces, plus the one for staying
 * logged in.
 */
function scopeOf({ oauth }: LoginOptions, { scope, metadata }: Discovered): string | undefined {
  if (oauth.scope !== undefined) return oauth.scope;
  if (scope === undefined || scope.split(' ').includes('offline_access')) return scope;
  return metadata?.scopes_supported?.includes('offline_access') === true ? `${scope} offline_access` : scope;
}

function checkDescription(address: string | undefined): void {
  if (address === undefined) return;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol === 'https:' && url.pathname !== '/') return;
  throw new SwitchboardError('AUTH_CLIENT', '"clientMetadataUrl" is not an https address with a path.', {
    hint: 'Issuers fetch the client metadata from it. Omit it to register the client instead.',
  });
}

/** The port of our registered redirect URI. */
function portOf(client: KnownClient | undefined): number | undefined {
  if (client === undefined || !URL.canParse(client.redirectUri)) return undefined;
  return Number(new URL(client.redirectUri).port) || undefined;
}

async function doubtRegistration(store: CredentialStore): Promise<void> {
  const mark = async (): Promise<void> => {
    const stored = await store.read();
    if (stored?.client?.kind === 'registered')
      await store.write({ ...stored, client: { ...stored.client, doubtful: true } });
  };
  // The person should see the original error, not this one.
  await store.locked(mark, { timeoutMs: 1000 }).catch(() => undefined);
}

function stopped(server: string): SwitchboardError {
  return new SwitchboardError('AUTH_STOPPED', `The login to ${JSON.stringify(server)} was cancelled.`);
}
