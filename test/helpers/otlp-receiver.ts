import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atTestEnd } from './cleanup.ts';

/** A span as it was received. Ids are in hex. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  /** 1 internal, 2 server, 3 client. */
  readonly kind: number;
  readonly attributes: Readonly<Record<string, string>>;
  /** 0 unset, 2 error. */
  readonly status: number;
  readonly links: readonly string[];
}

export interface OtlpReceiver {
  readonly endpoint: string;
  readonly spans: ReceivedSpan[];
  /** The headers of each request, and its resource. */
  readonly requests: { readonly headers: IncomingHttpHeaders; readonly service: string | undefined }[];
}

/** A receiver of traces over OTLP/HTTP, in JSON or Protobuf. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const spans: ReceivedSpan[] = [];
  const requests: OtlpReceiver['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      if (request.url !== '/v1/traces') {
        response.writeHead(404).end();
        return;
      }
      const body = Buffer.concat(chunks);
      const type = request.headers['content-type'] ?? '';
      const read = type.includes('json') ? readJson(body) : readProtobuf(body);
      spans.push(...read.spans);
      requests.push({ headers: request.headers, service: read.service });
      response.writeHead(200, { 'content-type': type }).end(type.includes('json') ? '{}' : '');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  atTestEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans, requests };
}

interface ReadRequest {
  readonly spans: readonly ReceivedSpan[];
  readonly service: string | undefined;
}

function readJson(body: Buffer): ReadRequest {
  const { resourceSpans } = JSON.parse(body.toString());
  const attributesOf = (list: any[] = []): Record<string, string> =>
    Object.fromEntries(list.map(({ key, value }) => [key, String(Object.values(value)[0])]));
  return {
    service: attributesOf(resourceSpans[0].resource.attributes)['service.name'],
    spans: resourceSpans
      .flatMap((each: any) => each.scopeSpans)
      .flatMap((each: any) => each.spans)
      .map((span: any) => ({
        ...{ traceId: span.traceId, spanId: span.spanId, parentSpanId: span.parentSpanId ?? '' },
        ...{ name: span.name, kind: span.kind, status: span.status?.code ?? 0 },
        attributes: attributesOf(span.attributes),
        links: (span.links ?? []).map((link: any) => link.spanId),
      })),
  };
}

/** Uses the field numbers of opentelemetry/proto/trace/v1/trace.proto. */
function readProtobuf(body: Buffer): ReadRequest {
  const attributesOf = (list: readonly Buffer[]): Record<string, string> =>
    Object.fromEntries(
      list.map((each) => {
        const { 1: key, 2: value } = fieldsOf(each);
        const [first] = Object.values(fieldsOf(value![0] as Buffer))[0] ?? [];
        return [String(key![0]), String(first)];
      }),
    );
  const resourceSpans = (fieldsOf(body)[1] ?? []).map((each) => fieldsOf(each as Buffer));
  const resource = fieldsOf(resourceSpans[0]![1]![0] as Buffer);
  return {
    service: attributesOf((resource[1] ?? []) as Buffer[])['service.name'],
    spans: resourceSpans
      .flatMap((each) => each[2] ?? [])
      .flatMap((each) => fieldsOf(each as Buffer)[2] ?? [])
      .map((each) => {
        const fields = fieldsOf(each as Buffer);
        const hex = (field: number): string =>
          ((fields[field]?.[0] as Buffer | undefined) ?? Buffer.of()).toString('hex');
        return {
          ...{ traceId: hex(1), spanId: hex(2), parentSpanId: hex(4) },
          ...{ name: String(fields[5]?.[0]), kind: Number(fields[6]?.[0]) },
          attributes: attributesOf((fields[9] ?? []) as Buffer[]),
          status: Number(fieldsOf((fields[15]?.[0] as Buffer | undefined) ?? Buffer.of())[3]?.[0] ?? 0),
          links: (fields[13] ?? []).map((link) =>
            (fieldsOf(link as Buffer)[2]![0] as Buffer).toString('hex'),
          ),
        };
      }),
  };
}

/** The fields of a Protobuf message by number: numbers for varints, bytes for the rest. */
function fieldsOf(bytes: Buffer): Record<number, (Buffer | number)[]> {
  const fields: Record<number, (Buffer | number)[]> = {};
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const type = tag & 7;
    let value: Buffer | number;
    if (type === 0) value = varint();
    else {
      const length = type === 2 ? varint() : type === 1 ? 8 : 4;
      value = bytes.subarray(at, (at += length));
    }
    (fields[tag >>> 3] ??= []).push(value);
  }
  return fields;
}
