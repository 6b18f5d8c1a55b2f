import { isToken, type LoginOptions } from './credentials.ts';
import { discoveryContext } from './discovery.ts';
import { noToken, requestToken } from './token-request.ts';

/** A company identity provider's assertion about a user, made for one issuer (ID-JAG). */
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';

export interface AssertionRequest {
  /** The issuer of the server, which is to accept it. */
  readonly audience: string;
  /** The server's identifier at issuers. */
  readonly resource: string;
  readonly scope: string | undefined;
}

/** Exchanges a user's ID token at the company's identity provider (RFC 8693). */
export async function requestIdentityAssertion(
  { server, log, oauth: { identityProvider, assertion } }: LoginOptions,
  wanted: AssertionRequest,
  signal: AbortSignal,
): Promise<string> {
  if (identityProvider === undefined) throw noToken(server, 'its "oauth" has no "identityProvider"');
  const { tokenEndpoint } = identityProvider;
  if (!URL.canParse(tokenEndpoint))
    throw noToken(server, 'the "tokenEndpoint" of its identity provider is not a URL');
  const endpoint = new URL(tokenEndpoint);
  const issuer = endpoint.origin;
  // The user typed this address, so it may be in the company's network even if the server is not.
  const around = discoveryContext({ server, url: tokenEndpoint, log }, signal);
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    requested_token_type: ID_JAG,
    ...wanted,
    subject_token: assertion,
    subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
  };
  const given = await requestToken(around, { issuer, endpoint, client: identityProvider, form });
  const { issued_token_type: type, access_token: token } = given;
  if (type === ID_JAG && isToken(token)) return token;
  throw noToken(server, `${issuer} returned something else than an identity assertion (ID-JAG)`);
}
