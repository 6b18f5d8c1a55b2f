import type { Message } from '../wire/index.ts';

/** The W3C trace context of a request, as HTTP headers and `_meta` carry it. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/**
 * The trace context that HTTP requests carried or are to carry beside their message, by the message. Only requests that
 * belong to a trace are here.
 */
export const traceHeaders = {
  received: new WeakMap<Message, TraceHeaders>(),
  toSend: new WeakMap<Message, TraceHeaders>(),
};
