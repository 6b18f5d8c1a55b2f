/**
 * Reads its stdin far too slowly, so that whoever writes to it meets a full pipe.
 *
 *   node test/servers/slow-reader.mjs [--bytes=1] [--every-ms=1000] [--after-initialized]
 *
 * Reads `--bytes` every `--every-ms`. `--after-initialized`: at full speed until notifications/initialized. Tools: echo,
 * pid, canary. Does not notice the end of stdin before it has read up to it; ends by itself after `--lifetime-ms`
 * (default two minutes).
 */
import { read } from 'node:fs';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { basicTools } from './lib/echo-tools.mjs';
import { flag, numberSetting, serve, sleep } from './lib/server.mjs';

const readBytes = promisify(read);
let slow = !flag('after-initialized');

async function* drops() {
  for (;;) {
    // Byte by byte also at full speed: what follows notifications/initialized must not be read along with it.
    const buffer = Buffer.alloc(slow ? numberSetting('bytes', 1) : 1);
    const { bytesRead } = await readBytes(0, buffer, 0, buffer.length, null);
    if (bytesRead === 0) return;
    yield buffer.subarray(0, bytesRead);
    if (slow) await sleep(numberSetting('every-ms', 1000));
  }
}

setTimeout(() => process.exit(0), numberSetting('lifetime-ms', 120_000));
serve({
  name: 'slow-reader',
  input: Readable.from(drops(), { objectMode: true, highWaterMark: 1 }),
  onNotification: ({ method }) => {
    if (method === 'notifications/initialized') slow = true;
  },
  tools: basicTools,
});
