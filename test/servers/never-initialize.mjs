/**
 * Lives, reads, and never answers initialize nor anything else. Writes "not answering" to stderr when it is asked.
 *
 *   node test/servers/never-initialize.mjs [--stubborn]
 *
 * Exits at the end of stdin, unless `--stubborn` (see stubborn.mjs).
 */
import { NO_ANSWER, beStubborn, flag, serve } from './lib/server.mjs';

const silent = () => {
  process.stderr.write('not answering\n');
  return NO_ANSWER;
};

if (flag('stubborn')) beStubborn();
serve({
  name: 'never-initialize',
  methods: { initialize: silent, ping: silent, 'tools/list': silent, 'tools/call': silent },
  ...(flag('stubborn') ? { onEnd: () => {} } : {}),
});
