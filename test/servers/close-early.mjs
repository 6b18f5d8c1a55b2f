/**
 * Exits at once, politely, after some text on stderr. Never reads anything.
 *
 *   node test/servers/close-early.mjs [--lines=1] [--code=0]
 *
 * The stderr lines are "close-early: missing API key, line 1" …
 */
import { writeSync } from 'node:fs';
import { numberSetting } from './lib/server.mjs';

for (let line = 1; line <= numberSetting('lines', 1); line++) {
  writeSync(2, `close-early: missing API key, line ${line}\n`);
}
process.exit(numberSetting('code', 0));
