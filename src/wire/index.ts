export { readBatch } from './batch.ts';
export { byteAt, fromChunks, viewsOf, type Bytes } from './bytes.ts';
export {
  addEdit,
  editedMember,
  editedString,
  editedText,
  excerptOf,
  insertedText,
  onOneLine,
  type Edit,
  type Excerpt,
} from './edit.ts';
export { ENVELOPE, Envelope, errorJson, notificationJson, resultJson, RpcCode } from './envelope.ts';
export type { Framing, OutputFraming } from './framing.ts';
export { idKey } from './ids.ts';
export { jsonItems, jsonMembers, memberText, withMembers } from './json-text.ts';
export { idFromFragments, MAX_PARSED, Message, readMessage, readObject } from './message.ts';
export type { MessageReceiver, MessageTransport, OwnMessage, Unanswered } from './message-transport.ts';
export { callFault, Peer, faultError, looksLikeCall, type AnswerListener, type PeerEvents } from './peer.ts';
export { PendingRequests } from './pending-requests.ts';
export { RunningIds } from './running-ids.ts';
export { serialize, serializeText, type SerializedMessage } from './serialize.ts';
export { defineShape } from './shape.ts';
export { StreamTransport } from './stream-transport.ts';
export { TurnReader } from './turn-reader.ts';
