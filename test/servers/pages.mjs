/**
 * Lists its tools in pages, or in pages that never end.
 *
 *   node test/servers/pages.mjs [--pages=3] [--per-page=2] [--endless | --repeat]
 *
 * Page p has the tools page_p_tool_1 … ; calling one gives its name. A cursor it did not give: −32602. `--endless`: there
 * is always a next page, with new tools. `--repeat`: the next cursor is always the same, and so is the page.
 * `tools/call list_count` (not listed) says how many tools/list arrived.
 */
import { RpcError, flag, numberSetting, serve, text } from './lib/server.mjs';

const pages = numberSetting('pages', 3);
const perPage = numberSetting('per-page', 2);
let lists = 0;

const toolsOf = (page) =>
  Array.from({ length: perPage }, (_, index) => ({
    name: `page_${page}_tool_${index + 1}`,
    description: `Tool ${index + 1} of page ${page}.`,
    inputSchema: { type: 'object' },
  }));

serve({
  name: 'pages',
  methods: {
    'tools/list': (params) => {
      lists += 1;
      const cursor = params?.cursor;
      if (flag('repeat')) return { tools: toolsOf(1), nextCursor: 'again' };
      const match = /^after-(\d+)$/.exec(cursor ?? 'after-0');
      const page = match === null ? NaN : Number(match[1]) + 1;
      const last = flag('endless') ? Infinity : pages;
      if (!(page <= last)) throw new RpcError(-32602, `Unknown cursor: ${cursor}`);
      return { tools: toolsOf(page), ...(page < last ? { nextCursor: `after-${page}` } : {}) };
    },
    'tools/call': ({ name }) => {
      if (name === 'list_count') return text(lists);
      if (!/^page_\d+_tool_\d+$/.test(name)) throw new RpcError(-32602, `Unknown tool: ${name}`);
      return text(name);
    },
  },
});
