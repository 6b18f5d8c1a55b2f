/**
 * Writes everything in colours: stderr, its errors and its results.
 *
 *   node test/servers/colourful.mjs [--exit]   with --exit it complains on stderr and is gone at once
 *
 * Tools: paint {} (a coloured text), refuse {} (a JSON-RPC error with a coloured message of two sentences).
 */
import { writeSync } from 'node:fs';
import { flag, RpcError, serve } from './lib/server.mjs';

writeSync(2, '\u001b[1;31mError:\u001b[0m No token is set\n\u001b[2mSet "TOKEN" first\u001b[22m\n');
if (flag('exit')) process.exit(1);

await serve({
  name: 'colourful',
  tools: {
    paint: { description: '\u001b[32mPaints\u001b[0m.', run: () => '\u001b[32mgreen\u001b[0m' },
    refuse: {
      description: 'Refuses.',
      run: () => {
        throw new RpcError(-32000, '\u001b[31mNot now.\u001b[0m Come back "later"');
      },
    },
  },
});
