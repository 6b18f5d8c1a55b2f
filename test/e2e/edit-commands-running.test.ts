/** Commands that edit the configuration while gateways run with it. */
import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  ECHO,
  leave,
  NODE,
  runEditCommand,
  startEditedGateway,
  waitForToolsChanged,
  toolNames,
} from '../helpers/edit-commands.ts';
import { alive, processesWith, waitUntilGone } from '../helpers/processes.ts';
import { textOf, type Json, type RawClient } from '../helpers/raw-client.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

const CONFIG = 'switchboard.config.json';

const pidOf = async (client: RawClient, server: string): Promise<number> =>
  Number(textOf(await client.call(`${server}_suite`, { action: 'call', subtool: 'pid', args: {} })));

describe('a running gateway', () => {
  test('applies additions and removals; unchanged servers keep their processes', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { a: nodeServer('echo'), b: nodeServer('echo') } },
    });
    const client = await startEditedGateway(project);
    const [a, b] = [await pidOf(client, 'a'), await pidOf(client, 'b')];
    expect(await toolNames(client)).toEqual(['a_suite', 'b_suite']);

    let seen = client.messages.length;
    const added = await runEditCommand(project, ['add', 'c', '--start', ...ECHO]);
    expect(added.code).toBe(0);
    expect(added.stdout).toContain(`Reload signal sent to switchboard, pid ${client.pid}.\n`);
    await waitForToolsChanged(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'b_suite', 'c_suite']);
    const c = await pidOf(client, 'c');
    expect(alive(c)).toBe(true);

    // A call that runs meanwhile is not disturbed.
    const slow = client.call('a_suite', {
      action: 'call',
      subtool: 'slow_echo',
      args: { text: 'still here', ms: 1500 },
    });
    seen = client.messages.length;
    const removed = await runEditCommand(project, ['remove', 'b', '--json']);
    expect(removed.json.gateways).toEqual([{ pid: client.pid, program: 'switchboard', told: true }]);
    await waitForToolsChanged(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'c_suite']);
    await until(() => !alive(b), { what: 'the removed server to be gone' });
    expect(textOf(await slow)).toBe('still here');
    expect([await pidOf(client, 'a'), await pidOf(client, 'c')]).toEqual([a, c]);

    // Only a changed one restarts.
    await runEditCommand(project, ['add', 'c', '--replace', '--env', 'NEW=1', ...ECHO]);
    await until(() => !alive(c), { what: 'the changed server to be gone' });
    expect(await pidOf(client, 'c')).not.toBe(c);
    expect(await pidOf(client, 'a')).toBe(a);
    expect(client.stderr).toMatch(/configuration reloaded.*restarted=c/);
    await leave(client);
  });

  test('reloads a file that was edited by hand, on reload', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startEditedGateway(project);
    const a = await pidOf(client, 'a');
    const other = await startEditedGateway(project, {
      args: ['--config', project.write('other.json', { mcpServers: { o: nodeServer('echo') } })],
    });
    const second = await startEditedGateway(project);
    const write = (mcpServers: object) => project.write(CONFIG, { mcpServers });

    write({ a: nodeServer('echo'), z: nodeServer('echo') });
    let seen = client.messages.length;
    const { code, stdout } = await runEditCommand(project, ['reload']);
    expect(code).toBe(0);
    expect(stdout).toBe(
      `Notified 2 gateways to reload ${project.path(CONFIG)}:\n` +
        `  switchboard, pid ${second.pid}\n  switchboard, pid ${client.pid}\n`,
    );
    await waitForToolsChanged(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite', 'z_suite']);
    await second.waitForStderr(/configuration reloaded/);
    expect(await pidOf(client, 'a')).toBe(a);

    // A command that does not exist is reported here as well, and the running server stays.
    write({ a: { command: '/no/such/program' }, z: nodeServer('echo') });
    const missing = await runEditCommand(project, ['reload']);
    expect(missing.stderr).toMatch(
      /^switchboard: server 'a' cannot start: .*\/no\/such\/program.* it keeps its old definition\.\n$/,
    );
    await client.waitForStderr(/configuration reloaded failed=a/);
    expect(await pidOf(client, 'a')).toBe(a);

    // What is wrong is said here, and nobody is told.
    project.write(CONFIG, '{ "mcpServers": ');
    expect((await runEditCommand(project, ['reload'])).code).toBe(78);
    project.write(CONFIG, { mcpServers: [] });
    const wrong = await runEditCommand(project, ['reload']);
    expect(wrong.code).toBe(78);
    expect(wrong.stderr).toContain('Correct it and run: switchboard reload.');
    expect(wrong.stderr).not.toContain('start again');
    project.write(CONFIG, '{ "mcpServers": ');
    // A signal from elsewhere changes nothing either.
    client.signal('SIGHUP');
    await client.waitForStderr(/configuration not reloaded, nothing has changed/);
    expect(await toolNames(client)).toEqual(['a_suite', 'z_suite']);

    write({ a: nodeServer('echo') });
    seen = client.messages.length;
    expect((await runEditCommand(project, ['reload', '--json'])).json).toMatchObject({
      config: project.path(CONFIG),
      gateways: [{ told: true }, { told: true }],
    });
    await waitForToolsChanged(client, seen);
    expect(await toolNames(client)).toEqual(['a_suite']);
    expect(other.stderr).not.toContain('reloaded');
    await leave(client, second, other);
  });

  test('is left alone with --no-reload, and where nothing has changed', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startEditedGateway(project);
    const quiet = await runEditCommand(project, ['add', 'b', '--no-reload', ...ECHO]);
    expect(quiet.code).toBe(0);
    expect(quiet.stdout).toContain(`No reload signal sent to switchboard, pid ${client.pid} (--no-reload).`);
    const { json } = await runEditCommand(project, ['add', 'b', '--replace', '--json', ...ECHO]);
    expect(json.gateways).toEqual([
      { pid: client.pid, program: 'switchboard', told: false, reason: 'nothing has changed' },
    ]);
    const dry = await runEditCommand(project, ['remove', 'b', '--dry-run', '--json']);
    expect(dry.json.gateways[0].reason).toBe('--dry-run');
    expect(await toolNames(client)).toEqual(['a_suite']);
    expect(client.stderr).not.toContain('reloaded');
    await leave(client);
  });

  test('that began without a configuration gets the one that is made', async () => {
    const project = createProject();
    const client = await startEditedGateway(project);
    expect(await toolNames(client)).toEqual(['switchboard_setup']);
    const first = await runEditCommand(project, ['add', 'a', ...ECHO]);
    expect(first.stdout).toContain(`Reload signal sent to switchboard, pid ${client.pid}.`);
    await until(async () => (await toolNames(client)).includes('a_suite'));
    // From now on it is one of this file.
    await until(async () => (await runEditCommand(project, ['list', '--json'])).json.gateways.length === 1);
    await runEditCommand(project, ['add', 'b', ...ECHO]);
    await until(async () => (await toolNames(client)).includes('b_suite'));
    await leave(client);
  });

  test('none is running: reload says so with exit code 1', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const text = await runEditCommand(project, ['reload']);
    expect(text).toMatchObject({ code: 1, stdout: '' });
    expect(text.stderr).toContain(`No gateway is running with ${project.path(CONFIG)}.`);
    const { code, json } = await runEditCommand(project, ['reload', '--json']);
    expect(code).toBe(1);
    expect(json.error.code).toBe('NO_GATEWAY');
    // One that was killed is no longer one.
    const client = await startEditedGateway(project);
    await client.kill('SIGKILL');
    expect((await runEditCommand(project, ['reload'])).code).toBe(1);
    await waitUntilGone(client.marker);
  });

  test('that is ending is not disturbed by a notification', async () => {
    const project = createProject({ [CONFIG]: { mcpServers: { a: nodeServer('echo') } } });
    const client = await startEditedGateway(project);
    const slow = client.call('a_suite', {
      action: 'call',
      subtool: 'slow_echo',
      args: { text: 'x', ms: 800 },
    });
    await until(() => processesWith(client.marker).length >= 2);
    const closed = client.close();
    for (let at = 0; at < 5; at++) client.signal('SIGHUP');
    expect((await closed).code).toBe(0);
    expect(textOf(await slow)).toBe('x');
    expect(processesWith(client.marker)).toEqual([]);
  });
});

describe('list', () => {
  test('shows servers that were added at run time, and those that are no longer configured', async () => {
    const project = createProject({
      [CONFIG]: {
        management: { approval: 'auto' },
        mcpServers: { a: nodeServer('echo'), old: nodeServer('echo') },
      },
    });
    const client = await startEditedGateway(project);
    await pidOf(client, 'a');
    const secret = 'crash line';
    const addServer = async (name: string, server: string, ...args: string[]) =>
      client.call('add_server', { name, ...nodeServer(server, ...args), env: { SECRET: secret } });
    expect((await addServer('late', 'echo')).result.isError ?? false).toBe(false);
    expect((await addServer('frail', 'crash', '--stderr-lines=3')).result.isError ?? false).toBe(false);
    await client.call('frail_suite', { action: 'call', subtool: 'crash', args: {} });
    await runEditCommand(project, ['remove', 'old', '--no-reload']);
    const { unconfigured } = await until(async () => {
      const { json } = await runEditCommand(project, ['list', '--json']);
      return json.unconfigured.some((each: Json) => each.state.kind === 'crashed') ? json : undefined;
    });
    const gateway = client.pid;
    expect(unconfigured).toEqual([
      { name: 'old', state: { kind: 'idle' }, gateway, addedAtRunTime: false },
      {
        name: 'late',
        state: { kind: 'running', pid: expect.any(Number), since: expect.any(String) },
        gateway,
        addedAtRunTime: true,
      },
      { name: 'frail', state: expect.objectContaining({ kind: 'crashed' }), gateway, addedAtRunTime: true },
    ]);
    const { stdout } = await runEditCommand(project, ['list']);
    expect(stdout).toMatch(/^old +– +idle +– +no longer configured; reload stops it$/m);
    expect(stdout).toMatch(/^late +– +running pid \d+ +– +added at run time$/m);
    expect(stdout).toMatch(/^frail +– +crashed: see the log of its gateway +– +added at run time$/m);
    const published = readdirSync(project.path('.state/run'))
      .filter((name) => name.endsWith('.json'))
      .map((name) => project.read(`.state/run/${name}`));
    expect([stdout, ...published].join('')).not.toContain(secret);
    // Reading the configuration again does not take it away.
    await runEditCommand(project, ['reload']);
    await client.waitForStderr(/configuration reloaded.*removed=old/);
    expect(await toolNames(client)).toEqual(expect.arrayContaining(['a_suite', 'late_suite']));
    await leave(client);
  });
});

describe('disable and enable', () => {
  test('a running gateway loses the server and gets it back; the file is as it was', async () => {
    const project = createProject({
      [CONFIG]: { mcpServers: { e: nodeServer('echo'), f: nodeServer('echo') } },
    });
    const before = project.read(CONFIG);
    const client = await startEditedGateway(project);
    const tools = async () =>
      ((await client.request('tools/list')).result?.tools as Json[]).map(({ name }) => name);
    expect(await tools()).toEqual(['e_suite', 'f_suite']);
    const off = await runEditCommand(project, ['disable', 'e']);
    expect(off).toMatchObject({ code: 0, stderr: '' });
    expect(off.stdout).toMatch(/^Disabled "e" in .*\nReload signal sent to /s);
    await until(async () => (await tools()).join() === 'f_suite');
    expect(JSON.parse(project.read(CONFIG)).mcpServers.e).toMatchObject({ command: NODE, disabled: true });
    expect((await runEditCommand(project, ['disable', 'e'])).stdout).toBe('"e" is already disabled.\n');
    expect(await runEditCommand(project, ['enable', 'e', '--json'])).toMatchObject({ code: 0, stderr: '' });
    await until(async () => (await tools()).join() === 'e_suite,f_suite');
    expect(project.read(CONFIG)).toBe(before);
    expect((await runEditCommand(project, ['enable', 'e'])).stdout).toBe('"e" is already enabled.\n');
    await leave(client);
  });

  test('a server of another file is turned off in ours, and that file stays as it is', async () => {
    const project = createProject({
      [CONFIG]: {},
      '.mcp.json': { mcpServers: { shared: { command: 'x' } } },
    });
    const before = project.read('.mcp.json');
    expect((await runEditCommand(project, ['disable', 'shared'])).code).toBe(0);
    expect(JSON.parse(project.read(CONFIG))).toEqual({ mcpServers: { shared: { disabled: true } } });
    expect((await runEditCommand(project, ['list', '--json'])).json).toMatchObject({
      servers: [],
      disabled: ['shared'],
    });
    expect((await runEditCommand(project, ['enable', 'shared'])).code).toBe(0);
    expect((await runEditCommand(project, ['list', '--json'])).json.servers).toMatchObject([
      { name: 'shared' },
    ]);
    expect(project.read('.mcp.json')).toBe(before);
  });

  test('what another file turns off is left to its owner, and a slip gets the nearest name', async () => {
    const project = createProject({
      [CONFIG]: {},
      '.mcp.json': { mcpServers: { shared: { command: 'x', disabled: true } } },
    });
    const { code, stderr } = await runEditCommand(project, ['enable', 'shared']);
    expect(code).toBe(2);
    expect(stderr).toContain(`"shared" is disabled in ${project.path('.mcp.json')}`);
    expect(stderr).toContain('Remove "disabled" from its entry there');
    for (const flags of [[], ['--project']])
      expect((await runEditCommand(project, ['disable', 'sharde', ...flags])).stderr).toContain(
        'Did you mean "shared"?',
      );
  });
});
