/**
 * Exits at once with a complaint, until it has been started often enough.
 *
 *   node test/servers/late-bloomer.mjs --starts=file [--works-from=3] [--name=late-bloomer]
 *
 * Each start adds a line to the file: its time in milliseconds since 1970. Before the start number `--works-from` it
 * writes "late-bloomer: not yet, start 1" to stderr and exits with code 3; `--works-from=never` is never enough. Tools:
 * bloom ("in bloom since start 3"), echo, pid, canary.
 */
import { appendFileSync, readFileSync, writeSync } from 'node:fs';
import { basicTools } from './lib/echo-tools.mjs';
import { serve, setting } from './lib/server.mjs';

const file = setting('starts');
appendFileSync(file, `${Date.now()}\n`);
const start = readFileSync(file, 'utf8').trimEnd().split('\n').length;
const enough = setting('works-from', '3');

if (enough === 'never' || start < Number(enough)) {
  writeSync(2, `late-bloomer: not yet, start ${start}\n`);
  process.exit(3);
}

serve({
  name: 'late-bloomer',
  tools: {
    bloom: { description: 'Blooms.', run: () => `in bloom since start ${start}` },
    ...basicTools,
  },
});
