/**
 * Writes far too much, to stderr or as noise to stdout.
 *
 *   node test/servers/flood.mjs [--stderr-bytes=0] [--stdout-bytes=0] [--style=plain] [--forever]
 *
 * `--stderr-bytes`, `--stdout-bytes`: written at start. `--forever`: floods stderr as long as it lives, and still answers.
 * Tools: flood {stream: "stderr" | "stdout", bytes, style} writes, then answers; notify_flood {method, count} sends that
 * many notifications, then answers; echo, pid, canary.
 * Styles: plain (lines of 100 bytes), ansi (colours, OSC 52 and a window title), binary (bytes that are not UTF-8, and
 * newlines), no-newline (one endless line; a single newline ends it when the bytes are written).
 */
import { basicTools } from './lib/echo-tools.mjs';
import { flag, numberSetting, serve, setting, takes } from './lib/server.mjs';

const LINES = {
  plain: Buffer.from(`${'flood '.repeat(17).slice(0, 99)}\n`),
  ansi: Buffer.from('\u001b[31mred\u001b[0m \u001b]52;c;c3RvbGVu\u0007\u001b]0;title\u0007 \u009b2J\n'),
  binary: Buffer.from([0xff, 0xfe, 0xc0, 0x80, 0xed, 0xa0, 0x80, 0x00, 0x07, 0x0a]),
  'no-newline': Buffer.from('x'.repeat(100)),
};

/** Waits for each block to be taken, so that what nobody reads does not pile up in here. */
async function pour(stream, bytes, style = 'plain') {
  const line = LINES[style] ?? LINES.plain;
  const block = Buffer.concat(Array(Math.ceil(65_536 / line.length)).fill(line));
  const out = stream === 'stdout' ? process.stdout : process.stderr;
  const put = (chunk) => new Promise((resolve) => out.write(chunk, resolve));
  for (let left = Math.ceil(bytes / line.length) * line.length; left > 0; left -= block.length) {
    await put(block.subarray(0, Math.min(left, block.length)));
  }
  if (style === 'no-newline') await put('\n');
}

process.stderr.on('error', () => process.exit(0));
const style = setting('style', 'plain');
await pour('stderr', numberSetting('stderr-bytes', 0), style);
await pour('stdout', numberSetting('stdout-bytes', 0), style);

serve({
  name: 'flood',
  tools: {
    flood: {
      description: 'Writes that many bytes of noise, then answers.',
      inputSchema: takes({ stream: 'string', bytes: 'integer', style: 'string' }, ['stream', 'bytes']),
      run: async ({ stream, bytes, style: asked }) => {
        await pour(stream, bytes, asked);
        return `wrote ${bytes} bytes to ${stream}`;
      },
    },
    notify_flood: {
      description: 'Sends that many notifications, then answers.',
      inputSchema: takes({ method: 'string', count: 'integer' }, ['count']),
      run: ({ method = 'notifications/tools/list_changed', count }, { server }) => {
        const block = `${JSON.stringify({ jsonrpc: '2.0', method })}\n`;
        for (let left = count; left > 0; left -= 1000) server.write(block.repeat(Math.min(left, 1000)));
        return `sent ${count} times ${method}`;
      },
    },
    ...basicTools,
  },
});

if (flag('forever')) {
  for (;;) await pour('stderr', 65_536, style);
}
