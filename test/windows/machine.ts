import { chmodSync, copyFileSync, existsSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { ask } from '../helpers/http-client.ts';
import type { HttpGateway } from '../helpers/http-gateway.ts';
import type { Project } from '../helpers/temp-project.ts';

export const isWindows = process.platform === 'win32';

/** Wine's cmd.exe replaces variables in arguments that a batch file passes on; that of Windows does not. */
export const inWine = process.env['WINEPREFIX'] !== undefined;

/** A file of this machine as others on the network would name it. */
export function networkPath(file: string): string {
  return file.replace(/^([a-z]):/i, String.raw`\\127.0.0.1\$1$$`);
}

/** Whether this machine shares its drives: Windows does so with administrators. */
export const hasNetworkPaths = isWindows && existsSync(networkPath(process.execPath));

/** A script, started by the `.cmd` file that npm installs for one. Returns the path of the latter. */
export function npmShim(project: Project, name: string, script: string, folder = 'bin'): string {
  project.write(`${folder}/node_modules/${name}/cli.js`, script);
  const text = `${NPM_HEAD}${NPM_NODE}`.replace('NAME', name);
  return project.write(`${folder}/${name}.cmd`, text.replaceAll('\n', '\r\n'));
}

/** A copy of Node, started by the `.cmd` file that npm installs for a program. Returns the path of the latter. */
export function npmProgramShim(project: Project, name: string): string {
  const program = `node_modules/${name}/${name}.exe`;
  const shim = project.write(`${name}.cmd`, '');
  project.write(program, '');
  copyFileSync(process.execPath, project.path(program));
  const text = `${NPM_HEAD}"%dp0%\\${program.replaceAll('/', '\\')}"   %*\n`;
  writeFileSync(shim, text.replaceAll('\n', '\r\n'));
  return shim;
}

/** A script that runs one of the servers of node_modules or of the tests. */
export function importing(file: string, args: readonly string[] = []): string {
  const given = args.map((arg) => JSON.stringify(arg)).join(', ');
  return `process.argv.push(${given});\nimport(${JSON.stringify(pathToFileURL(file).href)});\n`;
}

/** A `.cmd` file that nothing knows, so cmd.exe has to run it; elsewhere, a shell script. */
export function batchFile(project: Project, name: string, script: string): string {
  const file = project.write(`${name}.js`, script);
  if (!isWindows) {
    // Two commands, so that the shell does not become the second.
    const started = project.write(`${name}.sh`, `#!/bin/sh\n"${process.execPath}" "${file}" "$@"\nexit $?\n`);
    chmodSync(started, 0o755);
    return started;
  }
  return project.write(`${name}.cmd`, `@ECHO OFF\r\nREM mine\r\n"${process.execPath}" "${file}" %*\r\n`);
}

/** Initializes a session over HTTP. Returns a function that sends a request and gives the text of the response. */
export async function httpSession(
  gateway: HttpGateway,
): Promise<(method: string, params: object) => Promise<string>> {
  let id = 0;
  let session: string | undefined;
  const request = async (method: string, params: object): Promise<string> => {
    const { text, headers } = await ask({
      port: gateway.port,
      path: new URL(gateway.url).pathname,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${gateway.token}`,
        'mcp-session-id': session,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params }),
    });
    session ??= String(headers['mcp-session-id']);
    return text;
  };
  const clientInfo = { name: 'test', version: '1' };
  await request('initialize', { protocolVersion: '2025-06-18', capabilities: {}, clientInfo });
  return request;
}

const NPM_HEAD = String.raw`@ECHO off
GOTO start
:find_dp0
SET dp0=%~dp0
EXIT /b
:start
SETLOCAL
CALL :find_dp0
`;

const NPM_NODE = String.raw`
IF EXIST "%dp0%\node.exe" (
  SET "_prog=%dp0%\node.exe"
) ELSE (
  SET "_prog=node"
  SET PATHEXT=%PATHEXT:;.JS;=;%
)

endLocal & goto #_undefined_# 2>NUL || title %COMSPEC% & "%_prog%"  "%dp0%\node_modules\NAME\cli.js" %*
`;
