import type { Session } from './session.ts';

/** The subscriptions to resources of one source, with the URI that each client uses. */
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

  /** Returns whether no client is subscribed to this resource any more. */
  remove(uri: string, session: Session): boolean {
    const clients = this.#byUri.get(uri);
    if (clients === undefined) return true;
    clients.delete(session);
    if (clients.size > 0) return false;
    this.#byUri.delete(uri);
    return true;
  }

  /**
   * Takes over the subscriptions of some clients from a source that this one replaces. Returns the URIs that no client
   * was subscribed to here.
   */
  adopt(other: Subscriptions, isTheirs: (session: Session) => boolean): string[] {
    const before = new Set(this.#byUri.keys());
    for (const [uri, clients] of other.#byUri) {
      for (const [session, knownAs] of clients) if (isTheirs(session)) this.add(uri, session, knownAs);
    }
    return [...this.#byUri.keys()].filter((uri) => !before.has(uri));
  }

  /** Forgets a client that has left; returns the URIs that no other client is subscribed to. */
  leave(session: Session): string[] {
    return this.leaveAll((each) => each === session);
  }

  /** The same for several clients, or for some of their subscriptions. */
  leaveAll(isOne: (session: Session, uri: string) => boolean): string[] {
    return [...this.#byUri].flatMap(([uri, clients]) => {
      const leaving = [...clients.keys()].filter((session) => isOne(session, uri));
      return leaving.map((session) => this.remove(uri, session)).includes(true) ? [uri] : [];
    });
  }

  has(uri: string, session: Session): boolean {
    return this.#byUri.get(uri)?.has(session) === true;
  }

  /** The clients subscribed to this URI or a URI above it, each with the URI it uses. */
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
