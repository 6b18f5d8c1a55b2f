import { withFileLock } from '../../process/index.ts';
import { messageOf } from '../../shared/errors.ts';
import type { Login } from '../login.ts';
import { endsWithin, isMadeFor, type Credentials } from './credentials.ts';
import type { Renewal } from './renew.ts';
import type { LoginOptions } from './settings.ts';
import { createStore } from './store.ts';

/** A token is renewed when it has no more than this left, in milliseconds. */
const MARGIN = 60_000;
/** After a renewal that failed, a token that is still good is not renewed again for so long, in milliseconds. */
const PAUSE = 10_000;

/**
 * The stored login to a server, renewed when it is time: once, however many ask, here or in other processes. A person is
 * never asked here; where one is needed there is no token. Costs nothing before it is used.
 */
export function createLogin(options: LoginOptions): Login {
  const { server, oauth, log } = options;
  const store = createStore(options);
  let renewing: Promise<string | undefined> | undefined;
  let restingUntil = 0;

  const current = (): Credentials | undefined => {
    const stored = store.read();
    return stored !== undefined && isMadeFor(oauth, stored) ? stored : undefined;
  };

  /** What is stored now, if it is not the one that is no good and not over. */
  const another = (stale: string | undefined): string | undefined => {
    const tokens = current()?.tokens;
    return tokens !== undefined && tokens.access !== stale && !endsWithin(tokens, 0)
      ? tokens.access
      : undefined;
  };

  const renewUnderLock = async (
    stale: string | undefined,
    challenge?: string,
  ): Promise<string | undefined> => {
    // Somebody else may have renewed it while we waited.
    const found = another(stale);
    if (found !== undefined) return found;
    const credentials = current();
    if (credentials?.tokens?.refresh === undefined) return undefined;
    const { renew } = await import('./renew.ts');
    const renewal = await renew(options, credentials, challenge);
    if (renewal.kind === 'renewed') {
      store.write({ ...credentials, tokens: renewal.tokens });
      log.debug('the login was renewed', { server });
      return renewal.tokens.access;
    }
    const { client, tokens, ...rest } = credentials;
    if (renewal.kind === 'over') store.write({ ...rest, client: renewal.clientToo ? undefined : client });
    else if (!endsWithin(tokens, 0)) restingUntil = performance.now() + PAUSE;
    log.warn(said(renewal), { server, issuer: credentials.issuer });
    return undefined;
  };

  const renewed = (stale: string | undefined, challenge?: string): Promise<string | undefined> => {
    renewing ??= withFileLock(store.lock, () => renewUnderLock(stale, challenge))
      .catch((error: unknown) => {
        log.warn('the login could not be renewed', { server, reason: messageOf(error) });
        return undefined;
      })
      .finally(() => (renewing = undefined));
    return renewing;
  };

  return {
    async authorization() {
      const tokens = current()?.tokens;
      if (tokens === undefined) return undefined;
      if (!endsWithin(tokens, MARGIN)) return header(tokens.access);
      const isOver = endsWithin(tokens, 0);
      if (!isOver && performance.now() < restingUntil) return header(tokens.access);
      const access = tokens.refresh === undefined ? undefined : await renewed(tokens.access);
      if (access !== undefined) return header(access);
      // It is good for a moment yet, unless it turned out to be revoked.
      const revoked = current()?.tokens?.access !== tokens.access;
      return isOver || revoked ? undefined : header(tokens.access);
    },
    async renewed(refused, challenge) {
      const stale = refused?.replace(/^Bearer +/i, '');
      const found = another(stale);
      if (found !== undefined) return header(found);
      // More rights than were given come from a person only.
      if (challenge !== undefined && /insufficient_scope/.test(challenge)) return undefined;
      if (current()?.tokens?.refresh === undefined) return undefined;
      const access = await renewed(stale, challenge);
      return access === undefined || access === stale ? undefined : header(access);
    },
  };
}

function header(access: string): string {
  return `Bearer ${access}`;
}

function said(renewal: Exclude<Renewal, { kind: 'renewed' }>): string {
  switch (renewal.kind) {
    case 'over':
      return `the login is over: ${renewal.reason}`;
    case 'moved':
      return 'the server has its logins issued by another one now, so the stored login is not renewed';
    case 'failed':
      return `the login could not be renewed: ${renewal.reason}`;
  }
}
