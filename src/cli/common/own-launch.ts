import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { findCommand } from '../../process/index.ts';

/** How to start this very program from anywhere and without our PATH. */
export interface OwnLaunch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface CurrentProcess {
  /** The script that runs now, as it was called. */
  readonly script: string;
  /** The interpreter that runs it. */
  readonly node: string;
  /** The command by which npx starts the program, in words. */
  readonly launch: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default this one. */
  readonly platform?: NodeJS.Platform;
}

/**
 * The interpreter and the script, both absolute: a host with windows knows nothing of the PATH of a shell, and the script
 * alone needs it to find its interpreter. What npx has fetched for one run may be gone tomorrow; then it is npx itself.
 */
export function ownLaunch({
  script,
  node,
  launch,
  env,
  platform = process.platform,
}: CurrentProcess): OwnLaunch {
  const called = resolve(script);
  const real = realOf(called);
  if (isTemporaryInstall(called)) return npxLaunch(launch, node, env, platform);
  // The link of a package manager, which needs not stay where it is, leads to the script; the script's own path is kept.
  return { command: stableNodePath(node, env, platform), args: [/\.[cm]?js$/.test(called) ? called : real] };
}

/** The same for an entry that others have, too: by a name that means the same on every machine. */
export function sharedLaunch(launch: string): OwnLaunch {
  const [command = '', ...args] = launch.split(' ');
  return { command, args };
}

/** Whether a file, or what a link leads to, was fetched for one run. */
export function isTemporaryInstall(file: string): boolean {
  return FETCHED.test(file) || FETCHED.test(realOf(file));
}

/** Where npx, pnpm, yarn and bun put what they fetch for one run. */
const FETCHED = /[\\/](?:_npx|dlx(?:-[^\\/]*)?|bunx-[^\\/]*)[\\/]/;

function npxLaunch(
  launch: string,
  node: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform,
): OwnLaunch {
  const { args } = sharedLaunch(launch);
  const beside = join(dirname(node), platform === 'win32' ? 'npx.cmd' : 'npx');
  const found = findCommand('npx', { cwd: '/', env, platform });
  const npx = existsSync(beside) ? beside : found.kind === 'found' ? found.file : 'npx';
  if (platform !== 'win32') return { command: npx, args };
  // Windows starts no .cmd file without its shell, which would run what follows an `&` in a path.
  const npxScript = join(dirname(npx), 'node_modules', 'npm', 'bin', 'npx-cli.js');
  return existsSync(npxScript)
    ? { command: stableNodePath(node, env, platform), args: [npxScript, ...args] }
    : { command: 'cmd', args: ['/c', npx, ...args] };
}

/** The same interpreter by a name that outlives its next version, where the PATH has one: Homebrew's own does not. */
export function stableNodePath(node: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const name = platform === 'win32' ? 'node.exe' : 'node';
  const candidates = (env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => directory !== '' && !isTemporaryPath(directory))
    .map((directory) => resolve(directory, name));
  return candidates.find((candidate) => existsSync(candidate) && realOf(candidate) === realOf(node)) ?? node;
}

/** Whether a directory, or a file in it, is on the PATH of one shell or one run only. */
export function isTemporaryPath(path: string): boolean {
  return /fnm_multishells/.test(path) || ADDED_BY_NPM.test(path);
}

/** The same environment with the PATH as it was before npx or `npm run` put directories in front of it. */
export function withoutNpx(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const directories = (env.PATH ?? '').split(delimiter).filter((directory) => !ADDED_BY_NPM.test(directory));
  return { ...env, PATH: directories.join(delimiter) };
}

const ADDED_BY_NPM = /node_modules|[\\/]_npx[\\/]/;

/** The file that a link leads to; the path itself where there is none. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
