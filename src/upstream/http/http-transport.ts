import type { Logger } from '../../shared/log.ts';
import type { SendFailure, TransportEnd } from '../transport.ts';
import type { ToolHeaders } from '../modern/tool-headers.ts';
import type { Inbox } from './inbox.ts';
import type { Outgoing } from './outgoing.ts';
import type { RemoteEndpoint } from './remote-endpoint.ts';

/** One of the two ways in which the protocol carries messages over HTTP. */
export interface HttpTransport {
  /** False once it accepts no more messages. */
  readonly open: boolean;
  /** Resolves, for a message that is not a request, when the server has accepted it or never will. */
  send(message: Outgoing): Promise<void> | undefined;
  /** Ends everything in progress; nothing is reported any more. */
  stop(): Promise<void>;
}

export interface HttpTransportEvents {
  unanswered(id: number, failure: SendFailure): void;
  /** It accepts no more messages; `ended` follows. */
  closed(): void;
  ended(end: TransportEnd): void;
  /** The server has answered the handshake: it speaks this transport. */
  supported(): void;
  /** The response to `initialize` shows that the server does not speak this transport. */
  unsupported(initialize: Outgoing, response: ErrorResponse): void;
}

/** A response with an error status, and the text of its body. */
export interface ErrorResponse {
  readonly status: number;
  readonly text: string;
}

export interface HttpTransportContext {
  readonly endpoint: RemoteEndpoint;
  readonly inbox: Inbox;
  readonly log: Logger;
  /** Which parameters of the server's tools go into headers. Default none. */
  readonly headers?: ToolHeaders | undefined;
  readonly events: HttpTransportEvents;
}

/** How long the server may take over a notification or a response, in milliseconds. */
export const NOTIFICATION_TIMEOUT_MS = 30_000;

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 30_000;
const LEAST_REQUESTED_MS = 100;
const MOST_REQUESTED_MS = 60_000;

/**
 * How long to wait before an event stream is opened again, in milliseconds: what the server requested, and more after
 * several failures in a row. Random to some degree, so that many clients do not come back in step.
 */
export function retryDelay(failures: number, requestedMs: number | undefined): number {
  const least =
    requestedMs === undefined ? 0 : Math.min(Math.max(requestedMs, LEAST_REQUESTED_MS), MOST_REQUESTED_MS);
  if (failures === 0 && requestedMs !== undefined) return least;
  return Math.max(
    least,
    Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** failures) * (0.5 + Math.random() / 2),
  );
}
