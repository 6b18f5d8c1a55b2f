import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, sep } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readCmdShim } from './cmd-shim.ts';

/** A directory with these files. */
function folder(...files: readonly string[]): string {
  const made = mkdtempSync(join(tmpdir(), 'switchboard-shim-'));
  onTestFinished(() => rmSync(made, { recursive: true }));
  for (const file of files) {
    mkdirSync(dirname(join(made, file)), { recursive: true });
    writeFileSync(join(made, file), '');
  }
  return made;
}

/** The text of a file as written, but with this system's separators in the path of the script. */
const here = (text: string): string =>
  text.replaceAll('node_modules\\tool\\', ['node_modules', 'tool', ''].join(sep));

const NPM = String.raw`@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\tool\cli.js" %*
`;

const NPM_6 = String.raw`@ECHO off
SETLOCAL
CALL :find_dp0

IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

"%_prog%" --no-warnings "%dp0%\node_modules\tool\cli.js" %*
ENDLOCAL
EXIT /b %errorlevel%
:find_dp0
SET dp0=%~dp0
EXIT /b
`;

const YARN = String.raw`@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\node_modules\tool\cli.js" %*
) ELSE (
  @SETLOCAL
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\node_modules\tool\cli.js" %*
)
`;

const PNPM = String.raw`@SETLOCAL
@IF NOT DEFINED NODE_PATH (
  @SET "NODE_PATH=C:\store\node_modules"
) ELSE (
  @SET "NODE_PATH=C:\store\node_modules;%NODE_PATH%"
)
@IF EXIST "%~dp0\node.exe" (
  "%~dp0\node.exe"  "%~dp0\node_modules\tool\cli.js" %*
) ELSE (
  @SET PATHEXT=%PATHEXT:;.JS;=;%
  node  "%~dp0\node_modules\tool\cli.js" %*
)
`;

const OTHERS = {
  npm: NPM,
  'npm with CRLF': NPM.replaceAll('\n', '\r\n'),
  'npm 6': NPM_6.replace(' --no-warnings', ''),
  yarn: YARN,
};

test.each(Object.entries(OTHERS))('what %s writes is Node with the script', (_name, text) => {
  const dir = folder('node_modules/tool/cli.js');
  const shim = { program: undefined, args: [join(dir, 'node_modules/tool/cli.js')], env: {} };
  expect(readCmdShim(join(dir, 'tool.cmd'), here(text), {})).toEqual(shim);
});

const NPM_PROGRAM = `${NPM.slice(0, NPM.indexOf('\n\n') + 1)}"%dp0%\\node_modules\\tool\\tool.exe"   %*\n`;
const PNPM_PROGRAM = `@SETLOCAL\n@"%~dp0\\node_modules\\tool\\tool.exe"   %*\n`;

test.each([NPM_PROGRAM, PNPM_PROGRAM])('a command that is an .exe is that program', (text) => {
  const dir = folder('node_modules/tool/tool.exe', 'node.exe');
  const read = (lines: string) => readCmdShim(join(dir, 'tool.cmd'), here(lines), {});
  expect(read(text)).toEqual({ program: join(dir, 'node_modules/tool/tool.exe'), args: [], env: {} });
  expect(read(text.replace('%*', '%* & echo more'))).toBeUndefined();
  expect(read(text.replace('tool.exe', 'gone.exe'))).toBeUndefined();
  expect(read(text.replace('"   %*', '" --flag %*'))).toBeUndefined();
});

test('options of Node in the first line of a script are kept, and Node beside the file is taken', () => {
  const dir = folder('node_modules/tool/cli.js', 'node.exe');
  expect(readCmdShim(join(dir, 'tool.cmd'), here(NPM_6), {})).toEqual({
    program: join(dir, 'node.exe'),
    args: ['--no-warnings', join(dir, 'node_modules/tool/cli.js')],
    env: {},
  });
});

test('what pnpm says about packages is passed on, before what was said already', () => {
  const dir = folder('node_modules/tool/cli.js');
  const read = (env: Record<string, string>) => readCmdShim(join(dir, 'tool.cmd'), here(PNPM), env)?.env;
  expect(read({})).toEqual({ NODE_PATH: 'C:\\store\\node_modules' });
  expect(read({ Node_Path: 'D:\\mine' })).toEqual({ NODE_PATH: 'C:\\store\\node_modules;D:\\mine' });
});

test('a file that does anything else is no such file', () => {
  const dir = folder('node_modules/tool/cli.js');
  const read = (text: string) => readCmdShim(join(dir, 'tool.cmd'), here(text), {});
  expect(read(NPM.replace('SETLOCAL\n', 'SETLOCAL\nSET FOO=bar\n'))).toBeUndefined();
  expect(read(`${NPM}echo more\n`)).toBeUndefined();
  expect(read(NPM.replace('"_prog=node"', '"_prog=python"'))).toBeUndefined();
  expect(read(NPM.replace('%*', '%* --more'))).toBeUndefined();
  expect(read(YARN.replace('cli.js" %*\n)', 'cli.js" %* & echo more\n)'))).toBeUndefined();
  expect(read(NPM.replace('cli.js', 'gone.js'))).toBeUndefined();
  expect(read('@node cli.js %*\n')).toBeUndefined();
  expect(read('')).toBeUndefined();
});

const NPX = String.raw`:: Created by npm, please don't edit manually.
@ECHO OFF
SETLOCAL
SET "NPX_CLI_JS=%~dp0\node_modules\npm\bin\npx-cli.js"
"%NODE_EXE%" "%NPX_CLI_JS%" %*
`;

test('npx is npm’s script beside Node, or a newer one that npm has installed for this user', () => {
  const dir = folder(
    'node_modules/npm/bin/npx-cli.js',
    'node.exe',
    'appdata/npm/node_modules/npm/bin/npx-cli.js',
  );
  const read = (env: Record<string, string>) => readCmdShim(join(dir, 'npx.cmd'), NPX, env);
  const own = join(dir, 'node_modules/npm/bin/npx-cli.js');
  expect(read({})).toEqual({ program: join(dir, 'node.exe'), args: [own], env: {} });
  const newer = join(dir, 'appdata/npm/node_modules/npm/bin/npx-cli.js');
  expect(read({ AppData: join(dir, 'appdata') })?.args).toEqual([newer]);
});
