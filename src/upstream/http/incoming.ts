import { isJsonObject } from '../../protocol/index.ts';
import {
  defineShape,
  Envelope,
  ENVELOPE,
  fromChunks,
  jsonItems,
  Message,
  readMessage,
  withMembers,
} from '../../wire/index.ts';

/**
 * The messages in a body or in the data of an event: one, or several where a server sends an array of them. Undefined
 * where it is none. Line breaks between tokens are blanks in what is returned, so that each fits a line.
 */
export function readIncoming(pieces: readonly Buffer[]): Message[] | undefined {
  const bare = withoutMark(pieces);
  const read = readMessage(fromChunks(bare), SHAPE, 'content-length');
  if (read instanceof Message) return isMessage(read) ? [read] : undefined;
  if (read.why !== 'not-an-object') return undefined;
  const text = Buffer.concat(bare).toString().trim();
  if (!text.startsWith('[')) return undefined;
  const messages: Message[] = [];
  for (const item of jsonItems(text)) {
    const one = readMessage(fromChunks([Buffer.from(item)]), SHAPE, 'content-length');
    if (!(one instanceof Message) || !isMessage(one)) return undefined;
    messages.push(one);
  }
  return messages.length === 0 ? undefined : messages;
}

/** The id of ours that a message answers, or 0. */
export function answeredId(message: Message): number {
  return message.has(Envelope.method) ? 0 : message.integer(Envelope.id);
}

/** The version of the protocol that an answer to `initialize` names, where it can stand in a header. */
export function agreedVersion(answer: Message): string | undefined {
  const result = answer.lead(Envelope.result) === 0x7b ? answer.value(Envelope.result) : undefined;
  const version = isJsonObject(result) ? result.protocolVersion : undefined;
  return typeof version === 'string' && /^[\x21-\x7e]{1,64}$/.test(version) ? version : undefined;
}

/** What came with a bad status, as the answer to the request of this id; undefined where it is no JSON-RPC error. */
export function errorAnswer(pieces: readonly Buffer[], id: number): Message | undefined {
  const [message, another] = readIncoming(pieces) ?? [];
  if (message === undefined || another !== undefined || message.has(Envelope.method)) return undefined;
  if (message.lead(Envelope.error) !== 0x7b || message.string(Envelope.jsonrpc) !== '2.0') return undefined;
  if (message.integer(Envelope.id) === id) return message;
  if (!namesNoRequest(message)) return undefined;
  // A server that refuses a message before it has read it cannot know its id.
  return readIncoming([Buffer.from(withMembers(message.toString(), { id: String(id) }))])?.[0];
}

/**
 * The id of ours that an answer too large to keep was for, by its first and last bytes: 0 where neither shows it,
 * undefined where it was no answer.
 */
export function idOfOversize(head: Buffer, tail: Buffer): number | undefined {
  const first = head.toString('latin1');
  if (/^\s*\{[^{[]*"method"\s*:/.test(first)) return undefined;
  const found =
    /^\s*\{[^{[]*"id"\s*:\s*(\d{1,15})\s*,/.exec(first) ??
    /[{,]\s*"id"\s*:\s*(\d{1,15})\s*\}\s*$/.exec(tail.toString('latin1'));
  return Number(found?.[1] ?? 0);
}

const SHAPE = defineShape({ ...ENVELOPE });
const MARK = Buffer.from([0xef, 0xbb, 0xbf]);

function namesNoRequest(message: Message): boolean {
  return !message.has(Envelope.id) || message.text(Envelope.id) === 'null';
}

function isMessage(message: Message): boolean {
  return message.has(Envelope.method) || message.has(Envelope.result) || message.has(Envelope.error);
}

/** Some servers write a byte order mark in front of JSON, where it means nothing. */
function withoutMark(pieces: readonly Buffer[]): readonly Buffer[] {
  const first = pieces[0];
  if (first === undefined || first.length <= MARK.length || !first.subarray(0, MARK.length).equals(MARK))
    return pieces;
  return [first.subarray(MARK.length), ...pieces.slice(1)];
}
