/**
 * Loaded into a gateway with `--require`: records how long its event loop was blocked, one line for each time: when it
 * ended (in milliseconds since the epoch), and the CPU time of our thread until then (in milliseconds). Time that the
 * system gave to other processes does not count, so the result is the same on a busy machine.
 */
const { appendFileSync, readFileSync } = require('node:fs');

const file = process.env.WATCH_LOOP_FILE;
// Not in its servers, which inherit the environment.
if (file !== undefined && /\bdist\b.*\.js$/.test(process.argv[1] ?? '')) {
  const computed = () =>
    Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
  let last = computed();
  const look = () => {
    const now = computed();
    if (now - last >= 10) appendFileSync(file, `${Date.now()} ${now - last}\n`);
    last = now;
  };
  setInterval(look, 2).unref();
}
