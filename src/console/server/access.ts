import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** How long a link is valid, in milliseconds, and how many unused links are kept. */
const LINK_MS = 10 * 60 * 1000;
const MOST_LINKS = 8;
/** How many browsers are logged in at a time. */
const MOST_SESSIONS = 64;

/** Who may use a console: a link that works once gives a browser a cookie. Only the hashes of both are stored. */
export class ConsoleAccess {
  /** When each link expires. */
  readonly #links = new Map<string, number>();
  readonly #sessions = new Set<string>();

  /** A secret for a link that works once. */
  newLink(): string {
    const secret = randomBytes(24).toString('base64url');
    this.#links.set(hash(secret), Date.now() + LINK_MS);
    keepNewest(this.#links, MOST_LINKS);
    return secret;
  }

  /** Exchanges the secret of a link for the secret of a cookie; undefined if the link is not valid, or no longer. */
  redeem(link: string): string | undefined {
    const key = hash(link);
    const until = this.#links.get(key);
    this.#links.delete(key);
    if (until === undefined || until < Date.now()) return undefined;
    const secret = randomBytes(32).toString('base64url');
    this.#sessions.add(hash(secret));
    keepNewest(this.#sessions, MOST_SESSIONS);
    return secret;
  }

  admits(cookie: string | undefined): boolean {
    if (cookie === undefined || cookie.length > 200) return false;
    const given = Buffer.from(hash(cookie));
    let found = false;
    for (const known of this.#sessions) if (timingSafeEqual(given, Buffer.from(known))) found = true;
    return found;
  }
}

function hash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

function keepNewest(
  kept: { readonly size: number; keys(): Iterable<string>; delete(key: string): boolean },
  most: number,
): void {
  for (const key of kept.keys()) {
    if (kept.size <= most) return;
    kept.delete(key);
  }
}
