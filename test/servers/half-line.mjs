/**
 * Cuts its messages at the wrong places: everything it says comes in pieces of 1 to 7 bytes, or several messages come
 * in one write.
 *
 *   node test/servers/half-line.mjs [--pause-ms=0] [--whole]
 *
 * `--pause-ms`: wait between the pieces. `--whole`: write messages whole; only the tools below misbehave.
 * Tools: burst {count} (that many log notifications and the answer in one write), progress_and_answer (one progress and
 * the answer in one write), half (half of its answer, then silence: the next message starts on a new line), half_joined
 * (half of its answer, and the next message directly behind it on the same line), echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, nextTurn, numberSetting, serve, sleep, takes, text } from './lib/server.mjs';

const pause = numberSetting('pause-ms', 0);
let queue = Promise.resolve();
let pieces = 0;
let before = '';

function inPieces(line, write) {
  queue = queue.then(async () => {
    const bytes = Buffer.from(line);
    for (let at = 0; at < bytes.length;) {
      const size = 1 + (pieces++ % 7);
      write(bytes.subarray(at, at + size));
      at += size;
      await (pause > 0 ? sleep(pause) : nextTurn());
    }
  });
}

function halfOf(ctx) {
  const whole = ctx.responseText(JSON.stringify(text('never finished')));
  ctx.server.write(whole.slice(0, whole.length / 2));
  return NO_ANSWER;
}

serve({
  name: 'half-line',
  capabilities: { tools: {}, logging: {} },
  send: (json, write) => {
    const line = `${before}${json}\n`;
    before = '';
    if (flag('whole')) write(line);
    else inPieces(line, write);
  },
  tools: {
    burst: {
      description: 'Several messages in one write.',
      inputSchema: takes({ count: 'integer' }),
      run: ({ count = 10 }, ctx) => {
        const logs = Array.from({ length: count }, (_, index) => ({
          jsonrpc: '2.0',
          method: 'notifications/message',
          params: { level: 'info', data: index },
        }));
        const answer = { jsonrpc: '2.0', id: ctx.id, result: text(`burst of ${count}`) };
        ctx.server.write([...logs, answer].map((message) => `${JSON.stringify(message)}\n`).join(''));
        return NO_ANSWER;
      },
    },
    progress_and_answer: {
      description: 'A progress notification and the answer in one write.',
      run: (_args, ctx) => {
        const progress =
          ctx.progressToken === undefined ? [] : [ctx.progressMessage({ progress: 1, total: 1 })];
        const answer = { jsonrpc: '2.0', id: ctx.id, result: text('together') };
        ctx.server.write([...progress, answer].map((message) => `${JSON.stringify(message)}\n`).join(''));
        return NO_ANSWER;
      },
    },
    half: {
      description: 'Half an answer, then silence.',
      run: (_args, ctx) => {
        before = '\n';
        return halfOf(ctx);
      },
    },
    half_joined: {
      description: 'Half an answer; the next message follows on the same line.',
      run: (_args, ctx) => halfOf(ctx),
    },
    ...basicTools,
  },
});
