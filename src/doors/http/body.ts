import type { IncomingMessage, ServerResponse } from 'node:http';
import { Client, CLIENT_SHAPE } from '../../protocol/index.ts';
import {
  callFault,
  Envelope,
  fromChunks,
  Message,
  readBatch,
  readMessage,
  faultError,
  RpcCode,
} from '../../wire/index.ts';
import { isJson } from './media.ts';
import { replyError, replyErrorUnread } from './reply.ts';

/** The message of a POST, or the messages of a batch. */
export type PostedMessage = Message | readonly Message[];

export function isBatch(posted: PostedMessage): posted is readonly Message[] {
  return Array.isArray(posted);
}

/**
 * Reads the messages of POSTs. Bodies that arrive in one turn of the event loop are handled together at its end: then all
 * that is sent to a server for them leaves in one write.
 */
export class PostReader {
  readonly #limit: number;
  readonly #failed: (response: ServerResponse, error: unknown) => void;
  #arrived: Post[] = [];

  /** `limit` is the largest body, in bytes; `failed` is called if handling a message throws. */
  constructor(limit: number, failed: (response: ServerResponse, error: unknown) => void) {
    this.#limit = limit;
    this.#failed = failed;
  }

  /**
   * Calls `take` with what was posted, unless the client leaves or gets an error instead. With `whole`, the rare members
   * are found in the same scan.
   */
  read(
    request: IncomingMessage,
    response: ServerResponse,
    whole: boolean,
    take: (posted: PostedMessage) => void,
  ): void {
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (!isJson(headers['content-type'])) replyErrorUnread(request, response, NOT_JSON);
    else if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      replyErrorUnread(request, response, ENCODED);
    // It is a number: node:http has refused anything else.
    else if (Number(headers['content-length'] ?? 0) > this.#limit) this.#refuseSize(request, response);
    else {
      if (headers.expect !== undefined) response.writeContinue();
      this.#readBody(request, { pieces: [], response, whole, take });
    }
  }

  #readBody(request: IncomingMessage, post: Post): void {
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= this.#limit) {
        post.pieces.push(chunk);
        return;
      }
      request.off('data', onData).off('end', onEnd);
      this.#refuseSize(request, post.response);
    };
    const onEnd = (): void => {
      if (this.#arrived.push(post) === 1) setImmediate(() => this.#handleArrived());
    };
    request.on('data', onData).on('end', onEnd);
  }

  #refuseSize(request: IncomingMessage, response: ServerResponse): void {
    const message = `Content too large: the limit for a message is ${this.#limit} bytes.`;
    replyErrorUnread(request, response, { status: 413, code: RpcCode.invalidRequest, message });
  }

  #handleArrived(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    for (const { pieces, response, whole, take } of arrived) {
      try {
        const posted = readPosted(pieces, whole);
        if (typeof posted === 'string') replyError(response, { status: 400, ...faultError(posted) });
        else take(posted);
      } catch (error) {
        this.#failed(response, error);
      }
    }
  }
}

/** A POST, with what has arrived of its body. */
interface Post {
  readonly pieces: Buffer[];
  readonly response: ServerResponse;
  readonly whole: boolean;
  readonly take: (posted: PostedMessage) => void;
}

const NOT_JSON = {
  status: 415,
  message: 'Unsupported media type: send the message as application/json.',
};
const ENCODED = {
  status: 415,
  message: 'Unsupported media type: send the message without a Content-Encoding.',
};

type BodyFault = Parameters<typeof faultError>[0];

/** What a body contains: a message, a batch, or neither. */
function readPosted(pieces: readonly Buffer[], whole: boolean): PostedMessage | BodyFault {
  const message = readOne(pieces, whole);
  if (message !== 'not-an-object') return message;
  const parts = readBatch(Buffer.concat(pieces).toString());
  const batch = parts?.map((text) => readOne([Buffer.from(text)], false));
  return batch?.every((each) => each instanceof Message) ? batch : 'not-an-object';
}

/** Also checks what the core would refuse, while the response is at hand. */
function readOne(pieces: readonly Buffer[], whole: boolean): Message | BodyFault {
  const message = readMessage(fromChunks(pieces), CLIENT_SHAPE, 'content-length', whole);
  if (!(message instanceof Message)) return message.why;
  if (message.has(Client.method)) return callFault(message) ?? message;
  if (message.string(Envelope.jsonrpc) !== '2.0') return 'bad-version';
  return message.has(Envelope.result) || message.has(Envelope.error) ? message : 'not-a-message';
}
