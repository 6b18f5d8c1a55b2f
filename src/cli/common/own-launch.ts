import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { findCommand } from '../../process/index.ts';

/** How to start this very program from any directory and without our PATH. */
export interface OwnLaunch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface CurrentProcess {
  /** The running script, as it was called. */
  readonly script: string;
  /** The Node that runs it. */
  readonly node: string;
  /** The command with which npx starts the program, as words. */
  readonly launch: string;
  readonly env: NodeJS.ProcessEnv;
  /** Default: this platform. */
  readonly platform?: NodeJS.Platform;
}

/**
 * The paths of Node and the script, both absolute: a host with a graphical interface does not have the PATH of a shell,
 * and the script alone needs that to find Node. What npx has downloaded for one run may be gone tomorrow; then the
 * command is npx itself.
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
  // A link of a package manager, which may move, is resolved; the path of the script itself is kept.
  return { command: stableNodePath(node, env, platform), args: [/\.[cm]?js$/.test(called) ? called : real] };
}

/** The same for an entry that is shared with others: by a name that works on every machine. */
export function sharedLaunch(launch: string): OwnLaunch {
  const [command = '', ...args] = launch.split(' ');
  return { command, args };
}

/** Whether a file, or the target of a link, was downloaded for one run. */
export function isTemporaryInstall(file: string): boolean {
  return FETCHED.test(file) || FETCHED.test(realOf(file));
}

/** Where npx, pnpm, yarn and bun put packages that they download for one run. */
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
  // Windows starts a .cmd file only through a shell, which would run whatever follows an `&` in a path.
  const npxScript = join(dirname(npx), 'node_modules', 'npm', 'bin', 'npx-cli.js');
  return existsSync(npxScript)
    ? { command: stableNodePath(node, env, platform), args: [npxScript, ...args] }
    : { command: 'cmd', args: ['/c', npx, ...args] };
}

/** A path to the same Node that survives its next update, if the PATH has one: Homebrew's own path does not. */
export function stableNodePath(node: string, env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string {
  const name = platform === 'win32' ? 'node.exe' : 'node';
  const candidates = (env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => directory !== '' && !isTemporaryPath(directory))
    .map((directory) => resolve(directory, name));
  return candidates.find((candidate) => existsSync(candidate) && realOf(candidate) === realOf(node)) ?? node;
}

/** Whether a directory or file belongs to a PATH entry of one shell or one run only. */
export function isTemporaryPath(path: string): boolean {
  return /fnm_multishells/.test(path) || ADDED_BY_NPM.test(path);
}

/** The same environment with the PATH as it was before npx or `npm run` prepended directories. */
export function withoutNpx(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const directories = (env.PATH ?? '').split(delimiter).filter((directory) => !ADDED_BY_NPM.test(directory));
  return { ...env, PATH: directories.join(delimiter) };
}

const ADDED_BY_NPM = /node_modules|[\\/]_npx[\\/]/;

/** The target of a link; the path itself if it is not one. */
export function realOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
