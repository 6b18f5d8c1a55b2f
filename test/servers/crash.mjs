/**
 * Dies: during a call, after one, at start or during initialize.
 *
 *   node test/servers/crash.mjs [--at-start | --at-initialize] [--code=1] [--signal[=SIGKILL]] [--stderr-lines=0]
 *
 * Tools: crash (dies before answering), crash_after {ms} (answers, then dies), echo, pid, canary.
 * `--signal` dies by that signal instead of an exit code; `--stderr-lines` first writes "crash line 1" … to stderr.
 */
import { writeSync } from 'node:fs';
import { basicTools } from './lib/echo-tools.mjs';
import { NO_ANSWER, flag, numberSetting, serve, setting, takes } from './lib/server.mjs';

function die() {
  const lines = numberSetting('stderr-lines', 0);
  for (let line = 1; line <= lines; line++) writeSync(2, `crash line ${line}\n`);
  const signal = setting('signal');
  if (signal === undefined) process.exit(numberSetting('code', 1));
  process.kill(process.pid, signal === 'true' ? 'SIGKILL' : signal);
  return NO_ANSWER;
}

if (flag('at-start')) die();

serve({
  name: 'crash',
  methods: {
    initialize: (params, ctx, standard) => (flag('at-initialize') ? die() : standard(params, ctx)),
  },
  tools: {
    crash: { description: 'Ends this server before answering.', run: die },
    crash_after: {
      description: 'Answers, and ends this server some milliseconds later.',
      inputSchema: takes({ ms: 'number' }),
      run: ({ ms = 0 }) => {
        setTimeout(die, ms);
        return `crashing in ${ms} ms`;
      },
    },
    ...basicTools,
  },
});
