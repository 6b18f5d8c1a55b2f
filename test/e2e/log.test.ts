/** The log on stderr: when a line was written, and one line for every call that has ended. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startClient } from '../helpers/raw-client.ts';
import { programEnv, runProgram } from '../helpers/run-program.ts';
import { createProject, nodeServer, ROOT, type Project } from '../helpers/temp-project.ts';

const PROGRAM = join(ROOT, 'dist/index.js');
const SCRIPT = '/usr/bin/script';
const TIME = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;

/** Starting the gateway logs a warning. */
function brokenProject(): Project {
  return createProject({
    'switchboard.config.json': { mcpServers: { a: { command: 'x', args: ['${NOT_SET_ANYWHERE}'] } } },
  });
}

test('a log line begins with the time where stderr is no terminal', async () => {
  const { stderr } = await runProgram(brokenProject(), ['--stdio']);
  expect(stderr).toMatch(new RegExp(`^${TIME} switchboard warn  .*NOT_SET_ANYWHERE`));
});

test.skipIf(!existsSync(SCRIPT))('on a terminal it does so with --log-time only', () => {
  const project = brokenProject();
  const inTerminal = (flag: string): string => {
    const command = `'${process.execPath}' '${PROGRAM}' --stdio ${flag} </dev/null`;
    const env = programEnv(project);
    return spawnSync(SCRIPT, ['-qec', command, '/dev/null'], { cwd: project.dir, env, encoding: 'utf8' })
      .stdout;
  };
  expect(inTerminal('')).toMatch(/^switchboard warn {2}/m);
  expect(inTerminal('--log-time')).toMatch(new RegExp(`^${TIME} switchboard warn  `, 'm'));
});

test('at debug, every call leaves one line when it has ended, with how it ended', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: { e: nodeServer('echo'), f: { ...nodeServer('echo'), exposure: 'flat' } },
    },
  });
  const client = startClient({
    command: process.execPath,
    args: [PROGRAM, '--log-level', 'debug'],
    cwd: project.dir,
    env: programEnv(project),
  });
  await client.initialize();
  const call = (subtool: string, args: object) => client.call('e_suite', { action: 'call', subtool, args });
  await call('echo', { text: 'a secret' });
  await call('fail', {});
  await call('reject', {});
  await call('nonsense', {});
  await client.call('f__add', { a: 1, b: 2 });
  await client.waitForStderr(/finished tool=f__add/);
  const finished = [...client.stderr.matchAll(/ debug finished (.*)$/gm)].map(([, fields]) =>
    fields!.replace(/(ms|bytes)=\d+/g, '$1=N'),
  );
  expect(finished).toEqual([
    'tool=e_suite server=e subtool=echo ms=N outcome=ok bytes=N',
    'tool=e_suite server=e subtool=fail ms=N outcome="tool error" bytes=N',
    'tool=e_suite server=e subtool=reject ms=N outcome=error bytes=N',
    'tool=e_suite server=e subtool=nonsense ms=N outcome=SUBTOOL_UNKNOWN bytes=N',
    'tool=f__add server=f subtool=add ms=N outcome=ok bytes=N',
  ]);
  expect(client.stderr).not.toContain('a secret');
  await client.close();
});
