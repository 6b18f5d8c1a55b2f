// The parts of the official SDK that a login needs. It is large: only modules that are loaded on demand may import this.
export {
  checkResourceAllowed,
  discoverAuthorizationServerMetadata,
  discoverOAuthProtectedResourceMetadata,
  exchangeAuthorization,
  extractWWWAuthenticateParams,
  IssuerMismatchError,
  OAuthError,
  refreshAuthorization,
  // Deprecated in favour of client descriptions, and still all that most issuers know.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  registerClient,
  RegistrationRejectedError,
  selectClientAuthMethod,
  startAuthorization,
  validateAuthorizationResponseIssuer,
} from '@modelcontextprotocol/client';
export type {
  AuthorizationServerMetadata,
  OAuthClientInformationMixed,
  OAuthProtectedResourceMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/client';
