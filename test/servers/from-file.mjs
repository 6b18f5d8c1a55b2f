/**
 * Offers the tools that a file says, as it says them at the moment.
 *
 *   node test/servers/from-file.mjs --file=tools.json [--ran=file]
 *
 * The file holds an array of tools as in tools/list. It is read at every tools/list and before every call; where it has
 * changed since the last list, the call is followed by notifications/tools/list_changed. Each tool returns `ran NAME ARGS`.
 * `--ran`: the file that gets the name of each tool that is run, a line each.
 * `--quiet`: no notification.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { flag, serve, setting, text } from './lib/server.mjs';

const read = () => readFileSync(setting('file'), 'utf8');
let listed = read();

serve({
  name: 'from-file',
  methods: {
    'tools/list': () => {
      listed = read();
      return { tools: JSON.parse(listed).map((tool) => ({ inputSchema: { type: 'object' }, ...tool })) };
    },
    'tools/call': ({ name, arguments: args = {} }, { server }) => {
      if (setting('ran') !== undefined) appendFileSync(setting('ran'), `${name}\n`);
      if (read() !== listed && !flag('quiet'))
        setImmediate(() => server.notify('notifications/tools/list_changed'));
      return text(`ran ${name} ${JSON.stringify(args)}`);
    },
  },
});
