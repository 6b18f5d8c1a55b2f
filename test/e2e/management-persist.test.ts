/** Management tools in switchboard that write to the configuration file. */
import { describe, expect, test } from 'vitest';
import { ownState, type GatewayOptions } from '../helpers/gateway.ts';
import {
  CONFIG,
  failed,
  FLAT_PREFIXED,
  manage,
  startManagedClient,
  PERSIST,
  reloadConfig,
  untilNotifiable,
  type ManagedGateway,
} from '../helpers/management.ts';
import { alive } from '../helpers/processes.ts';
import { responseText, startClient, textOf } from '../helpers/raw-client.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';

describe('persist', () => {
  const TEXT = `// What this project uses.
{
  "exposure": "flat", // one by one
  "management": { "approval": "auto", "persist": true },

  /* The servers. */
  "mcpServers": {
    // The first.
    "first": ${JSON.stringify(nodeServer('echo', '--tools=echo'))},
    "second": ${JSON.stringify(nodeServer('echo', '--tools=pid'))} // the second
  },
  "timeouts": {"rpcMs":  30000}, // longer
}
`;

  async function open(project: Project, options: GatewayOptions = {}): Promise<ManagedGateway> {
    const client = startClient({ cwd: project.dir, ...options, env: ownState(project) });
    await client.initialize();
    await untilNotifiable(client, project.path('.state'));
    return { client, project, ...manage(client) } as unknown as ManagedGateway;
  }
  const withText = (text = TEXT): Project => createProject({ 'switchboard.config.json': text });

  test('an added server is saved to the configuration, the rest is unchanged, and it is there after a restart', async () => {
    const project = withText();
    project.write('folder/.keep', '');
    const gateway = await open(project);
    const args = ['--tools=whoami,env', '${HOME}', '$${X}', 'plain'];
    const entry = {
      command: process.execPath,
      args: [...nodeServer('echo').args, ...args],
      env: { OWN: 'a ${HOME} value' },
      cwd: 'folder',
    };
    const added = await gateway.added('third', entry);
    expect(added.args).toEqual(entry.args);
    const text = project.read('switchboard.config.json');
    // Line by line what was there before, in the same order.
    const kept = text.split('\n').filter((line) => TEXT.split('\n').includes(line));
    const [beforeThird, afterThird] = text.split('"third"');
    expect(beforeThird).toContain('"second"');
    expect(afterThird).toContain('"timeouts": {"rpcMs":  30000}, // longer');
    expect(kept.length).toBeGreaterThanOrEqual(TEXT.split('\n').length - 1);
    for (const comment of [
      '// What this project uses.',
      '/* The servers. */',
      '// The first.',
      '// the second',
    ]) {
      expect(text).toContain(comment);
    }
    await gateway.client.close();

    const again = await open(project);
    expect((await again.servers()).map(({ name }) => name)).toEqual(['first', 'second', 'third']);
    const who = JSON.parse(textOf(await again.client.call('third__whoami')));
    expect(who).toMatchObject({ args, cwd: project.path('folder') });
    const { value } = JSON.parse(textOf(await again.client.call('third__env', { name: 'OWN' })));
    expect(value).toBe('a ${HOME} value');
    await again.client.close();
  });

  test('a removed server is taken out of it, one that was added and one that stood there; the rest stays to the letter', async () => {
    const project = withText();
    const gateway = await open(project);
    await gateway.added('third', nodeServer('echo'));
    expect(project.read('switchboard.config.json')).not.toBe(TEXT);
    expect(failed(await gateway.remove('third'))).toBe(false);
    expect(project.read('switchboard.config.json')).toBe(TEXT);
    expect(failed(await gateway.remove('first'))).toBe(false);
    const text = project.read('switchboard.config.json');
    expect(text).not.toContain('first');
    expect(text).toContain('"second"');
    for (const comment of [
      '// What this project uses.',
      '// one by one',
      '/* The servers. */',
      '// the second',
    ]) {
      expect(text).toContain(comment);
    }
    await gateway.client.close();
    const again = await open(project);
    expect((await again.servers()).map(({ name }) => name)).toEqual(['second']);
  });

  test('what fails to start, what is refused and a reload write nothing', async () => {
    const project = withText();
    const gateway = await open(project);
    expect(failed(await gateway.add('bad', { command: 'no-such-program-anywhere' }))).toBe(true);
    expect(failed(await gateway.add('first', nodeServer('echo')))).toBe(true);
    expect(failed(await gateway.add('a__b', nodeServer('echo')))).toBe(true);
    expect(failed(await gateway.remove('nobody'))).toBe(true);
    expect(failed(await gateway.reload('first'))).toBe(false);
    expect(project.read('switchboard.config.json')).toBe(TEXT);
  });

  test('off, which is the default, the configuration is left alone', async () => {
    const text = TEXT.replace(', "persist": true', '');
    const project = withText(text);
    const gateway = await open(project);
    await gateway.added('third', nodeServer('echo'));
    await gateway.remove('first');
    expect(project.read('switchboard.config.json')).toBe(text);
  });

  test('several at once are all written', async () => {
    const project = withText();
    const gateway = await open(project);
    const names = ['a', 'b', 'c', 'd'];
    await Promise.all(names.map((name) => gateway.added(name, nodeServer('echo'))));
    await gateway.client.close();
    const again = await open(project);
    const listed = (await again.servers()).map(({ name }) => name);
    expect(listed.slice(0, 2)).toEqual(['first', 'second']);
    expect(listed.slice(2).sort()).toEqual(names);
  });

  test('if the configuration is not writable, the client is told, and that the server runs for now', async () => {
    const project = createProject({
      'switchboard.config.mjs': `export default ${JSON.stringify({
        ...FLAT_PREFIXED,
        management: { approval: 'auto', persist: true },
      })};\n`,
    });
    const gateway = await open(project);
    const response = await gateway.add('echo', nodeServer('echo'));
    expect(JSON.stringify(response)).toContain('switchboard.config.mjs');
    const servers = await gateway.servers();
    // Either it is there and the answer says so, or it is not there at all.
    if (servers.length > 0) expect(JSON.stringify(response)).toMatch(/added|runs|running/i);
  });

  test('a server that was written is the same one when the configuration is read again', async () => {
    const project = withText();
    const gateway = await open(project);
    const { pid } = await gateway.added('third', { ...nodeServer('echo'), env: { A: '1' }, cwd: '.' });
    await reloadConfig(gateway.client);
    expect(await gateway.server('third')).toMatchObject({ status: 'running', pid });
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['first', 'second', 'third']);
  });

  test('a server that was written is one of the configuration, and goes with its entry', async () => {
    const project = withText();
    const gateway = await open(project);
    const { pid } = await gateway.added('third', nodeServer('echo'));
    project.write('switchboard.config.json', TEXT);
    expect(await reloadConfig(gateway.client), gateway.client.stderr).toContain('removed=third');
    expect((await gateway.servers()).map(({ name }) => name)).toEqual(['first', 'second']);
    await until(() => !alive(pid), { what: 'its process to be gone' });
  });
});

describe('persist', () => {
  test.each<[string, object]>([
    ['turned off', { ...nodeServer('echo'), disabled: true }],
    ['not usable', { command: 5 }],
    ['not usable for its arguments', { ...nodeServer('echo'), args: 'oops' }],
  ])('add_server does not write over an entry that is %s', async (_what, entry) => {
    const gateway = await startManagedClient({ mine: entry }, { config: { management: PERSIST } });
    const { client, project } = gateway;
    const before = project.read(CONFIG);
    const listed = await gateway.servers();
    const answer = await gateway.add('mine', nodeServer('echo'));
    expect(failed(answer)).toBe(true);
    expect(responseText(answer)).toMatch(/"mine"/);
    expect(project.read(CONFIG)).toBe(before);
    expect(await gateway.servers()).toEqual(listed);
    await client.close();
    expect(client.stderr).not.toContain('spawned');
  });

  test('remove_server of one that another file defines says where, and that it is gone for now', async () => {
    const gateway = await startManagedClient(
      {},
      {
        config: { management: PERSIST },
        files: { 'mcps/x/.mcp.json': { name: 'x', ...nodeServer('echo') } },
      },
    );
    const { project } = gateway;
    const before = [CONFIG, 'mcps/x/.mcp.json'].map((file) => project.read(file));
    const { pid } = await gateway.serverOnce('x', 'running');
    const answer = await gateway.remove('x');
    expect(responseText(answer)).toContain(project.path('mcps/x/.mcp.json'));
    expect(responseText(answer)).toContain('x was removed until the next start');
    expect(await gateway.servers()).toEqual([]);
    expect(alive(pid)).toBe(false);
    expect([CONFIG, 'mcps/x/.mcp.json'].map((file) => project.read(file))).toEqual(before);
  });
});
