import type { Session } from './session.ts';

/** Who wants to hear of changes to which resource of one source, and under which URI each knows it. */
export class Subscriptions {
  /** By the source's own URI, then by client. */
  readonly #byUri = new Map<string, Map<Session, string>>();

  get size(): number {
    return this.#byUri.size;
  }

  add(uri: string, session: Session, knownAs: string): void {
    const clients = this.#byUri.get(uri) ?? new Map<Session, string>();
    this.#byUri.set(uri, clients);
    clients.set(session, knownAs);
  }

  /** Returns whether nobody is left who wants to hear of this resource. */
  remove(uri: string, session: Session): boolean {
    const clients = this.#byUri.get(uri);
    if (clients === undefined) return true;
    clients.delete(session);
    if (clients.size > 0) return false;
    this.#byUri.delete(uri);
    return true;
  }

  /** Takes over what these clients wanted to hear of a source that this one replaces. */
  adopt(other: Subscriptions, sessions: ReadonlySet<Session>): void {
    for (const [uri, clients] of other.#byUri) {
      for (const [session, knownAs] of clients) if (sessions.has(session)) this.add(uri, session, knownAs);
    }
  }

  /** Forgets a client that has left; returns the URIs nobody else wants to hear of. */
  leave(session: Session): string[] {
    return [...this.#byUri].flatMap(([uri, clients]) =>
      clients.has(session) && this.remove(uri, session) ? [uri] : [],
    );
  }

  has(uri: string, session: Session): boolean {
    return this.#byUri.get(uri)?.has(session) === true;
  }

  /** The clients that want to hear of a change to this URI, each with the URI it knows it by. */
  subscribersOf(uri: string): ReadonlyMap<Session, string> {
    const exact = this.#byUri.get(uri);
    if (exact) return exact;
    const clients = new Map<Session, string>();
    for (const [whole, subscribers] of this.#byUri) {
      if (!uri.startsWith(whole.endsWith('/') ? whole : `${whole}/`)) continue;
      for (const [session, knownAs] of subscribers) clients.set(session, knownAs + uri.slice(whole.length));
    }
    return clients;
  }

  uris(): Iterable<string> {
    return this.#byUri.keys();
  }
}
