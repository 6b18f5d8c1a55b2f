/** `switchboard doctor`: findings, hints and exit codes. */
import { mkdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readJournal } from '../helpers/journal.ts';
import { CRASH, echoProject, GONE, mixedProject, runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer } from '../helpers/temp-project.ts';

describe('doctor', () => {
  test('all is well: exit 0, nothing started, names of variables only', async () => {
    const project = echoProject();
    const journal = project.path('journal');
    const env = { TEST_SERVER_JOURNAL: journal, DOCTOR_SECRET: 'do-not-show-me' };
    const { code, stdout } = await runCli(project, ['doctor'], { env });
    expect(code).toBe(0);
    expect(stdout).toContain('✓ echo → echo_suite');
    expect(stdout).toMatch(/^- processes of servers are found by .+$/m);
    expect(stdout).not.toContain('DOCTOR_SECRET');
    const verbose = await runCli(project, ['doctor', '--verbose'], { env });
    expect(verbose.stdout).toContain('DOCTOR_SECRET');
    const { json, stdout: text } = await runCli(project, ['doctor', '--json'], { env });
    expect(json).toMatchObject({ ok: true, node: { ok: true }, warnings: [], disabled: [] });
    if (process.platform === 'linux') {
      const ways = ['session', 'environment', ...(canMakeCgroups() ? ['cgroup'] : [])];
      expect(json.processes.foundBy).toEqual(ways);
      expect(stdout).toMatch(canMakeCgroups() ? /and cgroup \(in \/sys/ : /no writable cgroup v2 was found/);
    }
    expect(json.servers[0]).toMatchObject({
      name: 'echo',
      ok: true,
      program: process.execPath,
      problems: [],
    });
    expect(json.servers[0].env).toContain('DOCTOR_SECRET');
    for (const shown of [stdout, verbose.stdout, text]) expect(shown).not.toContain('do-not-show-me');
    expect(readJournal(journal)).toEqual([]);
  });

  test('says what is missing and what to do: exit 1', async () => {
    const project = echoProject({
      gone: GONE,
      nowhere: { ...nodeServer('echo'), cwd: 'not/there' },
      unbuilt: { command: process.execPath, args: ['dist/missing.js'] },
      narrow: { command: 'node', inheritEnv: false, env: { PATH: '/nonexistent' } },
      unset: { command: '${NOT_SET_ANYWHERE}' },
      off: { command: 'x', disabled: true },
    });
    const { code, stdout } = await runCli(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ command not found: "no-such-command-here"');
    expect(stdout).toContain('Install it, or set "command" to its full path');
    expect(stdout).toContain(`✗ its working directory "${project.path('not/there')}" does not exist`);
    expect(stdout).toContain(`✗ the script ${project.path('dist/missing.js')} does not exist`);
    expect(stdout).toContain('✗ command not found: "node"');
    expect(stdout).toMatch(/^✗ unset is not available: .*NOT_SET_ANYWHERE is not set/m);
    expect(stdout).toContain('- off is disabled');
    expect(stdout).toContain('✓ echo');
  });

  test('--start says how each server started', async () => {
    const project = echoProject({ crash: CRASH });
    const { code, json, stderr } = await runCli(project, ['doctor', '--start', '--json']);
    expect(code).toBe(1);
    expect(json.servers[0].start).toMatchObject({ ok: true, serverInfo: { name: 'echo' }, tools: 13 });
    expect(json.servers[1]).toMatchObject({
      ok: false,
      problems: [],
      start: { ok: false, error: { code: 'SERVER_LOST' } },
    });
    expect(stderr).toContain('[crash] crash line 1\n');
    expect((await runCli(project, ['doctor', '--start', 'echo'])).stdout).toMatch(
      /started +echo .*13 tools, in \d+ ms/,
    );
  });

  test('compares what the configuration says about tools with what the servers have, when they are started', async () => {
    const project = mixedProject();
    const look = await runCli(project, ['doctor']);
    expect(look.code).toBe(0);
    expect(look.stdout).toContain('✓ flat → flat (flat__*)');
    expect(look.stdout).toContain('✓ both → hidden/echo, flat/add, flat/slow_eco');
    const { code, stdout } = await runCli(project, ['doctor', '--start']);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^✗ flat → .*\n {2}! .*hiddenTools\[1\]: "biig" does not match any tool of this server/m,
    );
    expect(stdout).toMatch(
      /^✗ both → .*\n {2}✗ the server "flat" has no tool "slow_eco"\. Did you mean "slow_echo"\?$/m,
    );
    const { json } = await runCli(project, ['doctor', '--start', '--json']);
    expect(json.servers[1]).toMatchObject({ ok: false, start: { ok: true, unmatched: [{}] } });
    expect(json.compounds).toMatchObject([{ name: 'both', ok: false }]);
  });

  test('a compound tool of a server that is not there, and a log directory that is none, are findings', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: nodeServer('echo') },
        tools: { t: { description: 'd', subtools: { ecko: { tools: [{ name: 'echo' }] } } } },
        logDirectory: 'file',
      },
      file: 'in the way',
    });
    const { code, stdout } = await runCli(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('✗ t → ecko/echo\n  ✗ unknown server "ecko"');
    expect(stdout).toContain(`✗ the log directory ${project.path('file')} is not a directory`);
  });

  test('a token for HTTP that cannot be filled in is a finding', async () => {
    const project = createProject({
      'switchboard.config.json': {
        mcpServers: { echo: nodeServer('echo') },
        http: { token: '${NOT_SET_ANYWHERE}' },
      },
    });
    const { code, stdout } = await runCli(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^✗ --http would fail: .*http\.token: .*NOT_SET_ANYWHERE is not set/m);
    expect((await runCli(project, ['doctor', '--json'])).json.config.httpToken.hint).toContain(
      'Set it, or remove the key',
    );
  });

  test('a server that is skipped is told of with the reason, by every command that is about it', async () => {
    const project = echoProject({ lost: { command: '${NOT_SET_ANYWHERE}' } });
    for (const args of [
      ['doctor', 'lost'],
      ['call', 'lost', 'echo'],
      ['tools', 'lost'],
      ['auth', 'lost'],
    ]) {
      const { code, stdout, stderr } = await runCli(project, args);
      expect({ code, stdout }).toEqual({ code: 78, stdout: '' });
      expect(stderr).toContain('switchboard: The server "lost" is not available:\n');
      expect(stderr).toMatch(
        /mcpServers\.lost\.command: .*NOT_SET_ANYWHERE is not set; the server is not available/,
      );
    }
  });

  test('without a configuration it names what it looked for', async () => {
    const { code, stdout } = await runCli(createProject(), ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain('switchboard.config.json, switchboard.config.jsonc');
    expect(stdout).toContain('✗ no server is configured');
  });

  test('a broken configuration is a finding, not a failure of the doctor', async () => {
    const project = createProject({ 'switchboard.config.json': '{ "mcpServers": ' });
    const { code, stdout } = await runCli(project, ['doctor']);
    expect(code).toBe(1);
    expect(stdout).toContain(`✗ ${project.path('switchboard.config.json')}`);
  });
});

/** Whether our own cgroup of version 2 can be divided: found out by doing it. */
function canMakeCgroups(): boolean {
  const own = /^0::(\/.*)$/m.exec(readFileSync('/proc/self/cgroup', 'utf8'))?.[1];
  return ['/sys/fs/cgroup', '/sys/fs/cgroup/unified'].some((mount) => {
    const made = join(mount, own ?? '', `switchboard-doctor-test-${process.pid}`);
    try {
      if (own === undefined || !/^\d*$/m.test(readFileSync(join(mount, own, 'cgroup.procs'), 'utf8')))
        return false;
      mkdirSync(made);
      rmdirSync(made);
      return true;
    } catch {
      return false;
    }
  });
}
