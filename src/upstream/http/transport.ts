import type { Logger } from '../../shared/log.ts';
import type { Failure, LinkEnd } from '../link.ts';
import type { ToolHeaders } from '../tool-headers.ts';
import type { Inlet } from './inlet.ts';
import type { Outgoing } from './outlet.ts';
import type { Site } from './site.ts';

/** A way to carry messages over HTTP: one of the two that the protocol has had. */
export interface Transport {
  /** False once it takes no more messages. */
  readonly open: boolean;
  /** Resolves, for what is no request, when the server has taken it or never will. */
  send(message: Outgoing): Promise<void>;
  /** Ends all that is under way; nothing is told any more. */
  stop(): Promise<void>;
}

export interface TransportEvents {
  unanswered(id: number, failure: Failure): void;
  /** It takes no more messages; its end follows. */
  closed(): void;
  ended(end: LinkEnd): void;
  /** The server has answered a greeting: this is how to speak to it. */
  suits(): void;
  /** `initialize` was answered in a way that says that the server does not speak so. */
  unsuitable(initialize: Outgoing, refusal: Refusal): void;
}

/** An answer with a bad status, and what came with it. */
export interface Refusal {
  readonly status: number;
  readonly text: string;
}

export interface TransportContext {
  readonly site: Site;
  readonly inlet: Inlet;
  /** The largest message taken, in bytes. */
  readonly messageBytes: number;
  readonly log: Logger;
  /** What the server's tools want to see in headers. Default nothing. */
  readonly headers?: ToolHeaders | undefined;
  readonly events: TransportEvents;
}

/** How long the server may take over a message that is no request, in milliseconds. */
export const TELL_PATIENCE = 30_000;
