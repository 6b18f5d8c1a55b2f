import type { SwitchboardError } from '../shared/errors.ts';
import type { Bytes } from './bytes.ts';
import type { Edit } from './edit.ts';
import type { Framing, OutputFraming } from './framing.ts';
import type { Message, UnreadableMessage } from './message.ts';

/**
 * Carries JSON-RPC messages to and from one peer: over a pair of byte streams, or over HTTP exchanges. Everything it is
 * given to send is serialized exactly once.
 */
export interface MessageTransport {
  /** Sets the receiver of incoming messages. Called once, before anything arrives. */
  connect(receiver: MessageReceiver): void;
  /** Sends a notification as it came, with its edits. */
  forward(notification: Message, edits: readonly Edit[]): void;
  /** Sends a request under an id of ours, with its edits. */
  forwardRequest(id: number, request: Message, edits: readonly Edit[]): void;
  /** Sends an answer under the id in the request that it answers, with its edits. */
  forwardAnswer(request: Message, answer: Message, edits: readonly Edit[]): void;
  /** Sends a message of our own: JSON text on one line. */
  sendText(json: string, about: OwnMessage): void;
  /** Bytes that the other side has not read yet. */
  readonly backlog: number;
  /** True while so much output waits that its producers should pause. */
  readonly congested: boolean;
  /** Calls back once there is room again, or the transport is gone. */
  whenDrained(listener: () => void): void;
  /** Stops reading what the other side sends; `resume` goes on. */
  pause(): void;
  resume(): void;
  /** From now on every message is scanned for the rare members at once, because they are not rare here. */
  readRareMembers(): void;
  /** How messages are framed on a byte stream; undefined for other transports. */
  framing?: OutputFraming;
  /** Whose token the messages come with, over HTTP. */
  readonly principal?: string | undefined;
  /** The framing of the first message that arrived on a byte stream. */
  readonly inputFraming?: Framing | undefined;
}

/** What a message of our own is, so that a transport need not read it. */
export type OwnMessage =
  /** `id` is the id's JSON text as it came; undefined where none could be read. With `code`, it is an error. */
  | { readonly kind: 'answer'; readonly id: string | undefined; readonly code?: number }
  | { readonly kind: 'request'; readonly id: number; readonly method: string }
  /** `cancels` is the id of the request of ours that a cancellation is about. */
  | { readonly kind: 'notification'; readonly method: string; readonly cancels?: number | undefined };

/**
 * Why a request of ours gets no usable answer. `not-taken`: the other side has not handled it, so it may be sent again.
 * `failed`: the transport failed, with an error.
 */
export type Unanswered = 'too-large' | 'unreadable' | 'closed' | 'not-taken' | 'failed';

/** Takes what arrives on a transport. */
export interface MessageReceiver {
  /**
   * A message that passed the scan; whether it is valid JSON-RPC is the receiver's to check. `requestId` is the request
   * of ours on whose response stream it arrived, for a transport that has such streams.
   */
  receive(message: Message, requestId?: number): void;
  /** Bytes that did not pass. */
  receiveUnreadable(read: UnreadableMessage, bytes: Bytes, framing: Framing): void;
  /** A message over the size limit: its first and last bytes, and its length. */
  receiveOversize(head: Buffer, tail: Buffer, length: number): void;
  /** A header block without a usable Content-Length. */
  receiveBadHeader(header: string): void;
  /** No answer to a request of ours will arrive, though the transport may go on. */
  abandon(id: number, reason: Unanswered, error?: SwitchboardError): void;
  /** Nothing more arrives. `overrun`: a message did not end. */
  receiveEnd(why: 'end' | 'overrun'): void;
}
