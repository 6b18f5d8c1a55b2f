/** How commands of a configuration are started on Windows, with the arguments that arrive. */
import { existsSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../src/process/index.ts';
import { createProject } from '../helpers/temp-project.ts';
import { batchFile, hasNetworkPaths, inWine, networkPath, npmProgramShim, npmShim } from './machine.ts';

const SHOWS = `process.stdout.write(JSON.stringify([process.argv.slice(2), process.ppid]));`;

const PLAIN = [
  'plain',
  'with space',
  '',
  ' ',
  'a "quote"',
  '"',
  '""',
  'back\\slash\\',
  'a\\"b\\\\"',
  '^caret^',
  'a & b',
  'a | b',
  '<in >out',
  '!bang!',
  '(parens)',
  'a,b;c=d',
  '--flag=ä€😀',
  "it's",
  'tab\there',
  '$HOME',
  '~`@#*?[]{}',
];
const PERCENT = ['%PATH%', '%cd%', '100%', '%%', '%', '^%PATH^%', '%CMDCMDLINE%', '%=exitcode%'];
const ATTACKS = [
  '" & echo pwned > pwned.txt & "',
  '" & calc',
  '&echo pwned>pwned.txt',
  '|calc',
  '" || calc "',
];
const LINES = ['two\nlines', 'two\r\nlines'];

async function arrived(command: string, args: readonly string[], cwd: string, env = process.env) {
  const { stdout, stderr } = await run(command, args, { cwd, env });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as [string[], number];
}

test('a command that npm installed is started without a shell, with any arguments', async () => {
  const project = createProject();
  const shim = npmShim(project, 'tool', SHOWS);
  const args = [...PLAIN, ...PERCENT, ...ATTACKS, ...LINES];
  const [argv, parent] = await arrived(shim, args, project.dir);
  expect(argv).toEqual(args);
  expect(parent).toBe(process.pid);
  expect(existsSync(project.path('pwned.txt'))).toBe(false);
});

test('a program that npm installed, such as that of Bun, is started without a shell', async () => {
  const project = createProject();
  const script = project.write('shows.js', SHOWS);
  const args = [...PLAIN, ...PERCENT, ...ATTACKS, ...LINES];
  const [argv, parent] = await arrived(npmProgramShim(project, 'bunx'), [script, ...args], project.dir);
  expect(argv).toEqual(args);
  expect(parent).toBe(process.pid);
});

test('so is npx beside Node, which starts npm’s script', async () => {
  const project = createProject();
  const [lines, script] = [OWN_SHIM.replaceAll('\n', '\r\n'), 'nodejs/node_modules/npm/bin/npx-cli.js'];
  project.write('nodejs/npx.cmd', lines);
  project.write(script, SHOWS);
  const env = {
    ...process.env,
    Path: `${project.path('nodejs')};${dirname(process.execPath)}`,
    APPDATA: undefined,
  };
  delete (env as Record<string, unknown>)['PATH'];
  const args = ['-y', '@modelcontextprotocol/server-memory', ...ATTACKS, ...PERCENT];
  const [argv, parent] = await arrived('npx', args, project.dir, env);
  expect(argv).toEqual(args);
  expect(parent).toBe(process.pid);
});

test('the arguments of any other batch file arrive too, and none of them is run', async () => {
  const project = createProject();
  const file = batchFile(project, 'own tool', SHOWS);
  const args = [...PLAIN, ...ATTACKS, ...(inWine ? [] : PERCENT)];
  expect((await arrived(file, args, project.dir))[0]).toEqual(args);
  for (const arg of args) expect((await arrived(file, [arg], project.dir))[0]).toEqual([arg]);
  expect(existsSync(project.path('pwned.txt'))).toBe(false);
});

test('a batch file never gets a line break, which would end its command', async () => {
  const project = createProject();
  const file = batchFile(project, 'tool', SHOWS);
  for (const arg of [...LINES, 'a\rb']) {
    await expect(run(file, [arg], { cwd: project.dir })).rejects.toMatchObject({
      code: 'COMMAND_NOT_RUNNABLE',
      message: expect.stringContaining('line break'),
      hint: expect.stringContaining('"command"'),
    });
  }
  const nul = run(file, ['a\0b'], { cwd: project.dir });
  await expect(nul).rejects.toMatchObject({ code: 'COMMAND_NOT_RUNNABLE' });
  const long = run(file, ['x'.repeat(9000)], { cwd: project.dir });
  await expect(long).rejects.toMatchObject({ code: 'ARGUMENTS_TOO_LONG' });
});

test('a command is found by the PATH it is given, with and without its ending, never in its directory', async () => {
  const project = createProject();
  npmShim(project, 'tool1.2', SHOWS);
  batchFile(project, 'only-here', SHOWS);
  for (const name of ['Path', 'PATH', 'path']) {
    const env = {
      SystemRoot: process.env['SystemRoot'],
      [name]: `C:\\nowhere;;"${project.path('bin')}";${dirname(process.execPath)}`,
    };
    expect((await arrived('tool1.2', ['a'], project.dir, env))[0]).toEqual(['a']);
    expect((await arrived('TOOL1.2.CMD', ['a'], project.dir, env))[0]).toEqual(['a']);
    await expect(run('only-here', [], { cwd: project.dir, env })).rejects.toMatchObject({
      code: 'COMMAND_NOT_FOUND',
    });
  }
  expect((await arrived('.\\only-here', ['a'], project.dir))[0]).toEqual(['a']);
});

test('an .exe is started by its name, its path and its long path', async () => {
  const project = createProject();
  const script = project.write('shows.js', SHOWS);
  const env = { ...process.env, PATH: dirname(process.execPath) };
  for (const command of [
    'node',
    'NODE.EXE',
    process.execPath,
    process.execPath.replaceAll('\\', '/'),
    process.execPath.replace(/\.exe$/i, ''),
    `\\\\?\\${process.execPath}`,
  ]) {
    const args = [script, ...PLAIN, ...PERCENT, ...ATTACKS, ...LINES];
    expect((await arrived(command, args, project.dir, env))[0], command).toEqual(args.slice(1));
  }
});

test('a command whose path has more than 260 characters is started', async () => {
  const project = createProject();
  const deep = Array.from({ length: 5 }, (_, at) => `${at} ${'x'.repeat(50)}`).join('/');
  const shim = npmShim(project, 'tool', SHOWS, deep);
  expect(shim.length).toBeGreaterThan(260);
  expect((await arrived(shim, ['a b'], project.dir))[0]).toEqual(['a b']);
});

test('a file that is no program is refused with what to do', async () => {
  const project = createProject({ 'run.sh': '#!/bin/sh\n' });
  const running = run('.\\run.sh', [], { cwd: project.dir });
  await expect(running).rejects.toMatchObject({
    code: 'COMMAND_NOT_EXECUTABLE',
    message: expect.stringContaining('.exe, .com, .cmd'),
  });
});

test.skipIf(!hasNetworkPaths)(
  'programs, npm commands and batch files start from a network path',
  async () => {
    const project = createProject();
    const script = project.write('shows.js', SHOWS);
    const files: readonly [command: string, args: string[]][] = [
      [process.execPath, [networkPath(script)]],
      [npmShim(project, 'tool', SHOWS), []],
      [batchFile(project, 'own tool', SHOWS), []],
    ];
    for (const [command, args] of files) {
      const [argv] = await arrived(networkPath(command), [...args, 'a b', ...ATTACKS], project.dir);
      expect(argv, command).toEqual(['a b', ...ATTACKS]);
    }
    expect(existsSync(project.path('pwned.txt'))).toBe(false);
  },
);

test('a batch file does not run in a network directory', async () => {
  const project = createProject();
  const file = batchFile(project, 'tool', SHOWS);
  await expect(run(file, [], { cwd: '\\\\server\\share' })).rejects.toMatchObject({ code: 'CWD_NOT_USABLE' });
});

// Wine has no PowerShell.
test.skipIf(inWine)('a PowerShell script gets its arguments', async () => {
  const project = createProject();
  const script = project.write(
    'tool.ps1',
    `& "${process.execPath}" "${project.write('s.js', SHOWS)}" @args\n`,
  );
  expect((await arrived(script, ['a', 'b c', '%PATH%'], project.dir))[0]).toEqual(['a', 'b c', '%PATH%']);
  const named = basename(script, '.ps1');
  const env = { ...process.env, PATH: project.dir };
  expect((await arrived(named, ['a'], project.dir, env))[0]).toEqual(['a']);
});

const OWN_SHIM = String.raw`:: Created by npm, please don't edit manually.
@ECHO OFF

SETLOCAL

SET "NODE_EXE=%~dp0\node.exe"
IF NOT EXIST "%NODE_EXE%" (
  SET "NODE_EXE=node"
)

SET "NPM_PREFIX_JS=%~dp0\node_modules\npm\bin\npm-prefix.js"
SET "NPX_CLI_JS=%~dp0\node_modules\npm\bin\npx-cli.js"
FOR /F "delims=" %%F IN ('CALL "%NODE_EXE%" "%NPM_PREFIX_JS%"') DO (
  SET "NPM_PREFIX_NPX_CLI_JS=%%F\node_modules\npm\bin\npx-cli.js"
)
IF EXIST "%NPM_PREFIX_NPX_CLI_JS%" (
  SET "NPX_CLI_JS=%NPM_PREFIX_NPX_CLI_JS%"
)

"%NODE_EXE%" "%NPX_CLI_JS%" %*
`;
