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

/**
 * Reads the message of a POST, or the messages of a batch. Resolves with undefined if there is none; the error has been
 * sent then. With `whole`, the rare members are found in the same scan.
 */
export async function readPost(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
  whole = false,
): Promise<Message | readonly Message[] | undefined> {
  if (!isJson(request.headers['content-type'])) {
    const message = 'Unsupported media type: send the message as application/json.';
    replyErrorUnread(request, response, { status: 415, message });
    return undefined;
  }
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    const message = 'Unsupported media type: send the message without a Content-Encoding.';
    replyErrorUnread(request, response, { status: 415, message });
    return undefined;
  }
  const body = await readBody(request, response, limit);
  if (body === 'too-large') {
    const message = `Content too large: the limit for a message is ${limit} bytes.`;
    replyErrorUnread(request, response, { status: 413, code: RpcCode.invalidRequest, message });
    return undefined;
  }
  return body === 'gone' ? undefined : readOne(body, response, whole);
}

/** The pieces of a body as they came. */
function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Buffer[] | 'too-large' | 'gone'> {
  // It is a number: node:http has refused anything else.
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.resolve('too-large');
  if (request.headers.expect !== undefined) response.writeContinue();
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer): void => {
      length += chunk.length;
      if (length <= limit) {
        pieces.push(chunk);
        return;
      }
      request.off('data', onData);
      resolve('too-large');
    };
    request.on('data', onData);
    request.on('end', () => atEndOfTurn(() => resolve(pieces)));
    request.on('close', () => {
      if (!request.complete) resolve('gone');
    });
    request.on('error', () => resolve('gone'));
  });
}

/**
 * Bodies that arrive in one turn of the event loop are handled together at its end: then all that is sent to a server
 * for them leaves in one write.
 */
function atEndOfTurn(handle: () => void): void {
  if (arrived.push(handle) === 1) setImmediate(handleArrived);
}

let arrived: (() => void)[] = [];

function handleArrived(): void {
  const all = arrived;
  arrived = [];
  for (const handle of all) handle();
}

function readOne(
  pieces: readonly Buffer[],
  response: ServerResponse,
  whole: boolean,
): ReturnType<typeof readBatched> {
  const message = readMessage(fromChunks(pieces), CLIENT_SHAPE, 'content-length', whole);
  if (!(message instanceof Message) && message.why === 'not-an-object') return readBatched(pieces, response);
  const fault = message instanceof Message ? faultOf(message) : message.why;
  if (fault === undefined) return message as Message;
  replyError(response, { status: 400, ...faultError(fault) });
  return undefined;
}

function readBatched(
  pieces: readonly Buffer[],
  response: ServerResponse,
): Message | readonly Message[] | undefined {
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
