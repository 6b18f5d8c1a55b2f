/**
 * Unusual but mostly legal JSON and MCP, written byte by byte: what a relay must not change, and a few lines that are not
 * JSON at all.
 *
 *   node test/servers/odd.mjs [--ansi-name] [--long-name] [--no-server-info]
 *
 * initialize always has unknown capability keys, unknown serverInfo keys and an unknown result field; the switches make
 * serverInfo.name coloured, 1 MiB long, or leave serverInfo out. tools/list has unknown fields on every tool.
 * Legal results: unknown_fields, unknown_content, error_data (a JSON-RPC error), big_integers, huge_exponent, minus_zero,
 * lone_surrogate, escaped_keys ("\u0069d", "\u0072esult" in the envelope), deep {depth} (default 200), duplicate_keys,
 * not_tool_shaped ({"ok":true,…}), proto_keys, bad_base64, line_separators (U+2028, U+0085 raw), lone_cr (a raw CR as
 * white space between tokens), spaced (white space everywhere), id_last, null_result_fields.
 * Not JSON, never followed by a clean answer unless {clean_after: true}: invalid_utf8, control_char, nul.
 * Also echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, RpcError, flag, serve, takes } from './lib/server.mjs';

/** A tool whose result is exactly this JSON text. */
const result = (json) => ({
  description: 'An odd result.',
  run: (args, ctx) => {
    ctx.server.write(`${ctx.responseText(typeof json === 'function' ? json(args) : json)}\n`);
    return NO_ANSWER;
  },
});

/** A tool whose whole answer line is made from the id. */
const answer = (line) => ({
  description: 'An odd answer.',
  run: (_args, ctx) => {
    ctx.server.write(`${line(JSON.stringify(ctx.id))}\n`);
    return NO_ANSWER;
  },
});

/** A tool whose text has bytes in it that no JSON has. */
const broken = (...bytes) => ({
  description: 'An answer that is not JSON.',
  inputSchema: takes({ clean_after: 'boolean' }),
  run: ({ clean_after: cleanAfter = false }, ctx) => {
    const [head, tail] = ctx.responseText('{"content":[{"type":"text","text":"a|b"}]}').split('|');
    ctx.server.write(Buffer.concat([Buffer.from(head), Buffer.from(bytes), Buffer.from(`${tail}\n`)]));
    return cleanAfter ? 'clean' : NO_ANSWER;
  },
});

const content = (inner) => `{"content":[{"type":"text","text":"odd"}],${inner}}`;

const oddTools = {
  unknown_fields: result(
    content(
      '"future":{"a":[1,{"b":null}]},"_meta":{"vendor.example/x":1},"resultType":"complete","isError":false',
    ),
  ),
  unknown_content: result(
    '{"content":[{"type":"hologram","data":"aGk=","depth":3},{"type":"text","text":"t","annotations":{"priority":0.5,"new":true},"extra":1}]}',
  ),
  error_data: {
    description: 'A JSON-RPC error with data.',
    run: () => {
      throw new RpcError(-32002, 'Resource not found', { uri: 'test://gone', nested: { list: [1, 2, 3] } });
    },
  },
  big_integers: result(
    content(
      '"structuredContent":{"above":9007199254740993,"below":-9007199254740993,"long":1234567890123456789012345678901234567890,"precise":0.1000000000000000055511151231257827,"trailing":1.50}',
    ),
  ),
  huge_exponent: result(content('"structuredContent":{"huge":1E400,"tiny":1e-400,"plus":1E+2}')),
  minus_zero: result(content('"structuredContent":{"zero":-0,"point":-0.0}')),
  lone_surrogate: result(
    '{"content":[{"type":"text","text":"high \\ud83d low \\ude00 pair \\ud83d\\ude00"}]}',
  ),
  escaped_keys: answer(
    (id) =>
      `{"\\u006asonrpc":"2.0","\\u0069d":${id},"\\u0072esult":{"\\u0063ontent":[{"type":"text","text":"\\u006f\\u0064\\u0064"}]}}`,
  ),
  deep: result(({ depth = 200 }) =>
    content(`"structuredContent":{"nested":${'['.repeat(depth)}${']'.repeat(depth)}}`),
  ),
  duplicate_keys: result(content('"structuredContent":{"key":1,"key":2},"note":"first","note":"second"')),
  not_tool_shaped: result('{"ok":true,"name":"odd","args":{"a":1}}'),
  proto_keys: result(
    content('"structuredContent":{"__proto__":{"polluted":true},"constructor":{"prototype":{"x":1}}}'),
  ),
  bad_base64: result('{"content":[{"type":"image","data":"@@not base64@@","mimeType":"image/png"}]}'),
  line_separators: result('{"content":[{"type":"text","text":"a\u2028b\u2029c\u0085d\u007fe\ufefff"}]}'),
  lone_cr: answer(
    (id) => `{"jsonrpc":"2.0",\r"id":${id},\r"result":{"content":[{"type":"text","text":"cr"}]}}`,
  ),
  spaced: answer((id) => `  { "jsonrpc" : "2.0" ,\t"id" : ${id} , "result" : { "content" : [ ] } }  `),
  id_last: answer((id) => `{"result":{"id":99,"content":[],"error":{"id":98}},"jsonrpc":"2.0","id":${id}}`),
  null_result_fields: result('{"content":[],"structuredContent":null,"_meta":null,"isError":null}'),
  invalid_utf8: broken(0xff, 0xc0, 0x80),
  control_char: broken(0x01),
  nul: broken(0x00),
};

const serverInfo = {
  name: flag('long-name')
    ? 'n'.repeat(1_048_576)
    : flag('ansi-name')
      ? '\u001b[31modd\u001b[0m\u0007'
      : 'odd',
  version: '1.0.0',
  title: 'Odd',
  flavour: 'vanilla',
  icons: [{ src: 'data:image/png;base64,', sizes: ['any'], glow: true }],
};

serve({
  name: 'odd',
  capabilities: {
    tools: { listChanged: true, paging: { size: 7 } },
    telepathy: { range: 'short' },
    experimental: { 'vendor.example/x': { on: true } },
    extensions: { 'vendor.example/y': {} },
  },
  initializeResult: {
    serverInfo: flag('no-server-info') ? undefined : serverInfo,
    instructions: 'Odd on purpose.',
    weather: { today: 'fine' },
  },
  methods: {
    'tools/list': async (params, ctx, standard) => {
      const { tools } = await standard(params, ctx);
      return {
        tools: tools.map((tool) => ({
          ...tool,
          title: tool.name,
          cost: { unit: 1 },
          annotations: { readOnlyHint: true, mood: 'odd' },
        })),
        ttl: 5,
        _meta: { 'vendor.example/list': 1 },
      };
    },
  },
  tools: { ...oddTools, ...basicTools },
});
