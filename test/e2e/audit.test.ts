/** The audit log and `switchboard history`: who called what, whatever the disk does. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startGateway, type TestGateway } from '../helpers/gateway.ts';
import type { Json } from '../helpers/raw-client.ts';
import { PROGRAM, runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const FILE = '.state/audit/calls.jsonl';
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const records = (project: Project): Json[] =>
  readFileSync(project.path(FILE), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

async function recorded(project: Project, count: number): Promise<Json[]> {
  await until(() => existsSync(project.path(FILE)) && records(project).length >= count);
  return records(project);
}

const SERVERS = {
  suite: nodeServer('echo'),
  flat: { ...nodeServer('echo'), exposure: 'flat', tools: { add: { redact: ['a'] } } },
};
const TOOLS = {
  both: { description: 'Both.', subtools: { suite: { tools: [{ name: 'add' }] } } },
};

test('a line for each call, of every exposure: who, what, outcome, time, size and hash', async () => {
  const gateway = await startGateway(SERVERS, { config: { audit: true, tools: TOOLS } });
  const { client, project } = gateway;
  await gateway.call('suite', 'echo', { text: 'secret words' });
  await client.call('flat__add', { a: 1, b: 2 });
  await client.call('both', { server: 'suite', tool: 'add', args: { a: 3, b: 4 } });
  await gateway.call('suite', 'fail', {});
  await client.call('no_such_tool', {});
  client.send({
    ...{ jsonrpc: '2.0', id: 999, method: 'tools/call' },
    params: { name: 'flat__slow_echo', arguments: { text: 'x', ms: 60_000 } },
  });
  client.notify('notifications/cancelled', { requestId: 999 });
  const found = await recorded(project, 6);
  const base = { client: expect.any(String), time: expect.stringMatching(/Z$/), ms: expect.any(Number) };
  expect(found).toEqual([
    {
      ...base,
      server: 'suite',
      tool: 'echo',
      outcome: 'ok',
      bytes: expect.any(Number),
      sha256: sha256('{"text":"secret words"}'),
    },
    {
      ...base,
      server: 'flat',
      tool: 'add',
      outcome: 'ok',
      bytes: expect.any(Number),
      sha256: sha256('{"a":1,"b":2}'),
    },
    {
      ...base,
      server: 'suite',
      tool: 'add',
      outcome: 'ok',
      bytes: expect.any(Number),
      sha256: sha256('{"a":3,"b":4}'),
    },
    {
      ...base,
      server: 'suite',
      tool: 'fail',
      outcome: 'tool error',
      bytes: expect.any(Number),
      sha256: sha256('{}'),
    },
    {
      ...base,
      tool: 'no_such_tool',
      outcome: 'TOOL_UNKNOWN',
      bytes: expect.any(Number),
      sha256: sha256('{}'),
    },
    {
      ...base,
      server: 'flat',
      tool: 'slow_echo',
      outcome: 'cancelled',
      bytes: 0,
      sha256: expect.any(String),
    },
  ]);
  expect(readFileSync(project.path(FILE), 'utf8')).not.toContain('secret words');
  // And read again, in every way.
  const history = async (...args: string[]): Promise<Json> =>
    (await runCli(project, ['history', '--json', ...args])).json;
  expect((await history()).calls).toEqual(found);
  expect((await history('--server', 'flat')).calls).toEqual([found[1], found[5]]);
  expect((await history('--failed')).calls).toEqual(found.slice(3));
  expect(await history('--tool', 'add', '-n', '1')).toMatchObject({ calls: [found[2]], left: 1 });
  expect((await history('--client', 'nobody')).calls).toEqual([]);
  expect((await history('--since', '1h')).calls).toHaveLength(6);
  expect((await history('--since', '2999-01-01')).calls).toEqual([]);
  const text = await runCli(project, ['history']);
  expect(text.stdout).toMatch(/TIME +CLIENT +SERVER +TOOL +OUTCOME/);
  expect((await runCli(project, ['history', '--since', 'soon'])).code).toBe(2);
});

test('arguments only where they are asked for, without what is named like a secret', async () => {
  const audit = { arguments: true, redact: ['text'] };
  const gateway = await startGateway(SERVERS, { config: { audit } });
  const { client, project } = gateway;
  await gateway.call('suite', 'received', { deep: [{ password: 'hunter2', text: 'mine', kept: 'yes' }] });
  await client.call('flat__add', { a: 1, b: 2 });
  const [first, second] = await recorded(project, 2);
  expect(first.arguments).toEqual({ deep: [{ password: '[redacted]', text: '[redacted]', kept: 'yes' }] });
  expect(second.arguments).toEqual({ a: '[redacted]', b: 2 });
});

test('several gateways share the files, whole line by whole line, while they are rotated', async () => {
  const servers = { flat: { ...nodeServer('echo'), exposure: 'flat' } };
  const config = { audit: { maxBytes: 65_536, files: 50 } };
  const first = await startGateway(servers, { config });
  const { project } = first;
  const env = { SWITCHBOARD_STATE_DIR: project.path('.state') };
  const others = await Promise.all([1, 2].map(() => startGateway(servers, { config, env })));
  const gateways: TestGateway[] = [first, ...others];
  const CALLS = 700;
  await Promise.all(
    gateways.map(async ({ client }, which) => {
      for (let at = 0; at < CALLS; at += 50)
        await Promise.all(
          Array.from({ length: 50 }, (_, more) => client.call('flat__add', { a: which, b: at + more })),
        );
    }),
  );
  await Promise.all(gateways.map(({ client }) => client.close()));
  const { json } = await runCli(project, ['history', '--json', '-n', '0']);
  expect(json.unreadable).toBe(0);
  expect(existsSync(project.path(`${FILE}.1`))).toBe(true);
  // Each once, for each has other arguments.
  expect(new Set(json.calls.map(({ sha256: hash }: Json) => hash)).size).toBe(3 * CALLS);
  expect(json.calls).toHaveLength(3 * CALLS);
}, 60_000);

const BLOCKED = {
  'a pipe that nobody reads': (file: string) => {
    execFileSync('mkfifo', [file]);
  },
  'a link to another file': (file: string) => symlinkSync('/dev/null', file),
  'a directory': (file: string) => {
    mkdirSync(file);
  },
};

test.runIf(process.platform !== 'win32').each(Object.entries(BLOCKED))(
  '%s in the place of the log delays no call; what is missing is counted',
  async (_, block) => {
    const project = createProject({});
    const file = project.path('audit-state/audit/calls.jsonl');
    mkdirSync(dirname(file), { recursive: true });
    block(file);
    const env = { SWITCHBOARD_STATE_DIR: project.path('audit-state') };
    const { client } = await startGateway(SERVERS, { config: { audit: true }, env });
    for (let at = 0; at < 3; at++)
      expect((await client.call('flat__add', { a: at, b: 1 })).error).toBeUndefined();
    await client.waitForStderr(/calls are missing from the audit log/);
    rmSync(file, { recursive: true });
    await client.call('flat__add', { a: 9, b: 1 });
    const written = (): Json[] =>
      (existsSync(file) ? readFileSync(file, 'utf8') : '')
        .split('\n')
        .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    const accountedFor = (): number =>
      written().reduce<number>((sum, { dropped }) => sum + Number(dropped ?? 1), 0);
    await until(() => accountedFor() === 4);
    expect(written()[0].dropped).toBeGreaterThan(0);
    expect(client.stderr.match(/calls are missing/g)).toHaveLength(1);
  },
);

test('history follows what is added, over a rotation, and says what it cannot read', async () => {
  const project = createProject({});
  const file = project.path(FILE);
  const line = (tool: string): string =>
    `${JSON.stringify({ time: new Date().toISOString(), tool, outcome: 'ok' })}\n`;
  project.write(FILE, `${line('one')}{"time":"cut\n${line('two')}`);
  const { stdout, stderr } = await runCli(project, ['history']);
  expect(stdout).toMatch(/one[^]*two/);
  expect(stderr).toContain('1 line');
  const child = spawn(process.execPath, [PROGRAM, 'history', '-f', '--json', '-n', '1'], {
    cwd: project.dir,
    env: { ...process.env, SWITCHBOARD_STATE_DIR: project.path('.state') },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill());
  let seen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (seen += text));
  const tools = (): string[] =>
    seen.split('\n').flatMap((each) => (each === '' ? [] : [JSON.parse(each).tool as string]));
  await until(() => tools().includes('two'));
  writeFileSync(file, line('three'), { flag: 'a' });
  await until(() => tools().includes('three'));
  writeFileSync(file, line('four'), { flag: 'a' });
  execFileSync('mv', [file, `${file}.1`]);
  writeFileSync(file, line('five'));
  await until(() => tools().includes('five'));
  expect(tools()).toEqual(['two', 'three', 'four', 'five']);
});

test('a project cannot turn the log of its person off', async () => {
  const project = createProject({
    '.config/switchboard/switchboard.config.json': { audit: true },
    'switchboard.config.json': { audit: false, mcpServers: { echo: nodeServer('echo') } },
  });
  const env = { XDG_CONFIG_HOME: project.path('.config') };
  expect((await runCli(project, ['call', 'echo', 'add', 'a=1', 'b=2'], { env })).code).toBe(0);
  expect(records(project)).toMatchObject([
    { client: 'switchboard', server: 'echo', tool: 'add', outcome: 'ok' },
  ]);
});
