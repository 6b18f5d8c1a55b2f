import { basename, delimiter, isAbsolute, relative, resolve } from 'node:path';
import { findCommand } from '../../../process/index.ts';
import { isTemporaryInstall, isTemporaryPath, ownLaunch, realOf } from '../../common/own-launch.ts';

/** How a client starts the MCP server of a project, from any directory. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Notes for people who read the entry. */
  readonly comments: readonly string[];
  /** Whether the entry names the interpreter, because no `switchyard` command was found. */
  readonly usesInterpreter: boolean;
}

export interface LaunchOptions {
  /** The project. The entry contains no path inside it, because a client may start it anywhere. */
  readonly root: string;
  /** The name of the project. */
  readonly alias: string;
  /** The program as it was called, and the interpreter that runs it. */
  readonly script: string;
  readonly node: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Our own program by its full path, if it is permanent and outside the project; otherwise the closest alternative. */
export function launchOf({ root, alias, script, node, env }: LaunchOptions): Launch {
  const words = ['mcp', '--project', alias];
  const comments: string[] = [];
  const usable = (file: string): boolean => {
    if (!isWithin(root, file)) return true;
    comments.push('Ignored a project-local executable, so that this entry contains no project path.');
    return false;
  };
  const called = resolve(script);
  if (PROGRAMS.has(basename(called)) && !isTemporaryPath(called) && usable(called))
    return { command: called, args: words, comments, usesInterpreter: false };
  const found = onPath(root, env, usable);
  if (found !== undefined) return { command: found, args: words, comments: [], usesInterpreter: false };
  if (usable(called) && usable(node)) {
    const { command, args } = ownLaunch({ script, node, launch: LAUNCH, env });
    const byNpx = isTemporaryInstall(called);
    const why = [
      `\`switchyard\` was not found on PATH, so this starts it with ${byNpx ? 'npx' : 'Node'}.`,
      'Install it (npm install -g mcp-switchboard) if the host cannot start this.',
    ];
    return { command, args: [...args, ...words], comments: why, usesInterpreter: !byNpx };
  }
  const install =
    'Install `switchyard` on PATH (npm install -g mcp-switchboard): the host starts it by name.';
  return {
    command: 'switchyard',
    args: words,
    comments: [...new Set(comments), install],
    usesInterpreter: false,
  };
}

/** The npx command that starts us. */
const LAUNCH = 'npx -y -p mcp-switchboard switchyard';

const PROGRAMS = new Set(['switchyard', 'sy']);

/** The first `switchyard` on the PATH that is outside the project, and that a client will find there too. */
function onPath(root: string, env: NodeJS.ProcessEnv, usable: (file: string) => boolean): string | undefined {
  const directories = (env.PATH ?? '')
    .split(delimiter)
    .filter((directory) => isAbsolute(directory) && !isTemporaryPath(directory));
  for (const directory of directories) {
    const found = findCommand('switchyard', { cwd: root, env: { ...env, PATH: directory } });
    if (found.kind === 'found' && usable(found.file)) return found.file;
  }
  return undefined;
}

/** Also true if only the target of a link is inside. */
function isWithin(root: string, file: string): boolean {
  return [file, realOf(file)].some((path) => {
    const relativePath = relative(root, path);
    return relativePath !== '' && !relativePath.startsWith('..') && !isAbsolute(relativePath);
  });
}
