/**
 * Prints to stdout, between its messages, whatever text a client gives it.
 *
 *   node test/servers/printing.mjs
 *
 * Tools: print {text} prints the text as it is; hold answers "released", once release is called; release {}.
 */
import { serve, takes } from './lib/server.mjs';

let release;
const released = new Promise((resolve) => {
  release = resolve;
});

serve({
  name: 'printing',
  tools: {
    print: {
      description: 'Prints a text.',
      inputSchema: takes({ text: 'string' }),
      run: ({ text = '' }, { server }) => {
        server.write(text);
        return 'printed';
      },
    },
    hold: {
      description: 'Waits.',
      run: async () => {
        await released;
        return 'released';
      },
    },
    release: {
      description: 'Lets all go on that wait.',
      run: () => {
        release();
        return 'done';
      },
    },
  },
});
