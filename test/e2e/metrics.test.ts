/** What Prometheus reads of a gateway: exact counts, bounded labels, and nothing where it is not configured. */
import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ask, HttpSession } from '../helpers/http-client.ts';
import { startHttpGateway, HttpGateway, TOKEN } from '../helpers/http-gateway.ts';
import { readMetrics, sumOf, type Sample } from '../helpers/prometheus.ts';
import { textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FLAT = { exposure: 'flat', naming: 'plain', metrics: { port: 0 } };

function portOf(gateway: HttpGateway): number {
  const [, port] = /serving metrics url=http:\/\/127\.0\.0\.1:(\d+)\/metrics/.exec(gateway.stderr) ?? [];
  expect(port, gateway.stderr).toBeDefined();
  return Number(port);
}

async function scrape(gateway: HttpGateway): Promise<Sample[]> {
  const { status, headers, text } = await ask({ port: portOf(gateway), path: '/metrics' });
  expect([status, headers['content-type']]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  expect(text).not.toContain(TOKEN);
  return readMetrics(text);
}

test('calls, outcomes, starts, restarts and sessions are counted exactly', async () => {
  const gateway = await startHttpGateway(
    { echo: nodeServer('echo'), crash: nodeServer('crash') },
    { config: FLAT },
  );
  const [first, second] = await Promise.all([HttpSession.open(gateway), HttpSession.open(gateway)]);
  for (let n = 0; n < 5; n++) textOf(await first.call('echo', { text: 'x' }));
  for (let n = 0; n < 3; n++) await second.call('fail', {});
  for (let n = 0; n < 2; n++) await second.call('reject', {});
  await first.call('no_such_tool', {});
  await first.call('crash', {});
  await first.call('crash', {});
  const samples = await scrape(gateway);
  const calls = (labels: Record<string, string>): number => sumOf(samples, 'switchboard_calls_total', labels);
  expect(calls({ method: 'tools/call', server: 'echo', tool: 'echo', outcome: 'ok' })).toBe(5);
  expect(calls({ server: 'echo', tool: 'fail', outcome: 'tool_error' })).toBe(3);
  expect(calls({ server: 'echo', tool: 'reject', outcome: 'error' })).toBe(2);
  expect(calls({ server: '', tool: '', outcome: 'TOOL_UNKNOWN' })).toBe(1);
  expect(calls({ server: 'crash', tool: 'crash', outcome: 'SERVER_LOST' })).toBe(2);
  expect(calls({ method: 'tools/call' })).toBe(13);
  expect(sumOf(samples, 'switchboard_call_duration_seconds_count', { server: 'echo' })).toBe(10);
  // Each of the two clients has an echo of its own.
  expect(sumOf(samples, 'switchboard_server_starts_total', { server: 'echo', result: 'ok' })).toBe(2);
  expect(sumOf(samples, 'switchboard_servers_running', { server: 'echo' })).toBe(2);
  expect(sumOf(samples, 'switchboard_server_crashes_total', { server: 'crash' })).toBe(2);
  expect(sumOf(samples, 'switchboard_server_restarts_total', { server: 'crash' })).toBe(1);
  expect(sumOf(samples, 'switchboard_sessions')).toBe(2);
  expect(sumOf(samples, 'switchboard_calls_running')).toBe(0);
  expect(sumOf(samples, 'switchboard_calls_queued')).toBe(0);
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'nodejs_heap_size_used_bytes',
  ])
    expect(sumOf(samples, name), name).toBeGreaterThan(0);
  expect(samples.some(({ name }) => name === 'nodejs_eventloop_lag_p99_seconds')).toBe(true);
  await first.end();
  await until(async () => sumOf(await scrape(gateway), 'switchboard_sessions') === 1, {
    what: 'one session',
  });
  await gateway.stop();
});

test('a call that waits for its server to start is in the queue, and its wait is measured', async () => {
  const gateway = await startHttpGateway(
    { slow: nodeServer('slow-start', '--idle-ms=1500'), echo: nodeServer('echo') },
    { config: { metrics: { port: 0 } } },
  );
  const session = await HttpSession.open(gateway);
  const answer = session.call('slow_suite', { action: 'call', subtool: 'echo', args: { text: 'late' } });
  await until(async () => sumOf(await scrape(gateway), 'switchboard_calls_queued') === 1, {
    what: 'the call to wait',
  });
  expect(textOf(await answer)).toBe('late');
  const samples = await scrape(gateway);
  expect(sumOf(samples, 'switchboard_calls_queued')).toBe(0);
  expect(sumOf(samples, 'switchboard_call_wait_seconds_count', { server: 'slow' })).toBe(1);
  expect(sumOf(samples, 'switchboard_call_wait_seconds_sum')).toBeGreaterThan(0.1);
  expect(sumOf(samples, 'switchboard_calls_total', { server: 'slow', tool: 'echo', outcome: 'ok' })).toBe(1);
  await gateway.stop();
});

test('10 000 made-up tools, subtools and methods do not add series', async () => {
  const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: { metrics: { port: 0 } } });
  const session = await HttpSession.open(gateway);
  textOf(await session.call('echo_suite', { action: 'call', subtool: 'echo', args: { text: 'x' } }));
  const before = (await scrape(gateway)).length;
  for (let batch = 0; batch < 100; batch++) {
    await Promise.all(
      Array.from({ length: 100 }, async (_, n) => {
        const name = `made_up_${batch}_${n}`;
        if (n % 2 === 0) await session.call('echo_suite', { action: 'call', subtool: name, args: {} });
        else if (n % 3 === 0) await session.call(name, {});
        else await session.post(JSON.stringify({ jsonrpc: '2.0', id: name, method: `odd/${name}"\\\n` }));
      }),
    );
  }
  const samples = await scrape(gateway);
  expect(sumOf(samples, 'switchboard_calls_total')).toBe(10_001);
  expect(JSON.stringify(samples)).not.toContain('made_up');
  // A few for outcomes that were new, with the buckets of their durations.
  expect(samples.length - before).toBeLessThan(50);
  await gateway.stop();
});

test('the address answers scrapes alone, and no page whose name was pointed at it', async () => {
  const gateway = await startHttpGateway({ echo: nodeServer('echo') }, { config: FLAT });
  const port = portOf(gateway);
  const status = async (path: string, more: object = {}): Promise<number> =>
    (await ask({ port, path, ...more })).status;
  expect(await status('/metrics')).toBe(200);
  expect(await status('/metrics?x=1', { headers: { host: 'localhost:1' } })).toBe(200);
  expect(await status('/metrics', { headers: { host: 'evil.example' } })).toBe(403);
  expect(await status('/metrics', { method: 'POST' })).toBe(405);
  for (const path of ['/', '/mcp', '/status', '/metrics/']) expect(await status(path)).toBe(404);
  // Clients have no such path, with a token or without.
  const headers = { authorization: `Bearer ${TOKEN}` };
  expect((await ask({ port: gateway.port, path: '/metrics', headers })).status).toBe(404);
  expect((await ask({ port: gateway.port, path: '/metrics' })).status).toBe(401);
  await gateway.stop();
});

test('a port that is taken ends the start with the setting to change', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as AddressInfo;
  const config = { mcpServers: { echo: nodeServer('echo') }, metrics: { port }, http: { token: TOKEN } };
  const project = createProject({ 'switchboard.config.json': config });
  const gateway = new HttpGateway(project, { args: ['--http', '0', '--json'] });
  expect((await gateway.exited).code).not.toBe(0);
  expect(gateway.stdout).toContain(`Cannot serve metrics on 127.0.0.1:${port}`);
  expect(gateway.stdout).toContain('metrics.port');
  taken.close();
});

test('without metrics and telemetry, nothing of them is loaded and nothing listens', async () => {
  const loadedBy = async (config: object): Promise<string[]> => {
    const file = join(createProject({}).dir, 'loaded.json');
    const gateway = await startHttpGateway(
      { echo: nodeServer('echo') },
      {
        config: { exposure: 'flat', naming: 'plain', ...config },
        env: {
          NODE_OPTIONS: `--require=${join(ROOT, 'test/helpers/loaded-chunks.cjs')}`,
          LOADED_CHUNKS_FILE: file,
          // A host may have these for itself.
          OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
        },
      },
    );
    const session = await HttpSession.open(gateway);
    expect(textOf(await session.call('echo', { text: 'x' }))).toBe('x');
    await gateway.stop();
    return JSON.parse(readFileSync(file, 'utf8')) as string[];
  };
  const marks = ['switchboard_calls_total', 'OTEL_EXPORTER_OTLP'];
  const count = (files: readonly string[]): number[] =>
    marks.map((mark) => files.filter((file) => readFileSync(file, 'utf8').includes(mark)).length);
  expect(count(await loadedBy({}))).toEqual([0, 0]);
  expect(count(await loadedBy({ metrics: { port: 0 } }))).toEqual([1, 0]);
});
