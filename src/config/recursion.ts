import { realpathSync, statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { statOf } from '../shared/regular-file.ts';

export interface StartedProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** The package and the command with which a host starts us. */
const OUR_PACKAGE = 'mcp-switchboard';
const OUR_NAMES = new Set([OUR_PACKAGE, 'switchboard']);
/**
 * Another program of the package. It counts as ourselves only if it is what is running: behind `switchboard` it is an
 * ordinary server with its own configuration.
 */
const PROXY = 'mcp-proxy-server';
const PROXY_SCRIPT = /(?:^|\/)mcp-proxy-server(?:\.js)?$/;
const RUNNERS = new Set(['npx', 'pnpx', 'bunx', 'npm', 'pnpm', 'yarn', 'bun']);
/** Words before the package: `npm exec`, `pnpm dlx`, `bun x`, `yarn run`. */
const RUNNER_WORDS = new Set(['exec', 'x', 'dlx', 'run']);
const INTERPRETERS = new Set(['node', 'nodejs', 'bun']);

/**
 * Creates a function that returns whether a command starts this very program. Hosts have such an entry in files that we
 * read, too: as our own server, we would read that file again and start ourselves endlessly.
 *
 * `ourScript` is the file that is running, if known.
 */
export function recursionGuard(ourScript?: string): (program: StartedProgram) => boolean {
  const ourFile = identify(ourScript);
  return (program) => startsOurselves(program, ourFile);
}

function startsOurselves({ command, args, cwd }: StartedProgram, ourFile: FileIdentity | undefined): boolean {
  const program = programName(command);
  const isProxy = ourFile?.name === `${PROXY}.js`;
  const isOurName = (name: string): boolean => OUR_NAMES.has(name) || (isProxy && name === PROXY);
  if (isOurName(program) || isOurFile(cwd, command, ourFile)) return true;
  // Windows hosts need `cmd /c npx …`; others write `env NAME=value npx …`.
  if (program === 'cmd' && /^\/c$/i.test(args[0] ?? '')) {
    return startsOurselves({ command: args[1] ?? '', args: args.slice(2), cwd }, ourFile);
  }
  if (program === 'env') {
    const [inner, ...rest] = args.filter((arg) => !arg.startsWith('-') && !arg.includes('='));
    return inner !== undefined && startsOurselves({ command: inner, args: rest, cwd }, ourFile);
  }
  const words = args.filter((arg) => !arg.startsWith('-'));
  if (RUNNERS.has(program)) {
    const first = words.find((word) => !RUNNER_WORDS.has(word));
    if (first !== undefined && isOurName(withoutVersion(first))) return true;
    // `--package=mcp-switchboard` and `-p mcp-switchboard` name the package separately from the command.
    if (args.some((arg) => withoutVersion(arg.replace(/^--package=/, '')) === OUR_PACKAGE)) return true;
  }
  const script = words[0];
  if (!INTERPRETERS.has(program) || script === undefined) return false;
  const path = script.replaceAll('\\', '/');
  // npx without a shell, on Windows.
  if (path.endsWith('/npm/bin/npx-cli.js')) {
    return startsOurselves({ command: 'npx', args: args.slice(args.indexOf(script) + 1), cwd }, ourFile);
  }
  return OUR_SCRIPT.test(path) || (isProxy && PROXY_SCRIPT.test(path)) || isOurFile(cwd, script, ourFile);
}

/** `node_modules/mcp-switchboard/dist/index.js`, `…/switchboard/dist/index.js`, `node_modules/.bin/switchboard`. */
const OUR_SCRIPT = /(?:^|\/)(?:(?:mcp-)?switchboard\/dist\/index\.js|\.bin\/(?:mcp-)?switchboard)$/;

function programName(command: string): string {
  return basename(command.replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:exe|cmd|bat|ps1)$/, '');
}

function withoutVersion(word: string): string {
  return word.replace(/(?<=.)@[^/]*$/, '');
}

interface FileIdentity {
  readonly name: string;
  readonly device: number;
  readonly inode: number;
}

/** By identity, not by path, because we are usually started through a link. */
function identify(file: string | undefined): FileIdentity | undefined {
  if (file === undefined) return undefined;
  try {
    const path = realpathSync(file);
    const { dev, ino } = statSync(path);
    return { name: basename(path), device: dev, inode: ino };
  } catch {
    return undefined;
  }
}

function isOurFile(cwd: string, path: string, ourFile: FileIdentity | undefined): boolean {
  // The name is compared first: a file system access for every server would noticeably delay the start.
  if (ourFile === undefined || !path.endsWith(ourFile.name)) return false;
  const found = statOf(resolve(cwd, path));
  return found !== undefined && found.ino === ourFile.inode && found.dev === ourFile.device;
}
