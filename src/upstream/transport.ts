import type { SwitchboardError } from '../shared/errors.ts';
import type { MessageTransport } from '../wire/index.ts';

/** The connection to one run of a server: a process and its pipes, or requests over the network. */
export interface Transport {
  /** Carries the messages. */
  readonly messages: MessageTransport;
  readonly pid: number | undefined;
  /** False once no more messages are accepted, even if `ended` has not been called yet. */
  readonly open: boolean;
  /**
   * Watches a process for activity; `looked` is called with the milliseconds since the last activity. Returns a
   * function that stops watching. Undefined for a remote server.
   */
  watch?(looked: (idleMs: number) => void): () => void;
  /** What the server reported about its problems, as a sentence for a person; empty if nothing. */
  lastWords(): string;
  /** The server has closed its output. Only for a process. */
  inputEnded?(): void;
  /**
   * Ends the connection without calling `ended`. Resolves when nothing of it is left. With `atOnce`, a process gets no
   * time to exit by itself.
   */
  stop(atOnce?: boolean): Promise<void>;
}

export interface TransportEvents {
  /**
   * The connection has ended, and not because of `stop`. Called at most once, never before the transport was returned.
   */
  ended(end: TransportEnd): void;
}

export type TransportEnd =
  /** `how` completes a sentence that begins with the server: `exited with code 1`. */
  | { readonly kind: 'lost'; readonly how: string }
  | { readonly kind: 'failed'; readonly error: SwitchboardError }
  /** The server is running but no longer knows the session. A new handshake is all it takes. */
  | { readonly kind: 'session-lost' };

export type SendFailure =
  /** The server has not processed the request: it may be sent again. */
  | { readonly kind: 'not-taken' }
  | { readonly kind: 'too-large' }
  /** The server may have processed the request. The message names the server and what happened. */
  | { readonly kind: 'failed'; readonly error: SwitchboardError };
