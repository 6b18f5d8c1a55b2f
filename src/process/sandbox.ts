import { existsSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { statOf } from '../shared/regular-file.ts';
import { realPath } from '../shared/real-path.ts';

/** What a program in a sandbox may do. All paths are absolute. */
export interface ProgramSandbox {
  /** Files and directories it may change. */
  readonly write: readonly string[];
  /** Those it may read although they are in /tmp or /run, of which it has its own. */
  readonly read: readonly string[];
  /** Those it may not even see. */
  readonly hide: readonly string[];
  /** Whether it has the network. */
  readonly network: boolean;
}

interface SandboxedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** Directories with sockets of other programs, which a read-only file system does not close. */
const OWN = ['/tmp', '/run'];
/** What programs need of them: name resolution, and on NixOS everything. */
const NEEDED = ['/run/systemd/resolve', '/run/current-system', '/run/opengl-driver'];

/** The arguments of bwrap that start a program in its sandbox. Where that cannot be made, nothing is started. */
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
    // Last: nothing opens them again.
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
