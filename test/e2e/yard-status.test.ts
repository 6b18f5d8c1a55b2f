/** What brief, status, where and open say of services that run, of those that work, and of a proxy that is dead. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { alive } from '../helpers/processes.ts';
import { until } from '../helpers/until.ts';
import { Schemas } from '../helpers/yard-agent.ts';
import { freePort } from '../helpers/yard-home.ts';
import { createYardWithProxy } from '../helpers/yard-with-proxy.ts';
import type { TestYard } from '../helpers/yard.ts';

/**
 * `--late FILE` listens once the file is there, `--port N` listens on another port, `--ill FILE` answers 500 to /health
 * until the file is there, `--exit CODE` exits.
 */
const SERVER = `
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
const option = (name) => {
  const at = process.argv.indexOf('--' + name);
  return at === -1 ? undefined : process.argv[at + 1];
};
if (option('exit')) process.exit(Number(option('exit')));
const late = option('late');
while (late && !existsSync(late)) await new Promise((resolve) => setTimeout(resolve, 20));
createServer((request, response) => {
  const ill = option('ill') && !existsSync(option('ill'));
  response.writeHead(request.url === '/health' && ill ? 500 : 200).end('here');
}).listen(Number(option('port') ?? process.env.PORT), '127.0.0.1');
`;

const service = (name: string, more: string, command = ''): string =>
  `[services.${name}]\ncommand = "node server.mjs ${command}"\n${more}\n`;

/** The proxy or the forwarder as the test's own home has it on record. */
function daemonPid(yard: TestYard, which: (state: any) => { pid: number }): number {
  return which(JSON.parse(readFileSync(join(yard.home, 'state.json'), 'utf8'))).pid;
}

async function kill(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await until(() => !alive(pid), { what: `pid ${pid} to end` });
}

test('brief and status distinguish running, ready and healthy, in text, JSON and over MCP', async () => {
  const astray = await freePort();
  const yard = await createYardWithProxy(
    service('well', 'health = "/health"\nready_timeout = 40') +
      service('plain', 'ready_timeout = 40') +
      service('worker', 'ready_timeout = 0', '--late never') +
      service('sick', 'health = "/health"\nready_timeout = 1', '--ill cured') +
      service('slow', 'ready_timeout = 1', '--late go') +
      service('stray', 'ready_timeout = 1', `--port ${astray}`) +
      service('dead', '', '--exit 3'),
    { files: { 'server.mjs': SERVER } },
  );
  expect((await yard.run(['up'])).code).toBe(1);
  const expected = {
    well: ['healthy', undefined],
    plain: ['ready', undefined],
    worker: ['running', undefined],
    sick: ['unhealthy', 'GET /health returned 500'],
    slow: ['not-listening', undefined],
    stray: ['wrong-port', `listens on :${astray}; pass {port} in its command`],
    dead: ['exited', 'exited with code 3'],
  };
  const states = ({ services }: any): object =>
    Object.fromEntries(services.map(({ service: name, state, note }: any) => [name, [state, note]]));
  // On a busy machine a service may take its time to listen, and to answer for its health.
  const settled = async (look: () => Promise<any>): Promise<any> => {
    let found: any;
    await until(async () => isDeepStrictEqual(states((found = await look())), expected), {
      what: JSON.stringify(expected),
      seen: () => JSON.stringify(states(found)),
      deadline: 40_000,
    });
    return found;
  };
  const status = await settled(() => yard.ask('status'));
  expect(status.services.map(({ status: life }: any) => life)).toEqual([
    ...Array.from({ length: 6 }, () => 'running'),
    'stale',
  ]);
  const brief = await settled(() => yard.ask('brief'));
  expect(brief.proxy).toBe('running');

  const table = (await yard.run(['status'])).stdout;
  for (const line of [
    /^healthy +main +well /m,
    /^ready +main +plain /m,
    /^running +main +worker /m,
    /^unhealthy +main +sick .* GET \/health returned 500$/m,
    /^not-listening +main +slow /m,
    new RegExp(`^wrong-port +main +stray .* listens on :${astray}; pass \\{port\\} in its command$`, 'm'),
    /^exited +main +dead .* exited with code 3$/m,
  ])
    expect(table).toMatch(line);
  const page = (await yard.run(['brief'])).stdout;
  expect(page).toMatch(/^- sick \(main\) \[unhealthy\]: http:\S+ \(GET \/health returned 500\)$/m);
  expect(page).toMatch(/^- slow \(main\) \[not-listening\]: http:/m);

  const call = (id: number, method: string, params: unknown): string =>
    JSON.stringify({ jsonrpc: '2.0', id, method, params });
  const session = async (): Promise<any[]> => {
    const calls = [
      call(0, 'tools/list', {}),
      call(1, 'tools/call', { name: 'switchyard_brief', arguments: {} }),
      call(2, 'tools/call', { name: 'switchyard_status', arguments: {} }),
      call(3, 'tools/call', { name: 'switchyard_where', arguments: { service: 'slow' } }),
      call(4, 'resources/read', { uri: 'switchyard://project/brief' }),
    ];
    const { stdout } = await yard.run(['mcp'], { input: `${calls.join('\n')}\n` });
    return stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).result);
  };
  await settled(async () => (await session())[1].structuredContent);
  await settled(async () => (await session())[2].structuredContent);
  await settled(async () => JSON.parse((await session())[4].contents[0].text));
  const answers = await session();
  const schemas = new Schemas(answers[0].tools);
  for (const [at, name] of ['brief', 'status', 'where'].entries())
    expect(schemas.fault(`switchyard_${name}`, answers[at + 1])).toBeUndefined();
  expect(answers[2].structuredContent).toMatchObject({ checkouts: [], proxy: { status: 'running' } });
  expect(answers[3]).toMatchObject({ isError: false, structuredContent: { address: null } });
  expect(JSON.stringify(answers[3].content)).toContain('does not listen on');

  // Nobody asks for an address that does not answer without hearing of it.
  for (const name of ['slow', 'stray', 'dead']) {
    const where = await yard.run(['where', name]);
    expect([name, where.code, where.stdout + where.stderr]).toEqual([
      name,
      1,
      expect.stringMatching(/does not respond: |is not running/),
    ]);
    const open = await yard.run(['open', name, '--print-only']);
    expect([name, open.code, open.stdout]).toEqual([name, 1, '']);
    expect(open.stderr).toMatch(/does not respond: |is not running/);
  }
  const sick = await yard.run(['where', 'sick']);
  expect(sick.code).toBe(0);
  expect(sick.stdout).toContain('warning: sick of main is unhealthy: GET /health returned 500.');
  expect((await yard.run(['where', 'worker'])).code).toBe(0);

  yard.write('go', '');
  yard.write('cured', '');
  await until(
    async () => {
      const now: any = states(await yard.ask('brief'));
      return now.slow[0] === 'ready' && now.sick[0] === 'healthy';
    },
    { what: 'the slow one to listen', deadline: 40_000 },
  );
});

test('a dead proxy is reported by brief, status, where and open, which fall back to the port itself', async () => {
  const usual = await freePort();
  const yard = await createYardWithProxy(service('web', `port = ${usual}\nready_timeout = 40`), {
    files: { 'server.mjs': SERVER },
  });
  const { outcomes } = await yard.ask('up', '--checkout');
  const [{ port, url }] = outcomes;
  const direct = `http://127.0.0.1:${port}`;
  const checkedOut = { service: 'web', branch: 'main', listen_port: usual, target_port: port };
  expect(await yard.ask('status')).toMatchObject({
    proxy: { status: 'running', host: '127.0.0.1', port: yard.proxyPort },
    checkouts: [{ ...checkedOut, status: 'running', service_state: 'ready' }],
  });
  const text = (await yard.run(['status'])).stdout;
  expect(text).toContain(`\nchecked out:\nlocalhost:${usual} -> web of main [ready]\n`);
  expect(text).toContain(`\nproxy: running on 127.0.0.1:${yard.proxyPort}\n`);
  expect(await yard.ask('where', 'web')).toMatchObject({ address: url, url, warnings: [] });
  expect(await yard.run(['open', 'web', '--print-only'])).toMatchObject({ stdout: `${url}\n`, stderr: '' });

  await kill(daemonPid(yard, ({ proxies }) => proxies[yard.proxyPort]));
  await kill(daemonPid(yard, ({ forwarder }) => forwarder));
  expect(await yard.ask('status')).toMatchObject({
    services: [{ state: 'ready' }],
    proxy: { status: 'not-running', note: expect.stringContaining('`switchyard up` starts it') },
    checkouts: [{ ...checkedOut, status: 'stale', service_state: 'ready' }],
  });
  const dead = (await yard.run(['status'])).stdout;
  expect(dead).toContain(`localhost:${usual} -> web of main [no forwarder]: nothing forwards this port`);
  expect(dead).toMatch(/^proxy: not-running on .* named addresses do not work/m);
  expect((await yard.ask('brief')).proxy).toBe('not-running');
  expect((await yard.run(['brief'])).stdout).toContain('proxy: not running, so these addresses do not work');
  const where = await yard.run(['where', 'web']);
  expect(where.code).toBe(0);
  expect(where.stdout.split('\n').slice(0, 2)).toEqual([
    direct,
    expect.stringContaining(`warning: ${url} does not respond. The proxy is not running`),
  ]);
  expect(await (await fetch(where.stdout.split('\n')[0]!)).text()).toBe('here');
  expect(await yard.ask('where', 'web')).toMatchObject({
    address: direct,
    url,
    state: 'ready',
    proxy: { status: 'not-running' },
  });
  const open = await yard.run(['open', 'web', '--print-only']);
  expect([open.code, open.stdout]).toEqual([0, `${direct}\n`]);
  expect(open.stderr).toContain(`warning: ${url} does not respond.`);
  expect(await yard.ask('open', 'web', '--print-only')).toMatchObject({
    ok: true,
    url: direct,
    opened: false,
  });

  await yard.ask('up');
  expect(await yard.ask('where', 'web')).toMatchObject({ address: url, warnings: [] });
  expect(await yard.ask('status')).toMatchObject({ proxy: { status: 'running' } });
});
