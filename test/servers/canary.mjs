/**
 * Nothing wrong with this one: it remembers a value, as servers do that keep something for their client. Whoever sees the
 * value of somebody else was given the wrong server.
 *
 *   node test/servers/canary.mjs [--record=FILE]
 *
 * `--record`: tell appends each value to the file before it gives it back, one on a line.
 * Tools: remember {value}, recall (what was remembered last), tell {value, ms} (gives the value back after some
 * milliseconds, and keeps nothing). Each gives {"pid", "value"} as JSON.
 */
import { appendFileSync } from 'node:fs';
import { serve, setting, sleep, takes, text } from './lib/server.mjs';

const record = setting('record');
let kept = null;
const said = (value) => text({ pid: process.pid, value });

serve({
  name: 'canary',
  tools: {
    remember: {
      description: 'Keeps a value.',
      inputSchema: takes({ value: 'string' }, ['value']),
      run: ({ value }) => {
        kept = value;
        return said(value);
      },
    },
    recall: { description: 'The value that was kept last.', run: () => said(kept) },
    tell: {
      description: 'Gives a value back, after some milliseconds.',
      inputSchema: takes({ value: 'string', ms: 'number' }, ['value']),
      run: async ({ value, ms = 0 }) => {
        if (record !== undefined) appendFileSync(record, `${value}\n`);
        if (ms > 0) await sleep(ms);
        return said(value);
      },
    },
  },
});
