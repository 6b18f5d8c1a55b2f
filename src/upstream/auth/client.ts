// Deprecated in favour of client metadata documents, but still all that most issuers support.

import { registerClient, RegistrationRejectedError } from '@modelcontextprotocol/client';
import { SwitchboardError } from '../../shared/errors.ts';
import { VERSION } from '../../shared/version.ts';
import type { Credentials, KnownClient, OAuthOptions } from './credentials.ts';
import { isSameIssuer, type Discovered, type DiscoveryContext } from './discovery.ts';
import { reasonOf } from './oauth.ts';

/** Our client at an issuer: the configured one, otherwise the client metadata document, otherwise a registered one. */
export async function chooseClient(options: ClientChoice): Promise<KnownClient> {
  const { around, found, oauth, scope, stored, redirectUri } = options;
  const { clientId, clientMetadataUrl } = oauth;
  if (clientId !== undefined) return { kind: 'configured', id: clientId, redirectUri };
  const takesDocuments = found.metadata?.client_id_metadata_document_supported === true;
  if (clientMetadataUrl !== undefined && takesDocuments)
    return { kind: 'document', id: clientMetadataUrl, redirectUri };
  if (stored?.client?.kind === 'registered' && isSameIssuer(stored.issuer, found.issuer)) {
    const before = stored.client;
    const over = before.secretExpiresAt !== undefined && before.secretExpiresAt <= Date.now();
    if (before.redirectUri === redirectUri && !over && before.doubtful !== true) return before;
  }
  return register(around, found, redirectUri, scope);
}

interface ClientChoice {
  readonly around: DiscoveryContext;
  readonly found: Discovered;
  readonly oauth: OAuthOptions;
  /** The scopes that will be requested: issuers may limit a client to those it was registered for. Default: none. */
  readonly scope: string | undefined;
  /** What is stored from an earlier login. */
  readonly stored: Credentials | undefined;
  /** Where the issuer sends the browser after a login. */
  readonly redirectUri: string;
}

async function register(
  { server, fetch }: DiscoveryContext,
  { issuer, metadata }: Discovered,
  redirectUri: string,
  scope: string | undefined,
): Promise<KnownClient> {
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new SwitchboardError('AUTH_CLIENT', `${issuer} does not support dynamic client registration.`, {
      hint: `Register a client there with the redirect URI http://127.0.0.1/callback, and set its ID for the server ${JSON.stringify(server)} as "oauth": { "clientId": "…" }.`,
    });
  }
  try {
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    const made = await registerClient(issuer, {
      ...(metadata === undefined ? {} : { metadata }),
      clientMetadata: {
        client_name: 'Switchboard',
        software_id: 'mcp-switchboard',
        software_version: VERSION,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        application_type: 'native',
        token_endpoint_auth_method: authMethod(metadata?.token_endpoint_auth_methods_supported),
        ...(scope === undefined ? {} : { scope }),
      },
      fetchFn: fetch,
    });
    const ends = made.client_secret_expires_at ?? 0;
    return {
      kind: 'registered',
      id: made.client_id,
      secret: made.client_secret,
      // A secret with 0 never expires, and neither does one with an invalid date.
      secretExpiresAt: ends > 0 && ends <= 8.64e12 ? ends * 1000 : undefined,
      authMethod: made.token_endpoint_auth_method,
      redirectUri,
    };
  } catch (error) {
    const why =
      error instanceof RegistrationRejectedError
        ? `it responded with status ${error.status}`
        : reasonOf(error);
    // Without its cause, which contains the whole request and response.
    throw new SwitchboardError('AUTH_CLIENT', `${issuer} did not register Switchboard as a client: ${why}.`, {
      hint: 'Register a client there yourself, and set its ID as "oauth": { "clientId": "…" }.',
    });
  }
}

/** A program on a user's machine cannot keep a secret, but some issuers insist on one. */
function authMethod(supported: readonly string[] | undefined): string {
  if (supported === undefined || supported.length === 0 || supported.includes('none')) return 'none';
  return supported.includes('client_secret_basic') ? 'client_secret_basic' : 'client_secret_post';
}
