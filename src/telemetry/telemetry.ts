import { diag, DiagLogLevel } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type Sampler,
} from '@opentelemetry/sdk-trace';
import type { Logger } from '../shared/log.ts';
import { withTimeout } from '../shared/with-timeout.ts';
import { CallTracer } from './call-tracer.ts';
import { SpanIds } from './span-ids.ts';

export interface TelemetryOptions {
  /** The base URL of the receiver. Default: as the OTEL_* variables say. */
  readonly endpoint?: string | undefined;
  /** The share of the traces that begin here to record. Default: as OTEL_TRACES_SAMPLER says. */
  readonly sampleRatio?: number | undefined;
  readonly version: string;
  readonly env: NodeJS.ProcessEnv;
  readonly log: Logger;
}

export interface Telemetry {
  readonly watcher: CallTracer;
  /** Sends the remaining spans, within a time limit. */
  close(): Promise<void>;
}

/** How long closing waits for the receiver, in milliseconds. */
const LAST_EXPORT_MS = 2000;
/** How often an unreachable receiver is logged at most, in milliseconds. */
const COMPLAIN_EVERY_MS = 60_000;

/** Sends a trace of each call to an OTLP receiver over HTTP. Undefined if OTEL_SDK_DISABLED is set. */
export function openTelemetry({
  endpoint,
  sampleRatio,
  version,
  env,
  log,
}: TelemetryOptions): Telemetry | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined;
  reportProblems(log);
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL ?? '';
  if (protocol === 'grpc') log.warn('traces are sent over HTTP: gRPC is not supported');
  const Exporter = protocol === 'http/json' ? JsonExporter : ProtobufExporter;
  const exporter = new Exporter(
    endpoint === undefined ? {} : { url: `${endpoint.replace(/\/+$/, '')}/v1/traces` },
  );
  const ids = new SpanIds();
  const provider = new TracerProvider({
    idGenerator: ids,
    sampler: sampleRatio === undefined ? samplerOf(env, log) : ofRatio(sampleRatio),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'switchboard', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
  });
  const tracer = provider.getTracer('switchboard', version);
  return {
    watcher: new CallTracer({ tracer, ids, propagator: new W3CTraceContextPropagator() }),
    close: () => withTimeout(provider.shutdown(), LAST_EXPORT_MS, () => undefined),
  };
}

/** Logs problems that the SDK reports. Spans are dropped meanwhile; calls do not wait. */
function reportProblems(log: Logger): void {
  let last = -Infinity;
  const complain = (message: string): void => {
    if (performance.now() - last < COMPLAIN_EVERY_MS) return;
    last = performance.now();
    log.warn('traces are lost', { reason: reasonIn(message) });
  };
  const ignore = (): void => undefined;
  diag.setLogger(
    { error: complain, warn: complain, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}

/** The SDK writes errors as JSON with their stack. */
function reasonIn(message: string): string {
  const [, reason = message] = /"message":"([^"]*)"/.exec(message) ?? [];
  return reason.slice(0, 200);
}

function ofRatio(ratio: number): Sampler {
  return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
}

/** The samplers that the specification of OpenTelemetry names. */
function samplerOf(
  { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: arg }: NodeJS.ProcessEnv,
  log: Logger,
): Sampler {
  const given = Number(arg ?? '1');
  const ratio = given >= 0 && given <= 1 ? given : 1;
  switch (name) {
    case 'always_on':
      return new AlwaysOnSampler();
    case 'always_off':
      return new AlwaysOffSampler();
    case 'traceidratio':
      return new TraceIdRatioBasedSampler(ratio);
    case 'parentbased_always_off':
      return new ParentBasedSampler({ root: new AlwaysOffSampler() });
    case 'parentbased_traceidratio':
      return ofRatio(ratio);
    case '':
    case 'parentbased_always_on':
      return ofRatio(1);
    default:
      log.warn('OTEL_TRACES_SAMPLER is ignored: unknown sampler');
      return ofRatio(1);
  }
}
