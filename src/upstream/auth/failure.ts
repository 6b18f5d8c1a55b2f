import { SwitchboardError } from '../../shared/errors.ts';
import { printableLine } from '../../shared/printable.ts';
import { IssuerMismatchError, OAuthError } from './oauth.ts';

/**
 * What went wrong with an issuer, in few words that hold no secret: of what it answered only its own code is repeated,
 * since the rest may contain anything.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof SwitchboardError) return error.message.replace(/\.$/, '');
  if (error instanceof IssuerMismatchError) return 'the response comes from another issuer';
  const status = error instanceof Error ? /^HTTP (\d{3})/.exec(error.message)?.[1] : undefined;
  if (status !== undefined) return `it responded with status ${status}`;
  if (error instanceof OAuthError) return `it responded with ${codeOf(error.code)}`;
  return 'its response is invalid';
}

/** An error code as it may be shown, for example access_denied. */
export function codeOf(code: string): string {
  return printableLine(code).slice(0, 60);
}
