import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { variableOf } from '../variable-of.ts';

/** What a `.cmd` file starts that a package manager wrote for a command. */
export interface CmdShim {
  /**
   * An `.exe`, or the Node next to the file; undefined if there is neither, and the PATH decides which Node is used.
   */
  readonly program: string | undefined;
  /** For Node, its options and the script. */
  readonly args: readonly string[];
  /** Variables that the file sets for the script. */
  readonly env: Readonly<Record<string, string>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Undefined unless the file is exactly what npm, pnpm or yarn write. */
export function readCmdShim(file: string, text: string, env: Environment): CmdShim | undefined {
  const lines = text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return installedScript(file, lines, env) ?? ownScript(file, lines.join('\n'), env);
}

/** The line that runs the script, in every form; Node's options are between Node and the script. */
const RUN = String.raw`(?: +(?<options>[\w=.:-]+(?: [\w=.:-]+)*))? +"(?:%~dp0|%dp0%)\\(?<script>[^"%]+)" +%\*$`;

/** The same for a program, such as Bun's. */
const RUN_PROGRAM = /^@?"(?:%~dp0|%dp0%)\\?(?<program>[^"%]+\.exe)" +%\*$/i;

const NPM_HEAD = [
  /^@ECHO off$/i,
  /^GOTO start$/i,
  /^:find_dp0$/i,
  /^SET dp0=%~dp0$/i,
  /^EXIT \/b$/i,
  /^:start$/i,
  /^SETLOCAL$/i,
  /^CALL :find_dp0$/i,
] as const;

const NPM_NODE = [
  /^IF EXIST "%dp0%\\node\.exe" \($/i,
  /^SET "_prog=%dp0%\\node\.exe"$/i,
  /^\) ELSE \($/i,
  /^SET "_prog=node"$/i,
  /^SET PATHEXT=%PATHEXT:;\.JS;=;%$/i,
  /^\)$/,
] as const;

const SHAPES = [
  // npm since 7
  {
    before: [...NPM_HEAD, ...NPM_NODE],
    run: new RegExp(
      String.raw`^(?:endLocal & goto #_undefined_# 2>NUL \|\| title %COMSPEC% & )?"%_prog%"${RUN}`,
      'i',
    ),
    after: [],
  },
  { before: NPM_HEAD, run: RUN_PROGRAM, after: [] },
  // npm 6
  {
    before: [/^@ECHO off$/i, /^SETLOCAL$/i, /^CALL :find_dp0$/i, ...NPM_NODE],
    run: new RegExp(String.raw`^"%_prog%"${RUN}`, 'i'),
    after: [/^ENDLOCAL$/i, /^EXIT \/b(?: %errorlevel%)?$/i, /^:find_dp0$/i, /^SET dp0=%~dp0$/i],
  },
  // yarn, pnpm and older versions of npm
  {
    before: [/^@?IF EXIST "%~dp0\\node\.exe" \($/i],
    run: new RegExp(String.raw`^@?"%~dp0\\node\.exe"${RUN}`, 'i'),
    after: [
      /^\) ELSE \($/i,
      /^@?SETLOCAL$/i,
      /^@?SET PATHEXT=%PATHEXT:;\.JS;=;%$/i,
      new RegExp(String.raw`^@?node${RUN}`, 'i'),
      /^\)$/,
    ],
  },
  { before: [], run: RUN_PROGRAM, after: [] },
] as const;

/** Reads the command of an installed package. */
function installedScript(file: string, lines: readonly string[], env: Environment): CmdShim | undefined {
  const { rest, variables } = withoutNodePath(lines, env);
  for (const { before, run, after } of SHAPES) {
    const running = rest.findIndex((line) => run.test(line));
    const { options = '', script, program } = run.exec(rest[running] ?? '')?.groups ?? {};
    const target = script ?? program;
    if (target === undefined || !follows(rest.slice(0, running), before)) continue;
    const behind = rest.slice(running + 1);
    // A form may lack lines that others have, but has none that is unique to it.
    if (!behind.every((line) => after.some((shape) => shape.test(line)))) continue;
    const here = dirname(file);
    const path = join(here, target);
    if (!existsSync(path)) continue;
    if (script === undefined) return { program: path, args: [], env: variables };
    return {
      program: nodeIn(here),
      args: [...options.split(' ').filter((option) => option !== ''), path],
      env: variables,
    };
  }
  return undefined;
}

function follows(lines: readonly string[], shapes: readonly RegExp[]): boolean {
  const others = lines.filter((line) => !/^@SETLOCAL$/i.test(line));
  return others.length === shapes.length && shapes.every((shape, index) => shape.test(others[index] ?? ''));
}

/** Removes the lines with which pnpm tells the script where else its packages are. */
function withoutNodePath(
  lines: readonly string[],
  env: Environment,
): { readonly rest: readonly string[]; readonly variables: Readonly<Record<string, string>> } {
  const start = lines.findIndex((line) => /^@IF NOT DEFINED NODE_PATH \($/i.test(line));
  const path = /^@SET "NODE_PATH=([^"%]+)"$/i.exec(lines[start + 1] ?? '')?.[1];
  const isWhole =
    /^\) ELSE \($/i.test(lines[start + 2] ?? '') &&
    lines[start + 3]?.toLowerCase() === `@set "node_path=${path};%node_path%"`.toLowerCase() &&
    lines[start + 4] === ')';
  if (start === -1 || path === undefined || !isWhole) return { rest: lines, variables: {} };
  const given = variableOf(env, 'NODE_PATH', true);
  return {
    rest: [...lines.slice(0, start), ...lines.slice(start + 5)],
    variables: { NODE_PATH: given ? `${path};${given}` : path },
  };
}

const OWN_NAMES = { npm: 'NPM_CLI_JS', npx: 'NPX_CLI_JS' } as const;

/**
 * Reads npm's own commands, which are next to Node. They ask npm where a newer npm may be; that is almost always in
 * APPDATA.
 */
function ownScript(file: string, text: string, env: Environment): CmdShim | undefined {
  const here = dirname(file);
  const name = /([^\\/]+)\.cmd$/i.exec(file)?.[1]?.toLowerCase();
  if (name !== 'npm' && name !== 'npx') return undefined;
  const own = text.includes(`SET "${OWN_NAMES[name]}=%~dp0\\node_modules\\npm\\bin\\${name}-cli.js"`);
  const runs = text.endsWith(`"%NODE_EXE%" "%${OWN_NAMES[name]}%" %*`);
  if (!text.startsWith(':: Created by npm') || !own || !runs) return undefined;
  const appData = variableOf(env, 'APPDATA', true);
  const newer = appData === undefined ? [] : [join(appData, 'npm')];
  const script = [...newer, here]
    .map((place) => join(place, 'node_modules', 'npm', 'bin', `${name}-cli.js`))
    .find((path) => existsSync(path));
  return script === undefined ? undefined : { program: nodeIn(here), args: [script], env: {} };
}

function nodeIn(directory: string): string | undefined {
  const node = join(directory, 'node.exe');
  return existsSync(node) ? node : undefined;
}
