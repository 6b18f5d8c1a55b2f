/**
 * Exits on every third call, before answering it.
 *
 *   node test/servers/exit-on-third.mjs [--every=3] [--code=1]
 *
 * Tools: echo, pid, canary; each counts.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { numberSetting, serve } from './lib/server.mjs';

let calls = 0;

serve({
  name: 'exit-on-third',
  methods: {
    'tools/call': (params, ctx, standard) => {
      calls += 1;
      if (calls % numberSetting('every', 3) === 0) process.exit(numberSetting('code', 1));
      return standard(params, ctx);
    },
  },
  tools: basicTools,
});
