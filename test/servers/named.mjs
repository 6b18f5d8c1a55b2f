/**
 * Nothing wrong with this one: it says who it is, so that one can tell which server, and which life of it, has answered.
 *
 *   node test/servers/named.mjs [--name=named]
 *
 * Tool: who {tag, ms} gives {"name", "pid", "tag"} as JSON, after ms milliseconds. Stops early when cancelled.
 */
import { serve, setting, sleep, takes, text } from './lib/server.mjs';

const name = setting('name', 'named');

serve({
  name,
  tools: {
    who: {
      description: 'Says who this is.',
      inputSchema: takes({ tag: 'string', ms: 'number' }),
      run: async ({ tag = '', ms = 0 }, { signal }) => {
        if (ms > 0)
          await Promise.race([
            sleep(ms),
            new Promise((resolve) => signal.addEventListener('abort', resolve)),
          ]);
        return text({ name, pid: process.pid, tag });
      },
    },
  },
});
