import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type Span,
  type TextMapPropagator,
  type Tracer,
} from '@opentelemetry/api';
import type { Call, CallFollower, GatewayWatcher } from '../gateway/index.ts';
import { Client, kindListedBy, traceHeaders, type TraceHeaders } from '../protocol/index.ts';
import { plainLine } from '../shared/printable.ts';
import { contextIn, withContext } from './request-context.ts';
import type { SpanIds } from './span-ids.ts';

export interface CallTracerOptions {
  readonly tracer: Tracer;
  readonly ids: SpanIds;
  /** Reads and writes W3C trace context. */
  readonly propagator: TextMapPropagator<Partial<TraceHeaders>>;
}

/** Names chosen by clients and servers are cut to this many characters. */
const LONGEST = 200;

/**
 * Traces calls: a span for each, with a child span for the time it waited and one for each time a server worked on it.
 * Names follow OpenTelemetry's conventions for MCP. Arguments, results and callers are not recorded.
 */
export class CallTracer implements GatewayWatcher {
  readonly #options: CallTracerOptions;
  readonly #followed = new WeakSet<Call>();

  constructor(options: CallTracerOptions) {
    this.#options = options;
  }

  called(call: Call): void {
    this.#begin(call, undefined);
  }

  clientsChanged(): void {
    // Only calls are traced.
  }

  /** Without `parent`, the parent is the one in the client's request. */
  #begin(call: Call, parent: Context | undefined): void {
    // This runs again for a call that a user had to approve first.
    if (this.#followed.has(call)) return;
    this.#followed.add(call);
    const { tracer, ids } = this.#options;
    const { request, method } = call;
    const named = contextIn(request);
    const carried = traceHeaders.received.get(request);
    const name =
      method === 'tools/call' || method === 'prompts/get' ? request.string(Client.name) : undefined;
    const linked = named && carried && trace.getSpanContext(this.#extract(carried));
    const span = tracer.startSpan(
      short(method),
      {
        kind: SpanKind.SERVER,
        attributes: {
          'mcp.method.name': short(method),
          'jsonrpc.request.id': short(call.id.replace(/^"(.*)"$/, '$1')),
          ...(method === 'tools/call' ? { 'gen_ai.operation.name': 'execute_tool' } : {}),
          ...(name === undefined
            ? {}
            : { [method === 'tools/call' ? 'gen_ai.tool.name' : 'gen_ai.prompt.name']: short(name) }),
        },
        links: linked === undefined ? [] : [{ context: linked }],
      },
      parent ?? this.#extract(named ?? carried),
    );
    const context = trace.setSpan(ROOT_CONTEXT, span);
    const serverSpan = ids.generateSpanId();
    if (kindListedBy(method) === undefined && method !== 'logging/setLevel')
      this.#pass(call, { ...span.spanContext(), spanId: serverSpan });
    const spans = new CallSpans(call, { ...this.#options, context, serverSpan }, (inner) =>
      this.#begin(inner, spans.current),
    );
    call.followBy(spans);
    const { onEnd } = call;
    call.onEnd = (outcome, bytes, answer) => {
      onEnd?.(outcome, bytes, answer);
      spans.close();
      const { source, subtool } = call;
      if (source !== undefined) span.setAttribute('switchboard.server', short(source.name));
      if (subtool !== undefined) span.setAttribute('gen_ai.tool.name', short(subtool));
      const listing = source?.known('tools') ?? source?.remembered('tools');
      if (subtool !== undefined && listing?.byKey.has(subtool) === true)
        span.updateName(`${short(method)} ${short(subtool)}`);
      if (outcome !== 'ok') span.setAttribute('error.type', outcome.replace(' ', '_'));
      if (outcome !== 'ok' && outcome !== 'cancelled') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    };
  }

  /** Writes the context of the server span into the request, and notes it for the headers of an HTTP request. */
  #pass(call: Call, spanContext: ReturnType<Span['spanContext']>): void {
    const carrier: Partial<TraceHeaders> = {};
    this.#options.propagator.inject(trace.setSpanContext(ROOT_CONTEXT, spanContext), carrier, SETTER);
    const { traceparent, tracestate } = carrier;
    if (traceparent === undefined) return;
    call.request = withContext(call.request, { traceparent, tracestate });
    traceHeaders.toSend.set(call.request, { traceparent, tracestate });
  }

  #extract(carried: TraceHeaders | undefined): Context {
    return carried === undefined
      ? ROOT_CONTEXT
      : this.#options.propagator.extract(ROOT_CONTEXT, carried, GETTER);
  }
}

interface CallSpansOptions extends Pick<CallTracerOptions, 'tracer' | 'ids'> {
  /** The context with the span of the call. */
  readonly context: Context;
  /** The id of the server span, which is written into the request. */
  readonly serverSpan: string;
}

/** The child spans of a call. */
class CallSpans implements CallFollower {
  readonly nested: (call: Call) => void;
  readonly #call: Call;
  readonly #options: CallSpansOptions;
  #wait: Span | undefined;
  #server: Span | undefined;
  #wasSent = false;

  constructor(call: Call, options: CallSpansOptions, nested: (call: Call) => void) {
    this.#call = call;
    this.#options = options;
    this.nested = nested;
  }

  /** The context for calls that are made on behalf of this one. */
  get current(): Context {
    return this.#options.context;
  }

  waits(): void {
    const { tracer, context } = this.#options;
    this.#wait ??= tracer.startSpan('wait for server', { kind: SpanKind.INTERNAL }, context);
  }

  sent(server: string): void {
    const { tracer, ids, context, serverSpan } = this.#options;
    this.#endWait();
    const { method, subtool } = this.#call;
    // If a server did not accept the call, another run follows, with an id of its own.
    if (!this.#wasSent) ids.use(serverSpan);
    this.#wasSent = true;
    this.#server = tracer.startSpan(
      subtool === undefined ? short(method) : `${short(method)} ${short(subtool)}`,
      {
        kind: SpanKind.CLIENT,
        attributes: { 'mcp.method.name': short(method), 'switchboard.server': short(server) },
      },
      context,
    );
  }

  returned(): void {
    this.#server?.end();
    this.#server = undefined;
  }

  close(): void {
    this.#endWait();
    this.returned();
  }

  #endWait(): void {
    const name = this.#call.source?.name;
    if (name !== undefined) this.#wait?.setAttribute('switchboard.server', short(name));
    this.#wait?.end();
    this.#wait = undefined;
  }
}

const GETTER = {
  keys: (carrier: Partial<TraceHeaders>) => Object.keys(carrier),
  get: (carrier: Partial<TraceHeaders>, key: string) => carrier[key as keyof TraceHeaders],
};

const SETTER = {
  set: (carrier: Partial<TraceHeaders>, key: string, value: string) =>
    void Object.assign(carrier, { [key]: value }),
};

function short(text: string): string {
  return plainLine(text).slice(0, LONGEST);
}
