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

/**
 * Reads the messages of POSTs. Bodies that arrive in one turn of the event loop are handled together at its end: then all
 * that is sent to a server for them leaves in one write.
 */
export class PostReader {
  readonly #limit: number;
  readonly #failed: (response: ServerResponse, error: unknown) => void;
  #arrived: ArrivedPost[] = [];

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
      this.#readBody(request, response, whole, take);
    }
  }

  #readBody(
    request: IncomingMessage,
    response: ServerResponse,
    whole: boolean,
    take: (posted: PostedMessage) => void,
  ): void {
    const pieces: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= this.#limit) {
        pieces.push(chunk);
        return;
      }
      request.off('data', onData).off('end', onEnd);
      this.#refuseSize(request, response);
    };
    const onEnd = (): void => {
      if (this.#arrived.push({ pieces, response, whole, take }) === 1)
        setImmediate(() => this.#handleArrived());
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
        const posted = readPosted(pieces, response, whole);
        if (posted !== undefined) take(posted);
      } catch (error) {
        this.#failed(response, error);
      }
    }
  }
}

/** A body that has arrived completely. */
interface ArrivedPost {
  readonly pieces: readonly Buffer[];
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

/** What a body contains; undefined if it is no message, with the error sent. */
function readPosted(
  pieces: readonly Buffer[],
  response: ServerResponse,
  whole: boolean,
): PostedMessage | undefined {
  const message = readMessage(fromChunks(pieces), CLIENT_SHAPE, 'content-length', whole);
  if (!(message instanceof Message) && message.why === 'not-an-object') return readBatched(pieces, response);
  const fault = message instanceof Message ? faultOf(message) : message.why;
  if (fault === undefined) return message as Message;
  replyError(response, { status: 400, ...faultError(fault) });
  return undefined;
}

function readBatched(pieces: readonly Buffer[], response: ServerResponse): PostedMessage | undefined {
  const parts = readBatch(Buffer.concat(pieces).toString());
  const messages = parts?.map((text) =>
    readMessage(fromChunks([Buffer.from(text)]), CLIENT_SHAPE, 'content-length'),
  );
  const usable = messages?.filter((each) => each instanceof Message && faultOf(each) === undefined);
  if (usable !== undefined && usable.length === messages?.length) return usable as Message[];
  replyError(response, { status: 400, ...faultError('not-an-object') });
  return undefined;
}

type BodyFault = Parameters<typeof faultError>[0];

/** Checks what the core would refuse, while its response is at hand. */
function faultOf(message: Message): BodyFault | undefined {
  if (message.has(Client.method)) return callFault(message);
  if (message.string(Envelope.jsonrpc) !== '2.0') return 'bad-version';
  return message.has(Envelope.result) || message.has(Envelope.error) ? undefined : 'not-a-message';
}
