import type { Message } from '../wire/index.ts';

/** The W3C trace context of a request, as carried by HTTP headers and `_meta`. */
export interface TraceHeaders {
  readonly traceparent: string;
  readonly tracestate?: string | undefined;
}

/**
 * The trace context received or to be sent in the HTTP headers of a message, by message. Only requests that belong to a
 * trace have an entry.
 */
export const traceHeaders = {
  received: new WeakMap<Message, TraceHeaders>(),
  toSend: new WeakMap<Message, TraceHeaders>(),
};
