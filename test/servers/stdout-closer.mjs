/**
 * Closes its stdout (or another of its streams) and stays alive.
 *
 *   node test/servers/stdout-closer.mjs [--at-start | --after-initialize] [--stream=stdout]
 *
 * Without a switch it works until the tool close {stream: "stdout" | "stderr" | "stdin" | "pipe"} is called. Closing
 * stderr is answered; closing stdout cannot be; closing stdin is answered and then nothing is read any more, not even its
 * end; closing the pipe is that, and whoever writes to it finds that nobody can read.
 * It exits at the end of stdin, or after `--lifetime-ms` (default two minutes). Tools: close, echo, pid, canary.
 */
import { closeSync } from 'node:fs';
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, numberSetting, serve, setting, takes } from './lib/server.mjs';

const FD = { stdin: 0, stdout: 1, stderr: 2 };
const closed = new Set();

function close(stream) {
  if (closed.has(stream)) return;
  closed.add(stream);
  if (stream === 'stdin' || stream === 'pipe') process.stdin.destroy();
  // Node itself leaves this one open.
  if (stream === 'pipe') process.stdin.once('close', () => closeSync(FD.stdin));
  else if (stream !== 'stdin') closeSync(FD[stream]);
}

setTimeout(() => process.exit(0), numberSetting('lifetime-ms', 120_000));
const chosen = setting('stream', 'stdout');
if (flag('at-start')) close(chosen);

serve({
  name: 'stdout-closer',
  write: (bytes) => {
    if (!closed.has('stdout')) process.stdout.write(bytes);
  },
  onNotification: ({ method }) => {
    if (flag('after-initialize') && method === 'notifications/initialized') close(chosen);
  },
  tools: {
    close: {
      description: 'Closes one of its streams.',
      inputSchema: takes({ stream: 'string' }),
      run: ({ stream = 'stdout' }) => {
        if (stream === 'stdin' || stream === 'pipe') setImmediate(() => close(stream));
        else close(stream);
        return stream === 'stdout' ? NO_ANSWER : `closed ${stream}`;
      },
    },
    ...basicTools,
  },
});
