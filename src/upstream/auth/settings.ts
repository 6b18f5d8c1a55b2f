import type { RemoteDefinition } from '../../config/index.ts';
import type { Logger } from '../../shared/log.ts';

/** What the configuration says about logging in to a server. */
export type OAuthSettings = Exclude<RemoteDefinition['oauth'], false>;

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
