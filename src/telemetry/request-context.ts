import { Client, CLIENT_SHAPE, type TraceHeaders } from '../protocol/index.ts';
import {
  byteAt,
  defineShape,
  ENVELOPE,
  fromChunks,
  Message,
  readMessage,
  viewsOf,
  type Edit,
} from '../wire/index.ts';

const SHAPE = defineShape({ ...ENVELOPE, params: { _meta: { traceparent: true, tracestate: true } } });
const PARAMS = SHAPE.slot('params');
const META = SHAPE.slot('params._meta');
const TRACEPARENT = SHAPE.slot('params._meta.traceparent');
const TRACESTATE = SHAPE.slot('params._meta.tracestate');

/** The trace context in the `_meta` of a request, as its client wrote it; undefined if there is none. */
export function contextIn(request: Message): TraceHeaders | undefined {
  if (!request.mentions('traceparent')) return undefined;
  const read = request.as(SHAPE);
  const traceparent = read?.string(TRACEPARENT);
  return traceparent === undefined ? undefined : { traceparent, tracestate: read?.string(TRACESTATE) };
}

/**
 * The same request with another trace context in its `_meta` and every other byte unchanged. A request that repeats one
 * of these members, or whose `_meta` is not an object, is returned unchanged.
 */
export function withContext(request: Message, { traceparent, tracestate }: TraceHeaders): Message {
  const read = request.as(SHAPE);
  if (read === undefined) return request;
  const wanted: (readonly [key: string, slot: number, text: string])[] = [
    ['traceparent', TRACEPARENT, JSON.stringify(traceparent)],
    ...(tracestate === undefined ? [] : [['tracestate', TRACESTATE, JSON.stringify(tracestate)] as const]),
  ];
  const edits: Edit[] = [];
  const missing = wanted.flatMap(([key, slot, text]) => {
    if (!read.has(slot)) return [`"${key}":${text}`];
    edits.push({ start: read.start(slot), end: read.end(slot), with: text });
    return [];
  });
  const added = missing.join(',');
  if (added !== '') {
    if (read.lead(META) === BRACE) edits.push(insertion(read, META, added));
    else if (!read.has(META) && read.lead(PARAMS) === BRACE)
      edits.push(insertion(read, PARAMS, `"_meta":{${added}}`));
    else return request;
  }
  const changed = readMessage(
    fromChunks(pieces(read, edits)),
    CLIENT_SHAPE,
    'content-length',
    request.has(Client.version),
  );
  return changed instanceof Message ? changed : request;
}

/** Members at the beginning of an object. */
function insertion(message: Message, slot: number, members: string): Edit {
  const start = message.start(slot) + 1;
  let next = start;
  while (byteAt(message.bytes, next) <= SPACE) next++;
  return { start, end: start, with: byteAt(message.bytes, next) === CLOSE_BRACE ? members : `${members},` };
}

/**
 * The bytes between the edits, and the texts that replace the rest. A short message is a single piece, which is faster
 * to read.
 */
function pieces({ bytes, length }: Message, edits: readonly Edit[]): Buffer[] {
  const all: Buffer[] = [];
  let at = bytes.from;
  for (const edit of [...edits].sort((a, b) => a.start - b.start)) {
    all.push(...viewsOf(bytes, at, edit.start), Buffer.from(edit.with as string));
    at = edit.end;
  }
  all.push(...viewsOf(bytes, at, bytes.to));
  return length < SHORT_BYTES ? [Buffer.concat(all)] : all;
}

const SHORT_BYTES = 64 * 1024;
const SPACE = 0x20;
const BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
