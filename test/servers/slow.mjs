/**
 * Takes its time: to start, to initialize, to list, to answer; or never answers a call at all.
 *
 *   node test/servers/slow.mjs [--start-ms=0] [--initialize-ms=0] [--list-ms=0]
 *
 * Tools: hang (never answers), late {ms} (answers after ms, even when cancelled meanwhile), cancelled_count (how many
 * notifications/cancelled arrived), cancellations (their params, with `known`: whether that call was running),
 * running_count (calls unanswered now, without this one), echo, pid, canary, slow_echo.
 */
import { basicTools, echoTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, numberSetting, serve, sleep, takes, text } from './lib/server.mjs';

const delayed = (name) => async (params, ctx, standard) => {
  await sleep(numberSetting(name, 0));
  return standard(params, ctx);
};

await sleep(numberSetting('start-ms', 0));

serve({
  name: 'slow',
  methods: { initialize: delayed('initialize-ms'), 'tools/list': delayed('list-ms') },
  tools: {
    hang: { description: 'Never answers.', run: () => new Promise(() => {}) },
    late: {
      description: 'Answers after some milliseconds, cancelled or not.',
      inputSchema: takes({ ms: 'number' }),
      run: async ({ ms = 100 }, ctx) => {
        await sleep(ms);
        ctx.answer(text(`late by ${ms} ms`));
        return NO_ANSWER;
      },
    },
    cancelled_count: {
      description: 'How many cancellations arrived.',
      run: (_args, { server }) => String(server.cancellations.length),
    },
    cancellations: {
      description: 'The cancellations that arrived.',
      run: (_args, { server }) => text(server.cancellations),
    },
    running_count: {
      description: 'How many other calls are unanswered now.',
      run: (_args, { server }) => String(server.running.size - 1),
    },
    slow_echo: echoTools.slow_echo,
    ...basicTools,
  },
});
