/**
 * Answers too big to take: in bytes, in depth, in keys.
 *
 *   node test/servers/huge.mjs [--info-bytes=n]
 *
 * Tools: huge {bytes, id: "first" | "last"} (default 64 MiB in one line; the id stands before or after the content),
 * deep {depth} (default 1,000,000 nested arrays), keys {count} (default 100,000 keys in structuredContent),
 * no_newline {bytes} (default 64 MiB that never become a line; no answer), echo, pid, canary. `--info-bytes`: it says so
 * many bytes of itself in initialize.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, numberSetting, serve, takes } from './lib/server.mjs';

const MIB = 1_048_576;
const block = Buffer.alloc(MIB, 'x');

function fill(server, bytes) {
  for (let left = bytes; left > 0; left -= MIB) server.write(left >= MIB ? block : block.subarray(0, left));
}

const infoBytes = numberSetting('info-bytes', 0);

serve({
  name: 'huge',
  initializeResult:
    infoBytes === 0 ? {} : { serverInfo: { name: 'huge', version: '1.0.0', padding: 'x'.repeat(infoBytes) } },
  tools: {
    huge: {
      description: 'One answer of that many bytes.',
      inputSchema: takes({ bytes: 'integer', id: 'string' }),
      run: ({ bytes = 64 * MIB, id: where = 'first' }, { id, server }) => {
        const own = `"id":${JSON.stringify(id)}`;
        server.write(
          `{"jsonrpc":"2.0",${where === 'first' ? `${own},` : ''}"result":{"content":[{"type":"text","text":"`,
        );
        fill(server, bytes);
        server.write(`"}]}${where === 'first' ? '' : `,${own}`}}\n`);
        return NO_ANSWER;
      },
    },
    deep: {
      description: 'An answer nested that deep.',
      inputSchema: takes({ depth: 'integer' }),
      run: ({ depth = 1_000_000 }, ctx) => {
        const nested = '['.repeat(depth) + ']'.repeat(depth);
        ctx.server.sendText(ctx.responseText(`{"content":[],"structuredContent":{"nested":${nested}}}`));
        return NO_ANSWER;
      },
    },
    keys: {
      description: 'An answer with that many keys.',
      inputSchema: takes({ count: 'integer' }),
      run: ({ count = 100_000 }) => ({
        content: [],
        structuredContent: Object.fromEntries(
          Array.from({ length: count }, (_, index) => [`key_${index}`, index]),
        ),
      }),
    },
    no_newline: {
      description: 'Bytes that never become a line.',
      inputSchema: takes({ bytes: 'integer' }),
      run: ({ bytes = 64 * MIB }, { server }) => {
        fill(server, bytes);
        return NO_ANSWER;
      },
    },
    ...basicTools,
  },
});
