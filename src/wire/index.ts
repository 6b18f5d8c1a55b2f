export { ENVELOPE, Envelope, RpcCode } from './envelope.ts';
export type { Framing } from './framing.ts';
export { Message, readObject } from './message.ts';
export { addEdit, type Edit } from './outbox.ts';
export { Peer, refusalError, type AnswerListener, type Unanswered } from './peer.ts';
export { defineShape } from './scan.ts';
