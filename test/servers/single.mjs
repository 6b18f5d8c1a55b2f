/**
 * Nothing wrong with this one, but it runs only once at a time: a second one finds the lock file and exits.
 *
 *   node test/servers/single.mjs --lock=FILE
 *
 * Tools: as echo.mjs.
 */
import { closeSync, openSync, rmSync } from 'node:fs';
import { echoTools } from './lib/echo-tools.mjs';
import { serve, setting } from './lib/server.mjs';

const lock = setting('lock', '');
try {
  closeSync(openSync(lock, 'wx'));
} catch {
  console.error('single: the lock is taken');
  process.exit(1);
}
process.on('exit', () => rmSync(lock, { force: true }));

serve({ name: 'single', tools: echoTools });
