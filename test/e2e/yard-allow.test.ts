/** A built-in Switchyard runs the commands of a repository only once a person has allowed them. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startClient, textOf, type RawClient } from '../helpers/raw-client.ts';
import { createProject, ROOT } from '../helpers/temp-project.ts';
import { until } from '../helpers/until.ts';
import { createYard, type TestYard } from '../helpers/yard.ts';
import { freePort } from '../helpers/yard-home.ts';

const PROGRAM = join(ROOT, 'dist/index.js');
const MARK =
  "import { writeFileSync } from 'node:fs';\nwriteFileSync(process.argv[2], '');\nsetInterval(() => 0, 1000);\n";
const YARD = { yard: { builtin: 'switchyard' } };

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A repository that somebody has cloned, with a service that leaves a mark, and a person's own files elsewhere. */
interface Clone {
  readonly yard: TestYard;
  /** Makes the user file. */
  user(content: object): void;
  run(args: readonly string[], env?: Record<string, string>): Promise<Ran>;
  /** What `switchyard_up` says, and whether anything of the repository ran. */
  up(args?: readonly string[], env?: Record<string, string>): Promise<{ ran: boolean; said: string }>;
  client(args?: readonly string[]): RawClient;
  readonly ran: () => boolean;
  /** As a pull does it: the same service with another command. */
  pull(): void;
}

async function cloned(files: Readonly<Record<string, object>> = {}): Promise<Clone> {
  const home = createProject();
  const mark = home.path('it-ran');
  const toml = (more: string): string =>
    `[project]\nname = "shop"\n[proxy]\nport = ${port}\n` +
    `[services.web]\ncommand = "node mark.mjs ${mark}${more}"\nready_timeout = 0\n`;
  const port = await freePort();
  const yard = createYard({ toml: toml(''), files: { 'mark.mjs': MARK, ...files } });
  const env = {
    ...yard.env,
    SWITCHBOARD_ALLOW_PROJECT: '',
    SWITCHBOARD_STATE_DIR: home.path('state'),
    XDG_CONFIG_HOME: home.path('config'),
    HOME: home.dir,
  };
  const ran = (): boolean => existsSync(mark);
  const run: Clone['run'] = (args, more = {}) =>
    new Promise((resolve) => {
      const options = { cwd: yard.dir, env: { ...env, ...more } };
      const child = execFile(process.execPath, [PROGRAM, ...args], options, (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : Number(error.code ?? 1), stdout, stderr }),
      );
      child.stdin?.end();
    });
  return {
    yard,
    ran,
    run,
    user: (content) => home.write('config/switchboard/switchboard.config.json', content),
    async up(args = [], more = {}) {
      const { stdout, stderr } = await run([...args, 'call', 'yard', 'switchyard_up'], more);
      return { ran: ran(), said: stdout + stderr };
    },
    client: (args = []) =>
      startClient({
        command: process.execPath,
        args: [PROGRAM, ...args],
        cwd: yard.dir,
        marker: yard.marker,
        env,
      }),
    pull: () => yard.write('switchyard.toml', toml(' --pulled')),
  };
}

const call = (subtool: string): object => ({ action: 'call', subtool, args: {} });

test('with the user’s own entry, a clone is served, but nothing of it runs', async () => {
  const clone = await cloned();
  clone.user({ mcpServers: YARD });
  const client = clone.client();
  await client.initialize();
  const brief = await client.call('yard_suite', call('switchyard_brief'));
  expect(brief.result).toMatchObject({ isError: false, structuredContent: { project: 'shop' } });
  const refused = await client.call('yard_suite', call('switchyard_up'));
  expect(refused.result).toMatchObject({ isError: true });
  expect(textOf(refused)).toContain(`${clone.yard.path('switchyard.toml')} is not allowed yet`);
  expect(textOf(refused)).toContain(`\`switchboard allow ${clone.yard.dir}\``);
  expect(clone.ran()).toBe(false);

  const shown = await clone.run(['allow']);
  expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('service web: node mark.mjs ')]);
  expect(shown.stdout).toContain(`Defined in:\n  ${clone.yard.path('switchyard.toml')}\n`);
  expect(clone.ran()).toBe(false);
  expect((await clone.run(['allow', '--yes'])).code).toBe(0);
  // The running gateway knows it with the next call.
  expect((await client.call('yard_suite', call('switchyard_up'))).result).toMatchObject({ isError: false });
  expect((await clone.run(['allow'])).stdout).toContain('Nothing to allow');

  clone.pull();
  const again = await client.call('yard_suite', call('switchyard_up'));
  expect(textOf(again)).toContain('is not allowed yet, or was changed since');
  expect((await clone.run(['allow'])).stdout).toContain('--pulled');
});

test.each<[string, (clone: Clone) => Promise<Parameters<Clone['up']>> | Parameters<Clone['up']>]>([
  ['--allow-project', () => [['--allow-project']]],
  ['SWITCHBOARD_ALLOW_PROJECT', () => [[], { SWITCHBOARD_ALLOW_PROJECT: '1' }]],
  [
    'allowProjects',
    (clone) => {
      clone.user({ mcpServers: YARD, allowProjects: [`${clone.yard.dir}/**`] });
      return [];
    },
  ],
  [
    'switchyard mcp install',
    async (clone) => {
      expect((await clone.yard.run(['mcp', 'install'])).code).toBe(0);
      return [];
    },
  ],
  [
    'a user file that names the project',
    (clone) => {
      clone.user({ mcpServers: { yard: { ...YARD.yard, project: clone.yard.dir } } });
      return [];
    },
  ],
  [
    'a file that is named and names the project',
    (clone) => {
      clone.yard.write('own.json', { mcpServers: { yard: { ...YARD.yard, project: '.' } } });
      return [['--config', 'own.json']];
    },
  ],
])('it is allowed by %s', async (_, allow) => {
  const clone = await cloned();
  clone.user({ mcpServers: YARD });
  expect((await clone.up()).ran).toBe(false);
  expect((await clone.up(...(await allow(clone)))).said).toContain('"result": "started"');
  await until(clone.ran);
});

test('a project is not named by a variable', async () => {
  const clone = await cloned();
  clone.user({ mcpServers: { yard: { ...YARD.yard, project: '${HERE}' } } });
  const { ran, said } = await clone.up([], { HERE: clone.yard.dir });
  expect([ran, said]).toEqual([false, expect.stringContaining('switchyard.toml is not allowed yet')]);
});

test('a project file with Switchyard is allowed with its services, and again after they change', async () => {
  const yard = { ...YARD.yard, project: '.' };
  const clone = await cloned({ 'switchboard.config.json': { mcpServers: { yard } } });
  expect((await clone.up()).said).toContain('is not allowed yet');
  const allowed = await clone.run(['allow', '--yes']);
  expect(allowed.stdout).toContain('yard: switchyard, built in\n  service web: node mark.mjs ');
  expect(allowed.stdout).toContain(clone.yard.path('switchboard.config.json'));
  expect(allowed.stdout).toContain(clone.yard.path('switchyard.toml'));
  clone.pull();
  expect(await clone.up()).toEqual({ ran: false, said: expect.stringContaining('was changed since') });
  expect((await clone.run(['allow', '--yes'])).stdout).toContain('--pulled');
  await clone.up();
  await until(clone.ran);
  expect((await clone.run(['deny'])).stdout).toContain(clone.yard.path('switchyard.toml'));
});

test('a person who is asked by the host sees the services too', async () => {
  const clone = await cloned({ 'switchboard.config.json': { mcpServers: YARD } });
  const client = clone.client();
  const questions: string[] = [];
  client.handle('elicitation/create', ({ message }: { message: string }) => {
    questions.push(message);
    return { result: { action: 'accept', content: {} } };
  });
  await client.initialize('2025-06-18', { elicitation: {} });
  expect((await client.call('yard_suite', call('switchyard_up'))).result).toMatchObject({ isError: false });
  expect(questions).toEqual([expect.stringContaining('- service web: node mark.mjs ')]);
  await until(clone.ran);
});
