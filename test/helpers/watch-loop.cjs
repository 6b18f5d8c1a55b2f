/**
 * Loaded into a gateway with `--require`: writes down how long its event loop was held up, one line each: when it ended (in
 * milliseconds since the epoch), and how long our thread computed until then (in milliseconds). The time that the system
 * gave to other processes does not count, so that the result is the same on a busy machine.
 */
const { appendFileSync, readFileSync } = require('node:fs');

const file = process.env.WATCH_LOOP_FILE;
// Its servers are started in the same environment.
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
