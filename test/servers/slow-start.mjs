/**
 * Takes its time before it reads anything, in one of the ways that real servers do.
 *
 *   node test/servers/slow-start.mjs [--busy-ms=0] [--child-ms=0] [--idle-ms=0] [--asked-twice] [--strict]
 *                                   [--prints=text]
 *
 * `--busy-ms`: works for so long itself. `--child-ms`: lets a child of a child work for so long, and waits for it.
 * `--idle-ms`: only waits. `--asked-twice`: waits until it has got two `initialize`. `--strict`: exits with 3 when it reads a line that is no JSON. `--prints`: prints this to
 * stdout first.
 * Tools: echo, pid, canary.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { basicTools } from './lib/echo-tools.mjs';
import { flag, numberSetting, serve, setting, sleep } from './lib/server.mjs';

const BUSY = 'const until = Date.now() + Number(process.argv[1]); while (Date.now() < until);';
const PARENT =
  "require('child_process').spawn(process.execPath, ['-e', process.argv[2], process.argv[1]], { stdio: 'ignore' })";

if (setting('prints') !== undefined) process.stdout.write(`${setting('prints')}\n`);
const busyUntil = Date.now() + numberSetting('busy-ms', 0);
while (Date.now() < busyUntil);
const childMs = numberSetting('child-ms', 0);
if (childMs > 0) {
  const child = spawn(process.execPath, ['-e', PARENT, String(childMs), BUSY], { stdio: 'ignore' });
  await new Promise((resolve) => child.once('exit', resolve));
}
await sleep(numberSetting('idle-ms', 0));
const input = new PassThrough();
process.stdin.pipe(input);
if (flag('asked-twice')) {
  let got = '';
  while (got.split('"initialize"').length < 3) got += String((await once(process.stdin, 'data'))[0]);
}

serve({
  name: 'slow-start',
  input,
  send: (json, write) => {
    if (flag('strict') && json.includes('Parse error')) process.exit(3);
    write(`${json}\n`);
  },
  tools: basicTools,
});
