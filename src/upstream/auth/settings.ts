import type { Logger } from '../../shared/log.ts';

/** What the configuration says about logging in to a server. */
export interface OAuthSettings {
  /** The client to log in as. Default: one is registered with the issuer. */
  readonly clientId?: string | undefined;
  /** Its secret. Default: it has none. */
  readonly clientSecret?: string | undefined;
  /** The address of a description of this client, for issuers that take one in the place of a registration. Default none. */
  readonly clientMetadataUrl?: string | undefined;
  /** What to ask for, with spaces between. Default: what the server says is needed. */
  readonly scope?: string | undefined;
  /** The port on this machine that the browser comes back to. Default: any that is free. */
  readonly callbackPort?: number | undefined;
}

/** The server that a login is for. */
export interface LoginOptions {
  /** Its name. */
  readonly server: string;
  readonly url: string;
  readonly oauth: OAuthSettings;
  /** The state directory. */
  readonly directory: string;
  readonly log: Logger;
}
