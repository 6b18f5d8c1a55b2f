import type { SwitchboardError } from '../shared/errors.ts';
import type { Bytes } from './bytes.ts';
import type { Edit } from './edit.ts';
import type { Framing, OutputFraming } from './framing.ts';
import type { Message, UnreadableMessage } from './message.ts';

/**
 * Carries JSON-RPC messages to and from one peer: over a pair of byte streams, or over HTTP exchanges. Each message to
 * send is serialized exactly once.
 */
export interface MessageTransport {
  /** Sets the receiver of incoming messages. Called once, before anything arrives. */
  connect(receiver: MessageReceiver): void;
  /** Sends a notification as received, with its edits. */
  forward(notification: Message, edits: readonly Edit[]): void;
  /** Sends a request under one of our ids, with its edits. */
  forwardRequest(id: number, request: Message, edits: readonly Edit[]): void;
  /** Sends an answer under the id of the request that it answers, with its edits. */
  forwardAnswer(request: Message, answer: Message, edits: readonly Edit[]): void;
  /** Sends a message of our own: JSON text on one line. */
  sendText(json: string, about: OwnMessage): void;
  /** The number of bytes that the other side has not read yet. */
  readonly backlog: number;
  /** True while so much output waits that its producers should pause. */
  readonly congested: boolean;
  /** Calls back once there is room again or the transport has closed. */
  whenDrained(listener: () => void): void;
  /** Stops reading what the other side sends; `resume` continues. */
  pause(): void;
  resume(): void;
  /** From now on, every message is scanned for the rare members at once, because they are not rare here. */
  readRareMembers(): void;
  /** How messages are framed on a byte stream; undefined for other transports. */
  framing?: OutputFraming;
  /** The principal whose token the messages come with, over HTTP. */
  readonly principal?: string | undefined;
  /** The framing of the first message that arrived on a byte stream. */
  readonly inputFraming?: Framing | undefined;
}

/** Describes a message of our own, so that a transport need not read it. */
export type OwnMessage =
  /**
   * `id` is the JSON text of the id as received; undefined if none could be read. With `code`, the answer is an error.
   */
  | { readonly kind: 'answer'; readonly id: string | undefined; readonly code?: number }
  | { readonly kind: 'request'; readonly id: number; readonly method: string }
  /** `cancels` is the id of our own request, if the notification cancels one. */
  | { readonly kind: 'notification'; readonly method: string; readonly cancels?: number | undefined };

/**
 * Why a request of ours gets no usable answer. `not-taken`: the other side has not handled the request, so it may be
 * sent again. `failed`: the transport failed, with an error.
 */
export type Unanswered = 'too-large' | 'unreadable' | 'closed' | 'not-taken' | 'failed';

/** Receives what arrives on a transport. */
export interface MessageReceiver {
  /**
   * A message that passed the scan; the receiver checks whether it is valid JSON-RPC. `requestId` is our request on
   * whose response stream it arrived, for a transport that has such streams.
   */
  receive(message: Message, requestId?: number): void;
  /** Bytes that did not pass the scan. */
  receiveUnreadable(read: UnreadableMessage, bytes: Bytes, framing: Framing): void;
  /** A message over the size limit: its first and last bytes and its length. */
  receiveOversize(head: Buffer, tail: Buffer, length: number): void;
  /** A header block without a usable Content-Length. */
  receiveBadHeader(header: string): void;
  /** No answer to this request of ours will arrive, although the transport may continue. */
  abandon(id: number, reason: Unanswered, error?: SwitchboardError): void;
  /** Nothing more will arrive. `overrun`: a message did not end. */
  receiveEnd(why: 'end' | 'overrun'): void;
}
