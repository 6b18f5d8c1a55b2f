export { byteAt, inPieces, viewsOf } from './bytes.ts';
export { addEdit, editedText, excerptOf, insertedText, type Edit, type Excerpt } from './edit.ts';
export { ENVELOPE, Envelope, RpcCode } from './envelope.ts';
export { Deframer, type Framing } from './framing.ts';
export { idKey } from './ids.ts';
export { itemsOf, membersOf, memberText, withMembers } from './json-text.ts';
export { Message, readMessage, readObject } from './message.ts';
export { callFault, Peer, refusalError, type AnswerListener, type Unanswered } from './peer.ts';
export { defineShape } from './shape.ts';
