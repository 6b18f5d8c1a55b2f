/** What becomes of the output of services. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../helpers/until.ts';
import { processYard, serviceCommand } from '../helpers/yard-processes.ts';
import { hasTerminals, inTerminal } from '../helpers/yard-terminal.ts';

/** The size of all logs, in bytes. */
function sizeOf(directory: string): number {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  const stats = names.map((name) => statSync(join(directory, name), { throwIfNoEntry: false }));
  return stats.reduce((sum, stat) => sum + (stat?.isFile() === true ? stat.size : 0), 0);
}

test('a service that floods its log never exceeds the limit, with no command or proxy running', async () => {
  const yard = await processYard(
    `[services.web]\ncommand = "${serviceCommand('flood')}"\nready_timeout = 60\n`,
  );
  const [{ port }] = (await yard.ask('up')).outcomes;
  await yard.ask('proxy', 'stop');
  const logs = join(yard.home, 'logs');
  let flooding = true;
  const flooded = fetch(`http://127.0.0.1:${port}/flood`).finally(() => (flooding = false));
  let largest = 0;
  while (flooding) {
    largest = Math.max(largest, sizeOf(logs));
    await sleep(5);
  }
  expect((await flooded).status).toBe(200);
  // The log of the proxy is there too.
  expect(largest).toBeLessThan(10.1 * 1024 * 1024);
  const last = await until(async () => {
    const { lines } = (await yard.ask('logs', 'web', '-n', '3')).logs[0];
    return lines.at(-1)?.startsWith('line 1999999 ') && lines;
  });
  expect(last.map((line: string) => line.split(' ')[1])).toEqual(['1999997', '1999998', '1999999']);
  // Also a part of what came before.
  const { stdout } = await yard.run(['logs', 'web', '-n', '20000']);
  expect(stdout.trimEnd().split('\n')).toHaveLength(20_000);
  await yard.ask('down');
});

test.skipIf(process.platform === 'win32')('secrets of env files are shown to a person only', async () => {
  const secret = 'tok-1234567890';
  const service = '[services.web]\ncommand = "node web.mjs"\nready_timeout = 60\n';
  const yard = await processYard(service, {
    '.env': `SHOP_TOKEN=${secret}\n`,
    'web.mjs': `
      import { createServer } from 'node:http';
      console.log('Error: ${secret} is wrong');
      if (process.argv[2] === 'fail') process.exit(3);
      createServer().listen(Number(process.env.PORT), process.env.HOST);`,
  });
  await yard.ask('up');
  await until(async () => (await yard.ask('logs')).logs[0].lines.length > 0);
  for (const args of [['logs'], ['logs', '--json'], ['brief'], ['brief', '--json'], ['status', '--json']]) {
    const { stdout } = await yard.run(args);
    expect(stdout, args.join(' ')).toContain('Error: *** is wrong');
    expect(stdout, args.join(' ')).not.toContain(secret);
  }
  if (hasTerminals()) expect(await inTerminal(yard, ['logs'])).toContain(`Error: ${secret} is wrong`);
  await yard.ask('down');

  yard.write('switchyard.toml', yard.read('switchyard.toml').replace('web.mjs', 'web.mjs fail'));
  const failed = await yard.run(['up', '--json']);
  expect(failed.stdout).toContain('Error: *** is wrong');
  expect(failed.stdout).not.toContain(secret);
});
