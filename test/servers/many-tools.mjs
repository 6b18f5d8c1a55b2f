/**
 * Has very many tools, or tools with difficult names, descriptions or schemas. Calling one gives its name and arguments.
 *
 *   node test/servers/many-tools.mjs [--count=1000] [--description-bytes=60] [--names=plain] [--schema=plain]
 *
 * Names: plain (tool_1 …), long (100 characters), foreign (spaces, dots, slashes, other scripts), underscores (a__tool_1),
 * same (all the same name), reserved (the gateway's own: add_server, remove_server, reload_server, list_servers, …).
 * Schemas: plain, ref-bomb (exponential $ref), recursive ($ref "#"), redos (a catastrophic pattern), remote (a $ref to
 * http://127.0.0.1:9), also as outputSchema.
 */
import { RpcError, numberSetting, serve, setting, text } from './lib/server.mjs';

const RESERVED = [
  'add_server',
  'remove_server',
  'reload_server',
  'list_servers',
  'introspect',
  'call',
  'natural_language',
];
const FOREIGN = [
  'has space',
  'dot.ted',
  'slash/ed',
  'ünïcode',
  '日本語',
  'emoji😀',
  'colon:ed',
  '-dash',
  'UPPER',
  'a',
];

const NAMES = {
  plain: (index) => `tool_${index}`,
  long: (index) => `${'long_'.repeat(20).slice(0, 100 - String(index).length)}${index}`,
  foreign: (index) => `${FOREIGN[(index - 1) % FOREIGN.length]}${index > FOREIGN.length ? ` ${index}` : ''}`,
  underscores: (index) => `a__tool_${index}`,
  same: () => 'tool',
  reserved: (index) => RESERVED[(index - 1) % RESERVED.length],
};

function refBomb(levels) {
  const $defs = { level_0: { type: 'string' } };
  for (let level = 1; level <= levels; level++) {
    const below = { $ref: `#/$defs/level_${level - 1}` };
    $defs[`level_${level}`] = { type: 'object', properties: { a: below, b: below } };
  }
  return { type: 'object', $defs, properties: { root: { $ref: `#/$defs/level_${levels}` } } };
}

const SCHEMAS = {
  plain: {
    type: 'object',
    properties: { text: { type: 'string', description: 'Some text.' } },
    required: ['text'],
  },
  'ref-bomb': refBomb(30),
  recursive: { type: 'object', properties: { child: { $ref: '#' } } },
  redos: { type: 'object', properties: { text: { type: 'string', pattern: '^(a+)+$' } } },
  remote: { type: 'object', properties: { far: { $ref: 'http://127.0.0.1:9/schema.json' } } },
};

const nameOf = NAMES[setting('names', 'plain')];
const schemaName = setting('schema', 'plain');
const inputSchema = SCHEMAS[schemaName];
const description = 'Does one of many things. '.repeat(1 + numberSetting('description-bytes', 60) / 25);
const tools = Array.from({ length: numberSetting('count', 1000) }, (_, index) => ({
  name: nameOf(index + 1),
  description: description.slice(0, numberSetting('description-bytes', 60)),
  inputSchema,
  ...(schemaName === 'plain' ? {} : { outputSchema: inputSchema }),
}));
const names = new Set(tools.map((tool) => tool.name));

serve({
  name: 'many-tools',
  methods: {
    'tools/list': () => ({ tools }),
    'tools/call': ({ name, arguments: args = {} }) => {
      if (!names.has(name)) throw new RpcError(-32602, `Unknown tool: ${name}`);
      const structuredContent = { name, args };
      return { ...text(structuredContent), ...(schemaName === 'plain' ? {} : { structuredContent: args }) };
    },
  },
});
