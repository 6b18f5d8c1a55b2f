import { SwitchboardError } from '../../shared/errors.ts';
import type { Logger } from '../../shared/log.ts';
import type { Call, Session, SourceInfo } from '../../gateway/index.ts';
import { Client, Server, SERVER_SHAPE, type JsonObject, type CatalogKind } from '../../protocol/index.ts';
import {
  editedString,
  excerptOf,
  Message,
  RpcCode,
  type Edit,
  type Excerpt,
  type Peer,
} from '../../wire/index.ts';
import { hasModernMeta, metaWith, renamed, paramsWithMeta, metaEdits } from '../handshake/request-meta.ts';
import { PendingCall, pendingCallsAt } from '../calls/pending-call.ts';
import type { ClientIdentity } from '../handshake/handshake.ts';
import { ChangeStream } from './change-stream.ts';
import type { RetryParams } from './input-loop.ts';

export interface ModernOptions {
  /** The server's name. */
  readonly server: string;
  readonly peer: Peer;
  readonly info: SourceInfo;
  readonly identity: () => ClientIdentity;
  readonly log: Logger;
  /** Over HTTP a request of the server's own gets no answer: there is no way to send one. */
  readonly remote: boolean;
  /** A list of the server's may have changed. */
  readonly changed: (kind: CatalogKind) => void;
}

/** What is different about one life of a server that is of the modern era. */
export class Modern {
  readonly listening: ChangeStream;
  readonly #options: ModernOptions;
  readonly #clientInfo: string;
  /** The same as bytes: nearly every call carries it. */
  readonly #clientBytes: Excerpt;
  /** What a request before has said of its client, and the same with our name in it. */
  #repeated: object | undefined;
  #metaBytes: Excerpt;
  /** True once it was told of that the server asks, which it must not. */
  #asks = false;

  constructor(options: ModernOptions) {
    const { server, peer, log, info, changed } = options;
    this.#options = options;
    // What kind of result it is stands in every answer, among the rare members.
    peer.transport.readRareMembers();
    this.#clientInfo = JSON.stringify(options.identity().clientInfo);
    this.#clientBytes = this.#metaBytes = excerptOf(this.#clientInfo);
    this.listening = new ChangeStream({
      server,
      peer,
      log,
      capabilities: info.capabilities,
      stamped: (params) => this.stamped(params),
      changed,
    });
  }

  /** The params of a request of our own, with the envelope on them. */
  stamped(params: JsonObject | undefined): JsonObject {
    return paramsWithMeta(params, this.#options.identity());
  }

  /** The edits with which a client's call goes out. */
  stampEdits(
    call: Call,
    edits: readonly Edit[],
    carried: RetryParams | undefined,
  ): Edit[] | SwitchboardError {
    const { client, logLevel } = call.session;
    const { request } = call;
    if (client.modern === true && carried === undefined) {
      if (request.memoized !== undefined && request.memoized === this.#repeated)
        return renamed(request, edits, Client.meta, this.#metaBytes);
      if (hasModernMeta(request)) return this.#renamed(request, edits);
    }
    return metaEdits(request, edits, {
      capabilities: client.capabilities,
      clientInfo: this.#clientInfo,
      logLevel,
      keeps: isModern(call),
      ...(carried === undefined ? {} : { more: carried.params }),
    });
  }

  /** The edits of a request that says all of it already. */
  #renamed(request: Message, edits: readonly Edit[]): Edit[] {
    // The next one mostly says the same: then all of it is put in at once. Not where a token for progress stands in it,
    // which is replaced as well, for no two edits may overlap.
    if (request.memoized !== undefined && !request.has(Client.progressToken)) {
      this.#repeated = request.memoized;
      this.#metaBytes = metaWith(this.#clientInfo, request);
    }
    return renamed(request, edits, Client.clientInfo, this.#clientBytes);
  }

  /** Answers what the server has no method for any more. Returns whether that was the case. */
  answers(call: Call, edits: readonly Edit[]): boolean {
    const answer = this.#own(call.method, () => editedString(call.request, Client.uri, edits));
    if (answer === undefined) return false;
    void answer.then((problem) => {
      if (problem) call.fail(problem);
      else call.succeed({});
    });
    return true;
  }

  /** The same for requests of our own. */
  answerTo(method: string, params: JsonObject | undefined): Promise<Message> | undefined {
    const uri = params?.uri;
    const answer = this.#own(method, () => (typeof uri === 'string' ? uri : undefined));
    return answer?.then((problem) => {
      if (problem) throw problem;
      return Message.from({ jsonrpc: '2.0', id: 0, result: {} }, SERVER_SHAPE);
    });
  }

  #own(method: string, uriOf: () => string | undefined): Promise<SwitchboardError | undefined> | undefined {
    switch (method) {
      case 'ping':
      case 'logging/setLevel':
        return Promise.resolve(undefined);
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return this.#subscription(method, uriOf());
    }
    return undefined;
  }

  async #subscription(method: string, uri: string | undefined): Promise<SwitchboardError | undefined> {
    if (uri === undefined)
      return new SwitchboardError('PARAMS_INVALID', `${method} needs a uri, as a string.`);
    if (!this.listening.canSubscribe) {
      const message = `Server '${this.#options.server}' does not report changes to individual resources.`;
      return new SwitchboardError('METHOD_UNKNOWN', message);
    }
    if (method === 'resources/subscribe') await this.listening.subscribe(uri);
    else this.listening.unsubscribe(uri);
    return undefined;
  }

  /** A request of the server's own, which this era does not have. */
  asked(request: Message): void {
    const { server, peer, log, remote } = this.#options;
    const method = request.string(Server.method)!.slice(0, 200);
    if (!this.#asks)
      log.warn('sent a request to its client, which its protocol version forbids', { server, method });
    this.#asks = true;
    if (!remote) peer.fail(request.text(Server.id), RpcCode.methodNotFound, `Method not found: ${method}`);
  }

  /** The clients that a log message may be for: those of running calls that wanted any. */
  listeners(): ReadonlySet<Session> {
    return new Set(this.#wantingLogs().map((call) => call.session));
  }

  /**
   * The call that a log message belongs to: the one on whose response stream it arrived (`requestId`), or the only one
   * that wants log messages.
   */
  logged(message: Message, requestId: number | undefined): Call | undefined {
    const listener = this.#options.peer.pendingFor(requestId ?? message.integer(Server.subscriptionId));
    if (listener instanceof PendingCall) return listener.call;
    const [call, another] = this.#wantingLogs();
    return another === undefined ? call : undefined;
  }

  #wantingLogs(): Call[] {
    return pendingCallsAt(this.#options.peer)
      .map((pending) => pending.call)
      .filter((call) => (isModern(call) ? call.request.has(Client.logLevel) : call.session.logLevel));
  }

  stop(): void {
    this.listening.stop();
  }
}

/** Whether the client of a call is of the modern era. */
export function isModern({ session }: Call): boolean {
  return session.client.modern === true;
}
