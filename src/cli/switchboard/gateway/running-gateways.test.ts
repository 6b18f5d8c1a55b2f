import { spawn } from 'node:child_process';
import { once } from 'node:events';
import * as fs from 'node:fs';
import { describe, expect, test } from 'vitest';
import { createProject, type Project } from '../../../../test/helpers/temp-project.ts';
import type { ServerState } from '../../../app/index.ts';
import { loadConfig, type LoadedConfig } from '../../../config/index.ts';
import { openControlChannel } from './control-channel.ts';
import { makeRunDirectory, removeStateFile, writeStateFile, type GatewayStateFile } from './state-file.ts';
import { gatewayAt, runningGateways } from './running-gateways.ts';

const posix = process.platform !== 'win32';
const SECRET = 'hunter2-hunter2';
const KEY = '-----BEGIN-----\nline-of-a-key\n-----END-----';

async function setUp(): Promise<{ project: Project; config: LoadedConfig; state: string; file: string }> {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { a: { command: 'a', env: { TOKEN: SECRET, KEY, SHORT: 'on' } }, b: { command: 'b' } },
    },
  });
  const config = await loadConfig({ cwd: project.dir, env: {} });
  const state = project.path('state');
  return { project, config, state, file: project.path('state/run', `${process.pid}.json`) };
}

const RUNNING: ServerState = {
  name: 'b',
  state: { kind: 'running', pid: 42, since: 0 },
  problem: undefined,
};
const crashed = (message: string): ServerState => ({
  name: 'a',
  state: { kind: 'crashed', error: new Error(message), at: 0 },
});
const program = 'switchboard';

test('a gateway is found by the port that it listens on, whatever it serves', async () => {
  const { config, state } = await setUp();
  const anywhere = (): boolean => true;
  await writeStateFile(state, { config, program, servers: [] });
  expect(gatewayAt(state, 80, anywhere)).toBeUndefined();
  const hosts: string[] = [];
  for (const [url, port] of [
    ['http://127.0.0.1:3006/mcp', 3006],
    ['http://[::1]:80/mcp', 80],
  ] as const) {
    await writeStateFile(state, { config, program, url, servers: [] });
    expect(gatewayAt(state, port, (host) => hosts.push(host) > 0)).toMatchObject({ pid: process.pid, url });
    expect(gatewayAt(state, port, () => false)).toBeUndefined();
    expect(gatewayAt(state, port + 1, anywhere)).toBeUndefined();
  }
  expect(hosts).toEqual(['127.0.0.1', '::1']);
  await removeStateFile(state);
  expect(gatewayAt(state, 80, anywhere)).toBeUndefined();
});

test('programs with the same configuration find a gateway until its state file is removed', async () => {
  const { config, state, project } = await setUp();
  expect(await runningGateways(state, config)).toEqual([]);
  await writeStateFile(state, { config, program, servers: [{ name: 'a', state: { kind: 'idle' } }] });
  await writeStateFile(state, { config, program, servers: [crashed('gone'), RUNNING] });
  const [found, ...others] = await runningGateways(state, config);
  expect(others).toEqual([]);
  expect(found).toMatchObject({
    pid: process.pid,
    program,
    servers: {
      a: { kind: 'crashed', reason: 'gone', at: '1970-01-01T00:00:00.000Z' },
      b: { kind: 'running', pid: 42, since: '1970-01-01T00:00:00.000Z' },
    },
  });
  const other = await loadConfig({
    cwd: project.dir,
    configPath: project.write('other.json', {}),
    env: {},
  });
  expect(await runningGateways(state, other)).toEqual([]);
  await removeStateFile(state);
  expect(await runningGateways(state, config)).toEqual([]);
  expect(fs.readdirSync(project.path('state/run'))).toEqual([]);
});

test('without a configuration file, the directory distinguishes gateways', async () => {
  const project = createProject();
  const here = await loadConfig({ cwd: project.dir, env: {} });
  await writeStateFile(project.path('state'), { config: here, program, servers: [] });
  expect(await runningGateways(project.path('state'), here)).toHaveLength(1);
  const elsewhere = await loadConfig({ cwd: project.path('..'), env: {} });
  expect(await runningGateways(project.path('state'), elsewhere)).toEqual([]);
  await removeStateFile(project.path('state'));
});

test('says which servers no file defines, and of those not why they crashed: their secrets are not known', async () => {
  const { config, state, file } = await setUp();
  const late: ServerState = { ...crashed(SECRET), name: 'late' };
  await writeStateFile(state, { config, program, servers: [RUNNING, late] });
  const [found] = await runningGateways(state, config);
  expect(found!.added).toEqual(['late']);
  expect(found!.servers.late).toMatchObject({ kind: 'crashed', reason: 'see the log of its gateway' });
  expect(fs.readFileSync(file, 'utf8')).not.toContain('hunter2');
  await removeStateFile(state);
});

test('on Windows a gateway whose pipe is gone has ended, although its pid is in use', async () => {
  const { config, state } = await setUp();
  const nowhere = { path: '\\\\.\\pipe\\switchboard-nowhere', token: 'x' };
  await writeStateFile(state, { config, program, control: nowhere, servers: [] });
  expect(await runningGateways(state, config, 'win32')).toEqual([]);
  expect(await runningGateways(state, config, 'linux')).toHaveLength(1);
  const channel = await openControlChannel(await makeRunDirectory(state), {});
  await writeStateFile(state, { config, program, control: channel.address, servers: [] });
  expect(await runningGateways(state, config, 'win32')).toHaveLength(1);
  channel.close();
  await removeStateFile(state);
});

test.runIf(posix)('a configuration is the same by whatever name it is called', async () => {
  const { config, state, project } = await setUp();
  await writeStateFile(state, { config, program, servers: [] });
  fs.symlinkSync(project.dir, project.path('link'));
  const linked = await loadConfig({ cwd: project.path('link'), env: {} });
  expect(linked.file).not.toBe(config.file);
  expect(await runningGateways(state, linked)).toHaveLength(1);
  await removeStateFile(state);
});

test('a reason has no secret of the definition, no control character, and an end', async () => {
  const { config, state, file } = await setUp();
  const said = `it wrote: ${SECRET} | line-of-a-key | ${JSON.stringify(KEY)} \u001b[2J on ${'x'.repeat(1000)}`;
  await writeStateFile(state, { config, program, servers: [crashed(said)] });
  const text = fs.readFileSync(file, 'utf8');
  expect(text).not.toMatch(/hunter2|line-of-a-key/);
  const { servers } = JSON.parse(text) as GatewayStateFile;
  const { reason } = servers.a as Extract<GatewayStateFile['servers'][string], { kind: 'crashed' }>;
  expect(reason).toMatch(/^it wrote: \*\*\* \| \*\*\* \| "\*\*\*" {2}on x+…$/);
  expect(reason).toHaveLength(300);
  await removeStateFile(state);
});

test('nor has it one of a server elsewhere', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        a: { url: 'https://x.test/mcp?key=${KEY}', headers: { Authorization: 'Bearer ${TOKEN}' } },
      },
    },
  });
  const env = { TOKEN: SECRET, KEY: 'key-of-the-query' };
  const config = await loadConfig({ cwd: project.dir, env });
  const said = `https://x.test/mcp?key=key-of-the-query refused ${SECRET}, and key-of-the-query`;
  await writeStateFile(project.path('state'), { config, program, servers: [crashed(said)] });
  const [found] = await runningGateways(project.path('state'), config);
  expect(found!.servers.a).toMatchObject({ reason: '*** refused ***, and ***' });
  await removeStateFile(project.path('state'));
});

test.runIf(posix)('only its owner can read it', async () => {
  const { config, state, file, project } = await setUp();
  fs.mkdirSync(project.path('state/run'), { recursive: true, mode: 0o755 });
  await writeStateFile(state, { config, program, servers: [] });
  expect(fs.statSync(project.path('state/run')).mode & 0o777).toBe(0o700);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
  await removeStateFile(state);
});

describe.runIf(posix)('links', () => {
  test('in the place of the directory are refused, by writers and by readers', async () => {
    const { config, state, project } = await setUp();
    fs.mkdirSync(project.path('theirs'));
    fs.mkdirSync(state);
    fs.symlinkSync(project.path('theirs'), project.path('state/run'));
    await expect(writeStateFile(state, { config, program, servers: [] })).rejects.toThrow(
      'is not a directory',
    );
    expect(fs.readdirSync(project.path('theirs'))).toEqual([]);
    expect(await runningGateways(state, config)).toEqual([]);
  });

  test('in the place of a file are replaced and not followed', async () => {
    const { config, state, file, project } = await setUp();
    const target = project.write('precious', 'untouched');
    fs.mkdirSync(project.path('state/run'), { recursive: true });
    fs.symlinkSync(target, file);
    expect(await runningGateways(state, config)).toEqual([]);
    await writeStateFile(state, { config, program, servers: [] });
    expect(project.read('precious')).toBe('untouched');
    expect(fs.lstatSync(file).isFile()).toBe(true);
    expect(await runningGateways(state, config)).toHaveLength(1);
    await removeStateFile(state);
  });
});

test('what a dead gateway left is ignored and removed; what cannot be judged or read stays', async () => {
  const { config, state, file, project } = await setUp();
  await writeStateFile(state, { config, program, servers: [] });
  const own = JSON.parse(fs.readFileSync(file, 'utf8')) as GatewayStateFile;
  const child = spawn(process.execPath, ['-e', '']);
  await once(child, 'exit');
  const leave = (name: number, content: object) =>
    fs.writeFileSync(project.path('state/run', `${name}.json`), JSON.stringify(content));
  leave(child.pid!, { ...own, pid: child.pid });
  // Another process has its pid now.
  leave(1_000_001, { ...own, startTime: own.startTime - 1 });
  leave(1_000_002, { ...own, place: 'another machine' });
  leave(1_000_003, { ...own, version: 2 });
  leave(1_000_004, { ...own, servers: { a: { kind: 'dancing' } } });
  expect((await runningGateways(state, config)).map(({ pid }) => pid)).toEqual([process.pid]);
  const left = fs.readdirSync(project.path('state/run')).filter((name) => name !== `${process.pid}.json`);
  expect(left.sort()).toEqual(['1000002.json', '1000003.json', '1000004.json']);
  const longAgo = new Date(Date.now() - 30 * 24 * 3600 * 1000);
  fs.utimesSync(project.path('state/run/1000002.json'), longAgo, longAgo);
  await runningGateways(state, config);
  expect(fs.existsSync(project.path('state/run/1000002.json'))).toBe(false);
  await removeStateFile(state);
});

test('a file that was never finished is removed, unless it is being written now', async () => {
  const { config, state, project } = await setUp();
  const [old, fresh] = ['state/run/7.json.0123456789ab.tmp', 'state/run/8.json.0123456789ab.tmp'].map(
    (name) => project.write(name, '{'),
  );
  const longAgo = new Date(Date.now() - 2 * 3600 * 1000);
  fs.utimesSync(old!, longAgo, longAgo);
  expect(await runningGateways(state, config)).toEqual([]);
  expect([old, fresh].map((file) => fs.existsSync(file!))).toEqual([false, true]);
});

test('the newest comes first', async () => {
  const { config, state, file, project } = await setUp();
  await writeStateFile(state, { config, program, servers: [] });
  const own = JSON.parse(fs.readFileSync(file, 'utf8')) as GatewayStateFile;
  // The same process, so that it is alive. Two files of one process cannot really exist.
  const later = { ...own, program: 'later', since: '2999-01-01T00:00:00.000Z' };
  fs.writeFileSync(project.path('state/run/1.json'), JSON.stringify(later));
  expect((await runningGateways(state, config)).map((each) => each.program)).toEqual(['later', program]);
  await removeStateFile(state);
});
