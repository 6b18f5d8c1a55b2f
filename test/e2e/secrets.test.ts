/** Secrets, with a real keychain and without one: each reaches its server whole, and nothing else shows it. */
import { chmodSync, existsSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startGateway } from '../helpers/gateway.ts';
import { CAN_PRESS, createHostHome, FILES } from '../helpers/host-home.ts';
import { NO_KEYCHAIN, startKeychain } from '../helpers/keychain.ts';
import { untilNotifiable } from '../helpers/management.ts';
import { runCli } from '../helpers/run-cli.ts';
import { createProject, nodeServer, type Project } from '../helpers/temp-project.ts';

const ODD = 'line one\nline "two" \'three\' ${HOME} $${x} \\ %s \u{1f511} é \t end ';

const TELLS = nodeServer('echo');
const CONFIG = { mcpServers: { tells: { ...TELLS, env: { TOKEN: '${secret:TOKEN}' } } } };

function secretProject(): { project: Project; env: Record<string, string> } {
  const project = createProject({ 'switchboard.config.json': CONFIG });
  return { project, env: { XDG_CONFIG_HOME: project.path('.config') } };
}

/** Has the server say what it was given. */
const TELL = ['call', 'tells', 'env', 'name=TOKEN'];

const everything = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');

/** A part of the odd value that nothing escapes. */
const TELLING = 'line one';

describe('in a file', () => {
  test('a secret with every odd character reaches its server, and nothing shows it', async () => {
    const { project, env } = secretProject();
    const set = await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: `${ODD}\n` });
    expect([set.code, set.stderr]).toEqual([0, '']);
    const file = project.path('.config/switchboard/secrets.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(set.stdout).toContain(file);
    const call = await runCli(project, TELL, { env });
    expect(JSON.parse(call.stdout).value).toBe(ODD);
    for (const args of [
      ['secret', 'list'],
      ['list', '--json'],
      ['doctor', '--start', '--verbose'],
      ['dry-run'],
      ['tools', '--json'],
      ['add', 'more', '--dry-run', '--env', 'X=${secret:TOKEN}', '--', 'node'],
      ['call', 'tells', 'nothing', '--log-level', 'debug'],
    ]) {
      const { stdout, stderr } = await runCli(project, args, { env });
      expect(stdout + stderr, args.join(' ')).not.toContain(TELLING);
    }
    expect(everything(project.path('.state'))).not.toContain(TELLING);
    const removed = await runCli(project, ['secret', 'remove', 'TOKEN', '--json'], { env });
    expect(removed.json).toMatchObject({ removed: 'TOKEN' });
    expect(everything(project.path('.config'))).not.toContain(TELLING);
  });

  test('64 kB are kept whole; more, NUL, nothing and broken UTF-8 are refused', async () => {
    const { project, env } = secretProject();
    const long = 'x'.repeat(64 * 1024);
    expect((await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: long })).code).toBe(0);
    expect(JSON.parse((await runCli(project, TELL, { env })).stdout).value).toBe(long);
    for (const [input, why] of [
      [`${long}x`, 'longer than 64 kB'],
      ['a\0b', 'NUL'],
      ['\n', 'empty'],
    ] as const) {
      const { code, stderr } = await runCli(project, ['secret', 'set', 'TOKEN'], { env, input });
      expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
    }
    // None of them has replaced it.
    expect(JSON.parse((await runCli(project, TELL, { env })).stdout).value).toBe(long);
  });

  test('a value as an argument is refused, without repeating it', async () => {
    const { project, env } = secretProject();
    const { code, stderr } = await runCli(project, ['secret', 'set', 'TOKEN', 'hunter2-value'], { env });
    expect(code).toBe(2);
    expect(stderr).toContain('cannot be passed as an argument');
    expect(stderr).not.toContain('hunter2');
    expect(existsSync(project.path('.config'))).toBe(false);
  });

  test('a file that others can read or that is damaged is not used; its servers say why', async () => {
    const { project, env } = secretProject();
    await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: 'value-of-it' });
    const file = project.path('.config/switchboard/secrets.json');
    chmodSync(file, 0o644);
    const open = await runCli(project, TELL, { env });
    expect([open.code, open.stderr]).toEqual([
      expect.not.stringMatching('^0$'),
      expect.stringContaining('chmod 600'),
    ]);
    expect((await runCli(project, ['secret', 'set', 'B'], { env, input: 'x' })).code).toBe(1);
    chmodSync(file, 0o600);
    writeFileSync(file, '{"version":1,"secrets":[["TOKEN"');
    const damaged = await runCli(project, ['secret', 'set', 'B'], { env, input: 'x' });
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('damaged')]);
    expect(readFileSync(file, 'utf8')).toBe('{"version":1,"secrets":[["TOKEN"');
  });

  test('a server without its secret stays listed with the next step, and starts once it is set', async () => {
    const gateway = await startGateway(CONFIG.mcpServers);
    const { client, project } = gateway;
    const env = { XDG_CONFIG_HOME: project.path('.config') };
    const before = await gateway.introspect('tells');
    expect(JSON.stringify(before)).toContain('switchboard secret set TOKEN');
    await untilNotifiable(client, project.path('.state'));
    const set = await runCli(project, ['secret', 'set', 'TOKEN', '--json'], { env, input: 'first-value' });
    expect(set.json.gateways).toEqual([expect.objectContaining({ told: true })]);
    await client.waitFor((message) => message.method === 'notifications/tools/list_changed');
    const after = await gateway.call('tells', 'env', { name: 'TOKEN' });
    expect(JSON.stringify(after)).toContain('first-value');
    // Nobody sees it on a command line.
    expect(set.stdout).not.toContain('first-value');
  });

  test('secrets that are set at the same time are all kept', async () => {
    const { project, env } = secretProject();
    const names = ['A', 'B', 'C', 'D'];
    await Promise.all(names.map((name) => runCli(project, ['secret', 'set', name], { env, input: name })));
    const { json } = await runCli(project, ['secret', 'list', '--json'], { env });
    expect(json.secrets.map(({ name }: { name: string }) => name)).toEqual(names);
  });

  test('a secret on a command line is warned of', async () => {
    const { project, env } = secretProject();
    const args = [...TELLS.args, '${secret:TOKEN}'];
    project.write('switchboard.config.json', { mcpServers: { tells: { ...TELLS, args } } });
    await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: 'value-of-it' });
    const { code, stdout } = await runCli(project, ['doctor'], { env });
    expect([code, stdout]).toEqual([1, expect.stringContaining('pass it in "env"')]);
    expect(stdout).not.toContain('value-of-it');
  });

  test('an import moves literal secrets out of the file, and names that are taken stay as they are', async () => {
    const at = createHostHome({
      [FILES.cursor]: {
        mcpServers: { one: { ...nodeServer('echo'), env: { API_KEY: 'cursor-key-value' } } },
      },
    });
    const { project } = at;
    const env = { SWITCHBOARD_SECRET_STORE: 'file' };
    const asked = await at.run(['import', '--dry-run'], { env });
    expect(asked.stdout).toContain('--secrets store');
    at.home.write('.config/switchboard/secrets.json', {
      version: 1,
      secrets: [['API_KEY', { changedAt: '', value: 'another-one' }]],
    });
    chmodSync(at.home.path('.config/switchboard/secrets.json'), 0o600);
    const done = await at.run(['import', '--yes', '--secrets', 'store'], { env });
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).not.toContain('cursor-key-value');
    const config = at.read('.config/switchboard/switchboard.config.json');
    expect(config).toContain('${secret:API_KEY_CURSOR}');
    expect(config).not.toContain('cursor-key-value');
    const kept = new Map(JSON.parse(at.read('.config/switchboard/secrets.json')).secrets);
    expect(kept.get('API_KEY')).toMatchObject({ value: 'another-one' });
    expect(kept.get('API_KEY_CURSOR')).toMatchObject({ value: 'cursor-key-value' });
    const again = await at.run(['import', '--yes', '--secrets', 'store', '--json'], { env });
    expect(again.json.servers).toMatchObject([{ state: 'same' }]);
    expect(existsSync(join(project, 'switchboard.config.json'))).toBe(false);
  });

  test.runIf(CAN_PRESS)(
    'a prompt shows nothing of what is typed, and takes a paste of several lines',
    async () => {
      const at = createHostHome();
      const { code, stdout } = await at.press(
        ['secret', 'set', 'KEY'],
        [['not shown', 'abx\x7f\x1b[200~-begin\r-end\x1b[201~\r']],
      );
      expect(code, stdout).toBe(0);
      expect(stdout).not.toContain('begin');
      const [[, { value }]] = JSON.parse(at.read('.config/switchboard/secrets.json')).secrets;
      expect(value).toBe('ab-begin\n-end');
      const stopped = await at.press(['secret', 'set', 'KEY'], [['not shown', 'other\x03']]);
      expect(stopped.code).toBe(130);
      expect(at.read('.config/switchboard/secrets.json')).not.toContain('other');
    },
  );
});

describe.skipIf(NO_KEYCHAIN !== undefined)(
  `in the Secret Service${NO_KEYCHAIN ? ` (${NO_KEYCHAIN})` : ''}`,
  () => {
    test('a secret is kept in the keychain alone, and can be read, replaced and removed', async () => {
      const keychain = await startKeychain();
      const { project, env: own } = secretProject();
      const env = { ...own, ...keychain.env };
      const set = await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: ODD });
      expect([set.code, set.stderr, set.stdout]).toEqual([0, '', expect.stringContaining('keychain')]);
      expect(everything(project.dir)).not.toContain(TELLING);
      expect(JSON.parse((await runCli(project, TELL, { env })).stdout).value).toBe(ODD);
      const { stdout } = await runCli(project, ['doctor'], { env });
      expect(stdout).toContain("1 secret: 1 in the keychain; the next one goes to the system's keychain");
      await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: 'x'.repeat(64 * 1024) });
      const long = await runCli(project, TELL, { env });
      expect(JSON.parse(long.stdout).value).toHaveLength(64 * 1024);
      // Without the desktop session, its server says why it is not available.
      const without = await runCli(project, ['doctor'], { env: own });
      expect(without.stdout).toContain('the secret TOKEN cannot be read: the keychain cannot be used');
      expect((await runCli(project, ['secret', 'remove', 'TOKEN'], { env })).code).toBe(0);
      expect((await runCli(project, ['list'], { env })).stdout).toContain('secret set TOKEN');
    });

    test('a keychain that does not answer delays a start for a while, and takes nothing else down', async () => {
      const keychain = await startKeychain();
      const { project, env: own } = secretProject();
      const env = { ...own, ...keychain.env };
      await runCli(project, ['secret', 'set', 'TOKEN'], { env, input: 'value-of-it' });
      project.write('switchboard.config.json', {
        mcpServers: { ...CONFIG.mcpServers, echo: nodeServer('echo') },
      });
      process.kill(keychain.pid, 'SIGSTOP');
      const { code, stdout, stderr } = await runCli(project, ['call', 'echo', 'echo', 'text=hello'], { env });
      expect([code, stdout.trim()], stderr).toEqual([0, 'hello']);
      process.kill(keychain.pid, 'SIGKILL');
    }, 60_000);
  },
);
