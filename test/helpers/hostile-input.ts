/** Generated messages that are almost right, in pieces. */
import fc from 'fast-check';
import { envelope } from './eras.ts';

/** The bytes of one message, and where to split them. */
export interface HostileInput {
  readonly bytes: Buffer;
  readonly pieces: readonly Buffer[];
}

/** JSON text: values that are hard to get right, and any others. */
const oddValue = fc.oneof(
  fc.constantFrom(
    ...[
      'null',
      'true',
      '0',
      '-0',
      '1.5',
      '1e400',
      '100000000000000000000',
      '9007199254740993',
      '""',
      '{}',
      '[]',
    ],
    ...[
      '"__proto__"',
      '"constructor"',
      '"\\ud800"',
      '"\\u0000"',
      '"a\\nb"',
      '"\u2028"',
      '{"__proto__":{"x":1}}',
    ],
    ...[`"${'x'.repeat(300)}"`, `${'['.repeat(40)}${']'.repeat(40)}`, '"2.0"', '"Grüße 😀"'],
  ),
  fc.json({ maxDepth: 3 }),
);

/** Mostly one of these, sometimes anything. */
const mostly = (...usual: readonly [string, ...string[]]): fc.Arbitrary<string> =>
  fc.oneof({ weight: 30, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: oddValue });

type Spelling = (key: string, value: string, other: string) => string[];

/** How a member may be written, the right way first. */
const SPELLINGS: readonly Spelling[] = [
  (key, value) => [`"${key}":${value}`],
  () => [],
  (key, value, other) => [`"${key}":${value}`, `"${key}":${other}`],
  (key, value) => [`"${key[0]!.toUpperCase()}${key.slice(1)}":${value}`],
  (key, value) => [`"\\u${key.charCodeAt(0).toString(16).padStart(4, '0')}${key.slice(1)}":${value}`],
  (key, value) => [` "${key}" :\t${value} `],
];
const [rightSpelling, ...oddSpellings] = SPELLINGS;
const spelling = fc.oneof(
  { weight: 60, arbitrary: fc.constant(rightSpelling!) },
  { weight: oddSpellings.length, arbitrary: fc.constantFrom(...oddSpellings) },
);

/** A JSON object of these members; some are left out, repeated or misspelt. */
function someObject(members: Readonly<Record<string, fc.Arbitrary<string>>>): fc.Arbitrary<string> {
  const parts = Object.entries(members).map(([key, value]) =>
    fc.tuple(spelling, value, value).map(([spell, text, other]) => spell(key, text, other)),
  );
  return fc
    .tuple(fc.tuple(...parts), fc.boolean())
    .map(([texts, backwards]) => `{${(backwards ? [...texts].reverse() : texts).flat().join(',')}}`);
}

const quoted = (...texts: readonly string[]): [string, ...string[]] =>
  texts.map((text) => JSON.stringify(text)) as [string, ...string[]];

const someId = mostly(
  '7',
  '"seven"',
  '0',
  '-3',
  '1.5',
  '"constructor"',
  '100000000000000000000',
  '"\\u0061"',
);

const REQUESTS = [
  ...['tools/call', 'tools/call', 'tools/call', 'tools/list', 'ping', 'resources/list'],
  ...['resources/read', 'resources/subscribe', 'resources/unsubscribe', 'resources/templates/list'],
  ...['prompts/list', 'prompts/get', 'completion/complete', 'logging/setLevel', 'server/discover'],
  ...['tasks/get', 'tasks/list', 'tasks/cancel', 'tasks/result', 'no/such', '__proto__', 'toString', ''],
];
const NOTIFICATIONS = [
  ...['notifications/cancelled', 'notifications/progress', 'notifications/initialized'],
  ...['notifications/roots/list_changed', 'notifications/unknown'],
];

/** What a client may send, with the members of its protocol version. */
export function clientMessage(modern: boolean, tools: readonly [string, ...string[]]): fc.Arbitrary<string> {
  const common = {
    _meta: modern ? mostly(JSON.stringify(envelope({}))) : mostly('{}', '{"progressToken":5}'),
    name: mostly(...quoted(...tools)),
    arguments: someObject({
      text: mostly('"said"'),
      action: mostly('"call"', '"introspect"'),
      subtool: mostly('"echo"'),
      args: mostly('{"text":"said"}'),
    }),
  };
  const params = fc.oneof(
    someObject(common),
    someObject({ ...common, cursor: mostly('"never given"'), level: mostly('"info"', '"loud"') }),
    someObject({ ...common, uri: mostly('"file:///etc/passwd"', '"mem://one"'), taskId: mostly('"t"') }),
    someObject({ ...common, requestId: someId, progressToken: someId, progress: mostly('1') }),
    someObject({ ...common, protocolVersion: mostly('"2025-06-18"', '"2031-01-01"', '3') }),
    someObject({
      ...common,
      ref: mostly('{"type":"ref/prompt","name":"x"}'),
      argument: mostly(`{"name":"x","value":"${'v'.repeat(10_000)}"}`),
    }),
    oddValue,
  );
  // A modern client that sends this is a legacy client from then on.
  const requests = modern ? REQUESTS : [...REQUESTS, 'initialize'];
  const envelopeOf = { jsonrpc: mostly('"2.0"'), id: someId };
  return fc.oneof(
    {
      weight: 10,
      arbitrary: someObject({ ...envelopeOf, method: mostly(...quoted(...requests)), params }),
    },
    {
      weight: 2,
      arbitrary: someObject({ ...envelopeOf, method: mostly(...quoted(...NOTIFICATIONS)), params }),
    },
    { weight: 1, arbitrary: someObject({ ...envelopeOf, result: oddValue }) },
    { weight: 1, arbitrary: someObject({ ...envelopeOf, error: oddValue }) },
    { weight: 1, arbitrary: oddValue },
  );
}

/** What a server may send during a call; $id and $token are replaced by those of the call. */
export function serverMessage(): fc.Arbitrary<string> {
  const id = mostly('$id', '$id', '"$id"', 'null', '987654321', '0');
  const jsonrpc = mostly('"2.0"');
  const result = someObject({
    content: mostly(
      '[{"type":"text","text":"hostile"}]',
      '[]',
      '[{"type":"image","data":"?","mimeType":"x"}]',
    ),
    isError: mostly('false', 'true', '"yes"'),
    structuredContent: mostly('{"a":9007199254740993}'),
    resultType: mostly('"complete"', '"input_required"', '"task"', '"other"'),
    requestState: mostly('"state"'),
    _meta: mostly('{}'),
  });
  const error = someObject({ code: mostly('-32000', '1.5'), message: mostly('"no"'), data: oddValue });
  const params = someObject({
    progressToken: mostly('$token', '5'),
    progress: mostly('1', '-1', '1e400'),
    requestId: mostly('$id', '3'),
    level: mostly('"info"', '"loud"'),
    data: oddValue,
    uri: mostly('"file:///etc/passwd"'),
    messages: mostly('[]'),
    maxTokens: mostly('5'),
  });
  const said = quoted(
    ...['progress', 'message', 'cancelled', 'tools/list_changed', 'resources/updated', 'initialized'].map(
      (method) => `notifications/${method}`,
    ),
  );
  const asked = quoted(
    'ping',
    'sampling/createMessage',
    'roots/list',
    'elicitation/create',
    'tools/call',
    'no/such',
  );
  return fc.oneof(
    { weight: 4, arbitrary: someObject({ jsonrpc, id, result }) },
    { weight: 1, arbitrary: someObject({ jsonrpc, id, result: oddValue }) },
    { weight: 2, arbitrary: someObject({ jsonrpc, id, error }) },
    { weight: 1, arbitrary: someObject({ jsonrpc, id, error: oddValue }) },
    { weight: 1, arbitrary: someObject({ jsonrpc, id, result, error }) },
    { weight: 3, arbitrary: someObject({ jsonrpc, method: mostly(...said), params }) },
    { weight: 2, arbitrary: someObject({ jsonrpc, id: someId, method: mostly(...asked), params }) },
    { weight: 1, arbitrary: oddValue },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        ...['Content-Length: 5000000', 'Content-Length: 12', 'HTTP/1.1 200 OK', 'ready on port 3000', ''],
        '\ufeff{"jsonrpc":"2.0","id":$id,"result":{"content":[]}}',
      ),
    },
  );
}

/** The message unchanged, with some bytes changed, or replaced completely, and split anywhere. */
export function hostileInput(message: fc.Arbitrary<string>): fc.Arbitrary<HostileInput> {
  const change = fc.record({
    kind: fc.constantFrom('delete', 'insert', 'replace', 'repeat'),
    at: fc.nat(1_000_000),
    byte: fc.nat(255),
    length: fc.integer({ min: 1, max: 12 }),
  });
  const text = message.map((json) => Buffer.from(json));
  const changed = fc
    .tuple(text, fc.array(change, { minLength: 1, maxLength: 4 }))
    .map(([bytes, changes]) => changes.reduce(applyChange, bytes));
  const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  return fc
    .tuple(
      fc.oneof(
        { weight: 6, arbitrary: text },
        { weight: 3, arbitrary: changed },
        { weight: 1, arbitrary: noise },
      ),
      fc.array(fc.nat(1_000_000), { maxLength: 5 }),
    )
    .map(([bytes, cuts]) => {
      // A message is one line; a carriage return inside one has a separate test.
      const line = bytes.map((byte) => (byte === 10 || byte === 13 ? 32 : byte));
      return { bytes: Buffer.from(line), pieces: piecesOf(Buffer.from(line), cuts) };
    });
}

interface Change {
  readonly kind: string;
  readonly at: number;
  readonly byte: number;
  readonly length: number;
}

function applyChange(bytes: Buffer, { kind, at, byte, length }: Change): Buffer {
  const start = at % (bytes.length + 1);
  const end = Math.min(bytes.length, start + length);
  const inserted = {
    delete: Buffer.alloc(0),
    insert: Buffer.concat([Buffer.of(byte), bytes.subarray(start, end)]),
    replace: Buffer.of(byte),
    repeat: Buffer.concat([bytes.subarray(start, end), bytes.subarray(start, end)]),
  }[kind]!;
  return Buffer.concat([bytes.subarray(0, start), inserted, bytes.subarray(end)]);
}

export function piecesOf(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...ends].map((start, index) => bytes.subarray(start, ends[index]));
}
