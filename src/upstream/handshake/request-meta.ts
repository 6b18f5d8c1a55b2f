import { SwitchboardError } from '../../shared/errors.ts';
import { Client, Meta, MODERN_VERSION, type JsonObject } from '../../protocol/index.ts';
import {
  addEdit,
  byteAt,
  defineShape,
  ENVELOPE,
  excerptOf,
  jsonMembers,
  Message,
  readMessage,
  viewsOf,
  type Edit,
  type Excerpt,
} from '../../wire/index.ts';
import type { ClientIdentity } from './handshake.ts';

/** The metadata of a request that is forwarded to a modern server. */
export interface RequestMeta {
  /** The capabilities that the client declared. */
  readonly capabilities: JsonObject;
  /** Our own `clientInfo`, as JSON text. */
  readonly clientInfo: string;
  /** The lowest level of log messages that the client wants; undefined if it has not set one. */
  readonly logLevel: string | undefined;
  /** The client is modern: the metadata of its request is kept, except for `clientInfo`. */
  readonly keeps: boolean;
  /** Further members of params to set, as JSON texts. Default: none. */
  readonly more?: ReadonlyMap<'inputResponses' | 'requestState', string>;
}

/**
 * The edits of a request plus those that add the metadata of 2026-07-28: in that version, every request declares its
 * protocol version and its client's capabilities. A request that repeats such a member is rejected: we would replace
 * one occurrence and the server might read the other.
 */
export function metaEdits(
  request: Message,
  edits: readonly Edit[],
  stamp: RequestMeta,
): Edit[] | SwitchboardError {
  const all = [...edits];
  const places = placesOf(request);
  if (places === undefined) return DOUBLED;
  const { message, slots } = places;
  /** Replaces existing members; returns the others, as text to insert. */
  const set = (wanted: readonly Wanted[]): string[] =>
    wanted.flatMap(({ key, slot, text }) => {
      if (!message.has(slot)) return [`${JSON.stringify(key)}:${text}`];
      addEdit(all, { start: message.start(slot), end: message.end(slot), with: text });
      return [];
    });

  const meta = wantedMeta(message, slots, stamp);
  const more = [...(stamp.more ?? [])].map(([key, text]) => ({ key, slot: slots[key], text }));
  const missing = set(more);
  if (message.lead(slots.meta) === BRACE) insertInto(message, slots.meta, set(meta), all);
  else {
    const whole = `{${meta.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
    missing.push(...set([{ key: '_meta', slot: slots.meta, text: whole }]));
  }
  if (missing.length === 0) return all;
  const params = `{${missing.join(',')}}`;
  if (message.lead(slots.params) === BRACE) insertInto(message, slots.params, missing, all);
  else if (message.text(slots.params) === 'null')
    addEdit(all, { start: message.start(slots.params), end: message.end(slots.params), with: params });
  else if (message.has(slots.params)) return NO_OBJECT;
  else {
    const end = request.end(Client.method);
    addEdit(all, { start: end, end, with: `,"params":${params}` });
  }
  return all;
}

/**
 * The edits that remove the metadata from a modern client's request to a server with a handshake, which has already
 * declared it: some servers that support both versions would treat the request as a modern one.
 */
export function withoutEnvelope(request: Message, edits: readonly Edit[]): Edit[] {
  const all = [...edits];
  if (!request.has(Client.version)) return all;
  const [start, end] = [request.start(Client.meta), request.end(Client.meta)];
  const others = jsonMembers(request.requiredText(Client.meta))
    .filter(({ key }) => key !== 'progressToken' && !ENVELOPE_KEYS.has(key))
    .map(({ keyText, valueText }) => `${keyText}:${valueText}`);
  const token = request.start(Client.progressToken);
  if (token < 0) addEdit(all, { start, end, with: `{${others.join(',')}}` });
  else {
    // The token itself is replaced when the request is sent.
    addEdit(all, { start, end: token, with: '{"progressToken":' });
    addEdit(all, { start: request.end(Client.progressToken), end, with: `${['', ...others].join(',')}}` });
  }
  return all;
}

/** The edits of a request with complete metadata, plus one that replaces the given member. */
export function renamed(
  request: Message,
  edits: readonly Edit[],
  slot: number,
  replacement: Edit['with'],
): Edit[] {
  const all = edits.slice();
  addEdit(all, { start: request.start(slot), end: request.end(slot), with: replacement });
  return all;
}

/** The `_meta` of such a request with another `clientInfo`. */
export function metaWith(clientInfo: string, request: Message): Excerpt {
  const { bytes } = request;
  const before = viewsOf(bytes, request.start(Client.meta), request.start(Client.clientInfo));
  const behind = viewsOf(bytes, request.end(Client.clientInfo), request.end(Client.meta));
  return excerptOf(Buffer.concat([...before, Buffer.from(clientInfo), ...behind]).toString());
}

/** Whether a request has complete metadata, as those of modern clients do. Then only `clientInfo` changes. */
export function hasModernMeta(request: Message): boolean {
  return request.has(Client.version) && request.has(Client.clientInfo) && request.has(Client.capabilities);
}

/** The params of one of our own requests, with its metadata. */
export function paramsWithMeta(params: JsonObject | undefined, identity: ClientIdentity): JsonObject {
  return {
    ...params,
    _meta: {
      ...(params?._meta as object | undefined),
      [Meta.protocolVersion]: MODERN_VERSION,
      [Meta.clientInfo]: identity.clientInfo,
      [Meta.clientCapabilities]: identity.capabilities,
    },
  };
}

interface Wanted {
  readonly key: string;
  readonly slot: number;
  readonly text: string;
}

type Slots = Readonly<
  Record<
    | 'params'
    | 'meta'
    | 'version'
    | 'clientInfo'
    | 'capabilities'
    | 'logLevel'
    | 'requestState'
    | 'inputResponses',
    number
  >
>;

function wantedMeta(message: Message, slots: Slots, stamp: RequestMeta): Wanted[] {
  const wanted: Wanted[] = [];
  const stays = (slot: number): boolean => stamp.keeps && message.has(slot);
  if (!stays(slots.version)) wanted.push({ key: Meta.protocolVersion, slot: slots.version, text: VERSION });
  wanted.push({ key: Meta.clientInfo, slot: slots.clientInfo, text: stamp.clientInfo });
  if (!stays(slots.capabilities))
    wanted.push({ key: Meta.clientCapabilities, slot: slots.capabilities, text: textOf(stamp.capabilities) });
  if (stamp.logLevel !== undefined && !stamp.keeps)
    wanted.push({ key: Meta.logLevel, slot: slots.logLevel, text: JSON.stringify(stamp.logLevel) });
  return wanted;
}

/**
 * Finds the members. The door of a modern client has already searched for them, and if it found one, the whole search
 * succeeded. Otherwise they are searched for here, because a failed search looks like one that found nothing.
 */
function placesOf(request: Message): { message: Message; slots: Slots } | undefined {
  if (request.has(Client.version)) return { message: request, slots: Client };
  const read = readMessage(request.bytes, SHAPE, 'content-length');
  return read instanceof Message ? { message: read, slots: OWN } : undefined;
}

/** Inserts members at the beginning of an object. */
function insertInto(message: Message, slot: number, members: readonly string[], edits: Edit[]): void {
  if (members.length === 0) return;
  const start = message.start(slot) + 1;
  let next = start;
  while (byteAt(message.bytes, next) <= SPACE) next++;
  const comma = byteAt(message.bytes, next) === CLOSE_BRACE ? '' : ',';
  addEdit(edits, { start, end: start, with: members.join(',') + comma });
}

/** The capabilities of a client remain the same object and are serialized once. */
const texts = new WeakMap<object, string>();

function textOf(value: object): string {
  let text = texts.get(value);
  if (text === undefined) {
    text = JSON.stringify(value);
    texts.set(value, text);
  }
  return text;
}

const ENVELOPE_KEYS: ReadonlySet<string> = new Set([
  Meta.protocolVersion,
  Meta.clientInfo,
  Meta.clientCapabilities,
  Meta.logLevel,
]);

const VERSION = JSON.stringify(MODERN_VERSION);
const SPACE = 0x20;
const BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

const SHAPE = defineShape({
  ...ENVELOPE,
  params: {
    _meta: {
      [Meta.protocolVersion]: true,
      [Meta.clientInfo]: true,
      [Meta.clientCapabilities]: true,
      [Meta.logLevel]: true,
    },
    requestState: true,
    inputResponses: true,
  },
});

const OWN: Slots = {
  params: SHAPE.slot('params'),
  meta: SHAPE.slot('params._meta'),
  version: SHAPE.slot(`params._meta.${Meta.protocolVersion}`),
  clientInfo: SHAPE.slot(`params._meta.${Meta.clientInfo}`),
  capabilities: SHAPE.slot(`params._meta.${Meta.clientCapabilities}`),
  logLevel: SHAPE.slot(`params._meta.${Meta.logLevel}`),
  requestState: SHAPE.slot('params.requestState'),
  inputResponses: SHAPE.slot('params.inputResponses'),
};

const DOUBLED = new SwitchboardError('PARAMS_INVALID', 'Invalid params: duplicate protocol member in _meta.');
const NO_OBJECT = new SwitchboardError('PARAMS_INVALID', 'Invalid params: params must be an object.');
