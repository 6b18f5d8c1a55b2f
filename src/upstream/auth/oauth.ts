// The official SDK, as far as a login needs it. It is large; whoever imports this is itself loaded only when needed.
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
