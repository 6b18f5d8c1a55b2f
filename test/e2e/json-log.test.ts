/** The log as one JSON object per line, for programs that collect logs. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway } from '../helpers/http-gateway.ts';
import { nodeServer } from '../helpers/temp-project.ts';

function entriesOf(log: string): Record<string, unknown>[] {
  return log
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test.each([
  ['the setting', { logFormat: 'json' }, []],
  ['the flag', {}, ['--log-format', 'json']],
])('%s makes every line an object, in stderr and in the file', async (_how, config, flags) => {
  const gateway = await startHttpGateway(
    { crash: nodeServer('crash', '--stderr-lines=2') },
    {
      config: { exposure: 'flat', naming: 'plain', logDirectory: 'logs', ...config },
      args: ['--http', '0', '--json', ...flags],
    },
  );
  const session = await HttpSession.open(gateway);
  await session.call('crash', {});
  await gateway.stop();
  const entries = entriesOf(gateway.stderr);
  for (const { time, level, program, message } of entries) {
    expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect([program, typeof message]).toEqual(['switchboard', 'string']);
    expect(['info', 'warn', 'error']).toContain(level);
  }
  expect(entries).toContainEqual(expect.objectContaining({ message: 'listening', port: gateway.port }));
  expect(entries).toContainEqual(expect.objectContaining({ message: 'crash line 1', source: 'crash' }));
  expect(entries).toContainEqual(expect.objectContaining({ level: 'warn', server: 'crash' }));
  const file = readFileSync(gateway.project.path('logs/switchboard.log'), 'utf8');
  expect(entriesOf(file).map(({ message }) => message)).toEqual(entries.map(({ message }) => message));
});
