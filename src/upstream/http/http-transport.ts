import type { Logger } from '../../shared/log.ts';
import type { SendFailure, TransportEnd } from '../transport.ts';
import type { ToolHeaders } from '../tool-headers.ts';
import type { IncomingStream } from './incoming-stream.ts';
import type { Outgoing } from './outgoing-stream.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

/** A way to carry messages over HTTP: one of the two that the protocol has had. */
export interface HttpTransport {
  /** False once it takes no more messages. */
  readonly open: boolean;
  /** Resolves, for what is no request, when the server has taken it or never will. */
  send(message: Outgoing): Promise<void>;
  /** Ends all that is under way; nothing is told any more. */
  stop(): Promise<void>;
}

export interface HttpTransportEvents {
  unanswered(id: number, failure: SendFailure): void;
  /** It takes no more messages; its end follows. */
  closed(): void;
  ended(end: TransportEnd): void;
  /** The server has answered the handshake: this is how to speak to it. */
  suits(): void;
  /** `initialize` was answered in a way that says that the server does not speak so. */
  unsuitable(initialize: Outgoing, refusal: HttpRefusal): void;
}

/** An answer with a bad status, and what came with it. */
export interface HttpRefusal {
  readonly status: number;
  readonly text: string;
}

export interface HttpTransportContext {
  readonly endpoint: RemoteEndpoint;
  readonly incomingStream: IncomingStream;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  readonly log: Logger;
  /** What the server's tools want to see in headers. Default nothing. */
  readonly headers?: ToolHeaders | undefined;
  readonly events: HttpTransportEvents;
}

/** How long the server may take over a message that is no request, in milliseconds. */
export const NOTIFICATION_TIMEOUT_MS = 30_000;
