/**
 * Nothing wrong: the next version of `echo`, with one tool more (reverse) and version 2.0.0.
 *
 *   node test/servers/echo-v2.mjs
 *
 * To swap v1 for v2 under a running gateway, point it at a one-line file of your own, `import '…/echo.mjs';`, and
 * rewrite that line.
 */
import { echoTools } from './lib/echo-tools.mjs';
import { serve, takes } from './lib/server.mjs';

serve({
  name: 'echo',
  version: '2.0.0',
  tools: {
    ...echoTools,
    reverse: {
      description: 'Gives the text back, last character first.',
      inputSchema: takes({ text: 'string' }, ['text']),
      run: ({ text }) => [...String(text)].reverse().join(''),
    },
  },
});
