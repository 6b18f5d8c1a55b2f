import { HANDSHAKE_SHAPE, HandshakeAnswer } from '../../protocol/index.ts';
import { Envelope, withMembers, type Message } from '../../wire/index.ts';
import type { ErrorBody, Inbox } from './inbox.ts';

/** The id of our request that a message answers, or 0. */
export function answeredId(message: Message): number {
  return message.has(Envelope.method) ? 0 : message.integer(Envelope.id);
}

/** The protocol version in the response to `initialize`, if it fits in a header. */
export function agreedVersion(answer: Message): string | undefined {
  const version = answer.as(HANDSHAKE_SHAPE)?.value(HandshakeAnswer.protocolVersion);
  return typeof version === 'string' && /^[\x21-\x7e]{1,64}$/.test(version) ? version : undefined;
}

/** The body of an error response as the answer to the request with this id; undefined if it is not a JSON-RPC error. */
export function errorAnswer(inbox: Inbox, { messages }: ErrorBody, id: number): Message | undefined {
  const message = onlyError(messages);
  if (message?.string(Envelope.jsonrpc) !== '2.0' || message.lead(Envelope.error) !== 0x7b) return undefined;
  if (message.integer(Envelope.id) === id) return message;
  if (!namesNoRequest(message)) return undefined;
  // A server that rejects a message before parsing it does not know its id.
  const read = inbox.parse([Buffer.from(withMembers(message.toString(), { id: String(id) }))]);
  return typeof read === 'number' ? undefined : read[0];
}

/**
 * Whether the body of an HTTP 400 says that the session is unknown. Only a JSON-RPC error that has no id and mentions
 * the session counts: anything else may come from a call that ran.
 */
export function rejectsSession({ text, messages }: ErrorBody): boolean {
  const message = onlyError(messages);
  return message !== undefined && namesNoRequest(message) && UNKNOWN_SESSION.test(text);
}

const UNKNOWN_SESSION =
  /mcp-session-id|(no|in)valid session|session id|(unknown|no such) session|session not found/i;

/** The message in a body that contains one error and nothing else. */
function onlyError([message, ...others]: readonly Message[]): Message | undefined {
  if (message === undefined || others.length > 0) return undefined;
  return message.has(Envelope.method) || !message.has(Envelope.error) ? undefined : message;
}

function namesNoRequest(message: Message): boolean {
  return !message.has(Envelope.id) || message.text(Envelope.id) === 'null';
}
