/**
 * Says hello like any other server and then fails its lists.
 *
 *   node test/servers/bad-list.mjs [--hang]
 *
 * tools/list is refused with −32603 "the catalogue is on fire"; with `--hang` it is never answered. Calls work: echo, pid,
 * canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, RpcError, flag, serve } from './lib/server.mjs';

serve({
  name: 'bad-list',
  methods: {
    'tools/list': () => {
      if (flag('hang')) return NO_ANSWER;
      throw new RpcError(-32603, 'the catalogue is on fire');
    },
  },
  tools: basicTools,
});
