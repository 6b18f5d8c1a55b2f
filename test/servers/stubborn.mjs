/**
 * Ignores SIGTERM, SIGINT, SIGHUP and the end of its stdin. Only SIGKILL ends it, or its age.
 *
 *   node test/servers/stubborn.mjs [--lifetime-ms=120000] [--chatty]
 *
 * Tools: echo, pid, canary. Says "stubborn: stdin ended, staying" on stderr at the end of stdin, and with `--chatty`
 * keeps writing stderr lines after that.
 */
import { basicTools } from './lib/echo-tools.mjs';
import { beStubborn, flag, serve } from './lib/server.mjs';

beStubborn();
serve({
  name: 'stubborn',
  tools: basicTools,
  onEnd: () => {
    process.stderr.write('stubborn: stdin ended, staying\n');
    if (flag('chatty')) setInterval(() => process.stderr.write('stubborn: still here\n'), 50);
  },
});
