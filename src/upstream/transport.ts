import type { SwitchboardError } from '../shared/errors.ts';
import type { MessageTransport } from '../wire/index.ts';

/** The connection to one run of a server: a process and its pipes, or requests over the network. */
export interface Transport {
  /** Carries the messages. */
  readonly messages: MessageTransport;
  readonly pid: number | undefined;
  /** False once it takes no more messages, though its end may not have been told yet. */
  readonly open: boolean;
  /**
   * Watches a program for signs of life; `looked` is told for how many milliseconds there was none. Returns how to end
   * that. Only where the server is a program of ours.
   */
  watch?(looked: (idleMs: number) => void): () => void;
  /** What the server said of its trouble, as part of a sentence to a person; empty where it said nothing. */
  lastWords(): string;
  /** The server says no more on `input`. */
  inputEnded(): void;
  /**
   * Ends it on our own account; its end is not told then. Resolves when nothing of it is left. A server that cannot be
   * gone on with (`atOnce`) is not asked to leave first.
   */
  stop(atOnce?: boolean): Promise<void>;
}

/** None of these is called while the link is being made. */
export interface TransportEvents {
  /** It is over, and not because it was asked to be. Told at most once. */
  ended(end: TransportEnd): void;
  /** A request of ours, by its id, will get no answer, though the link may go on. */
  unanswered(id: number, failure: SendFailure): void;
}

export type TransportEnd =
  /** As the end of a sentence that begins with the server: `exited with code 1`. */
  | { readonly kind: 'lost'; readonly how: string }
  | { readonly kind: 'failed'; readonly error: SwitchboardError }
  /** The server has forgotten us, and nothing is wrong with it: a new handshake is all it takes. */
  | { readonly kind: 'forgotten' };

export type SendFailure =
  /** The server has not looked at it: it may be sent again. */
  | { readonly kind: 'not-taken' }
  | { readonly kind: 'too-large' }
  /** It may have been carried out. The sentence names the server and what happened. */
  | { readonly kind: 'failed'; readonly error: SwitchboardError };
