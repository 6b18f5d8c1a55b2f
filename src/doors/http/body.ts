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
import { TURN_MS } from '../../shared/turns.ts';
import { isJson } from './media.ts';
import { HTTP_REFUSALS } from './refusals.ts';
import { isDisconnected, replyError, replyErrorUnread } from './reply.ts';
import type { HttpTimeouts } from './timeouts.ts';

/** The message of a POST, or the messages of a batch. */
export type PostedMessage = Message | readonly Message[];

export function isBatch(posted: PostedMessage): posted is readonly Message[] {
  return Array.isArray(posted);
}

/**
 * Reads the messages of POSTs. Small bodies that arrive in one turn of the event loop are handled together at its end,
 * so that everything sent to a server for them goes out in one write.
 */
export class PostReader {
  readonly #limit: number;
  readonly #failed: (response: ServerResponse, error: unknown) => void;
  /**
   * The bodies that have arrived. Large ones are handled one per turn, because many may have been sent to arrive
   * together.
   */
  readonly #small: Post[] = [];
  readonly #large: Post[] = [];
  /** Those whose body is still arriving. */
  readonly #receiving = new Set<Post>();

  /** `limit` is the largest body, in bytes; `failed` is called if handling a message throws. */
  constructor(limit: number, failed: (response: ServerResponse, error: unknown) => void) {
    this.#limit = limit;
    this.#failed = failed;
  }

  /**
   * Calls `take` with the posted message and the pieces it arrived in, unless the client leaves or gets an error
   * instead. With `whole`, rare members are found in the same scan.
   */
  read(request: IncomingMessage, response: ServerResponse, whole: boolean, take: PostTarget['take']): void {
    const { headers } = request;
    const encoding = headers['content-encoding'];
    if (!isJson(headers['content-type'])) replyErrorUnread(request, response, HTTP_REFUSALS.notJson);
    else if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
      replyErrorUnread(request, response, HTTP_REFUSALS.encoded);
    // This is a number: node:http has refused anything else.
    else if (Number(headers['content-length'] ?? 0) > this.#limit) this.#refuseSize(request, response);
    else {
      if (headers.expect !== undefined) response.writeContinue();
      this.#readBody(request, { response, whole, take });
    }
  }

  /** Gives up on requests whose body has stalled. Called every `tickMs`. */
  giveUpStalled({ bodyStallMs, tickMs }: Pick<HttpTimeouts, 'bodyStallMs' | 'tickMs'>): void {
    for (const post of this.#receiving) {
      const { response, length } = post;
      post.stalledMs = length === post.lengthBefore ? post.stalledMs + tickMs : 0;
      post.lengthBefore = length;
      const gone = isDisconnected(response);
      if (!gone && post.stalledMs < bodyStallMs) continue;
      post.stop();
      if (!gone) replyErrorUnread(response.req, response, HTTP_REFUSALS.stalled);
    }
  }

  #readBody(request: IncomingMessage, { response, whole, take }: PostTarget): void {
    const stop = (): void => {
      this.#receiving.delete(post);
      request.off('data', onData).off('end', onEnd);
    };
    const post: Post = { pieces: [], response, whole, take, length: 0, lengthBefore: 0, stalledMs: 0, stop };
    const onData = (chunk: Buffer): void => {
      post.length += chunk.length;
      if (post.length <= this.#limit) {
        post.pieces.push(chunk);
        return;
      }
      stop();
      this.#refuseSize(request, response);
    };
    const onEnd = (): void => {
      this.#receiving.delete(post);
      this.#arrive(post);
    };
    this.#receiving.add(post);
    request.on('data', onData).on('end', onEnd);
  }

  #refuseSize(request: IncomingMessage, response: ServerResponse): void {
    const message = `Content too large: the limit for a message is ${this.#limit} bytes.`;
    replyErrorUnread(request, response, { status: 413, code: RpcCode.invalidRequest, message });
  }

  #arrive(post: Post): void {
    const isFirst = this.#small.length + this.#large.length === 0;
    (post.length > LARGE_BYTES ? this.#large : this.#small).push(post);
    if (isFirst) setImmediate(() => this.#handleArrived());
  }

  #handleArrived(): void {
    const until = performance.now() + TURN_MS;
    let post: Post | undefined;
    while (performance.now() < until && (post = this.#small.shift())) this.#handle(post);
    post = this.#large.shift();
    if (post) this.#handle(post);
    if (this.#small.length + this.#large.length > 0) setImmediate(() => this.#handleArrived());
  }

  #handle({ pieces, response, whole, take }: Post): void {
    try {
      const posted = readPosted(pieces, whole);
      if (typeof posted === 'string') replyError(response, { status: 400, ...faultError(posted) });
      else take(posted, pieces);
    } catch (error) {
      this.#failed(response, error);
    }
  }
}

/** Bodies above this size take a while to read. */
const LARGE_BYTES = 64 * 1024;

/** What happens to a POST. */
interface PostTarget {
  readonly response: ServerResponse;
  readonly whole: boolean;
  readonly take: (posted: PostedMessage, pieces: readonly Buffer[]) => void;
}

/** The same, with what has arrived of its body. */
interface Post extends PostTarget {
  readonly pieces: Buffer[];
  /** The number of bytes that have arrived, now and at the last check for stalled bodies. */
  length: number;
  lengthBefore: number;
  /** How long nothing has arrived, in milliseconds. */
  stalledMs: number;
  /** Stops reading it. */
  readonly stop: () => void;
}

type BodyFault = Parameters<typeof faultError>[0];

/** The contents of a body: a message, a batch, or neither. */
function readPosted(pieces: readonly Buffer[], whole: boolean): PostedMessage | BodyFault {
  const message = readOne(pieces, whole);
  if (message !== 'not-an-object') return message;
  const parts = readBatch(Buffer.concat(pieces).toString());
  if (parts === undefined && pieces[0]?.[0] === OPEN_BRACKET) return 'batch';
  const batch = parts?.map((text) => readOne([Buffer.from(text)], false));
  return batch?.every((each) => each instanceof Message) ? batch : 'not-an-object';
}

const OPEN_BRACKET = 0x5b;

/** Also does the checks that the core would do, because errors can still be sent as an HTTP response here. */
function readOne(pieces: readonly Buffer[], whole: boolean): Message | BodyFault {
  const message = readMessage(fromChunks(pieces), CLIENT_SHAPE, 'content-length', whole);
  if (!(message instanceof Message)) return message.why;
  if (message.has(Client.method)) return callFault(message) ?? message;
  if (message.string(Envelope.jsonrpc) !== '2.0') return 'bad-version';
  return message.has(Envelope.result) || message.has(Envelope.error) ? message : 'not-a-message';
}
