import { SwitchboardError } from '../../shared/errors.ts';
import type { Call, SourceInfo } from '../../gateway/index.ts';
import { Client, Server, SERVER_SHAPE, type JsonObject, type CatalogKind } from '../../protocol/index.ts';
import {
  editedString,
  excerptOf,
  Message,
  RpcCode,
  withMembers,
  type Edit,
  type Excerpt,
  type Peer,
} from '../../wire/index.ts';
import type { ServerSetup } from '../context.ts';
import { hasModernMeta, metaWith, renamed, paramsWithMeta, metaEdits } from '../handshake/request-meta.ts';
import { ChangeStream } from './change-stream.ts';
import type { RetryParams } from './input-loop.ts';

export interface ModernOptions {
  readonly setup: ServerSetup;
  readonly peer: Peer;
  /** What the server reports about itself. */
  readonly about: SourceInfo;
  /** Called when one of the server's lists may have changed. */
  readonly changed: (kind: CatalogKind) => void;
}

/** What is different about a run of a modern server. */
export class Modern {
  readonly listening: ChangeStream;
  readonly #options: ModernOptions;
  readonly #clientInfo: string;
  /** The same as bytes, because nearly every call contains it. */
  readonly #clientBytes: Excerpt;
  /** The metadata of an earlier request, and the same with our name in it. */
  #repeated: object | undefined;
  #metaBytes: Excerpt;
  /** Whether it has been reported that the server sends requests, which it must not. */
  #asks = false;

  constructor(options: ModernOptions) {
    this.#options = options;
    // The type of a result is one of the rare members, and every response has it.
    options.peer.transport.readRareMembers();
    this.#clientInfo = JSON.stringify(options.setup.context.identity().clientInfo);
    this.#clientBytes = this.#metaBytes = excerptOf(this.#clientInfo);
    this.listening = new ChangeStream(options, (params) => this.stamped(params));
  }

  /** The params of one of our own requests, with its metadata. */
  stamped(params: JsonObject | undefined): JsonObject {
    return paramsWithMeta(params, this.#options.setup.context.identity());
  }

  /** The edits with which a client's call is sent; undefined if it has been answered or failed instead. */
  prepare(call: Call, edits: Edit[], carried: RetryParams | undefined): Edit[] | undefined {
    // The previous runner has finished with the call, even if it is not sent.
    call.runBy(undefined);
    if (call.method !== 'tools/call' && this.#answers(call, edits)) return undefined;
    const stamped = this.#stampEdits(call, edits, carried);
    if (!(stamped instanceof SwitchboardError)) return stamped;
    call.fail(stamped);
    return undefined;
  }

  #stampEdits(
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

  /** The edits of a request that already has complete metadata. */
  #renamed(request: Message, edits: readonly Edit[]): Edit[] {
    // The next request mostly has the same metadata, so all of it is inserted at once. Not if it contains a progress
    // token, which is replaced as well: two edits must not overlap.
    if (request.memoized !== undefined && !request.has(Client.progressToken)) {
      this.#repeated = request.memoized;
      this.#metaBytes = metaWith(this.#clientInfo, request);
    }
    return renamed(request, edits, Client.clientInfo, this.#clientBytes);
  }

  /** Answers a request whose method the server no longer has. Returns whether it did. */
  #answers(call: Call, edits: readonly Edit[]): boolean {
    const answer = this.#own(call.method, () => editedString(call.request, Client.uri, edits));
    void answer?.then((problem) => {
      if (problem) call.fail(problem);
      else call.succeed({});
    });
    return answer !== undefined;
  }

  /** The same for our own requests. */
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
      const message = `Server '${this.#options.setup.server.name}' does not report changes to individual resources.`;
      return new SwitchboardError('METHOD_UNKNOWN', message);
    }
    if (method === 'resources/subscribe') await this.listening.subscribe(uri);
    else this.listening.unsubscribe(uri);
    return undefined;
  }

  /** A request from the server, which this era does not have. */
  asked(request: Message): void {
    const { setup, peer } = this.#options;
    const { name: server, target } = setup.server;
    const method = request.requiredString(Server.method).slice(0, 200);
    if (!this.#asks)
      setup.context.log.warn('sent a request to its client, which its protocol version forbids', {
        server,
        method,
      });
    this.#asks = true;
    // Over HTTP there is no way to answer it.
    if (target.kind === 'process')
      peer.fail(request.text(Server.id), RpcCode.methodNotFound, `Method not found: ${method}`);
  }
}

/** Whether the client of a call is of the modern era. */
export function isModern({ session }: Call): boolean {
  return session.client.modern === true;
}

/**
 * A modern server's response for a client of the earlier era: without the members that say how it may be cached and
 * what type it has. Clients of that era validate results against schemas that may not allow them. Everything else keeps
 * its text. Call accepts a response, not edits, so the bytes are written again; only calls between the eras pay for
 * that.
 */
export function legacyAnswer(answer: Message, call: Call): Message {
  if (![Server.resultType, Server.ttlMs, Server.cacheScope].some((slot) => answer.has(slot))) return answer;
  if (answer.has(Server.resultType) && answer.string(Server.resultType) !== 'complete')
    return unknownResult(answer, call);
  const result = withMembers(answer.requiredText(Server.result), {
    resultType: undefined,
    ttlMs: undefined,
    cacheScope: undefined,
  });
  return Message.fromText(withMembers(answer.toString(), { result }), SERVER_SHAPE);
}

/**
 * The error for such a client if the result is of a type that it cannot know, such as a task that it did not request.
 */
function unknownResult(answer: Message, call: Call): Message {
  const type = answer.requiredText(Server.resultType).slice(0, 100);
  const what = type === '"task"' ? 'a task' : `a result of type ${type}`;
  const message = `${call.subject()} returned ${what}, which the client does not support: it uses an older protocol version.`;
  const id = answer.integer(Server.id);
  return Message.from({ jsonrpc: '2.0', id, error: { code: RpcCode.serverError, message } }, SERVER_SHAPE);
}
