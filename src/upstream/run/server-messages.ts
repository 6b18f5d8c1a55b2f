import type { Logger } from '../../shared/log.ts';
import type { ClientLink, Session } from '../../gateway/index.ts';
import { kindsChangedBy, Server, type CatalogKind } from '../../protocol/index.ts';
import type { Message } from '../../wire/index.ts';
import { withoutSubscriptionId } from '../modern/change-stream.ts';
import { callersAt, PendingCall } from '../calls/pending-call.ts';
import type { ServerRun } from './server-run.ts';
import type { Modern } from '../modern/modern.ts';
import type { Tasks } from '../calls/tasks.ts';

export interface ServerMessagesOptions {
  /** The server's name. */
  readonly server: string;
  readonly log: Logger;
  /** Several clients use the server, so it is not slowed down for one of them. */
  readonly shared: boolean;
  readonly tasks: Tasks;
  /** Output waiting for the server beyond which it gets no more answers, in bytes. */
  readonly unreadLimit: number;
  /** One of the server's lists has changed. */
  readonly changed: (kind: CatalogKind) => void;
  /** A notification that belongs to no call. Returns a client that cannot keep up. */
  readonly notified: (notification: Message, callers: () => ReadonlySet<Session>) => ClientLink | undefined;
  /** Clients that have no call running but that the server may be working for. */
  readonly othersAtWork: () => ReadonlySet<Session>;
}

/** Routes the requests and notifications that a server sends. */
export class ServerMessages {
  readonly #options: ServerMessagesOptions;
  /** The server sends requests without reading the responses, and that has been logged. */
  #unreadLogged = false;

  constructor(options: ServerMessagesOptions) {
    this.#options = options;
  }

  /** A request of the server; most are for a client. */
  request({ peer, serverRequests, modern }: ServerRun, message: Message): void {
    const { server, log, unreadLimit } = this.#options;
    if (peer.transport.backlog > unreadLimit) {
      if (!this.#unreadLogged) log.warn('sends requests without reading the responses', { server });
      this.#unreadLogged = true;
      return;
    }
    if (modern) modern.asked(message);
    else if (message.string(Server.method) === 'ping') peer.answer(message.text(Server.id)!, {});
    else serverRequests.ask(message);
  }

  /** `requestId`: the request of ours on whose response stream it arrived, if known. */
  notified(run: ServerRun, message: Message, requestId: number | undefined): void {
    const { modern } = run;
    if (modern && message.string(Server.method) === 'notifications/message') {
      this.#slowedBy(this.#logged(modern, message, requestId), run);
      return;
    }
    const heard = modern ? modern.listening.heard(message) : message;
    if (heard !== undefined) this.#heard(run, heard);
  }

  #heard(run: ServerRun, message: Message): void {
    const { peer, serverRequests, modern } = run;
    const { tasks, changed, notified, othersAtWork } = this.#options;
    const method = message.string(Server.method)!;
    if (method === 'notifications/progress') {
      const token = message.integer(Server.progressToken);
      const listener = peer.pendingFor(token);
      if (listener instanceof PendingCall) listener.progress(message);
      else if (listener === undefined) tasks.get(token)?.progress(message);
    } else if (method === 'notifications/cancelled') {
      const id = message.text(Server.requestId);
      if (modern) modern.listening.cancelled(message.integer(Server.requestId));
      else if (id !== undefined) serverRequests.withdraw(id, 'The server withdrew its request.');
    } else {
      const kinds = kindsChangedBy(method);
      if (kinds.length > 0) for (const kind of kinds) changed(kind);
      else {
        const callers = (): Set<Session> => new Set([...callersAt(peer), ...othersAtWork()]);
        this.#slowedBy(notified(message, callers), run);
      }
    }
  }

  /** A log message of a modern server goes to the call that asked for it. If none did, it is dropped. */
  #logged(modern: Modern, message: Message, requestId: number | undefined): ClientLink | undefined {
    const call = modern.logged(message, requestId);
    const plain = withoutSubscriptionId(message);
    if (call === undefined) {
      const listeners = modern.listeners();
      return listeners.size === 0 ? undefined : this.#options.notified(plain, () => listeners);
    }
    call.notify(plain, []);
    return call.session.client.congested ? call.session.client : undefined;
  }

  /** A client that reads slowly slows the server down, not our memory up. */
  #slowedBy(slow: ClientLink | undefined, { peer }: ServerRun): void {
    if (slow === undefined || this.#options.shared) return;
    peer.transport.pause();
    slow.whenDrained(() => peer.transport.resume());
  }
}
