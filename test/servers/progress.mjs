/**
 * Reports progress, rightly and wrongly. Its results are JSON text {token, sent}.
 *
 *   node test/servers/progress.mjs
 *
 * Tools: steps {n, ms} (n notifications with the caller's token, ms apart, the last one in the same write as the answer),
 * flood {n} (the same, all at once in big writes; default 50,000), stray {n, token} (progress for a token nobody gave),
 * after {n} (the answer first, the progress behind it), backwards (the number falls), burst {n, die} (all at once, and
 * then no answer; with `die` the process ends instead), echo, pid, canary.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, serve, sleep, takes, text } from './lib/server.mjs';

const line = (message) => `${JSON.stringify(message)}\n`;
const answerTo = (ctx, sent) =>
  line({ jsonrpc: '2.0', id: ctx.id, result: text({ token: ctx.progressToken ?? null, sent }) });
const step = (ctx, progress, total) =>
  ctx.progressToken === undefined
    ? ''
    : line(ctx.progressMessage({ progress, total, message: `step ${progress}` }));

serve({
  name: 'progress',
  tools: {
    steps: {
      description: 'Reports n steps; the last comes together with the answer.',
      inputSchema: takes({ n: 'integer', ms: 'number' }),
      run: async ({ n = 3, ms = 0 }, ctx) => {
        for (let progress = 1; progress < n; progress++) {
          ctx.server.write(step(ctx, progress, n));
          if (ms > 0) await sleep(ms);
        }
        if (!ctx.signal.aborted) ctx.server.write(step(ctx, n, n) + answerTo(ctx, n));
        return NO_ANSWER;
      },
    },
    flood: {
      description: 'Reports far too often.',
      inputSchema: takes({ n: 'integer' }),
      run: ({ n = 50_000 }, ctx) => {
        let batch = '';
        for (let progress = 1; progress <= n; progress++) {
          batch += step(ctx, progress, n);
          if (progress % 500 === 0 || progress === n) {
            ctx.server.write(batch);
            batch = '';
          }
        }
        return text({ token: ctx.progressToken ?? null, sent: n });
      },
    },
    stray: {
      description: 'Reports for a token nobody gave.',
      inputSchema: takes({ n: 'integer' }),
      run: ({ n = 1, token = 'nobody-gave-this' }, ctx) => {
        for (let progress = 1; progress <= n; progress++)
          ctx.server.send(ctx.progressMessage({ progress }, token));
        return text({ token, sent: n });
      },
    },
    after: {
      description: 'Reports after the answer.',
      inputSchema: takes({ n: 'integer' }),
      run: ({ n = 3 }, ctx) => {
        let late = '';
        for (let progress = 1; progress <= n; progress++) late += step(ctx, progress, n);
        ctx.server.write(answerTo(ctx, n) + late);
        return NO_ANSWER;
      },
    },
    backwards: {
      description: 'Reports numbers that fall.',
      run: (_args, ctx) => {
        ctx.server.write(step(ctx, 3, 3) + step(ctx, 2, 3) + step(ctx, 1, 3) + answerTo(ctx, 3));
        return NO_ANSWER;
      },
    },
    burst: {
      description: 'Reports n steps in one write and never answers, or ends.',
      inputSchema: takes({ n: 'integer', die: 'boolean' }),
      run: ({ n = 130, die = false }, ctx) => {
        let batch = '';
        for (let progress = 1; progress <= n; progress++) batch += step(ctx, progress, n);
        process.stdout.write(batch, () => {
          if (die) process.exit(1);
        });
        return new Promise(() => {});
      },
    },
    ...basicTools,
  },
});
