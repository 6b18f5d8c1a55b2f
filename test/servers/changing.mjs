/**
 * Changes what it offers while it runs.
 *
 *   node test/servers/changing.mjs [--toggle] [--silent] [--fail-list=n]
 *
 * Tools: grow {name} (a new tool appears), shrink {name} (it goes), redescribe {name, description}, each followed by one
 * notifications/tools/list_changed unless `--silent`; echo, pid, canary. `--toggle`: the description of echo is another one
 * at every second tools/list. `--fail-list`: the n-th tools/list is refused.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { RpcError, flag, numberSetting, serve, takes } from './lib/server.mjs';

let lists = 0;

function changed(server) {
  if (!flag('silent')) server.notify('notifications/tools/list_changed');
}

serve({
  name: 'changing',
  methods: {
    'tools/list': async (params, ctx, standard) => {
      lists += 1;
      if (lists === numberSetting('fail-list', 0)) throw new RpcError(-32603, 'not just now');
      const result = await standard(params, ctx);
      if (flag('toggle'))
        result.tools.find((tool) => tool.name === 'echo').description = lists % 2 === 0 ? 'B' : 'A';
      return result;
    },
  },
  tools: {
    grow: {
      description: 'Adds a tool.',
      inputSchema: takes({ name: 'string' }),
      run: ({ name = 'grown' }, { server }) => {
        server.tools[name] = { description: `Grown: ${name}.`, run: () => `I am ${name}` };
        changed(server);
        return `grew ${name}`;
      },
    },
    shrink: {
      description: 'Removes a tool.',
      inputSchema: takes({ name: 'string' }),
      run: ({ name = 'grown' }, { server }) => {
        delete server.tools[name];
        changed(server);
        return `dropped ${name}`;
      },
    },
    redescribe: {
      description: 'Changes the description of a tool.',
      inputSchema: takes({ name: 'string', description: 'string' }, ['name', 'description']),
      run: ({ name, description }, { server }) => {
        server.tools[name] = { ...server.tools[name], description };
        changed(server);
        return `redescribed ${name}`;
      },
    },
    ...basicTools,
  },
});
