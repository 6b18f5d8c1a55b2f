import type { RemoteDefinition } from '../../config/index.ts';
import type { Logger } from '../../shared/log.ts';

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
  readonly log: Logger;
}
