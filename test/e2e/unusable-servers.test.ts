/** Servers that cannot be used stay in the list and say why, with the built program. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ownState, startGateway, type TestGateway } from '../helpers/gateway.ts';
import { MANAGEMENT_TOOLS } from '../helpers/management.ts';
import { startClient, textOf, type RpcMessage } from '../helpers/raw-client.ts';
import { createProject, nodeServer, ROOT, serverPath } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

interface Tool {
  readonly name: string;
  readonly description: string;
}

async function toolsOf({ client }: Pick<TestGateway, 'client'>): Promise<Tool[]> {
  const { result } = await client.request('tools/list');
  return result.tools as Tool[];
}

async function descriptionOf(gateway: TestGateway, tool: string): Promise<string> {
  return (await toolsOf(gateway)).find(({ name }) => name === tool)?.description ?? 'not listed';
}

const changed = ({ method }: RpcMessage): boolean => method === 'notifications/tools/list_changed';
const logged = ({ method }: RpcMessage): boolean => method === 'notifications/message';

/** Something that lets nobody in. */
async function lockedServer(): Promise<string> {
  const server: Server = createServer((_request, response) => {
    response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

describe('a suite', () => {
  test.each([
    [
      'whose variable is not set',
      { ...nodeServer('echo'), env: { T: '${NOT_SET_ANYWHERE}' } },
      'the environment variable NOT_SET_ANYWHERE is not set',
      'Set NOT_SET_ANYWHERE in the environment',
    ],
    ['whose entry is wrong', { command: 5 }, 'must be', 'Correct mcpServers.bad.command in '],
  ])('%s says so, and what to do', async (_what, entry, reason, nextStep) => {
    const gateway = await startGateway({ bad: entry as never, good: nodeServer('echo') });
    const { client, project, introspect, call } = gateway;
    expect((await toolsOf(gateway)).map(({ name }) => name)).toEqual(['bad_suite', 'good_suite']);
    expect(await descriptionOf(gateway, 'bad_suite')).toMatch(new RegExp(`^Not available: .*${reason}`));
    for (const answer of [await introspect('bad'), await call('bad', 'echo', { text: 'x' })]) {
      expect(answer.result).toMatchObject({ isError: true });
      expect(textOf(answer)).toContain(reason);
      expect(textOf(answer)).toContain(nextStep);
      expect(textOf(answer)).toContain(project.path('switchboard.config.json'));
    }
    expect(textOf(await call('good', 'echo', { text: 'well' }))).toBe('well');

    const from = client.messages.length;
    project.write('switchboard.config.json', { mcpServers: { bad: nodeServer('echo') } });
    client.signal('SIGHUP');
    await client.waitFor(changed, { from });
    expect(await descriptionOf(gateway, 'bad_suite')).not.toContain('Not available');
    expect(textOf(await call('bad', 'echo', { text: 'now it works' }))).toBe('now it works');
  });

  test('that cannot be started says so from then on, until it can', async () => {
    const program = createProject().path('later.mjs');
    const gateway = await startGateway({ late: { command: process.execPath, args: [program] } });
    const { client, call, introspect } = gateway;
    expect(await descriptionOf(gateway, 'late_suite')).not.toContain('Not available');
    const failed = await introspect('late');
    expect(failed.result).toMatchObject({ isError: true });
    expect(textOf(failed)).toContain('switchboard doctor --start');
    await client.waitFor(changed);
    expect(await descriptionOf(gateway, 'late_suite')).toMatch(/^Not available: .*Use this tool for late/);

    const from = client.messages.length;
    writeProgram(program);
    expect(textOf(await call('late', 'echo', { text: 'here' }))).toBe('here');
    await client.waitFor(changed, { from });
    expect(await descriptionOf(gateway, 'late_suite')).not.toContain('Not available');
  });

  test('that needs a login says so, and how to log in', async () => {
    const gateway = await startGateway({ far: { url: await lockedServer() } as never });
    const { client, introspect, call } = gateway;
    for (const answer of [await introspect('far'), await call('far', 'x')])
      expect(textOf(answer)).toContain('Run: switchboard auth far');
    await client.waitFor(changed);
    expect(await descriptionOf(gateway, 'far_suite')).toMatch(/^Not available: /);
  });
});

describe('a flat server', () => {
  test('that cannot be used is named in the instructions and in a log message', async () => {
    const bad = { ...nodeServer('echo'), env: { T: '${NOT_SET_ANYWHERE}' } };
    const gateway = await startGateway(
      { bad, good: nodeServer('echo') },
      { config: { exposure: 'flat' }, raw: true },
    );
    const { client } = gateway;
    const { result } = await client.initialize();
    expect(result.instructions).toContain('NOT_SET_ANYWHERE is not set. Set NOT_SET_ANYWHERE');
    const { params } = await client.waitFor(logged);
    expect(params).toMatchObject({ level: 'warning', logger: 'switchboard' });
    expect(params.data).toContain("'bad'");
    expect(params.data).toContain('Set NOT_SET_ANYWHERE');
    expect((await toolsOf(gateway)).some(({ name }) => name === 'good__echo')).toBe(true);
    const missing = await client.call('bad__echo', { text: 'x' });
    expect(missing.error?.message).toContain('Set NOT_SET_ANYWHERE');
  });

  test('that cannot be started is named in a log message, unless the client wants less', async () => {
    const gateway = await startGateway(
      { bad: { command: 'no-such-program-anywhere', args: [] } },
      { config: { exposure: 'flat' } },
    );
    const { params } = await gateway.client.waitFor(logged);
    expect(params.data).toMatch(/'bad'.*no-such-program-anywhere/);
  });
});

describe('without a server', () => {
  test('one tool says what to do, and stderr where was looked', async () => {
    const project = createProject({ 'switchboard.config.json': { discoverGlobs: ['tools/*/.mcp.json'] } });
    const client = startClient({ cwd: project.dir, env: ownState(project) });
    await client.initialize();
    const tools = await toolsOf({ client });
    expect(tools.map(({ name }) => name)).toEqual(['switchboard_setup']);
    expect(tools[0]!.description).toContain('switchboard add NAME -- COMMAND');
    const said = textOf(await client.call('switchboard_setup'));
    for (const text of [said, client.stderr]) {
      expect(text).toContain(`${project.path('switchboard.config.json')}: no usable server`);
      expect(text).toContain(`${project.path('tools/*/.mcp.json')}: matches no file`);
      expect(text).toContain(`${project.path('.mcp.json')}: not found`);
    }

    project.write('switchboard.config.json', { mcpServers: { echo: nodeServer('echo') } });
    client.signal('SIGHUP');
    await client.waitFor(changed);
    expect((await toolsOf({ client })).map(({ name }) => name)).toEqual(['echo_suite']);
  });

  test.each<[how: string, program: string, args: string[], also: string[]]>([
    ['found', 'index.js', [], []],
    ['named', 'index.js', ['--config', 'switchboard.config.json'], []],
    ['named for mcp-proxy-server', 'mcp-proxy-server.js', ['--config', 'switchboard.config.json'], []],
    ['named for mcpmux', 'mcpmux.js', ['--config', 'switchboard.config.json'], [...MANAGEMENT_TOOLS]],
  ])('a broken configuration that was %s is named by a tool; corrected, it is used', async (...given) => {
    const [, program, args, also] = given;
    const project = createProject({ 'switchboard.config.json': '{"mcpServers": {"echo": }' });
    const client = startClient({
      command: process.execPath,
      args: [join(ROOT, 'dist', program), ...args],
      cwd: project.dir,
      env: ownState(project),
    });
    await client.initialize();
    const tools = await toolsOf({ client });
    expect(tools.map(({ name }) => name).sort()).toEqual([...also, 'switchboard_setup'].sort());
    expect(tools.find(({ name }) => name === 'switchboard_setup')).toMatchObject({
      name: 'switchboard_setup',
      description: expect.stringContaining('an error'),
    });
    const place = /switchboard\.config\.json:1:\d+: expected a value/;
    expect(textOf(await client.call('switchboard_setup'))).toMatch(place);
    expect(client.stderr).toMatch(place);
    project.write('switchboard.config.json', { mcpServers: { echo: nodeServer('echo') } });
    client.signal('SIGHUP');
    await client.waitFor(changed);
    const names = async (): Promise<string[]> => (await toolsOf({ client })).map(({ name }) => name);
    await until(async () => (await names()).some((name) => name.includes('echo')), { what: 'its server' });
    expect(await names()).not.toContain('switchboard_setup');
  });

  test('where all are flat and none can be used, the tool names them', async () => {
    const bad = { ...nodeServer('echo'), env: { T: '${NOT_SET_ANYWHERE}' } };
    const gateway = await startGateway({ bad }, { config: { exposure: 'flat' } });
    expect((await toolsOf(gateway)).map(({ name }) => name)).toEqual(['switchboard_setup']);
    expect(textOf(await gateway.client.call('switchboard_setup'))).toContain('bad: the environment variable');
  });
});

function writeProgram(program: string): void {
  writeFileSync(program, `await import(${JSON.stringify(`file://${serverPath('echo')}`)});\n`);
}
