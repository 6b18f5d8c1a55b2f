/**
 * Says what takes long to read: lists, schemas, answers and lines of many megabytes that are made of very many small parts.
 *
 *   node test/servers/hostile.mjs [--list=none] [--info] [--mb=12]
 *
 * `--list`: what its list of tools is, beside the tools below: schemas (tools with long schemas, of so many megabytes
 * together), item (a tool with a schema of so many megabytes), items (so many megabytes of empty items), members (the list
 * is behind so many megabytes of other members), names (1000 tools with long names that are much alike), collisions (1000
 * tools whose names become the same where only letters are allowed), hidden (tools full of characters that are not drawn,
 * in their names, too). `--info`: so many megabytes about itself in
 * initialize, too.
 * Tools: fine; answer {kind} (an answer of so many megabytes: links, structured, bare, error, batch, members, numbers,
 * texts, mixed, text, foreign, copies);
 * lines {bytes, line} (writes that line again and again, then answers).
 */
import { NO_ANSWER, flag, numberSetting, serve, setting, takes } from './lib/server.mjs';

const MB = 1_048_576;
const size = numberSetting('mb', 12) * MB;

/** JSON of about so many bytes. */
const objects = (bytes) => `[${'{"a":[]},'.repeat(bytes / 9)}0]`;
const members = (bytes) => Array.from({ length: bytes / 12 }, (_, n) => `"k${n}":${n}`).join(',');
const numbers = (bytes) => `[${'0,'.repeat(bytes / 2)}0]`;
const tool = (name, schema) => `{"name":${JSON.stringify(name)},"inputSchema":{"type":"object",${schema}}}`;
const several = (count, make) => Array.from({ length: count }, (_, n) => make(n));

const LISTS = {
  none: () => [],
  schemas: () =>
    several(size / 200_000, (n) =>
      tool(`long_${n}`, n % 2 === 0 ? `"x":${objects(200_000)}` : `"properties":{${members(200_000)}}`),
    ),
  item: () => [tool('endless', `"x":${objects(size)}`)],
  items: () => ['{},'.repeat(size / 3) + '{}'],
  members: () => [],
  names: () => several(1000, (n) => tool(`${'long_name_'.repeat(19)}${n}`, '"x":0')),
  hidden: () =>
    ['\u200b', 'é\u200d', '\ufdfa', '\u{e0041}'].flatMap((text) =>
      several(3, (n) => tool(text.repeat(3000 + n), `"description":"${text.repeat(120_000 / text.length)}"`)),
    ),
  collisions: () =>
    several(1000, (n) => tool('äöüÄÖÜß€µ¶'.repeat(2) + String.fromCodePoint(0x4e00 + n), '"x":0')),
};

const ANSWERS = {
  links: () => `{"content":[{"type":"resource_link","uri":"x://y","name":"y"},${objects(size).slice(1)}}`,
  structured: () => `{"content":[],"structuredContent":{${members(size)}}}`,
  bare: () => `{"x":${objects(size)}}`,
  members: () => `{${members(size)}}`,
  numbers: () => `{"content":[],"x":${numbers(size)}}`,
  texts: () =>
    `{"content":[${several(size / 60, (n) => `{"type":"text","text":"text ${n}\\n"}`).join(',')}]}`,
  mixed: () =>
    `{"content":[${several(size / 90, (n) => `{"type":"text","text":"text ${n}"},{"type":"audio"}`).join(',')}]}`,
  text: () =>
    `{"content":[{"type":"text","text":${JSON.stringify(JSON.stringify(JSON.parse(objects(size / 3)), null, 1))}}]}`,
  foreign: () => `{"content":[{"type":"text","text":"${'é'.repeat(size / 2)}"}]}`,
  copies: () =>
    `{"content":[{"type":"text","text":"${'x'.repeat(100_000)}"}],"structuredContent":{${members(size)}}}`,
};

function answer(kind, ctx) {
  const { id } = ctx;
  if (kind === 'error')
    return `{"jsonrpc":"2.0","id":${id},"error":{"code":1,"message":"no","data":${objects(size)}}}`;
  if (kind === 'batch') return `[{"jsonrpc":"2.0","id":${id},"result":{}},${objects(size).slice(1)}`;
  return ctx.responseText(ANSWERS[kind]());
}

const kind = setting('list', 'none');
const own = {
  fine: { run: () => 'fine' },
  answer: {
    inputSchema: takes({ kind: 'string' }, ['kind']),
    run: ({ kind: wanted }, ctx) => {
      ctx.server.write(`${answer(wanted, ctx)}\n`);
      return NO_ANSWER;
    },
  },
  lines: {
    inputSchema: takes({ bytes: 'integer', line: 'string' }),
    run: async ({ bytes = 320 * MB, line = 'x' }) => {
      const block = Buffer.from(`${line}\n`.repeat(65_536 / (line.length + 1)));
      const put = () => new Promise((resolve) => process.stdout.write(block, resolve));
      for (let left = bytes; left > 0; left -= block.length) await put();
      return 'written';
    },
  },
};

serve({
  name: 'hostile',
  capabilities: { tools: {}, resources: {} },
  tools: own,
  initializeResult: flag('info')
    ? { serverInfo: { name: 'hostile', version: '1', x: JSON.parse(objects(size)) } }
    : {},
  methods: {
    'tools/list': (_params, ctx) => {
      const listed = Object.entries(own).map(([name, { inputSchema = { type: 'object' } }]) =>
        JSON.stringify({ name, inputSchema }),
      );
      const list = `"tools":[${[...listed, ...LISTS[kind]()].join(',')}]`;
      ctx.server.write(`${ctx.responseText(`{${kind === 'members' ? `${members(size)},` : ''}${list}}`)}\n`);
      return NO_ANSWER;
    },
    'resources/list': () => ({ resources: [] }),
    'resources/templates/list': () => ({ resourceTemplates: [] }),
  },
});
