import { messageOf } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/with-timeout.ts';
import type { Login, NotRenewed, Renewed } from '../login.ts';
import {
  authorizationOf,
  endsWithin,
  isMadeFor,
  joinScopes,
  MAX_SCOPE_CHARS,
  tokenIn,
  type Credentials,
  type LoggedIn,
  type LoginOptions,
  type Tokens,
} from './credentials.ts';
import type { ProofKey } from './dpop.ts';
import type { Renewal } from './renew.ts';
import { createStore } from './store.ts';
import { summaryOf } from './summary.ts';

/** A token is renewed when it expires within this time, in milliseconds. */
const MARGIN = 60_000;
/** How long a token that is still valid is not renewed again after a failed renewal, in milliseconds. */
const PAUSE = 10_000;
/** The same for a token that is no longer valid: not at every request, but soon. */
const BRIEF_PAUSE = 2000;
/**
 * How long requests wait for a renewal, in milliseconds. Shorter than the start timeout of a server, so that the reason
 * is reported. The renewal itself continues.
 */
const TIMEOUT_MS = 5000;
/** Limit for recording the scopes that a server wants, in milliseconds: a request waits for it. */
const NOTE_TIMEOUT_MS = 1000;

/**
 * The stored login to a server, renewed when necessary: once, however many requests ask, here or in other processes.
 * Never asks a person; where one is needed, there is no token. Does nothing until it is used. Requests wait `timeoutMs`
 * milliseconds for a renewal (default 5000).
 */
export function createLogin(options: LoginOptions, timeoutMs = TIMEOUT_MS): Login {
  const { server, oauth, log } = options;
  const store = createStore(options);
  let renewing: Promise<Renewed> | undefined;
  let failed: { readonly at: number; readonly reason: string } | undefined;

  let takingOver: Promise<void> | undefined;
  /** Rejects if the keychain does not answer. */
  const current = async (): Promise<Credentials | undefined> => {
    const stored = await withTimeout(store.read(), timeoutMs, () => {
      throw new Error('the keychain has not responded yet');
    });
    if (stored === undefined || !isMadeFor(oauth, summaryOf(stored))) return undefined;
    takingOver ??= store
      .takeOver()
      .catch((error: unknown) =>
        log.debug('the login stays in its file', { server, reason: messageOf(error) }),
      );
    return stored;
  };

  let key: ProofKey | undefined;
  /** The key of the login; undefined if its tokens are not bound to one. */
  const currentKey = async (): Promise<ProofKey | undefined> => keyOf((await current())?.tokens);
  const keyOf = async ({ proofKey: secret }: Partial<Tokens> = {}): Promise<ProofKey | undefined> => {
    if (secret === undefined) return undefined;
    const { ProofKey } = await import('./dpop.ts');
    if (key?.secret !== secret) key = new ProofKey(secret);
    return key;
  };

  /** The stored token, if it is not the refused one and has not expired. */
  const another = async (stale: string | undefined): Promise<Renewed | undefined> => {
    const tokens = (await current())?.tokens;
    return tokens !== undefined && tokens.access !== stale && !endsWithin(tokens, 0)
      ? renewedTo(tokens)
      : undefined;
  };

  /** Why no renewal is attempted now, if the last one failed less than this many milliseconds ago. */
  const resting = (ms: number): string | undefined =>
    failed !== undefined && performance.now() < failed.at + ms ? failed.reason : undefined;

  const unavailable = (reason: string): NotRenewed => {
    failed = { at: performance.now(), reason };
    return { kind: 'unavailable', reason };
  };

  const renewUnderLock = async (stale: string | undefined, challenge?: string): Promise<Renewed> => {
    // Another process may have renewed it while we waited.
    const found = await another(stale);
    if (found !== undefined) return found;
    const credentials = await current();
    if (credentials?.tokens?.refresh === undefined) return PERSON;
    const { renew: askIssuer } = await import('./renew.ts');
    const renewal = await askIssuer(options, credentials, await keyOf(credentials.tokens), challenge);
    if (renewal.kind === 'renewed') {
      await store.write({ ...credentials, tokens: renewal.tokens });
      failed = undefined;
      log.debug('the login was renewed', { server });
      return renewedTo(renewal.tokens);
    }
    // The lock does not work between containers that share the state directory.
    const renewedElsewhere = await another(stale);
    if (renewedElsewhere !== undefined) return renewedElsewhere;
    const { client, issuer } = credentials;
    log.warn(said(renewal), { server, issuer });
    if (renewal.kind === 'failed') return unavailable(`its issuer ${issuer}: ${renewal.reason}`);
    if (renewal.kind === 'over')
      await store.write({
        ...credentials,
        tokens: undefined,
        client: renewal.clientToo ? undefined : client,
      });
    return PERSON;
  };

  const renew = (stale: string | undefined, challenge?: string): Promise<Renewed> => {
    renewing ??= withTimeout(
      store
        .locked(() => renewUnderLock(stale, challenge))
        .catch((error: unknown) => {
          log.warn('the login could not be renewed', { server, reason: messageOf(error) });
          return unavailable(endOfSentence(error));
        })
        .finally(() => (renewing = undefined)),
      timeoutMs,
      () => LATE,
      { ref: false },
    );
    return renewing;
  };

  /** Records the scopes that the server wants, so that the next login requests them. */
  const note = async (scope: string): Promise<void> => {
    const isNoted = (stored: Credentials | undefined): boolean =>
      stored === undefined || joinScopes(stored.wanted, scope) === stored.wanted;
    const write = async (): Promise<void> => {
      const stored = await current();
      if (stored === undefined || isNoted(stored)) return;
      // Issuers may limit a client to the scopes it was registered for.
      const client =
        stored.client?.kind === 'registered' ? { ...stored.client, doubtful: true } : stored.client;
      await store.write({ ...stored, client, wanted: joinScopes(stored.wanted, scope) });
    };
    if (isNoted(await current())) return;
    await store.locked(write, { timeoutMs: NOTE_TIMEOUT_MS }).catch((error: unknown) => {
      log.warn('could not store the permissions that the server requires', {
        server,
        reason: messageOf(error),
      });
    });
  };

  return {
    async authorization() {
      // Without a token the server refuses the request, and `renewed` says why there is none.
      const tokens = (await current().catch(() => undefined))?.tokens;
      if (tokens === undefined) return undefined;
      if (!endsWithin(tokens, MARGIN)) return authorizationOf(tokens);
      const isOver = endsWithin(tokens, 0);
      const rests = resting(isOver ? BRIEF_PAUSE : PAUSE) !== undefined;
      const renewed = tokens.refresh === undefined || rests ? PERSON : await renew(tokens.access);
      if (renewed.kind === 'renewed') return renewed.authorization;
      // It is still valid for a moment, unless it turned out to be revoked.
      const revoked = (await current().catch(() => undefined))?.tokens?.access !== tokens.access;
      return isOver || revoked ? undefined : authorizationOf(tokens);
    },
    async proof({ authorization, ...request }) {
      // Without a proof the server refuses the request, and `renewed` says why there is none.
      const held = await currentKey().catch(() => undefined);
      return held?.proof({ ...request, token: tokenIn(authorization) });
    },
    async renewed(refused, challenge) {
      try {
        const stale = refused && tokenIn(refused);
        const found = await another(stale);
        if (found !== undefined) return found;
        // Only a person can grant more scopes.
        if (wantsRights(challenge)) {
          const scope = rightsIn(challenge);
          const configured = oauth.scope !== undefined;
          if (scope !== undefined && !configured) await note(scope);
          return { kind: 'rights', scope, configured };
        }
        if ((await current())?.tokens?.refresh === undefined) return PERSON;
        const reason = resting(BRIEF_PAUSE);
        if (reason !== undefined) return { kind: 'unavailable', reason };
        const renewed = await renew(stale, challenge);
        return renewed.kind === 'renewed' && renewed.authorization === refused ? PERSON : renewed;
      } catch (error) {
        return { kind: 'unavailable', reason: endOfSentence(error) };
      }
    },
  };
}

const PERSON: NotRenewed = { kind: 'person' };
const LATE: NotRenewed = { kind: 'unavailable', reason: 'its issuer has not responded yet' };

function endOfSentence(error: unknown): string {
  return messageOf(error).replace(/^The /, 'the ').replace(/\.$/, '');
}

function renewedTo(tokens: Tokens): Renewed {
  return { kind: 'renewed', authorization: authorizationOf(tokens) };
}

function said(renewal: Exclude<Renewal, { kind: 'renewed' }>): string {
  switch (renewal.kind) {
    case 'over':
      return `the login has expired: ${renewal.reason}`;
    case 'moved':
      return 'the server now uses another issuer, so the stored login is not renewed';
    case 'failed':
      return `the login could not be renewed: ${renewal.reason}`;
  }
}

/** Whether a server refuses a request because scopes are missing. */
function wantsRights(challenge: string | undefined): boolean {
  return /\binsufficient_scope\b/i.test(challenge ?? '');
}

/** The scopes that the server then names, separated by spaces; undefined if it names none that can be requested. */
function rightsIn(challenge: string | undefined): string | undefined {
  const [, quoted, plain] = /\bscope=(?:"([^"]*)"|([^\s,"]+))/i.exec(challenge ?? '') ?? [];
  const scope = (quoted ?? plain ?? '').trim().replace(/ +/g, ' ');
  return scope.length <= MAX_SCOPE_CHARS && SCOPE.test(scope) ? scope : undefined;
}

const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The state of the login to a server, as far as it is known without a request. */
export type LoginState =
  | { readonly kind: 'none' }
  /** `expired`: the token has expired and cannot be renewed. */
  | ({ readonly kind: 'logged-in' | 'expired' } & LoggedIn);

export function loginState(options: LoginOptions): LoginState {
  const stored = createStore(options).summary();
  if (stored?.login === undefined || !isMadeFor(options.oauth, stored)) return { kind: 'none' };
  const { login } = stored;
  const expired = endsWithin(login, 0) && !login.renewable;
  return { kind: expired ? 'expired' : 'logged-in', ...login };
}
