import { appendFileSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atTestEnd } from '../../../../test/helpers/cleanup.ts';
import { until } from '../../../../test/helpers/until.ts';
import { testYard } from '../../../../test/helpers/yard-home.ts';
import type { YardContext } from '../../records/project/context.ts';
import { logFileOf } from '../../records/state/home.ts';
import { timestamp } from '../../records/state/records.ts';
import { followServices, logs } from './logs.ts';

const SERVICES = `
[services.web]
command = "node web.js"
[services.api]
command = "node api.js"
`;

/** Writes the log of a service of a branch to its usual path. */
function write({ home, config }: YardContext, branch: string, name: string, text: string): string {
  const file = logFileOf(home, config, branch, name);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

describe('logs', () => {
  test('are those of the services of one branch, in the order of the configuration', async () => {
    const { context, record } = await testYard(SERVICES);
    const api = write(context, 'main', 'api.log', 'api 1\napi 2\n');
    const web = write(context, 'main', 'web.log', '\u001b[32mweb 1\u001b[0m\n');
    const other = write(context, 'other', 'web.log', 'web of other\n');
    await record({ service: 'api', branch: 'main', port: 20_001, log_file: api });
    await record({ service: 'web', branch: 'main', port: 20_002, log_file: web });
    await record({ service: 'web', branch: 'other', port: 20_003, log_file: other });
    const told = { branch: 'main', truncated: false };
    expect(await logs(context, { branch: 'main' })).toEqual({
      lines: 80,
      logs: [
        { ...told, service: 'web', log_file: web, lines: ['web 1'] },
        { ...told, service: 'api', log_file: api, lines: ['api 1', 'api 2'] },
      ],
    });
    expect(await logs(context, { branch: 'main', service: 'API', lines: 1 })).toEqual({
      lines: 1,
      logs: [{ ...told, service: 'api', log_file: api, lines: ['api 2'], truncated: true }],
    });
  });

  test('without a branch are those of the current one', async () => {
    const { context } = await testYard(SERVICES);
    // The project is not a repository, so its only branch is called current.
    write(context, 'current', 'web.log', 'here\n');
    write(context, 'main', 'web.log', 'elsewhere\n');
    expect((await logs(context, {})).logs.map(({ lines }) => lines)).toEqual([['here']]);
  });

  test('stay readable when the service is stopped and its record gone', async () => {
    const { context } = await testYard(SERVICES);
    write(context, 'feature/x', 'web.log', 'last words\n');
    const found = await logs(context, { branch: 'feature/x', service: 'web' });
    expect(found.logs.map(({ branch, lines }) => ({ branch, lines }))).toEqual([
      { branch: 'feature/x', lines: ['last words'] },
    ]);
  });

  test('of an earlier run are selected by its number', async () => {
    const { context } = await testYard(SERVICES);
    write(context, 'main', 'web.log', 'now\n');
    write(context, 'main', 'web.1.log', 'before\n');
    const lines = async (run: number): Promise<unknown> =>
      (await logs(context, { branch: 'main', service: 'web', run })).logs[0]!.lines;
    expect(await lines(0)).toEqual(['now']);
    expect(await lines(1)).toEqual(['before']);
    await expect(lines(2)).rejects.toMatchObject({ code: 'NO_LOGS' });
    await expect(lines(4)).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('are found while a long log is moved aside', async () => {
    const { context } = await testYard(SERVICES);
    write(context, 'main', 'web.earlier.log', 'line\n');
    for (const since of [undefined, '1h']) {
      const found = await logs(context, { branch: 'main', service: 'web', since });
      expect(found.logs[0]!.lines).toEqual(['line']);
    }
  });

  test('that do not exist are an error with the next step', async () => {
    const { context } = await testYard(SERVICES);
    await expect(logs(context, { branch: 'main', service: 'web' })).rejects.toMatchObject({
      code: 'NO_LOGS',
      message: 'No matching logs.',
      hint: 'Start it first: `switchyard up main web`.',
    });
  });

  test('are rejected for an invalid number of lines', async () => {
    const { context } = await testYard(SERVICES);
    for (const lines of [0, -1, 1.5]) {
      await expect(logs(context, { lines })).rejects.toMatchObject({
        code: 'USAGE',
        message: '--lines must be at least 1',
      });
    }
    await expect(logs(context, { maxBytes: 0 })).rejects.toMatchObject({ code: 'USAGE' });
    await expect(logs(context, { since: 'soon' })).rejects.toMatchObject({ code: 'USAGE' });
  });

  test('are never read outside the log directory, whatever a record says', async () => {
    const { context, record } = await testYard(SERVICES);
    const secret = join(context.config.root, 'secret.txt');
    writeFileSync(secret, 'secret\n');
    const refused = {
      code: 'LOG_OUTSIDE',
      message: expect.stringContaining('The log is outside the log directory'),
    };

    await record({ service: 'web', branch: 'main', port: 20_001, log_file: secret });
    await expect(logs(context, { branch: 'main' })).rejects.toMatchObject(refused);

    const link = write(context, 'main', 'x.log', '').replace('x.log', 'link.log');
    symlinkSync(secret, link);
    await record({ service: 'web', branch: 'main', port: 20_001, log_file: link });
    await expect(logs(context, { branch: 'main' })).rejects.toMatchObject(refused);

    const dots = join(context.home.logs, '..', '..', 'secret.txt');
    await record({ service: 'web', branch: 'main', port: 20_001, log_file: dots });
    await expect(logs(context, { branch: 'main' })).rejects.toMatchObject(refused);
  });

  test('share the maximum size', async () => {
    const { context } = await testYard(SERVICES);
    write(context, 'main', 'web.log', 'short\n');
    write(context, 'main', 'api.log', 'a long line of text\n'.repeat(50));
    const found = await logs(context, { branch: 'main', maxBytes: 106 });
    expect(found.logs.map(({ lines, truncated }) => [lines.length, truncated])).toEqual([
      [1, false],
      [5, true],
    ]);
  });

  test('since a time use the start of the run, and report when they cannot', async () => {
    const { context, record } = await testYard(SERVICES);
    const web = write(context, 'main', 'web.log', 'a\nb\n');
    const started = (ago: number): string => timestamp(new Date(Date.now() - ago));
    await record({
      service: 'web',
      branch: 'main',
      port: 20_001,
      log_file: web,
      started_at: started(60_000),
    });
    const ask = async (since: string) => (await logs(context, { branch: 'main', since })).logs[0]!;
    expect(await ask('10m')).toMatchObject({ lines: ['a', 'b'] });
    expect(await ask('10m')).not.toHaveProperty('undated');
    expect(await ask('30s')).toMatchObject({ lines: ['a', 'b'], undated: true });
    const before = new Date(Date.now() - 40_000);
    utimesSync(web, before, before);
    expect(await ask('30s')).toMatchObject({ lines: [] });
  });

  test('are followed with the names of their services', async () => {
    const { context } = await testYard(SERVICES);
    const web = write(context, 'main', 'web.log', 'old\n');
    const api = write(context, 'main', 'api.log', '');
    const stop = new AbortController();
    const told: string[] = [];
    const following = followServices(context, {
      branch: 'main',
      lines: 1,
      signal: stop.signal,
      onStart: (services) => told.push(services.join(' and ')),
      onLines: ({ service, branch }, lines) =>
        void told.push(...lines.map((line) => `${service} ${branch}: ${line}`)),
    });
    atTestEnd(async () => {
      stop.abort();
      await following;
    });
    const has = (line: string) =>
      until(() => told.includes(line), { deadline: 20_000, seen: () => told.join('; ') });
    await has('web main: old');
    appendFileSync(api, 'hello\n');
    await has('api main: hello');
    appendFileSync(web, 'new\n');
    await has('web main: new');
    expect(told).toEqual(['web and api', 'web main: old', 'api main: hello', 'web main: new']);
  });
});
