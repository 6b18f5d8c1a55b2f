import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { createProject } from '../../../../../test/helpers/temp-project.ts';
import { loadConfig } from '../../../../config/index.ts';
import { SwitchboardError } from '../../../../shared/errors.ts';
import { silentLogger } from '../../../../shared/log.ts';
import { newServerFrom, type NewServer } from './new-server.ts';
import { parseArguments } from '../../../kit/arguments.ts';
import { addCommand } from './add.ts';
import { switchboard } from '../../variants.ts';

async function prepare(
  argv: readonly string[],
  env: Record<string, string> = {},
  scope: 'user' | 'project' = 'user',
): Promise<NewServer> {
  const { dir } = createProject();
  const given = parseArguments(argv, addCommand.flags, addCommand.commandAt);
  const config = await loadConfig({ cwd: dir, env });
  const target = { scope, file: undefined, directory: dir };
  return newServerFrom(given, 'switchboard')!(given.words[0]!, config, target, {
    variant: switchboard,
    cwd: dir,
    env,
    log: silentLogger,
  });
}

test('a program is written literally', async () => {
  const { entry, shown, remark, define } = await prepare([
    'x',
    '--isolation',
    'shared',
    '--',
    'node',
    '${A}',
  ]);
  expect(entry).toEqual({ command: 'node', args: ['$${A}'], isolation: 'shared' });
  expect(shown).toEqual({ command: 'node', args: ['${A}'] });
  expect(remark(false)).toContain('was taken literally');
  expect(define().kind).toBe('stdio');
});

test('a time limit for the start is kept in the entry, of either kind', async () => {
  const timeouts = { childSpawnMs: 90_000 };
  const program = await prepare(['x', '--timeout-ms', '90000', '--', 'node']);
  expect(program.entry).toEqual({ command: 'node', timeouts });
  expect(program.define().timeouts).toMatchObject(timeouts);
  const remote = await prepare(['x', '--url', 'https://x.test/mcp', '--timeout-ms', '90000']);
  expect(remote.entry).toEqual({ url: 'https://x.test/mcp', timeouts });
  expect(remote.define().timeouts).toMatchObject(timeouts);
  await expect(prepare(['x', '--timeout-ms', '1m', '--', 'node'])).rejects.toThrow('whole number');
});

test('a reference in a variable is kept as such, and filled in where the server is started', async () => {
  const argv = ['x', '-e', 'T=${T}', '--env', 'URL=http://${H:-here}', '--', 'node'];
  const { entry, remark, define } = await prepare(argv, { T: 's3cret', PATH: dirname(process.execPath) });
  expect(entry).toEqual({ command: 'node', env: { T: '${T}', URL: 'http://${H:-here}' } });
  expect(define()).toMatchObject({ env: { T: 's3cret', URL: 'http://here' } });
  expect(remark(false)).toBe('');
  const unset = await prepare(argv);
  expect(unset.entry).toEqual(entry);
  expect(unset.remark(false)).toContain(
    'the server is not available yet: env.T: the environment variable T is not set.',
  );
  expect(unset.define).toThrow('the environment variable T is not set');
});

test('a literal secret causes a warning with the alternative', async () => {
  const argv = ['x', '--env', 'API_KEY=s3cret', '--', 'node'];
  const own = await prepare(argv);
  expect(own.remark(false)).toContain("use --env 'API_KEY=${secret:API_KEY}'");
  const shared = await prepare(argv, {}, 'project');
  expect(shared.remark(false)).toContain('everyone who has this project can read it');
  expect(own.remark(false) + shared.remark(false)).not.toContain('s3cret');
});

test('an address and its headers are written as they are typed', async () => {
  const argv = ['x', '--url', 'https://${HOST}/mcp', '--header', 'Authorization: Bearer ${TOKEN}'];
  const { entry, shown, data, remark, define } = await prepare(argv, { HOST: 'x.test', TOKEN: 's3cret' });
  expect(entry).toEqual({
    url: 'https://${HOST}/mcp',
    headers: { Authorization: 'Bearer ${TOKEN}' },
  });
  expect(shown).toEqual({ command: '', args: [], url: 'https://${HOST}/mcp' });
  expect(data).toEqual({ transport: 'auto', headers: ['Authorization'] });
  expect(remark(false)).toBe('');
  expect(define()).toMatchObject({
    kind: 'remote',
    url: 'https://x.test/mcp',
    headers: { Authorization: 'Bearer s3cret' },
  });
});

test('where a variable is not set, it is written all the same, with a remark', async () => {
  const { remark, define } = await prepare(['x', '--url', 'https://${HOST}/mcp']);
  expect(remark(false)).toContain('the server is not available yet: url: the environment variable HOST');
  expect(remark(true)).toBe('');
  expect(define).toThrow(SwitchboardError);
});

test('names have the same rules for both kinds', async () => {
  for (const rest of [
    ['--url', 'http://x'],
    ['--', 'node'],
  ])
    await expect(prepare(['a__b', ...rest])).rejects.toThrow('contains "__"');
});

test('isolation must be one of two words', async () => {
  await expect(prepare(['x', '--isolation', 'all', '--', 'node'])).rejects.toThrow(
    'Unknown isolation "all".',
  );
});

test('without a command and an address there is nothing to add', () => {
  expect(
    newServerFrom(parseArguments(['x'], addCommand.flags, addCommand.commandAt), 'switchboard'),
  ).toBeUndefined();
});

test('an address in the place of the command is refused with the right command', async () => {
  await expect(prepare(['docs', 'https://x.test/mcp?key=s3cret'])).rejects.toMatchObject({
    code: 'USAGE',
    message: '"https://x.test/mcp?key=***" is a URL, not a command.',
    hint: expect.stringContaining('switchboard add docs --url https://x.test/mcp?key=***') as string,
  });
});
