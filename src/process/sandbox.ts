import { existsSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { statOf } from '../shared/regular-file.ts';
import { realPath } from '../shared/real-path.ts';

/** What a program in a sandbox may access. All paths are absolute. */
export interface ProgramSandbox {
  /** Files and directories that it may change. */
  readonly write: readonly string[];
  /** Those that it may read although they are in /tmp or /run, which are private to it. */
  readonly read: readonly string[];
  /** Those that it cannot even see. */
  readonly hide: readonly string[];
  /** Whether it has access to the network. */
  readonly network: boolean;
}

interface SandboxedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** Directories that contain sockets of other programs, which a read-only file system does not block. */
const OWN = ['/tmp', '/run'];
/** The parts of these that programs need: name resolution and, on NixOS, everything. */
const NEEDED = ['/run/systemd/resolve', '/run/current-system', '/run/opengl-driver'];

/**
 * The arguments with which bwrap starts a program in its sandbox. If the sandbox cannot be set up, nothing is started.
 */
export function sandboxArguments(
  { command, args, cwd }: SandboxedProgram,
  sandbox: ProgramSandbox,
): string[] {
  const own = OWN.filter((directory) => existsSync(directory));
  const program = command.includes('/')
    ? [dirname(command.startsWith('/') ? command : `${cwd}/${command}`)]
    : [];
  const inOwn = (path: string): boolean => own.some((directory) => isBelow(path, directory));
  const read = [...NEEDED.filter((path) => existsSync(path)), cwd, ...program, ...sandbox.read].map(realPath);
  const hide = sandbox.hide.map(realPath).filter((path) => existsSync(path));
  const write = sandbox.write.map(realPath);
  const options = [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc'],
    ...own.flatMap((directory) => ['--tmpfs', directory]),
    ...read.filter(inOwn).flatMap((path) => ['--ro-bind', path, path]),
    ...write.flatMap((path) => ['--bind', path, path]),
    // Last, so that no other argument exposes them again.
    ...hide.flatMap((path) =>
      statOf(path)?.isDirectory() === true ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path],
    ),
    ...['--unshare-pid', '--unshare-ipc', '--unshare-uts', '--unshare-user-try', '--unshare-cgroup-try'],
    ...(sandbox.network ? [] : ['--unshare-net']),
    ...['--cap-drop', 'ALL', '--die-with-parent', '--chdir', realPath(cwd)],
  ];
  return [...options, '--', command, ...args];
}

function isBelow(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory + sep);
}
